"""What a comparison finds, measure by measure and pair by pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from tertium.data.systems import ParallelOutputs, Segment
from tertium.errors import InputError
from tertium.measures.signature import Signature
from tertium.stats.conventions import Interval, Tail

if TYPE_CHECKING:
    from tertium.stats.arrays import Floats

SEGMENTS_SHOWN = 10


@dataclass(frozen=True)
class Pair:
    """One system against another."""

    a: str
    b: str
    difference: float
    """The system score of a less that of b."""
    interval: Interval
    """Of the difference, by paired bootstrap."""
    bootstrap_p: float
    permutation_p: float
    wins: int
    """Segments on which a scores higher."""
    ties: int
    losses: int


@dataclass(frozen=True)
class Contrast:
    """A segment on which two systems differ."""

    segment: Segment
    a: float
    b: float

    @property
    def difference(self) -> float:
        return self.a - self.b


@dataclass(frozen=True)
class MeasureComparison:
    """What one measure says about all systems."""

    name: str
    signature: Signature
    scores: Mapping[str, float]
    """The system scores, best first."""
    intervals: Mapping[str, Interval]
    clusters: Sequence[Sequence[str]]
    """Systems that cannot be told apart, best first."""
    pairs: Sequence[Pair]
    """Every pair once, the better system first."""
    segment_scores: Floats = field(repr=False)
    """A row a system, in the order of ``Comparison.systems``; a column a segment."""
    cut: int = 0
    """How many outputs were too long for the model, so that only their beginning counted."""

    @property
    def best(self) -> str:
        """The system with the highest score."""
        return next(iter(self.scores))

    def pair(self, a: str, b: str) -> Pair:
        """The comparison of two systems, from the side of a."""
        for each in self.pairs:
            if (each.a, each.b) == (a, b):
                return each
            if (each.a, each.b) == (b, a):
                return turned(each)
        raise InputError(f"no pair {a!r}, {b!r}: the systems are {', '.join(self.scores)}")


@dataclass(frozen=True)
class Comparison:
    """Several systems, by several measures."""

    outputs: ParallelOutputs = field(repr=False)
    measures: Sequence[MeasureComparison]
    baseline: str | None
    samples: int
    seed: int
    alpha: float
    level: float
    tail: Tail
    """How the bootstrap's p was taken."""

    @property
    def systems(self) -> tuple[str, ...]:
        return self.outputs.systems

    def __getitem__(self, measure: str) -> MeasureComparison:
        for each in self.measures:
            if each.name == measure:
                return each
        raise KeyError(measure)

    def against(self, measure: str) -> str:
        """Whom the others are compared with: the baseline, or the best system by this measure."""
        return self.baseline or self[measure].best

    def closest_pair(self, measure: str) -> tuple[str, str]:
        """Who is worth a closer look: the best and the next, or the baseline and the best other."""
        scores = list(self[measure].scores)
        first = self.against(measure)
        return first, next(name for name in scores if name != first)

    def contrasts(
        self, measure: str, a: str, b: str, *, count: int = SEGMENTS_SHOWN
    ) -> list[Contrast]:
        """The segments on which a and b differ most: half with a ahead, then half with b ahead."""
        import numpy as np

        for name in (a, b):
            if name not in self.systems:
                raise InputError(f"no system {name!r}: there are {', '.join(self.systems)}")
        scores = self[measure].segment_scores
        first, second = scores[self.systems.index(a)], scores[self.systems.index(b)]
        differences = first - second
        order = np.argsort(-differences, kind="stable")
        ahead = [index for index in order if differences[index] > 0][: (count + 1) // 2]
        behind = [index for index in order[::-1] if differences[index] < 0][: count // 2]
        return [
            Contrast(self.outputs.segments[index], float(first[index]), float(second[index]))
            for index in [*ahead, *behind]
        ]

    def document(self, *, count: int = SEGMENTS_SHOWN) -> dict[str, Any]:
        """All of it as plain data, for JSON."""
        return {
            "systems": list(self.systems),
            "segments": len(self.outputs.segments),
            "baseline": self.baseline,
            "samples": self.samples,
            "seed": self.seed,
            "alpha": self.alpha,
            "tail": self.tail,
            "measures": {each.name: self._measure(each, count) for each in self.measures},
        }

    def _measure(self, found: MeasureComparison, count: int) -> dict[str, Any]:
        a, b = self.closest_pair(found.name)
        return {
            "signature": found.signature.long,
            "systems": {
                name: {
                    "score": score,
                    "low": found.intervals[name].low,
                    "high": found.intervals[name].high,
                }
                for name, score in found.scores.items()
            },
            "clusters": [list(cluster) for cluster in found.clusters],
            "pairs": [asdict(pair) for pair in found.pairs],
            "cut": found.cut,
            "contrasts": {
                "a": a,
                "b": b,
                "segments": [
                    {
                        "segment": each.segment.number,
                        "a": each.a,
                        "b": each.b,
                        "a_output": each.segment.outputs[self.systems.index(a)].text,
                        "b_output": each.segment.outputs[self.systems.index(b)].text,
                        "references": [text.text for text in each.segment.references],
                        "source": each.segment.source and each.segment.source.text,
                    }
                    for each in self.contrasts(found.name, a, b, count=count)
                ],
            },
        }


def turned(pair: Pair) -> Pair:
    """The same pair from the other side."""
    interval = pair.interval
    return Pair(
        a=pair.b,
        b=pair.a,
        difference=-pair.difference,
        interval=Interval(-interval.high, -interval.low, interval.level),
        bootstrap_p=pair.bootstrap_p,
        permutation_p=pair.permutation_p,
        wins=pair.losses,
        ties=pair.ties,
        losses=pair.wins,
    )
