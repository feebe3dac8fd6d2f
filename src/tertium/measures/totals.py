"""Signatures, and sums over rows with the facts that a signature needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tertium._version import __version__
from tertium.text import Row

if TYPE_CHECKING:
    from tertium.measures.base import Segments


ABBREVIATIONS = {
    "measure": "m",
    "model": "mod",
    "fingerprint": "fp",
    "precision": "p",
    "engine": "eng",
    "normalized": "norm",
    "directions": "dir",
    "base": "b",
    "aggregate": "agg",
    "pivot_lang": "piv",
    "target_lang": "tgt",
    "beam_size": "beam",
    "lang": "l",
    "reference_lang": "rl",
    "source_lang": "sl",
    "nrefs": "#",
    "references": "refs",
    "against": "vs",
    "case": "c",
    "tok": "tok",
    "smooth": "s",
    "version": "v",
}
"""Short names for the fields, as in sacrebleu's signatures."""
FINGERPRINT_DIGITS = 12
MIXED = "mixed"
"""What a signature says where rows or systems differ."""


@dataclass(frozen=True)
class Signature:
    """Every choice that can change the number, in order.

    >>> signature = Signature({"measure": "direct", "base": "e"})
    >>> print(signature)
    measure:direct|base:e|version:...
    >>> signature.short
    'm:direct|b:e|v:...'
    """

    choices: Mapping[str, str]

    @classmethod
    def common(cls, signatures: Sequence[Signature]) -> Signature:
        """The signature of several systems together; where they differ, it says ``mixed``.

        >>> Signature.common([Signature({"lang": "de"}), Signature({"lang": "en"})]).choices
        {'lang': 'mixed'}
        """
        first = signatures[0].choices
        return cls(
            {
                name: value
                if all(each.choices.get(name) == value for each in signatures)
                else MIXED
                for name, value in first.items()
            }
        )

    @property
    def long(self) -> str:
        """The signature with its fields written out."""
        return "|".join(f"{name}:{value}" for name, value in self._fields())

    @property
    def short(self) -> str:
        """The signature with its fields abbreviated."""
        return "|".join(
            f"{ABBREVIATIONS.get(name, name)}:{value}" for name, value in self._fields()
        )

    def __str__(self) -> str:
        return self.long

    def _fields(self) -> Iterator[tuple[str, str]]:
        yield from self.choices.items()
        yield "version", __version__


def spell(value: object) -> str:
    """Write a setting the way signatures do.

    >>> spell(True), spell(5), spell("e")
    ('yes', '5', 'e')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


Role = Literal["reference", "source"]
"""What a hypothesis may be compared with."""
UNKNOWN = "unknown"


@dataclass
class Totals:
    """The running sum of a measure's statistics, and what a signature must say about the rows.

    It is small and plain, so that a run can save it and be resumed, and workers can send it.
    """

    sums: list[list[float]] = field(default_factory=list)
    """Of each statistic the exact sum, as :func:`exact_sum` gives it."""
    rows: int = 0
    cut: int = 0
    split: int = 0
    """Rows with a text that was split, because it is longer than the model reads."""
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def statistics(self) -> list[float]:
        """The sums, each rounded once."""
        return [parts[0] if parts else 0.0 for parts in self.sums]

    @classmethod
    def of_statistics(cls, statistics: Sequence[Sequence[float]]) -> Totals:
        """The sums over some rows, of which nothing else is known."""
        totals = cls(rows=len(statistics))
        totals._add_to_sums([list(column) for column in zip(*statistics, strict=True)])
        return totals

    def less(self, other: Totals) -> list[float]:
        """The sums without some of the rows."""
        return [
            math.fsum([*own, *(-part for part in parts)])
            for own, parts in zip(self.sums, other.sums, strict=True)
        ]

    def add(self, rows: Sequence[Row], segments: Segments, reads: Sequence[Role]) -> None:
        """Add some rows; ``reads`` is what the measure compares the hypotheses with."""
        self._add_to_sums([list(column) for column in zip(*segments.statistics, strict=True)])
        for row in rows:
            self._note("lang", row.hypothesis.lang or UNKNOWN)
            if "reference" in reads:
                for reference in row.references:
                    self._note("reference_lang", reference.lang or UNKNOWN)
                self._note("nrefs", str(len(row.references)))
            if "source" in reads and row.source is not None:
                self._note("source_lang", row.source.lang or UNKNOWN)
        self.rows += len(rows)
        self.cut += sum(segments.cut)
        self.split += sum(segments.split)

    def merge(self, other: Totals) -> None:
        """Add the totals of other rows."""
        self._add_to_sums(other.sums)
        for fact, value in other.facts.items():
            self._note(fact, value)
        self.rows += other.rows
        self.cut += other.cut
        self.split += other.split

    def _add_to_sums(self, more: Sequence[Sequence[float]]) -> None:
        before: Sequence[Sequence[float]] = self.sums or [()] * len(more)
        if more:
            pairs = zip(before, more, strict=True)
            self.sums = [exact_sum([*parts, *added]) for parts, added in pairs]

    def _note(self, fact: str, value: str) -> None:
        if self.facts.setdefault(fact, value) != value:
            self.facts[fact] = MIXED


def exact_sum(numbers: Iterable[float]) -> list[float]:
    """Sum without any rounding: the nearest float first, then what that leaves over, and so on.

    >>> exact_sum([1e16, 1.0, 1.0, 1.0])
    [1.0000000000000004e+16, -1.0]
    >>> exact_sum([])
    []
    """
    left = list(numbers)
    parts: list[float] = []
    while part := math.fsum(left):
        parts.append(part)
        if not math.isfinite(part):
            break
        left.append(-part)
    return parts
