"""Scores of judged outputs, for the correlation with human judgements.

NMTScore, section 5 (WebNLG, AMR: Kendall's tau-b, both directions, the best of several references,
Boot-Both) and Prism, section 4.5 (WMT: Kendall-like tau of relative rankings, Pearson's r of
systems, of all and of the best ones; quality estimation as a metric).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tertium.measures.base import Measure, check_readable
from tertium.measures.loading import MeasureSpec, ModelSource, make_measure
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
    rows_of,
)
from tertium.text import Row

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
        self.check(measure)
        return repr((sorted(measure.description().items()), self.both_directions))

    @property
    def both_directions(self) -> bool:
        """Whether both directions are reported separately, as for the measures of NMTScore."""
        measure = make_measure(self.spec, self.models, lang=self.judged.lang)
        return isinstance(measure, NMTScore) and "both_directions" not in self.spec.settings

    def make(self) -> Measure:
        """The measure, in one direction if both are reported."""
        spec = self.spec
        if self.against_source:
            spec = spec.with_defaults({"against": "source"})
        measure = make_measure(spec, self.models, lang=self.judged.lang)
        if isinstance(measure, NMTScore) and "both_directions" not in spec.settings:
            return replace(measure, both_directions=False)
        return measure

    def check(self, measure: Measure) -> None:
        """Refuse a set that lacks what the measure reads; nothing else takes its place."""
        for segment in self.judged.segments:
            check_readable(
                measure,
                f"{self.judged.name}, segment {segment.id},",
                has_references=bool(segment.references),
                has_source=segment.source is not None,
                cure="give them, or use --against-source" if segment.source is not None else "",
            )

    def counts(self, measure: Measure) -> list[int]:
        """With how many references each segment is compared; a source counts as one."""
        if "reference" not in measure.reads:
            return [1] * len(self.judged.segments)
        return [len(segment.references) for segment in self.judged.segments]

    def compute(self, progress: Progress | None, advance: Advance) -> Scored:
        measure = self.make()
        rows: list[Row] = []
        places: list[int] = []
        for place, segment in enumerate(self.judged.segments):
            for other in segment.references if "reference" in measure.reads else [None]:
                references = () if other is None else (other,)
                rows.append(Row(len(rows) + 1, segment.hypothesis, references, segment.source))
                places.append(place)
        parts: dict[str, list[object]] = {"forth": [], "back": [], "statistics": []}
        cut: set[int] = set()
        step = len(rows) if measure.needs_all_rows else ROWS_AT_A_TIME
        both = self.both_directions
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            result = measure.segments(some, progress)
            parts["forth"] += result.scores
            parts["statistics"] += map(list, result.statistics)
            marks = result.cut
            if both:
                swapped = [(measure.compared(row)[0], row.hypothesis) for row in some]
                back = measure.segments(rows_of(swapped, start + 1), progress)
                parts["back"] += back.scores
                marks = [one or other for one, other in zip(marks, back.cut, strict=True)]
            cut |= {places[start + place] for place, mark in enumerate(marks) if mark}
            advance(places[start + len(some) - 1] + 1)
        return Scored(parts, sorted(cut))

    def by_direction(self, scored: Scored) -> dict[str, MeasureScores]:
        """The scores of the segments, by measure and direction; of several references the best."""
        measure = self.make()
        counts = self.counts(measure)
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
