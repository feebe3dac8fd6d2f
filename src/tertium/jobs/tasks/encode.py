"""Encodes the sources of rows as sentence vectors, which go to a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from tertium.errors import ResumeError
from tertium.jobs.task import Fields, Note, Outcome
from tertium.jobs.vectors import StoredVectors, VectorStore
from tertium.measures.loading import ModelPool, ModelSettings
from tertium.models.base import Progress, SentenceEncoder
from tertium.models.cached import Tally
from tertium.storage.resume import START_OVER
from tertium.text import Row

TEXTS_AT_A_TIME = 8192
KEY = "key"


@dataclass(frozen=True)
class EncodeTask:
    """The texts of a part, which are in one language, make one block of the store."""

    verb: ClassVar[str] = "encode"
    done: ClassVar[str] = "encoded"
    portable: ClassVar[bool] = False
    new_columns: ClassVar[Mapping[str, type]] = {}
    keeps_records: ClassVar[bool] = False
    needs_all_rows: ClassVar[bool] = False

    encoder: SentenceEncoder | ModelSettings
    """The encoder, or how it is loaded where the task runs."""
    store: VectorStore

    @property
    def request(self) -> Fields:
        if not isinstance(self.encoder, ModelSettings):
            return {}
        models = replace(self.encoder, threads=None, cache=True)  # change no number
        return {"models": asdict(models)}

    def load(self, threads: int | None = None) -> Encoder:
        if not isinstance(self.encoder, ModelSettings):
            return Encoder(self, self.encoder)
        pool = ModelPool(replace(self.encoder, threads=threads or self.encoder.threads))
        return Encoder(self, pool("sentences"), pool.tally)

    def check_note(self, note: Note) -> None:
        if not isinstance(note[KEY], str | None):
            raise TypeError

    def vectors(self, outcomes: Sequence[Outcome]) -> list[StoredVectors]:
        """The blocks of some parts."""
        blocks = []
        for outcome in outcomes:
            found = self.store.read(outcome.note[KEY])
            if found is None:
                raise ResumeError(
                    f"{self.store.folder} no longer has the vectors of the unfinished run",
                    cure=START_OVER,
                )
            blocks.append(found)
        return blocks


@dataclass(frozen=True)
class Encoder:
    """A task with its encoder."""

    task: EncodeTask
    encoder: SentenceEncoder
    tally: Tally | None = None

    @property
    def description(self) -> Fields:
        settings: dict[str, Any] = dict(self.encoder.settings)
        return {"encoder": self.encoder.fingerprint, "settings": settings}

    def __call__(
        self, rows: Sequence[Row], progress: Progress | None = None
    ) -> tuple[list[list[Fields]], Note]:
        if not rows:
            return [], {KEY: None}
        texts = [row.source for row in rows if row.source is not None]
        [lang] = {text.lang for text in texts}
        lists = [text.text for text in texts]
        found = self.task.store.vectors(self.encoder, lists, lang=lang, progress=progress)
        return [[] for _ in rows], {KEY: found.key}
