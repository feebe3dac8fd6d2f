"""Filters that need all rows, bad rows, and the same on both transports."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

import tertium
from tertium.data.pairs import FilePairs, Languages, RowList
from tertium.errors import InputError
from tertium.filters.base import KEPT, Filter, Verdict
from tertium.filters.duplicates import Duplicates
from tertium.filters.scores import MeasureFilter
from tertium.jobs.local import run_here
from tertium.jobs.output import KeptRows, StreamSink
from tertium.jobs.task import OnError
from tertium.jobs.tasks.filter import FilterPlan, FilterResult
from tertium.models.base import Progress
from tertium.text import Row, Text

TEXTS = ["one", "two two", "three three three", "one", "five", "six six"]


@dataclass(frozen=True)
class AboveMean(Filter):
    """Keeps texts that are at least as long as the mean of all that it sees, in words."""

    name: ClassVar[str] = "above-mean"
    reasons: ClassVar[tuple[str, ...]] = ("too short",)
    needs_all_rows: ClassVar[bool] = True

    def judge(self, rows: Sequence[Row], progress: Progress | None = None) -> list[Verdict]:
        lengths = [len(row.hypothesis.text.split()) for row in rows]
        mean = sum(lengths) / len(lengths)
        return [KEPT if each >= mean else Verdict("too short", each) for each in lengths]


@dataclass(frozen=True)
class NoSix(Filter):
    name: ClassVar[str] = "no-six"
    reasons: ClassVar[tuple[str, ...]] = ("six",)

    def judge(self, rows: Sequence[Row], progress: Progress | None = None) -> list[Verdict]:
        for row in rows:
            if row.hypothesis.text == "five":
                raise InputError(f"row {row.number}: five")
        return [Verdict("six") if "six" in row.hypothesis.text else KEPT for row in rows]


def rows_of(texts: Sequence[str]) -> RowList:
    rows = [
        Row(number, Text(text), (), Text("x"), {"hyp": text})
        for number, text in enumerate(texts, start=1)
    ]
    return RowList(rows, "texts", columns=["hyp"])


def filtered(
    filters: Sequence[Filter], on_error: OnError = OnError.stop, size: int = 2
) -> tuple[list[str], FilterResult]:
    stream = io.StringIO()
    plan = FilterPlan(rows_of(TEXTS), filters, StreamSink(stream, ["hyp"]), None, size, on_error)
    result = run_here(plan, KeptRows())
    return stream.getvalue().splitlines()[1:], result


def test_two_filters_that_need_all_rows() -> None:
    """Of 1, 2, 3, 1, 1 and 2 words, the mean is 10/6; of 2, 3 and 2 words, it is 7/3."""
    kept, result = filtered([AboveMean(), AboveMean()])
    assert kept == ["three three three"]
    assert [count.removed for count in result.counts] == [3, 2]
    assert filtered([AboveMean(), AboveMean()], size=100)[0] == kept


def test_among_other_filters() -> None:
    """Duplicates leave 1, 2, 3, 1 and 2 words, whose mean is 9/5."""
    kept, result = filtered([Duplicates(), AboveMean(), Duplicates("target")])
    assert kept == ["two two", "three three three", "six six"]
    assert [count.removed for count in result.counts] == [1, 2, 0]


def test_a_measure_that_needs_all_rows() -> None:
    """NIST is defined by the n-gram counts of all references; here, copies of the source."""
    kept, result = filtered([MeasureFilter(tertium.load("nist:info=corpus"), at_most=0.0)])
    assert len(kept) + result.counts[0].removed == len(TEXTS)


def test_rows_that_cannot_be_judged() -> None:
    with pytest.raises(InputError, match="row 5: five"):
        filtered([NoSix()])
    kept, result = filtered([NoSix(), AboveMean()], OnError.skip)
    assert kept == ["two two", "three three three"]
    assert (result.rows, result.bad) == (6, 1)
    assert result.messages == [
        "1 row could not be filtered and was skipped:",
        "  row 5: five",
    ]
    assert result.summary() == {
        "rows": 6,
        "kept": 2,
        "filters": [
            {"filter": "no-six", "removed": 1, "reasons": {"six": 1}},
            {"filter": "above-mean", "removed": 2, "reasons": {"too short": 2}},
        ],
    }


def test_everything_is_removed_before_the_last_filter() -> None:
    kept, result = filtered([MeasureFilter(tertium.load("chrf"), at_least=99), AboveMean()])
    assert kept == []
    assert [count.removed for count in result.counts] == [6, 0]


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_same_on_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also filters that need all rows, twice; and a run that is resumed."""
    import sys

    from tertium.errors import ClusterError
    from tertium.jobs.ray.cluster import ClusterSettings, import_ray
    from tertium.jobs.ray.run import run_on_cluster
    from tertium.jobs.ray.shards import ShardFolder

    try:
        module = import_ray()
    except ClusterError:
        pytest.skip("RAY IS NOT INSTALLED: nothing distributed is tested")
    module.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.chdir(tmp_path)
    Path("tgt.txt").write_text("\n".join(TEXTS) + "\n")
    Path("src.txt").write_text("x\n" * len(TEXTS))
    source = FilePairs(Path("tgt.txt"), (), Path("src.txt"), Languages(), bitext=True)
    filters = [NoSix(), Duplicates(), AboveMean(), AboveMean()]

    def plan(stream: io.StringIO) -> FilterPlan:
        sink = StreamSink(stream, source.columns)
        return FilterPlan(source, filters, sink, None, 2, OnError.skip)

    here, there = io.StringIO(), io.StringIO()
    expected = run_here(plan(here), KeptRows())
    cluster = ClusterSettings(workers=1)
    out = ShardFolder(tmp_path / "out.tsv", notes_only=True)

    class Stopped(io.StringIO):
        def write(self, text: str) -> int:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_on_cluster(plan(Stopped()), out, cluster)
    assert json.loads((tmp_path / "out.tsv.part" / "_tertium.json").read_text())
    again = ShardFolder(tmp_path / "out.tsv", resume=True, notes_only=True)
    found = run_on_cluster(plan(there), again, cluster)
    assert there.getvalue() == here.getvalue()
    assert found.summary() == expected.summary()
    assert found.resumed == len(TEXTS)
    assert not (tmp_path / "out.tsv.part").exists()
