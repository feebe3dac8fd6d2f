"""Studies read any dataset that is registered, for example by a plug-in."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from tertium.data.datasets.base import DATASETS, Dataset, JudgedSegment, LabelledPair, dataset
from tertium.data.lines import check_file, read_lines
from tertium.errors import InputError
from tertium.studies.judgements.sets import read_sets
from tertium.studies.paraphrase_id.tasks import known_datasets, read_tasks
from tertium.text import Text


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two readers: of judged outputs in two languages, and of labelled pairs in one."""
    DATASETS.names()  # imports its package
    monkeypatch.setattr(DATASETS, "_registered", dict(DATASETS._registered))
    about = {"origin": "", "licence": "", "layout": "LANG.txt"}

    @dataset("votes", JudgedSegment, "Votes", languages=["de", "fr"], **about)  # type: ignore[arg-type]
    def votes(lang: str, *, folder: Path) -> list[JudgedSegment]:
        check_file(folder / f"{lang}.txt")
        return [
            JudgedSegment(str(place), Text(line, lang), (Text("x", lang),), score=float(place))
            for place, line in enumerate(read_lines(folder / f"{lang}.txt"))
        ]

    @dataset("echoes", LabelledPair, "Echoes", languages=["de"], **about)  # type: ignore[arg-type]
    def echoes(split: Literal["dev", "test"], *, folder: Path) -> list[LabelledPair]:
        return [
            LabelledPair(line, Text(line, "de"), Text(line, "de"), True)
            for line in read_lines(folder / f"{split}.txt")
        ]

    assert isinstance(DATASETS.get("votes"), Dataset)


def test_judged_outputs(plug_in: None, tmp_path: Path) -> None:
    (tmp_path / "de.txt").write_text("a\nb\n")
    [judged] = read_sets("votes-2020", tmp_path)  # French is not there
    assert (judged.name, judged.group) == ("votes-2020 de", "votes-2020")
    assert [segment.score for segment in judged.segments] == [0.0, 1.0]
    with pytest.raises(InputError, match=r"fr\.txt: there is no such file"):
        read_sets("votes", tmp_path, ["fr"])
    with pytest.raises(InputError, match="votes cannot be downloaded; only stsb"):
        read_sets("votes", None)
    with pytest.raises(InputError, match=r"ballots is no dataset with judged outputs.* votes"):
        read_sets("ballots", tmp_path)


def test_labelled_pairs(plug_in: None, tmp_path: Path) -> None:
    (tmp_path / "dev.txt").write_text("a\n")
    (tmp_path / "test.txt").write_text("b\nc\n")
    [task] = read_tasks("echoes", tmp_path)
    assert (task.name, task.langs) == ("echoes", ("de", "de"))
    assert [len(task.test), len(task.validation)] == [2, 1]
    assert read_tasks("echoes", tmp_path, ["fr"]) == []
    assert "echoes" in known_datasets()
    with pytest.raises(InputError, match=r"labelled pairs are mrpc.* echoes"):
        read_tasks("unknown", tmp_path)
