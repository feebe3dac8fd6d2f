"""The result of a comparison, for each measure and each pair of systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tertium.data.records import counted
from tertium.data.systems import SystemOutputs
from tertium.errors import InputError
from tertium.measures.totals import Signature
from tertium.report.tables import Cell, Table
from tertium.stats.conventions import Interval, Tail
from tertium.text import Row

if TYPE_CHECKING:
    from tertium.stats.arrays import Floats

SEGMENTS_SHOWN = 10
TABLE_HEADER = ("system", "measure", "rank", "score", "low", "high", "diff", "p boot", "p perm")


@dataclass(frozen=True)
class SystemPair:
    """One system compared with another."""

    a: str
    b: str
    difference: float
    """The system score of a minus that of b."""
    interval: Interval
    """Confidence interval of the difference, from the paired bootstrap."""
    bootstrap_p: float
    permutation_p: float
    wins: int
    """Segments on which a scores higher."""
    ties: int
    losses: int

    def swapped(self) -> SystemPair:
        """Return the same pair with b first."""
        interval = self.interval
        return SystemPair(
            a=self.b,
            b=self.a,
            difference=-self.difference,
            interval=Interval(-interval.high, -interval.low, interval.level),
            bootstrap_p=self.bootstrap_p,
            permutation_p=self.permutation_p,
            wins=self.losses,
            ties=self.ties,
            losses=self.wins,
        )


@dataclass(frozen=True)
class Contrast:
    """A segment on which two systems differ: their rows, and their scores."""

    rows: tuple[Row, Row]
    a: float
    b: float

    @property
    def segment(self) -> Row:
        """What both rows share: number, references and source."""
        return self.rows[0]

    @property
    def difference(self) -> float:
        return self.a - self.b


@dataclass(frozen=True)
class MeasureComparison:
    """All systems compared with one measure."""

    name: str
    signature: Signature
    scores: Mapping[str, float]
    """The system scores, best first."""
    intervals: Mapping[str, Interval]
    clusters: Sequence[Sequence[str]]
    """Groups of systems with the same rank, best first."""
    pairs: Sequence[SystemPair]
    """Every pair once, the better system first."""
    segment_scores: Floats = field(repr=False)
    """Shape (systems, segments), in the order of ``Comparison.systems``."""
    cut: int = 0
    """How many outputs were too long for the model, so that only their beginning was scored."""
    marks: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """For each mark, how many outputs of each system have it (:mod:`tertium.measures.marks`)."""
    identified: Mapping[str, int] = field(default_factory=dict)
    """Identified languages of outputs without a given language, and how many are in each."""
    warnings: Sequence[str] = ()
    """What is wrong with the texts of a system as a whole: their languages."""
    without: Mapping[str, str] = field(default_factory=dict)
    """Of systems with many outputs whose scores say nothing: what the score is without these, as a
    sentence; empty if none is left."""
    decimals: int | None = None
    """How many decimals to show, if they are not the default."""

    def label(self, system: str) -> str:
        """The name of a system, with a question mark if many of its scores say nothing."""
        return f"{system} (?)" if system in self.without else system

    @property
    def best(self) -> str:
        """The system with the highest score."""
        return next(iter(self.scores))

    @property
    def digits(self) -> int:
        """How many decimals to show: by default two for scores up to 100, four up to 1."""
        if self.decimals is not None:
            return self.decimals
        return 2 if max(abs(score) for score in self.scores.values()) >= 10 else 4

    def pair(self, a: str, b: str) -> SystemPair:
        """The comparison of a with b."""
        for each in self.pairs:
            if (each.a, each.b) == (a, b):
                return each
            if (each.a, each.b) == (b, a):
                return each.swapped()
        raise InputError(f"no pair {a!r}, {b!r}: the systems are {', '.join(self.scores)}")


@dataclass(frozen=True)
class Comparison:
    """Several systems compared with several measures."""

    outputs: SystemOutputs = field(repr=False)
    measures: Sequence[MeasureComparison]
    baseline: str | None
    samples: int
    seed: int
    alpha: float
    level: float
    tail: Tail
    """How the p-value of the bootstrap was computed."""

    @property
    def systems(self) -> tuple[str, ...]:
        return self.outputs.systems

    def label(self, system: str) -> str:
        """The name of a system, with a question mark if many scores by some measure say nothing."""
        return max((measure.label(system) for measure in self.measures), key=len)

    @property
    def smallest_p(self) -> float:
        """The smallest p-value that is possible with so many samples and segments.

        One of n samples can at best be extreme by chance, and of the 2^n ways to swap n segments,
        two (none, and all) give the observed difference.
        """
        return max(1 / (self.samples + 1), 2.0 ** (1 - self.outputs.count))

    @property
    def caution(self) -> str:
        """Why no difference can be significant; empty if one can."""
        if self.smallest_p < self.alpha:
            return ""
        if 1 / (self.samples + 1) >= self.alpha:
            few = counted(self.samples, "sample")
            cure = f"use at least {math.floor(1 / self.alpha)} samples"
        else:
            few = counted(self.outputs.count, "segment")
            cure = "use a larger test set"
        return (
            f"No difference can be significant: with {few}, p is at least "
            f"{self.smallest_p:.3f}, and the significance level is {self.alpha:g}; {cure}."
        )

    def __getitem__(self, measure: str) -> MeasureComparison:
        for each in self.measures:
            if each.name == measure:
                return each
        raise KeyError(measure)

    def against(self, measure: str) -> str:
        """What the others are compared with: the baseline, or the best system by this measure."""
        return self.baseline or self[measure].best

    def closest_pair(self, measure: str) -> tuple[str, str]:
        """The pair to show in detail: the best two systems, or the baseline and the best other."""
        scores = list(self[measure].scores)
        first = self.against(measure)
        return first, next(name for name in scores if name != first)

    def contrasts(
        self, measure: str, a: str, b: str, *, count: int = SEGMENTS_SHOWN
    ) -> list[Contrast]:
        """The segments that differ most, largest difference first; a scores higher on half."""
        import numpy as np

        for name in (a, b):
            if name not in self.systems:
                raise InputError(f"no system {name!r}: the systems are {', '.join(self.systems)}")
        scores = self[measure].segment_scores
        rows = self.outputs.rows[a], self.outputs.rows[b]
        first, second = scores[self.systems.index(a)], scores[self.systems.index(b)]
        differences = first - second
        order = np.argsort(-differences, kind="stable")
        higher = [index for index in order if differences[index] > 0][: (count + 1) // 2]
        lower = [index for index in order[::-1] if differences[index] < 0][: count // 2]
        return [
            Contrast((rows[0][index], rows[1][index]), float(first[index]), float(second[index]))
            for index in sorted([*higher, *lower], key=lambda index: -abs(differences[index]))
        ]

    def with_digits(self, digits: int | None) -> Comparison:
        """The same, with other decimals of scores when it is printed; None is the default."""
        return replace(self, measures=[replace(each, decimals=digits) for each in self.measures])

    def table(self) -> Table:
        """One row per measure and system, best first, each compared with the best or baseline."""
        rows = []
        for measure in self.measures:
            format_, against = f".{measure.digits}f", self.against(measure.name)
            for rank, cluster in enumerate(measure.clusters, start=1):
                for name in cluster:
                    interval = measure.intervals[name]
                    row = [
                        Cell(measure.label(name), bold=rank == 1),
                        Cell(measure.name),
                        Cell(rank),
                    ]
                    row += [
                        Cell(number, format_)
                        for number in (measure.scores[name], interval.low, interval.high)
                    ]
                    if name == against:
                        row += [Cell(None)] * 3
                    else:
                        pair = measure.pair(name, against)
                        row.append(Cell(pair.difference, f"+{format_}"))
                        row += [Cell(p, ".3f") for p in (pair.bootstrap_p, pair.permutation_p)]
                    rows.append(row)
        note = ". ".join(f"{each.name}: {each.signature.short}" for each in self.measures)
        return Table(TABLE_HEADER, rows, note=note)

    def _repr_html_(self) -> str:
        return self.table().html()

    def document(self, *, count: int = SEGMENTS_SHOWN) -> dict[str, Any]:
        """The whole result as plain data, for JSON."""
        return {
            "systems": list(self.systems),
            "left_out": list(self.outputs.left_out),
            "unpaired": dict(self.outputs.unpaired),
            "segments": self.outputs.count,
            "baseline": self.baseline,
            "samples": self.samples,
            "seed": self.seed,
            "alpha": self.alpha,
            "tail": self.tail,
            "caution": self.caution or None,
            "measures": {each.name: self._measure(each, count) for each in self.measures},
        }

    def _measure(self, measure: MeasureComparison, count: int) -> dict[str, Any]:
        a, b = self.closest_pair(measure.name)
        return {
            "signature": measure.signature.long,
            "systems": {
                name: {
                    "score": score,
                    "low": measure.intervals[name].low,
                    "high": measure.intervals[name].high,
                }
                for name, score in measure.scores.items()
            },
            "clusters": [list(cluster) for cluster in measure.clusters],
            "pairs": [asdict(pair) for pair in measure.pairs],
            "cut": measure.cut,
            "marks": {mark: dict(counts) for mark, counts in measure.marks.items()},
            "warnings": list(measure.warnings),
            "without_meaningless": dict(measure.without),
            "contrasts": {
                "a": a,
                "b": b,
                "segments": [
                    {
                        "segment": each.segment.number,
                        "a": each.a,
                        "b": each.b,
                        "a_output": each.rows[0].hypothesis.text,
                        "b_output": each.rows[1].hypothesis.text,
                        "references": [text.text for text in each.segment.references],
                        "source": each.segment.source and each.segment.source.text,
                    }
                    for each in self.contrasts(measure.name, a, b, count=count)
                ],
            },
        }
