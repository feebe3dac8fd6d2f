"""Mining on a cluster: the same bytes as a local run, also if a worker is lost, and resumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tertium.errors import ClusterError, ResumeError
from tertium.jobs.local import run_here
from tertium.jobs.output import KeptRows
from tertium.jobs.ray.cluster import ClusterSettings, import_ray
from tertium.jobs.ray.run import run_on_cluster
from tertium.jobs.ray.shards import ShardFolder
from tertium.measures.loading import MeasureLoader, ModelSettings, read_specs
from tertium.mining.mine import Mined, Miner, TextList

from ...cli.conftest import TERTIUM, Run, tertium

try:
    ray = import_ray()
except ClusterError:
    pytest.skip("RAY IS NOT INSTALLED: nothing distributed is tested", allow_module_level=True)
pytestmark = [  # Ray warns of its own code
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

__all__ = ["tertium"]

GERMAN = ["Guten Morgen!", "Das Haus ist rot.", "Ich habe Hunger.", "Er liest ein Buch."]
ENGLISH = ["He is reading a book.", "Good morning!", "I am hungry.", "The house is red."]
LISTS = (TextList.read(GERMAN, "de"), TextList.read(ENGLISH, "en"))
ONE = ClusterSettings(workers=1)


class OnceKilled(MeasureLoader):
    """The first worker that loads it is killed."""

    def load(self, *, threads: int | None = None) -> Any:
        killed = Path(os.environ["TERTIUM_CACHE"]) / "killed"
        if threads is not None and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().load(threads=threads)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("TERTIUM_CACHE", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def miner_of(measure: str) -> Miner:
    models = ModelSettings(cache=False)
    loader = OnceKilled(read_specs([measure]), models, "en")
    return Miner(models, measure=loader, pairs_at_a_time=3)


def test_the_same_bytes_as_a_local_run(tertium: Run, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "de.txt").write_text("\n".join(GERMAN))
    (tmp_path / "en.txt").write_text("\n".join(ENGLISH))
    command = (
        *("mine", "de.txt", "en.txt", "--src-lang", "de", "--tgt-lang", "en", "--no-cache"),
        *("--rescore", "direct", "--rows-at-a-time", "3", "--compute-type", "int8"),
    )
    for engine, out in ((("--engine", "ray", "--workers", "2"), "ray.tsv"), ((), "local.tsv")):
        # in processes of their own: int8 depends on what a process computed before
        subprocess.run([*TERTIUM, *command, *engine, "-o", out], check=True)
    assert (tmp_path / "ray.tsv").read_bytes() == (tmp_path / "local.tsv").read_bytes()
    assert len((tmp_path / "ray.tsv").read_text().splitlines()) == 1 + 4
    assert not list(tmp_path.glob("*.part"))
    refused = tertium(*command, "--workers", "2")
    assert "--address and --workers need --engine ray" in refused.stderr


def test_a_lost_worker_and_a_resumed_run(cache: Path, tmp_path: Path) -> None:
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    miner = miner_of("direct")

    def mined(miner: Miner, progress: Any = None, *, resume: bool = False) -> Mined:
        def plan(run: Any) -> Mined:
            found = miner.run(run, *LISTS)
            if progress is None:
                raise KeyboardInterrupt
            return found

        output = ShardFolder(tmp_path / "out.tsv", resume=resume, notes_only=True)
        return run_on_cluster(plan, output, ONE)

    with pytest.raises(KeyboardInterrupt):
        mined(miner)
    assert (cache / "killed").exists()
    with pytest.raises(ResumeError, match="was started with"):
        mined(miner_of("prism-ref"), True, resume=True)
    shards = sorted((tmp_path / "out.tsv.part").glob("part-*.parquet"))
    assert len(shards) > 3  # two lists, and at least four candidates
    shards[-1].unlink()
    found = mined(miner, True, resume=True)
    assert found.resumed > 8 + 3
    expected = run_here(lambda run: miner.run(run, *LISTS), KeptRows())
    assert [pair[:4] for pair in found.pairs] == [pair[:4] for pair in expected.pairs]
    scores = [[pair[4:7] for pair in each.pairs] for each in (found, expected)]
    assert np.array(scores[0]) == pytest.approx(np.array(scores[1]), abs=1e-5)


def test_a_measure_that_needs_all_rows(cache: Path) -> None:
    miner = miner_of("nist")
    (cache / "killed").touch()
    found = run_on_cluster(lambda run: miner.run(run, *LISTS), None, ONE)
    expected = run_here(lambda run: miner.run(run, *LISTS), KeptRows())
    assert [pair[:4] for pair in found.pairs] == [pair[:4] for pair in expected.pairs]
    assert found.pairs[0].rescored == expected.pairs[0].rescored
