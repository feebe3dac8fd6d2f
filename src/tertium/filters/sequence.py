"""Filters applied in sequence: each judges the pairs that the previous ones have kept."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tertium.errors import InputError
from tertium.filters.base import KEPT, Filter, Verdict
from tertium.filters.registry import PRISM, filter_settings, load_filter
from tertium.filters.units import unit_for
from tertium.measures.inputs import repeatable
from tertium.models.base import Languages, Progress, per_row
from tertium.models.catalog import DEFAULT_MODEL
from tertium.report.progress import as_progress
from tertium.report.tables import data_frame
from tertium.text import Row, Text, check_text


class Outcome(NamedTuple):
    """The index of the filter that removed a pair (None if it was kept), and its verdict."""

    place: int | None = None
    verdict: Verdict = KEPT


def judge_in_turn(
    filters: Sequence[Filter], rows: Sequence[Row], progress: Progress | None = None
) -> list[Outcome]:
    """Apply the filters to the rows; the outcome of each row, in order."""
    outcomes = [Outcome()] * len(rows)
    alive = list(range(len(rows)))
    for place, one in enumerate(filters):
        verdicts = one.judge([rows[index] for index in alive], progress)
        for index, verdict in zip(alive, verdicts, strict=True):
            if not verdict.kept:
                outcomes[index] = Outcome(place, verdict)
        alive = [index for index in alive if outcomes[index].place is None]
    return outcomes


@dataclass
class Count:
    """How many pairs one filter received, and how many it removed for each reason."""

    filter: str
    before: int
    reasons: dict[str, int] = field(default_factory=dict)

    @property
    def removed(self) -> int:
        return sum(self.reasons.values())

    @property
    def after(self) -> int:
        return self.before - self.removed


class Removal(NamedTuple):
    """A removed pair: its index, the filter, the reason, and the value that was compared."""

    row: int
    filter: str
    reason: str
    value: float | None


@dataclass(frozen=True)
class Filtered:
    """The indices of the kept pairs, the removed pairs, and the counts of each filter."""

    kept: list[int]
    removed: list[Removal]
    counts: list[Count]

    def to_pandas(self) -> Any:
        """A data frame with one row per pair: whether it is kept, and why it is not."""
        rows: dict[int, dict[str, Any]] = {
            place: {"kept": True, "filter": None, "reason": None} for place in self.kept
        }
        for each in self.removed:
            rows[each.row] = {"kept": False, "filter": each.filter, "reason": each.reason}
        return data_frame(rows[place] for place in sorted(rows))


def filter_pairs(
    sources: Iterable[str],
    targets: Iterable[str],
    *,
    source_lang: Languages = None,
    target_lang: Languages = None,
    filters: Sequence[str | Filter] = PRISM,
    progress: bool | Progress | None = None,
) -> Filtered:
    """Filter sentence pairs in memory; for files, see ``tertium filter``.

    The texts are lists, generators, or columns of pandas or polars. Filters given by name have
    their default settings. They count tokens of the bundled model if it supports the languages,
    otherwise words.

    >>> import tertium
    >>> found = tertium.filter_pairs(
    ...     ["Guten Morgen, Herr Weber!", "Guten Morgen!"],
    ...     ["Good morning, Mr. Weber!", ""],
    ...     source_lang="de",
    ...     target_lang="en",
    ...     filters=["length", "overlap"],
    ... )
    >>> found.kept, found.removed
    ([0], [Removal(row=1, filter='length', reason='target too short', value=0.0)])
    """
    first, second = repeatable(sources), repeatable(targets)
    if len(first) != len(second):
        raise InputError(f"{len(first)} sources for {len(second)} targets")
    langs = per_row(source_lang, len(first)), per_row(target_lang, len(second))
    rows = [
        Row.pair(
            Text(check_text(source, role="source", row=row), langs[0][row - 1]),
            Text(check_text(target, role="target", row=row), langs[1][row - 1]),
            row,
        )
        for row, (source, target) in enumerate(zip(first, second, strict=True), start=1)
    ]
    unit = unit_for(DEFAULT_MODEL, list(dict.fromkeys([*langs[0], *langs[1]])))
    made = [
        load_filter(one, **({"unit": unit} if "unit" in filter_settings(one) else {}))
        if isinstance(one, str)
        else one
        for one in filters
    ]
    outcomes = judge_in_turn(made, rows, as_progress(progress))
    removed = [
        Removal(index, made[place].name, verdict.reason, number(verdict.value))
        for index, (place, verdict) in enumerate(outcomes)
        if place is not None
    ]
    return Filtered(
        [index for index, outcome in enumerate(outcomes) if outcome.place is None],
        removed,
        count(made, outcomes),
    )


def count(filters: Sequence[Filter], outcomes: Sequence[Outcome]) -> list[Count]:
    """Count the pairs that each filter removed, by reason."""
    counts: list[Count] = []
    left = len(outcomes)
    for place, one in enumerate(filters):
        tally = Count(one.name, left)
        for outcome in outcomes:
            if outcome.place == place:
                reason = outcome.verdict.reason
                tally.reasons[reason] = tally.reasons.get(reason, 0) + 1
        counts.append(tally)
        left = tally.after
    return counts


def number(value: float) -> float | None:
    """The value, or None if there is none."""
    return None if math.isnan(value) else value
