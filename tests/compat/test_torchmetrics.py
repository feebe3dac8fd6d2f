"""torchmetrics: batches, merged states, and two processes give the number of one call."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tertium
from tertium.errors import InputError, SettingError

from .tools import require

require("torch")
require("torchmetrics")
from tertium.compat.torchmetrics import TertiumScore  # noqa: E402

HYPOTHESES = ["a dog", "a cat", "two birds fly", "he runs", "yes"]
REFERENCES = ["a dog", "the cat", "two birds are flying", "he ran", "no"]
PROCESS = """
import json, sys
import torch.distributed as dist
from tertium.compat.torchmetrics import TertiumScore

meeting, rank, rows = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=3)
metric = TertiumScore("bleu")
if rank < 2:  # the third has no data
    for hypothesis, reference in rows[rank::2]:
        metric.update([hypothesis], [reference])
print(repr(metric.compute().item()))
dist.destroy_process_group()
"""


@pytest.mark.parametrize("measure", ["bleu", "chrf", "cross"])
def test_batches_and_merged_states(measure: str) -> None:
    expected = tertium.load(measure).score(HYPOTHESES, REFERENCES, lang="en").system
    first, second = TertiumScore(measure, lang="en"), TertiumScore(measure, lang="en")
    batch = first(HYPOTHESES[:2], REFERENCES[:2])  # forward: the value of the batch
    one = tertium.load(measure).score(HYPOTHESES[:2], REFERENCES[:2], lang="en").system
    assert batch.item() == pytest.approx(one)
    second.update(HYPOTHESES[2:4], REFERENCES[2:4])
    second.update(HYPOTHESES[4:], [[reference] for reference in REFERENCES[4:]])
    first.merge_state(second)
    first = pickle.loads(pickle.dumps(first.clone()))
    tolerance = 0 if measure != "cross" else 1e-6  # float32 differs between batches
    assert first.compute().item() == pytest.approx(expected, abs=tolerance, rel=0)
    first.reset()
    with (
        pytest.warns(UserWarning, match="before the ``update`` method"),
        pytest.raises(InputError, match="nothing to score"),
    ):
        first.compute()


def test_three_processes_of_which_one_has_no_data(tmp_path: Path) -> None:
    rows = json.dumps(list(zip(HYPOTHESES, REFERENCES, strict=True)))
    command = [sys.executable, "-W", "ignore", "-c", PROCESS, str(tmp_path / "meeting")]
    running: list[Any] = [
        subprocess.Popen([*command, str(rank), rows], stdout=subprocess.PIPE, text=True)
        for rank in range(3)
    ]
    printed = [process.communicate(timeout=300)[0].strip() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    expected = tertium.load("bleu").score(HYPOTHESES, REFERENCES).system
    assert [float(text) for text in printed] == [expected] * 3


def test_sources_and_settings() -> None:
    metric = TertiumScore("prism-src", lang="en", source_lang="de")
    metric.update(["a dog"], sources=["ein Hund"])
    expected = tertium.score(
        "a dog", sources="ein Hund", measure="prism-src", lang="en", source_lang="de"
    )
    assert metric.compute().item() == pytest.approx(expected)
    assert metric.description["measure"] == "prism-src"
    with pytest.raises(SettingError, match="needs all rows at once"):
        TertiumScore("nist")
