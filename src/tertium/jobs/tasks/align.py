"""Aligns documents sentence by sentence, or the lines of two files word by word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from tertium.data.aligned import Document
from tertium.explanation.word_alignment import WordAligner, pharaoh
from tertium.jobs.task import Fields, Finished, Job, Note
from tertium.measures.loading import ModelPool, ModelSettings
from tertium.models.base import Progress
from tertium.models.cached import Tally
from tertium.models.encoders.alignment import Aligner
from tertium.stats.alignment import AlignmentSettings, Unit
from tertium.stats.word_alignment import AlignmentMethod
from tertium.text import Row

DOCUMENT, SOURCE, TARGET, COST, LINKS = "document", "source", "target", "cost", "links"
UNITS = "units"


@dataclass(frozen=True)
class AlignTask:
    """The units of pairs of documents, which are the rows (``PairedDocuments``)."""

    verb: ClassVar[str] = "align"
    done: ClassVar[str] = "aligned"
    portable: ClassVar[bool] = False
    keeps_records: ClassVar[bool] = False
    needs_all_rows: ClassVar[bool] = False
    new_columns: ClassVar[Mapping[str, type]] = {
        DOCUMENT: int,
        SOURCE: list,
        TARGET: list,
        COST: float,
    }

    models: ModelSettings
    settings: AlignmentSettings
    split: bool = False
    replace_invalid: bool = False

    @property
    def request(self) -> Fields:
        return {**_models(self.models), **self.choices}

    @property
    def choices(self) -> Fields:
        """What changes an alignment, besides the encoder."""
        reading = {"split": self.split, "replace_invalid": self.replace_invalid}
        return {"settings": asdict(self.settings), **reading}

    def load(self, threads: int | None = None) -> DocumentAligner:
        pool = ModelPool(replace(self.models, threads=threads or self.models.threads))
        return DocumentAligner(self, Aligner(pool("sentences"), self.settings), pool.tally)

    def check_note(self, note: Note) -> None:
        int(note[UNITS])


@dataclass(frozen=True)
class DocumentAligner:
    """A task with its encoder."""

    task: AlignTask
    aligner: Aligner
    tally: Tally | None = None

    @property
    def description(self) -> Fields:
        encoder = self.aligner.encoder
        return {"encoder": [encoder.fingerprint, dict(encoder.settings)], **self.task.choices}

    def __call__(
        self, rows: Sequence[Row], progress: Progress | None = None
    ) -> tuple[list[list[Fields]], Note]:
        found = [self._units(row, progress) for row in rows]
        return found, {UNITS: sum(map(len, found))}

    def _units(self, row: Row, progress: Progress | None) -> list[Fields]:
        reading = {"split": self.task.split, "replace_invalid": self.task.replace_invalid}
        documents = [Document.read(Path(text), lang, **reading) for text, lang in row.sides]
        units = self.aligner(documents[0].sentences, documents[1].sentences, progress)
        return [
            {
                DOCUMENT: row.number,
                SOURCE: [unit.source.start, unit.source.stop],
                TARGET: [unit.target.start, unit.target.stop],
                COST: unit.cost,
            }
            for unit in units
        ]


@dataclass
class Alignments:
    """The units of each document that could be aligned, by its number from 1."""

    documents: dict[int, list[Unit]]
    finished: Finished = field(default_factory=lambda: Finished([], {}))

    @property
    def units(self) -> int:
        return sum(map(len, self.documents.values()))

    def summary(self) -> dict[str, Any]:
        return {"documents": len(self.documents), "units": self.units}


def alignments(job: Job, finished: Finished) -> Alignments:
    """Put what all parts have written together."""
    found: dict[int, list[Unit]] = {}
    for outcome in job.outcomes_of(finished, ""):
        for row in outcome.written:
            unit = Unit(range(*row[SOURCE]), range(*row[TARGET]), row[COST])
            found.setdefault(row[DOCUMENT], []).append(unit)
    return Alignments(found, finished)


@dataclass(frozen=True)
class WordTask:
    """The links between the words of sources and hypotheses, in Pharaoh format."""

    verb: ClassVar[str] = "align"
    done: ClassVar[str] = "aligned"
    portable: ClassVar[bool] = False
    keeps_records: ClassVar[bool] = False
    needs_all_rows: ClassVar[bool] = False
    new_columns: ClassVar[Mapping[str, type]] = {LINKS: str}

    models: ModelSettings
    method: AlignmentMethod

    @property
    def request(self) -> Fields:
        return {**_models(self.models), "method": self.method}

    def load(self, threads: int | None = None) -> LineAligner:
        pool = ModelPool(replace(self.models, threads=threads or self.models.threads))
        return LineAligner(WordAligner(pool("tokens"), self.method), pool.tally)

    def check_note(self, note: Note) -> None:
        int(note[LINKS])


@dataclass(frozen=True)
class LineAligner:
    """A task with its encoder."""

    aligner: WordAligner
    tally: Tally | None = None

    @property
    def description(self) -> Fields:
        encoder = self.aligner.encoder
        about = [encoder.fingerprint, dict(encoder.settings)]
        return {"encoder": about, "method": self.aligner.method}

    def __call__(
        self, rows: Sequence[Row], progress: Progress | None = None
    ) -> tuple[list[list[Fields]], Note]:
        found = self.aligner([row.sides for row in rows], progress)
        written: list[list[Fields]] = [[{LINKS: pharaoh(links)}] for links in found]
        return written, {LINKS: sum(map(len, found))}


@dataclass
class WordLinks:
    """How much was aligned."""

    rows: int
    links: int

    def summary(self) -> dict[str, Any]:
        return asdict(self)


def word_links(job: Job, finished: Finished) -> WordLinks:
    """Add up the notes of all parts."""
    outcomes = job.outcomes_of(finished, "")
    return WordLinks(
        sum(each.rows for each in outcomes), sum(each.note[LINKS] for each in outcomes)
    )


def _models(models: ModelSettings) -> Fields:
    return {"models": asdict(replace(models, threads=None, cache=True))}  # change no number
