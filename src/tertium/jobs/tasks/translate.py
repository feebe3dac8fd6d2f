"""Translates texts, each with one or several candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

from tertium.errors import LanguageError
from tertium.jobs.output import CUT
from tertium.jobs.task import Fields, Finished, Job, Note
from tertium.measures.loading import ModelPool, ModelSettings
from tertium.models.base import Candidate, Progress, Query, Search, TranslationModel
from tertium.models.cached import Tally
from tertium.models.translation.translate import check_source, checked_target
from tertium.text import Row

ROWS_AT_A_TIME = 64
GROUP, RANK, HYP, SCORE, LOG_PROB, LENGTH = "group", "rank", "hyp", "score", "log_prob", "length"
CANDIDATES = "candidates"
COLUMNS: Mapping[str, type] = {
    GROUP: int,
    RANK: int,
    HYP: str,
    SCORE: float,
    LOG_PROB: float,
    LENGTH: int,
    CUT: bool,
}


@dataclass(frozen=True)
class TranslateTask:
    """Candidates for the sources of rows."""

    portable: ClassVar[bool] = False
    verb: ClassVar[str] = "translate"
    done: ClassVar[str] = "translated"
    keeps_records: ClassVar[bool] = True
    needs_all_rows: ClassVar[bool] = False

    models: ModelSettings
    target_lang: str | None
    """None is the only one that the model has."""
    search: Search
    nested: bool = False
    """Write one row per text with a list of candidates, instead of one row per candidate."""

    @property
    def new_columns(self) -> Mapping[str, type]:
        return {CANDIDATES: list} if self.nested else COLUMNS

    @property
    def request(self) -> Fields:
        models = replace(self.models, threads=None, cache=True)  # change no number
        settings = {"target_lang": self.target_lang, "search": self.search.settings}
        return {"models": asdict(models), **settings}

    def load(self, threads: int | None = None) -> Translator:
        models = self.models if threads is None else replace(self.models, threads=threads)
        pool = ModelPool(models)
        model = pool("translation")
        try:
            target = str(checked_target(model, self.target_lang))
        except LanguageError as error:
            raise error.at("", cure="give both languages with {lang:en-de}, for example") from None
        return Translator(self, model, target, pool.tally)

    def check_note(self, note: Note) -> None:
        Translated().add(note)


@dataclass(frozen=True)
class Translator:
    """A task with its model."""

    task: TranslateTask
    model: TranslationModel
    target_lang: str
    tally: Tally | None = None

    @property
    def description(self) -> Fields:
        return {
            "model": [self.model.name, self.model.fingerprint, dict(self.model.settings)],
            "target_lang": self.target_lang,
            "search": self.task.search.settings,
        }

    def __call__(
        self, rows: Sequence[Row], progress: Progress | None = None
    ) -> tuple[list[list[Fields]], Note]:
        texts = [row.source for row in rows if row.source is not None]
        for row, text in zip(rows, texts, strict=True):
            try:
                check_source(self.model, text.lang)
            except LanguageError as error:
                raise error.at(f"row {row.number}: ", cure="give it with {source_lang}") from None
        queries = [Query("", text.text, self.target_lang, text.lang) for text in texts]
        found = self.model.candidates(queries, search=self.task.search, progress=progress)
        note = {
            "rows": len(rows),
            "candidates": sum(map(len, found)),
            "cut": sum(any(each.cut for each in several) for several in found),
        }
        return [self._rows(row, each) for row, each in zip(rows, found, strict=True)], note

    def _rows(self, row: Row, candidates: Sequence[Candidate]) -> list[Fields]:
        made: list[Fields] = [
            {
                GROUP: row.number,
                RANK: rank,
                HYP: candidate.text,
                SCORE: candidate.H,
                LOG_PROB: candidate.log_prob,
                LENGTH: candidate.length,
                CUT: candidate.cut,
            }
            for rank, candidate in enumerate(candidates, start=1)
        ]
        if not self.task.nested:
            return made
        inner = (HYP, SCORE, LOG_PROB, LENGTH, CUT)
        return [{CANDIDATES: [{name: each[name] for name in inner} for each in made]}]


@dataclass
class Translated:
    """What was translated."""

    rows: int = 0
    candidates: int = 0
    cut: int = 0
    """Texts of which a candidate is marked: too long, or a translation that did not end."""
    finished: Finished = field(default_factory=lambda: Finished([], {}))

    def add(self, note: Note) -> None:
        self.rows += note["rows"]
        self.candidates += note["candidates"]
        self.cut += note["cut"]

    def summary(self) -> dict[str, Any]:
        counts = {"rows": self.rows, "candidates": self.candidates, "cut": self.cut}
        return {**counts, "resumed": self.finished.resumed}


def translated(job: Job, finished: Finished) -> Translated:
    """Put the notes of all parts together."""
    result = Translated(finished=finished)
    for outcome in job.outcomes_of(finished, job.systems[0]):
        result.add(outcome.note)
    return result
