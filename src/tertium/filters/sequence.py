"""Filters one after another: each sees what those before it have left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tertium.errors import InputError
from tertium.filters.base import KEPT, Filter, Pair, Verdict
from tertium.filters.pieces import unit_for
from tertium.filters.registry import PRISM, filter_settings, load_filter
from tertium.models.base import Languages, Progress, per_row
from tertium.models.catalog import DEFAULT_MODEL
from tertium.text import Text, check_text

ROWS_AT_A_TIME = 4096
"""Rows that are judged, and saved, together."""


class Outcome(NamedTuple):
    """Which filter removed a pair (by its place; none if it was kept), and its verdict."""

    place: int | None = None
    verdict: Verdict = KEPT


def judge_in_turn(
    filters: Sequence[Filter], pairs: Sequence[Pair], progress: Progress | None = None
) -> list[Outcome]:
    """What becomes of each pair."""
    outcomes = [Outcome()] * len(pairs)
    alive = list(range(len(pairs)))
    for place, one in enumerate(filters):
        verdicts = one.judge([pairs[index] for index in alive], progress)
        for index, verdict in zip(alive, verdicts, strict=True):
            if not verdict.kept:
                outcomes[index] = Outcome(place, verdict)
        alive = [index for index in alive if outcomes[index].place is None]
    return outcomes


@dataclass
class Count:
    """What one filter did."""

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
    """A pair that was removed: its place, by which filter, why, and by which number."""

    row: int
    filter: str
    reason: str
    value: float | None


@dataclass(frozen=True)
class Filtered:
    """What is left, by the places of the pairs, and what became of the others."""

    kept: list[int]
    removed: list[Removal]
    counts: list[Count]


def filter_pairs(
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    source_lang: Languages = None,
    target_lang: Languages = None,
    filters: Sequence[str | Filter] = PRISM,
) -> Filtered:
    """Filter pairs of texts that are in memory; for files, see ``tertium filter``.

    Filters that are named have their defaults, and count in pieces of the bundled model if it has
    the languages, otherwise in words.

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
    if len(sources) != len(targets):
        raise InputError(f"{len(sources)} sources for {len(targets)} targets")
    langs = per_row(source_lang, len(sources)), per_row(target_lang, len(targets))
    pairs = [
        Pair(
            Text(check_text(source, role="source", row=row), langs[0][row - 1]),
            Text(check_text(target, role="target", row=row), langs[1][row - 1]),
        )
        for row, (source, target) in enumerate(zip(sources, targets, strict=True), start=1)
    ]
    unit = unit_for(DEFAULT_MODEL, list(dict.fromkeys([*langs[0], *langs[1]])))
    made = [
        load_filter(one, **({"unit": unit} if "unit" in filter_settings(one) else {}))
        if isinstance(one, str)
        else one
        for one in filters
    ]
    outcomes = judge_in_turn(made, pairs)
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
    """Count what each filter removed, and why."""
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
    """A number, or nothing."""
    return None if math.isnan(value) else value
