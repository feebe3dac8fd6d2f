"""How far do measures agree with people? Correlation at the level of segments and of systems.

NMTScore, section 5 (WebNLG, AMR: Kendall's tau-b, both directions, the best of several references,
Boot-Both) and Prism, section 4.5 (WMT: Kendall-like tau of relative rankings, Pearson's r of the
systems, also of the best ones alone; quality estimation as a metric).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tertium.errors import DataWarning, InputError, LanguageError
from tertium.measures.base import Measure
from tertium.measures.signature import spell
from tertium.measures.translation import NMTScore
from tertium.models.base import Progress
from tertium.models.catalog import DEFAULT_MODEL
from tertium.studies.cells import CellFolder, Scored
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.specs import MeasureSpec, ModelLoader, load_any
from tertium.text import Row, Text

FORTH, BACK, BOTH = "hyp|ref", "ref|hyp", "both"
ROWS_AT_A_TIME = 1024


@dataclass(frozen=True)
class MeasureScores:
    """What a measure, in one direction, gives the segments of a set."""

    segments: list[float]
    statistics: list[tuple[float, ...]] | None = None
    """Numbers that add up to the score of a system; without them it is the mean."""
    system: Callable[[Sequence[float]], float] | None = None


ScoresByMeasure = Mapping[str, MeasureScores]


@dataclass
class JudgementStudy:
    """Measures over sets of judged outputs; ``cells`` keeps what is done."""

    sets: Sequence[JudgedSet]
    specs: Sequence[MeasureSpec]
    against_source: bool = False
    """Compare with the source even where there is a reference: quality estimation as a metric."""
    model: str = DEFAULT_MODEL
    cells: CellFolder | None = None
    load_model: ModelLoader = load_any
    progress: Progress | None = None
    advance: Callable[[int], None] | None = None
    done: int = field(default=0, init=False)
    reused: int = field(default=0, init=False)

    @property
    def size(self) -> int:
        """How many outputs there are to score, over all measures."""
        return len(self.specs) * sum(len(each.segments) for each in self.sets)

    def run(self) -> dict[str, ScoresByMeasure]:
        """Score all sets: by set, then by measure and direction."""
        return {each.name: self._score_set(each) for each in self.sets}

    def _score_set(self, judged: JudgedSet) -> ScoresByMeasure:
        found: dict[str, MeasureScores] = {}
        for spec in self.specs:
            try:
                found.update(self._score(judged, spec))
            except LanguageError as error:
                warnings.warn(
                    f"{spec} is left out of {judged.name}: {error}", DataWarning, stacklevel=2
                )
            self.done += len(judged.segments)
            if self.advance is not None:
                self.advance(self.done)
        return found

    def _score(self, judged: JudgedSet, spec: MeasureSpec) -> dict[str, MeasureScores]:
        measure = spec.make(judged.lang, self.load_model, self.model)
        both = isinstance(measure, NMTScore) and "both_directions" not in spec.settings
        if isinstance(measure, NMTScore) and both:
            measure = replace(measure, both_directions=False)
        others = [self._compared(measure, judged, place) for place in range(len(judged.segments))]
        scored = self._scored(judged, spec, measure, others, both)
        counts = [len(texts) for texts in others]
        forth, back = scored.parts["forth"], scored.parts["back"]
        single = max(counts) == 1
        natural = MeasureScores(
            _best(forth, counts),
            [tuple(each) for each in scored.parts["statistics"]] if single else None,
            measure.system if single else None,
        )
        if not both:
            return {str(spec): natural}
        means = [(x + y) / 2 for x, y in zip(forth, back, strict=True)]
        return {
            f"{spec} {FORTH}": natural,
            f"{spec} {BACK}": MeasureScores(_best(back, counts)),
            f"{spec} {BOTH}": MeasureScores(_best(means, counts)),
        }

    def _compared(self, measure: Measure, judged: JudgedSet, place: int) -> tuple[Text, ...]:
        """What a segment is compared with: its references, or its source."""
        segment = judged.segments[place]
        source = self.against_source or measure.against == "source"
        if segment.references and not source:
            return segment.references
        if segment.source is None:
            raise InputError(
                f"{judged.name}, segment {segment.id}: there is no "
                f"{'source' if source else 'reference'} to compare it with"
            )
        return (segment.source,)

    def _scored(
        self,
        judged: JudgedSet,
        spec: MeasureSpec,
        measure: Measure,
        others: Sequence[Sequence[Text]],
        both: bool,
    ) -> Scored:
        """Score each output with each text that it is compared with, one way or both."""
        told = {name: spell(value) for name, value in measure.choices().items()}
        signature = repr((measure.name, sorted(told.items()), both, self.against_source))
        key = (judged.name, str(spec), signature, judged.fingerprint)
        if self.cells is not None and (known := self.cells.get(*key)) is not None:
            self.reused += 1
            return known
        pairs = [
            (segment.hypothesis, other)
            for segment, texts in zip(judged.segments, others, strict=True)
            for other in texts
        ]
        parts: dict[str, list[object]] = {"forth": [], "back": [], "statistics": []}
        cut = 0
        step = len(pairs) if measure.needs_all_rows else ROWS_AT_A_TIME
        for start in range(0, len(pairs), step):
            some = pairs[start : start + step]
            rows = [Row(number, a, (b,), b) for number, (a, b) in enumerate(some, start + 1)]
            found = measure.segments(rows, self.progress)
            parts["forth"] += found.scores
            parts["statistics"] += map(list, found.statistics)
            cut += sum(found.cut)
            if both:
                rows = [Row(number, b, (a,)) for number, (a, b) in enumerate(some, start + 1)]
                parts["back"] += measure.segments(rows, self.progress).scores
        scored = Scored(parts, cut)
        if self.cells is not None:
            self.cells.put(*key, scored)
        return scored


def _best(scores: Sequence[float], counts: Sequence[int]) -> list[float]:
    """The best score of each segment, over its references."""
    each = iter(scores)
    return [max(next(each) for _ in range(count)) for count in counts]
