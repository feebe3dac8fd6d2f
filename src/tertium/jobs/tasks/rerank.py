"""Chooses the best of the candidates of each list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

from tertium.data.nbest import CandidateList, CandidateLists
from tertium.jobs.output import CUT
from tertium.jobs.task import Fields, Finished, Job, Note
from tertium.measures.base import Measure
from tertium.measures.loading import MeasureLoader, ModelPool, make_measure, outline
from tertium.models.base import Progress
from tertium.models.cached import Tally
from tertium.reranking.gain import Gain, judge
from tertium.reranking.rerank import DECODER, Ranking, Reranker
from tertium.reranking.utilities import UtilitySettings

LISTS_AT_A_TIME = 16
GROUP, SRC, RANK, PLACE, HYP, SCORE = "group", "src", "rank", "place", "hyp", "score"
COUNTS = ("lists", "candidates", "changed", "pairs", "cut")


@dataclass(frozen=True)
class RerankTask:
    """The choice among the candidates of lists."""

    portable: ClassVar[bool] = False
    verb: ClassVar[str] = "rerank"
    done: ClassVar[str] = "reranked"
    keeps_records: ClassVar[bool] = False
    needs_all_rows: ClassVar[bool] = False

    measures: MeasureLoader
    weights: tuple[float, ...] = ()
    decoder: float = 0.0
    utility: UtilitySettings = field(default_factory=UtilitySettings)
    judges: MeasureLoader | None = None
    """Measures that compare the choice with references, where there are any."""
    ranking: bool = False
    """Write all candidates in order, instead of the best."""
    has_source: bool = False

    @property
    def names(self) -> list[str]:
        """The measures and, if it counts, the decoder's score."""
        return [*self.measures.columns, *([DECODER] if self.decoder else [])]

    @property
    def new_columns(self) -> Mapping[str, type]:
        source = {SRC: str} if self.has_source else {}
        rank = {RANK: int} if self.ranking else {}
        several = dict.fromkeys(self.names, float) if len(self.names) > 1 else {}
        best = {PLACE: int, HYP: str, SCORE: float}
        return {GROUP: str, **source, **rank, **best, **several, CUT: bool}

    @property
    def request(self) -> Fields:
        return {
            **self.measures.request,
            "weights": list(self.weights),
            "decoder": self.decoder,
            "utility": asdict(self.utility),
            "judges": [] if self.judges is None else self.judges.columns,
        }

    def check(self, lists: CandidateLists) -> None:
        """Check that the measures have what they read."""
        measures = [outline(spec) for spec in self.measures.specs]
        Reranker(measures, self.weights, self.decoder, self.utility).check(
            lists.name, has_source=lists.has_source
        )

    def load(self, threads: int | None = None) -> Chooser:
        models = replace(self.measures.models, threads=threads or self.measures.models.threads)
        return self.with_models(ModelPool(models))

    def with_models(self, pool: ModelPool) -> Chooser:
        """The task with models that are loaded already, or when they are needed."""
        made = [
            [make_measure(spec, pool, lang=loader.lang) for spec in loader.specs]
            for loader in (self.measures, *([] if self.judges is None else [self.judges]))
        ]
        reranker = Reranker(made[0], self.weights, self.decoder, self.utility)
        return Chooser(self, reranker, made[1] if len(made) > 1 else [], pool.tally)

    def check_note(self, note: Note) -> None:
        Reranked().add(note)


@dataclass(frozen=True)
class Chooser:
    """A reranker with its models, and the judges of its choice."""

    task: RerankTask
    reranker: Reranker
    judges: Sequence[Measure] = ()
    tally: Tally | None = None

    @property
    def description(self) -> Fields:
        judges = [measure.description() for measure in self.judges]
        return {**self.reranker.description(), "judges": judges}

    def __call__(
        self, lists: Sequence[CandidateList], progress: Progress | None = None
    ) -> tuple[list[list[Fields]], Note]:
        rankings = self.reranker.rank(lists, progress)
        gains = {}
        for measure in self.judges:
            gain = gains[measure.column] = Gain()
            for each, ranking in zip(judge(measure, lists, progress), rankings, strict=True):
                gain.add(each, ranking.place)
        note = {
            "lists": len(lists),
            "candidates": sum(len(each.texts) for each in rankings),
            "changed": sum(each.text != each.texts[0] for each in rankings),
            "pairs": sum(each.pairs for each in rankings),
            "cut": sum(each.cut for each in rankings),
            "gains": {name: gain.state() for name, gain in gains.items()},
        }
        return [self._rows(*both) for both in zip(lists, rankings, strict=True)], note

    def _rows(self, candidates: CandidateList, ranking: Ranking) -> list[Fields]:
        return [
            {
                GROUP: candidates.group,
                SRC: None if candidates.source is None else candidates.source.text,
                RANK: rank,
                PLACE: place + 1,
                HYP: ranking.texts[place],
                SCORE: ranking.scores[place],
                **{name: values[place] for name, values in ranking.features.items()},
                CUT: ranking.cut,
            }
            for rank, place in enumerate(
                ranking.order if self.task.ranking else ranking.order[:1], start=1
            )
        ]


@dataclass
class Reranked:
    """What was chosen, over all lists."""

    lists: int = 0
    candidates: int = 0
    changed: int = 0
    """Lists of which another text than the first was chosen."""
    pairs: int = 0
    """Pairs of texts that were scored."""
    cut: int = 0
    """Lists with text that is longer than the model reads."""
    gains: dict[str, Gain] = field(default_factory=dict)
    """Sums of the judges, if there are references."""
    finished: Finished = field(default_factory=lambda: Finished([], {}))

    def add(self, note: Note) -> None:
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + note[name])
        for name, sums in note["gains"].items():
            self.gains.setdefault(name, Gain()).merge(Gain(**sums))

    def summary(self) -> dict[str, Any]:
        gains = {name: gain.state() for name, gain in self.gains.items()}
        return {**{name: getattr(self, name) for name in COUNTS}, "gains": gains}


def reranked(job: Job, finished: Finished) -> Reranked:
    """Put the notes of all parts together."""
    result = Reranked(finished=finished)
    for outcome in job.outcomes_of(finished, job.systems[0]):
        result.add(outcome.note)
    return result
