"""Filters by what a text holds: numbers, markup, or what a regular expression matches."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tertium.errors import SettingError
from tertium.filters.base import KEPT, Filter, Verdict
from tertium.models.base import Progress
from tertium.text import Row

NUMBER = re.compile(r"\d+")
MARKUP = re.compile(
    r"</?([a-z][\w-]*)[^<>]*>"  # tags
    r"|&(?:\w+|\#\d+);"  # entities
    r"|\{\{|\}\}|\[\[|\]\]",  # wiki
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Numbers(Filter):
    """Keeps pairs whose numbers are the same, at least in the share ``same`` of all.

    Numbers are runs of digits, in any order: 1,234.5 and 1.234,5 are the same.

    >>> from tertium.text import Row, Text
    >>> pairs = [("3 Katzen", "3 cats"), ("1,5 von 20", "1.5 of 30")]
    >>> [each.reason for each in Numbers().judge([Row.pair(*map(Text, pair)) for pair in pairs])]
    ['', 'other numbers']
    """

    same: float = 1.0

    name: ClassVar[str] = "numbers"
    reasons: ClassVar[tuple[str, ...]] = ("other numbers",)

    def __post_init__(self) -> None:
        if not 0 <= self.same <= 1:
            raise SettingError(f"same={self.same!r}: it must be from 0 to 1")

    def judge(self, rows: Sequence[Row], progress: Progress | None = None) -> list[Verdict]:
        return [self._verdict(*(text.text for text in row.sides)) for row in rows]

    def _verdict(self, source: str, target: str) -> Verdict:
        a, b = (Counter(NUMBER.findall(text)) for text in (source, target))
        most = max(a.total(), b.total())
        share = (a & b).total() / most if most else 1.0
        return KEPT if share >= self.same else Verdict("other numbers", share)


@dataclass(frozen=True)
class Markup(Filter):
    """Keeps pairs whose tags and entities are the same on both sides or, with ``none``, without.

    >>> from tertium.text import Row, Text
    >>> pairs = [("<b>Ja</b>", "<b>Yes</b>"), ("Ja&nbsp;", "Yes")]
    >>> [each.reason for each in Markup().judge([Row.pair(*map(Text, pair)) for pair in pairs])]
    ['', 'other markup']
    """

    none: bool = False

    name: ClassVar[str] = "markup"
    reasons: ClassVar[tuple[str, ...]] = ("other markup", "markup")

    def judge(self, rows: Sequence[Row], progress: Progress | None = None) -> list[Verdict]:
        return [self._verdict(*(text.text for text in row.sides)) for row in rows]

    def _verdict(self, source: str, target: str) -> Verdict:
        a, b = (
            Counter((found[1] or found[0]).lower() for found in MARKUP.finditer(text))
            for text in (source, target)
        )
        if self.none and (a or b):
            return Verdict("markup", float(a.total() + b.total()))
        other = (a - b).total() + (b - a).total()
        return Verdict("other markup", float(other)) if other else KEPT


@dataclass(frozen=True)
class Pattern(Filter):
    """Removes pairs in which a regular expression matches the source, the target, or either.

    >>> from tertium.text import Row, Text
    >>> pairs = [("Ja", "Yes"), ("Siehe http://a.de", "See http://a.de")]
    >>> rows = [Row.pair(*map(Text, pair)) for pair in pairs]
    >>> [each.reason for each in Pattern("https?://").judge(rows)]
    ['', 'source matches']
    """

    expression: str = ""
    side: str = "either"

    name: ClassVar[str] = "pattern"
    reasons: ClassVar[tuple[str, ...]] = ("source matches", "target matches")

    def __post_init__(self) -> None:
        if self.side not in ("source", "target", "either"):
            raise SettingError(f"side={self.side!r}: it must be source, target or either")
        if not self.expression:
            raise SettingError(
                "the filter pattern needs a regular expression: pattern.expression=REGEX"
            )
        try:
            re.compile(self.expression)
        except re.error as error:
            raise SettingError(f"expression={self.expression!r}: {error}") from None

    def judge(self, rows: Sequence[Row], progress: Progress | None = None) -> list[Verdict]:
        matches = re.compile(self.expression).search
        verdicts = []
        for row in rows:
            verdict = KEPT
            for side, text in zip(("source", "target"), row.sides, strict=True):
                if self.side in (side, "either") and matches(text.text):
                    verdict = Verdict(f"{side} matches", 1.0)
                    break
            verdicts.append(verdict)
        return verdicts
