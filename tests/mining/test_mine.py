"""Stored vectors, rescoring that can be resumed, thresholds, and the miner as a whole."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tertium.errors import InputError, ModelError, OutputError, ResumeError, SettingError
from tertium.jobs.local import run_here
from tertium.jobs.output import FileOutput
from tertium.jobs.vectors import VectorStore
from tertium.measures.base import Measure, Segments
from tertium.mining.candidates import NeighbourSettings
from tertium.mining.mine import MinedPair, Miner, TextList, overlap
from tertium.mining.thresholds import curve
from tertium.models.base import Progress, SentenceVectors
from tertium.storage.resume import locked
from tertium.text import Row

from ..fakes import FakeEncoder

ANGLES = {"a": 0, "b": 40, "c": 90, "A": 5, "B": 50, "C": 80, "long": 20}
WORDS = {name: (math.cos(math.radians(x)), math.sin(math.radians(x))) for name, x in ANGLES.items()}


def encoder() -> FakeEncoder:
    return FakeEncoder(WORDS)


@dataclass(frozen=True)
class Table(Measure):
    """Scores from a table; counts the rows, and fails when it has scored ``fails_after``."""

    table: dict[tuple[str, str], float] = field(default_factory=dict)
    seen: list[int] = field(default_factory=list)
    fails_after: int = 1000

    name = "table"

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        if len(self.seen) + len(rows) > self.fails_after:
            raise KeyboardInterrupt
        self.seen.extend(row.number for row in rows)
        scores = [
            self.table.get((row.references[0].text, row.hypothesis.text), 0.0) for row in rows
        ]
        return Segments(scores, [(score, 1.0) for score in scores], [False] * len(rows))

    def choices(self) -> dict[str, object]:
        return {"fails_after": self.fails_after} if self.fails_after == 7 else {}


def test_vectors_are_stored_once(tmp_path: Path) -> None:
    made, store = encoder(), VectorStore(tmp_path / "vectors")
    first = store.vectors(made, ["a", "b", "c"])
    assert first.vectors.tolist() == made.sentence_vectors(["a", "b", "c"]).vectors.tolist()
    assert isinstance(first.vectors, np.memmap)
    made.asked.clear()
    again = store.vectors(made, ["a", "b", "c"])
    assert made.asked == []
    assert again.vectors.tolist() == first.vectors.tolist()
    store.vectors(made, ["a", "b", "C"])
    store.vectors(made, ["a", "b", "c"], lang="de")
    store.vectors(FakeEncoder(WORDS, fingerprint="other"), ["a", "b", "c"])
    assert len(list((tmp_path / "vectors").glob("*.npy"))) == 4
    manifests = [json.loads(file.read_text()) for file in (tmp_path / "vectors").glob("*.json")]
    assert {manifest["encoder"] for manifest in manifests} == {"e" * 64, "other"}
    assert {manifest["count"] for manifest in manifests} == {3}


def test_texts_that_were_cut(tmp_path: Path) -> None:
    store = VectorStore(tmp_path)
    for _ in range(2):  # encoded, and read
        assert store.vectors(encoder(), ["a", "b", "c", "long"]).cut == {3}


def test_damaged_vectors_are_encoded_again(tmp_path: Path) -> None:
    made, store = encoder(), VectorStore(tmp_path)
    before = store.vectors(made, ["a", "b"]).vectors.tolist()
    [file] = tmp_path.glob("*.npy")
    good = file.read_bytes()
    for damaged in (good[:20], good[:-1] + bytes([good[-1] ^ 1]), good[:-4] + b"\0\0\xc0\x7f"):
        file.write_bytes(damaged)  # cut off, one bit flipped, and not a number
        assert store.vectors(made, ["a", "b"]).vectors.tolist() == before


def test_a_vector_that_is_not_a_number_is_not_stored(tmp_path: Path) -> None:
    made = FakeEncoder({"a": (1.0, 0.0), "b": (math.nan, 1.0)})
    with pytest.raises(ModelError, match="fake returns no number for 'b'"):
        VectorStore(tmp_path).vectors(made, ["a", "b"])
    assert not list(tmp_path.glob("*.npy"))


def test_vectors_in_use(tmp_path: Path) -> None:
    store = VectorStore(tmp_path)
    store.vectors(encoder(), ["a"])
    [file] = tmp_path.glob("*.npy")
    file.unlink()
    with locked(file.with_suffix("")), pytest.raises(OutputError, match="in use"):
        store.vectors(encoder(), ["a"])


def test_encoding_and_rescoring_are_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two texts are encoded, and two candidates scored, before each of two interruptions."""
    monkeypatch.setattr("tertium.mining.mine.TEXTS_AT_A_TIME", 2)
    lists = TextList.read(["a", "b", "c"]), TextList.read(["A", "B", "C"])
    scores = {(a, b): float(place) for place, (a, b) in enumerate(product("abc", "ABC"))}
    chosen = NeighbourSettings(k=3)

    def mined(measure: Table, made: FakeEncoder, resume: bool = False) -> list[MinedPair]:
        miner = Miner(made, chosen, "all", measure, pairs_at_a_time=2)
        output = FileOutput(tmp_path / "out.tsv", notes_only=True, resume=resume)
        return run_here(lambda run: miner.run(run, *lists), output).pairs

    class Stops(FakeEncoder):
        def sentence_vectors(self, texts: Sequence[str], **ways: Any) -> SentenceVectors:
            if self.asked:
                raise KeyboardInterrupt
            return super().sentence_vectors(texts, **ways)

    with pytest.raises(KeyboardInterrupt):
        mined(Table(scores), Stops(WORDS))
    part = tmp_path / "out.tsv.part"
    assert len(list(part.glob("*.npy"))) == 1
    with pytest.raises(ResumeError, match="resume=True"):
        mined(Table(scores), encoder())
    made, stopped = encoder(), Table(scores, fails_after=5)
    with pytest.raises(KeyboardInterrupt):
        mined(stopped, made, resume=True)
    assert made.asked == ["c", "A", "B", "C"]
    assert stopped.seen == [1, 2, 3, 4]
    with pytest.raises(ResumeError, match="was started with"):
        mined(Table(scores, fails_after=7), encoder(), resume=True)
    made, rest = encoder(), Table(scores)
    found = mined(rest, made, resume=True)
    assert (made.asked, rest.seen) == ([], [5, 6, 7, 8, 9])
    assert [pair.rescored for pair in found] == [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0]
    assert not part.exists()


def test_a_measure_that_needs_all_rows_rescores() -> None:
    """It sees all candidates at once, however many are scored at a time."""
    lists = TextList.read(["a", "b", "c"]), TextList.read(["A", "B", "C"])
    calls: list[int] = []

    @dataclass(frozen=True)
    class Together(Table):
        needs_all_rows = True

        def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
            calls.append(len(rows))
            return super().segments(rows, progress)

    Miner(encoder(), NeighbourSettings(k=3), "all", Together(), pairs_at_a_time=2).mine(*lists)
    assert calls == [9]


def test_two_lists() -> None:
    """a 0°, b 40°, c 90° and A 5°, B 50°, C 80°: each has its own letter as its nearest."""
    miner = Miner(encoder(), NeighbourSettings(k=1, margin="absolute"))
    first, second = TextList.read(["a", "", "b", "c", "a"]), TextList.read(["C", "B", "A"])
    found = miner.mine(first, second)
    assert [(pair.source, pair.target) for pair in found] == [("a", "A"), ("b", "B"), ("c", "C")]
    assert [(pair.source_line, pair.target_line) for pair in found] == [(1, 3), (3, 2), (4, 1)]
    assert found[0].score == found[0].margin == pytest.approx(math.cos(math.radians(5)))
    assert found[0].rescored is None


def test_rescoring_decides() -> None:
    """By vectors a goes with A; the measure prefers B, which was the second nearest."""
    measure = Table({("a", "B"): 0.9, ("b", "A"): 0.8, ("a", "A"): 0.1, ("b", "B"): 0.1})
    miner = Miner(encoder(), NeighbourSettings(k=2), measure=measure)
    found = miner.mine(TextList.read(["a", "b"]), TextList.read(["A", "B"]))
    assert [(pair.source, pair.target, pair.score) for pair in found] == [
        ("a", "B", 0.9),
        ("b", "A", 0.8),
    ]


def test_one_list_and_search() -> None:
    chosen = NeighbourSettings(k=2, margin="absolute")
    pairs = Miner(encoder(), chosen, select="all").mine(TextList.read(["a", "A", "b"]))
    assert [(pair.source, pair.target) for pair in pairs] == [("a", "A"), ("A", "b"), ("a", "b")]
    once = Miner(encoder(), chosen).mine(TextList.read(["a", "A", "b"]))
    assert [(pair.source, pair.target) for pair in once] == [("a", "A")]
    corpus = TextList.read(["c", "B", "A"])
    results = Miner(encoder(), chosen).mine(TextList.read(["b", "a"]), corpus, task="search")
    assert [(pair.source, pair.target) for pair in results] == [
        ("b", "B"),
        ("b", "A"),
        ("a", "A"),
        ("a", "B"),
    ]


def test_near_copies_and_filters() -> None:
    texts = TextList.read(["a b", "A, B!", "a B", "c"])
    chosen = NeighbourSettings(k=3, margin="absolute")
    every = Miner(encoder(), chosen, select="all").mine(texts)
    assert any(overlap(pair.source, pair.target) == 1 for pair in every)
    assert overlap("a b", "A, B!") == 1
    fewer = Miner(encoder(), chosen, select="all", max_overlap=0.9).mine(texts)
    assert fewer
    assert {(pair.source, pair.target) for pair in every} - {
        (pair.source, pair.target) for pair in fewer
    } == {("a b", "A, B!"), ("a b", "a B"), ("A, B!", "a B")}
    with_c = Miner(
        encoder(),
        chosen,
        select="all",
        keep=lambda rows: [row.hypothesis.text == "c" for row in rows],
    ).mine(texts)
    assert {pair.target for pair in with_c} == {"c"}


def test_cut_texts_are_marked() -> None:
    miner = Miner(encoder(), NeighbourSettings(k=1))
    found = miner.mine(TextList.read(["long", "c"]), TextList.read(["A", "C"]))
    assert {pair.source: pair.cut for pair in found} == {"long": True, "c": False}


def test_nothing_to_mine() -> None:
    with pytest.raises(InputError, match="no texts"):
        Miner(encoder()).mine(TextList.read(["", " "]))
    with pytest.raises(SettingError, match="max_overlap"):
        Miner(encoder(), max_overlap=2)


def test_thresholds_by_hand() -> None:
    """Gold: four pairs. Found, by score: right, right, wrong, right, wrong.

    P = 1, 1, 2/3, 3/4, 3/5; R = 1/4, 1/2, 1/2, 3/4, 3/4; F1 = 2r / (n + 4), best at the fourth.
    """
    labels = {(name, name.upper()): True for name in "abcd"}
    pairs = [("a", "A"), ("b", "B"), ("c", "X"), ("d", "D"), ("e", "Y")]
    found = curve(pairs, [5, 4, 3, 2, 1], labels, complete=True)
    assert [point.precision for point in found.points] == [1, 1, 2 / 3, 3 / 4, 3 / 5]
    assert [point.recall for point in found.points] == [1 / 4, 1 / 2, 1 / 2, 3 / 4, 3 / 4]
    assert [point.f1 for point in found.points] == [2 / 5, 4 / 6, 4 / 7, 6 / 8, 6 / 9]
    assert found.best.threshold == 2
    assert "75.0" in found.table().text()
    tied = curve(pairs, [5, 5, 5, 5, 1], labels, complete=True)
    assert [point.threshold for point in tied.points] == [5, 1]
    sample = curve(pairs, [5, 4, 3, 2, 1], {**labels, ("e", "Y"): False}, complete=False)
    assert [point.threshold for point in sample.points] == [5, 4, 2, 1]
    assert [point.precision for point in sample.points] == [1, 1, 1, 3 / 4]
    with pytest.raises(InputError, match="none of the labelled"):
        curve([("x", "y")], [1.0], labels, complete=False)
    with pytest.raises(InputError, match="no pair that is right"):
        curve(pairs, [1] * 5, {("a", "A"): False}, complete=False)


def test_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "curve.svg"
    curve([("a", "A")], [0.5], {("a", "A"): True}, complete=True).plot(out)
    assert out.read_text().count("<svg") == 1
