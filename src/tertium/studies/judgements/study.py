"""Scores of judged outputs, for the correlation with human judgements.

NMTScore, section 5 (WebNLG, AMR: Kendall's tau-b, both directions, the best of several references,
Boot-Both) and Prism, section 4.5 (WMT: Kendall-like tau of relative rankings, Pearson's r of
systems, of all and of the best ones; quality estimation as a metric).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tertium.errors import InputError
from tertium.measures.base import Measure
from tertium.measures.translation import NMTScore
from tertium.models.base import Progress
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.runner import (
    ROWS_AT_A_TIME,
    Advance,
    CellKey,
    Runner,
    Scored,
    SharedModels,
    choices,
    rows_of,
)
from tertium.studies.specs import MeasureSpec, ModelSource, make_measure
from tertium.text import Text

FORTH, BACK, BOTH = "hyp|ref", "ref|hyp", "both"


@dataclass(frozen=True)
class MeasureScores:
    """The scores that a measure, in one direction, gives the segments of a set."""

    segments: list[float]
    statistics: list[tuple[float, ...]] | None = None
    """Additive statistics for the score of a system; without them it is the mean."""
    system: Callable[[Sequence[float]], float] | None = None


ScoresByMeasure = Mapping[str, MeasureScores]


@dataclass
class JudgementStudy:
    """Measures over sets of judged outputs."""

    sets: Sequence[JudgedSet]
    specs: Sequence[MeasureSpec]
    against_source: bool = False
    """Compare with the source instead of the references: quality estimation as a metric."""
    models: ModelSource = field(default_factory=SharedModels)
    runner: Runner = field(default_factory=Runner)

    @property
    def size(self) -> int:
        """How many outputs there are to score, over all measures."""
        return len(self.specs) * sum(len(each.segments) for each in self.sets)

    def run(self) -> dict[str, ScoresByMeasure]:
        """Score all sets: by set, then by measure and direction."""
        jobs = [
            JudgedJob(judged, spec, self.against_source, self.models)
            for judged in self.sets
            for spec in self.specs
        ]
        scored = self.runner.run(jobs)
        self.runner.warn()
        scores: dict[str, dict[str, MeasureScores]] = {judged.name: {} for judged in self.sets}
        for job in jobs:
            key: CellKey = (job.dataset, job.measure)
            if key in scored:
                scores[job.dataset].update(job.by_direction(scored[key]))
        return dict(scores)


@dataclass(frozen=True)
class JudgedJob:
    """A cell: the outputs of a set, each compared with each of its references, or its source."""

    judged: JudgedSet
    spec: MeasureSpec
    against_source: bool
    models: ModelSource

    @property
    def dataset(self) -> str:
        return self.judged.name

    @property
    def measure(self) -> str:
        return str(self.spec)

    label = measure

    @property
    def rows(self) -> int:
        return len(self.judged.segments)

    @property
    def data(self) -> str:
        return self.judged.fingerprint

    def signature(self) -> str:
        measure = self.make()
        self.compared(measure)  # so that a missing text is reported before any work
        described = sorted(choices(measure).items())
        return repr((measure.name, described, self.both_directions, self.against_source))

    @property
    def both_directions(self) -> bool:
        """Whether both directions are reported separately, as for NMTScore's measures."""
        return "both_directions" not in self.spec.settings and isinstance(
            make_measure(self.spec, self.models, lang=self.judged.lang), NMTScore
        )

    def make(self) -> Measure:
        """The measure, in one direction if both are reported."""
        measure = make_measure(self.spec, self.models, lang=self.judged.lang)
        if isinstance(measure, NMTScore) and "both_directions" not in self.spec.settings:
            return replace(measure, both_directions=False)
        return measure

    def compared(self, measure: Measure) -> list[tuple[Text, ...]]:
        """What each segment is compared with: its references, or its source."""
        by_source = self.against_source or measure.compares_with == "source"
        texts = []
        for segment in self.judged.segments:
            other = segment.references
            if by_source:
                other = () if segment.source is None else (segment.source,)
            if not other:
                missing = "source" if by_source else "reference"
                cure = "" if by_source or segment.source is None else "; use --against-source"
                raise InputError(
                    f"{self.judged.name}, segment {segment.id}: there is no {missing} to compare "
                    f"it with, and {self.spec} needs one{cure}"
                )
            texts.append(other)
        return texts

    def compute(self, progress: Progress | None, advance: Advance) -> Scored:
        measure = self.make()
        pairs, places = [], []
        for place, texts in enumerate(self.compared(measure)):
            pairs += [(self.judged.segments[place].hypothesis, other) for other in texts]
            places += [place] * len(texts)
        parts: dict[str, list[object]] = {"forth": [], "back": [], "statistics": []}
        cut: set[int] = set()
        step = len(pairs) if measure.needs_all_rows else ROWS_AT_A_TIME
        for start in range(0, len(pairs), step):
            some = pairs[start : start + step]
            result = measure.segments(rows_of(some, start + 1), progress)
            parts["forth"] += result.scores
            parts["statistics"] += map(list, result.statistics)
            marks = result.cut
            if self.both_directions:
                swapped = [(b, a) for a, b in some]
                back = measure.segments(rows_of(swapped, start + 1), progress)
                parts["back"] += back.scores
                marks = [one or other for one, other in zip(marks, back.cut, strict=True)]
            cut |= {places[start + place] for place, mark in enumerate(marks) if mark}
            advance(places[start + len(some) - 1] + 1)
        return Scored(parts, sorted(cut))

    def by_direction(self, scored: Scored) -> dict[str, MeasureScores]:
        """The scores of the segments, by measure and direction; of several references the best."""
        measure = self.make()
        counts = [len(texts) for texts in self.compared(measure)]
        forth, back = scored.parts["forth"], scored.parts["back"]
        single = max(counts) == 1
        natural = MeasureScores(
            _best(forth, counts),
            [tuple(each) for each in scored.parts["statistics"]] if single else None,
            measure.system if single else None,
        )
        if not back:
            return {self.measure: natural}
        means = [(x + y) / 2 for x, y in zip(forth, back, strict=True)]
        return {
            f"{self.measure} {FORTH}": natural,
            f"{self.measure} {BACK}": MeasureScores(_best(back, counts)),
            f"{self.measure} {BOTH}": MeasureScores(_best(means, counts)),
        }


def _best(scores: Sequence[float], counts: Sequence[int]) -> list[float]:
    """The best score of each segment, over its references."""
    each = iter(scores)
    return [max(next(each) for _ in range(count)) for count in counts]
