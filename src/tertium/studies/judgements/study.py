"""Scores of judged outputs, for the correlation with human judgements.

NMTScore, section 5 (WebNLG, AMR: Kendall's tau-b, both directions, the best of several references,
Boot-Both) and Prism, section 4.5 (WMT: Kendall-like tau of relative rankings, Pearson's r of
systems, of all and of the best ones; quality estimation as a metric).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tertium.jobs.task import NO_PROGRESS, JobProgress
from tertium.measures.base import Measure, check_readable
from tertium.measures.loading import MeasureSpec, ModelSource, make_measure
from tertium.measures.totals import Signature
from tertium.measures.translation import NMTScore
from tertium.models.base import Progress
from tertium.studies.judgements.self_preference import own_set
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.runner import (
    Advance,
    Job,
    Runner,
    Scored,
    SharedModels,
    fingerprint,
    rows_of,
    score_alone,
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
    systems: Mapping[str, float] = field(default_factory=dict)
    """Scores of systems that were submitted; they are not resampled."""


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
    own_translations: bool = False
    """Also score what the translation model itself makes of the sources."""

    @property
    def size(self) -> int:
        """How many outputs there are to score, over all measures."""
        own = sum(each.inputs for each in self.sets) if self.own_translations else 0
        return len(self.specs) * (sum(len(each.segments) for each in self.sets) + own)

    def run(self) -> dict[str, ScoresByMeasure]:
        """Score all sets: by set, then by measure and direction."""
        sets = list(self.sets)
        if self.own_translations:
            model = self.models("translation", None, None)
            sets += [own_set(judged, model, self.runner.progress) for judged in self.sets]
        cells = [
            JudgedCell.make(judged, spec, self.against_source, self.models)
            for judged in sets
            for spec in self.specs
        ]
        jobs = [cell.job() for cell in cells]
        scored = self.runner.run(jobs)
        self.runner.warn()
        scores: dict[str, dict[str, MeasureScores]] = {judged.name: {} for judged in sets}
        for cell, job in zip(cells, jobs, strict=True):
            if job.key in scored:
                scores[job.dataset].update(cell.by_direction(scored[job.key]))
        return dict(scores)


@dataclass(frozen=True)
class JudgedCell:
    """The outputs of a set, each compared with each of its references, or with its source."""

    judged: JudgedSet
    name: str
    measure: Measure
    both: bool
    """Whether both directions are reported separately, as for the measures of NMTScore."""

    @classmethod
    def make(
        cls, judged: JudgedSet, spec: MeasureSpec, against_source: bool, models: ModelSource
    ) -> JudgedCell:
        """Make the measure, and refuse a set that lacks what it reads."""
        name = str(spec)
        if against_source:
            spec = spec.with_defaults({"against": "source"})
        measure = make_measure(spec, models, lang=judged.lang)
        both = isinstance(measure, NMTScore) and "both_directions" not in spec.settings
        if isinstance(measure, NMTScore) and both:
            measure = replace(measure, both_directions=False)
        for segment in judged.segments:
            check_readable(
                measure,
                f"{judged.name}, segment {segment.id},",
                has_references=bool(segment.references),
                has_source=segment.source is not None,
                cure="use {against_source:True}" if segment.source is not None else "",
            )
        return cls(judged, name, measure, both)

    def job(self) -> Job:
        """The cell as the runner computes it."""
        signature = repr((sorted(self.measure.description().items()), self.both))
        texts = [[each.hypothesis, each.references, each.source] for each in self.judged.segments]
        rows = len(self.judged.segments)
        data = fingerprint(texts)
        shown = Signature(self.measure.description()).short
        return Job(self.judged.name, self.name, signature, data, rows, self.compute, shown=shown)

    def compute(self, progress: Progress | None, advance: Advance) -> Scored:
        """Score every output, one way or both."""
        measure = self.measure
        rows: list[Row] = []
        places: list[int] = []
        for place, segment in enumerate(self.judged.segments):
            for other in segment.references if "reference" in measure.reads else [None]:
                references = () if other is None else (other,)
                rows.append(Row(len(rows) + 1, segment.hypothesis, references, segment.source))
                places.append(place)
        ways = JobProgress(
            lambda done: advance(places[done - 1] + 1), progress or NO_PROGRESS.detail
        )
        forth = score_alone(measure, rows, ways)
        parts: dict[str, list[Any]] = {
            "forth": forth.segments,
            "back": [],
            "statistics": [list(each) for each in forth.statistics],
        }
        marks = forth.cut
        if self.both:
            swapped = rows_of([(measure.compared(row)[0], row.hypothesis) for row in rows])
            back = score_alone(measure, swapped, ways)
            parts["back"] = back.segments
            marks = [one or other for one, other in zip(marks, back.cut, strict=True)]
        cut = {place for place, mark in zip(places, marks, strict=True) if mark}
        return Scored(parts, sorted(cut))

    def by_direction(self, scored: Scored) -> dict[str, MeasureScores]:
        """The scores of the segments, by measure and direction; of several references the best.

        Each direction has its own best one, and ``both`` is the mean of the two, as in the authors'
        code (``references=max-each-way``).
        """
        counts = [1] * len(self.judged.segments)
        if "reference" in self.measure.reads:
            counts = [len(segment.references) for segment in self.judged.segments]
        forth, back = scored.parts["forth"], scored.parts["back"]
        single = max(counts) == 1
        natural = MeasureScores(
            _best(forth, counts),
            [tuple(each) for each in scored.parts["statistics"]] if single else None,
            self.measure.system if single else None,
        )
        if not self.both:
            return {self.name: natural}
        backwards = _best(back, counts)
        means = [(x + y) / 2 for x, y in zip(natural.segments, backwards, strict=True)]
        return {
            f"{self.name} {FORTH}": natural,
            f"{self.name} {BACK}": MeasureScores(backwards),
            f"{self.name} {BOTH}": MeasureScores(means),
        }


def _best(scores: Sequence[float], counts: Sequence[int]) -> list[float]:
    """The best score of each segment, over its references."""
    each = iter(scores)
    return [max(next(each) for _ in range(count)) for count in counts]
