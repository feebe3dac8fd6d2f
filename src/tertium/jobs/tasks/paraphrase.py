"""Paraphrases texts, each with several paraphrases that a measure ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

from tertium.jobs.task import Fields, Finished, Job, Note
from tertium.measures.loading import MeasureLoader, ModelPool, make_measure
from tertium.models.base import Progress
from tertium.models.cached import Tally
from tertium.paraphrasing.generation import Paraphraser
from tertium.paraphrasing.penalties import NgramPenalty
from tertium.text import Row

TEXTS_AT_A_TIME = 16
TEXT, RANK, PARAPHRASE, VIA = "text", "rank", "paraphrase", "via"
SIMILARITY, DIVERSITY = "similarity", "diversity"


@dataclass(frozen=True)
class ParaphraseTask:
    """Paraphrases of the sources of rows, which are in one language."""

    portable: ClassVar[bool] = False
    verb: ClassVar[str] = "paraphrase"
    done: ClassVar[str] = "paraphrased"
    keeps_records: ClassVar[bool] = False
    needs_all_rows: ClassVar[bool] = False
    new_columns: ClassVar[Mapping[str, type]] = {
        TEXT: str,
        RANK: int,
        PARAPHRASE: str,
        SIMILARITY: float,
        DIVERSITY: float,
        VIA: str,
    }

    measure: MeasureLoader
    """The measure that ranks them, and the models."""
    lang: str
    penalty: NgramPenalty
    pivots: tuple[str, ...] = ("",)
    beam_size: int = 5
    count: int = 5
    least_diversity: float = 0.0

    @property
    def request(self) -> Fields:
        return {**self.measure.request, **self.settings}

    @property
    def settings(self) -> Fields:
        """What can change a paraphrase, besides the models."""
        return {
            "text_lang": self.lang,
            "penalty": asdict(self.penalty),
            "pivots": list(self.pivots),
            "beam_size": self.beam_size,
            "count": self.count,
            "least_diversity": self.least_diversity,
        }

    def load(self, threads: int | None = None) -> Paraphrasing:
        models = self.measure.models
        pool = ModelPool(models if threads is None else replace(models, threads=threads))
        paraphraser = Paraphraser(
            pool("translation"),
            make_measure(self.measure.specs[0], pool),
            self.penalty,
            self.pivots,
            self.beam_size,
            self.count,
            self.least_diversity,
        )
        return Paraphrasing(self, paraphraser, pool.tally)

    def check_note(self, note: Note) -> None:
        Paraphrased().add(note)


@dataclass(frozen=True)
class Paraphrasing:
    """A task with its models."""

    task: ParaphraseTask
    paraphraser: Paraphraser
    tally: Tally | None = None

    @property
    def description(self) -> Fields:
        model, measure = self.paraphraser.model, self.paraphraser.measure
        return {
            "model": [model.name, model.fingerprint, dict(model.settings)],
            "measure": {} if measure is None else dict(measure.description()),
            **self.task.settings,
        }

    def __call__(
        self, rows: Sequence[Row], progress: Progress | None = None
    ) -> tuple[list[list[Fields]], Note]:
        if not rows:
            return [], {"rows": 0, "paraphrases": 0}
        texts = [row.source.text for row in rows if row.source is not None]
        found = self.paraphraser(texts, self.task.lang, progress)
        written: list[list[Fields]] = [
            [
                {
                    TEXT: text,
                    RANK: rank,
                    PARAPHRASE: each.text,
                    SIMILARITY: each.similarity,
                    DIVERSITY: each.diversity,
                    VIA: each.via,
                }
                for rank, each in enumerate(several, start=1)
            ]
            for text, several in zip(texts, found, strict=True)
        ]
        return written, {"rows": len(rows), "paraphrases": sum(map(len, found))}


@dataclass
class Paraphrased:
    """What was paraphrased."""

    rows: int = 0
    paraphrases: int = 0
    finished: Finished = field(default_factory=lambda: Finished([], {}))

    def add(self, note: Note) -> None:
        self.rows += note["rows"]
        self.paraphrases += note["paraphrases"]

    def summary(self) -> dict[str, Any]:
        return {"rows": self.rows, "paraphrases": self.paraphrases}


def paraphrased(job: Job, finished: Finished) -> Paraphrased:
    """Put the notes of all parts together."""
    result = Paraphrased(finished=finished)
    for outcome in job.outcomes_of(finished, job.systems[0]):
        result.add(outcome.note)
    return result
