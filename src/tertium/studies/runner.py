"""The runner of all studies: cells that are scored once.

A cell is one dataset with one measure (or one translation model, or one detector). Cells are kept
in the output folder, so that an interrupted study resumes where it stopped. A cell is computed
again if the data, any setting of the measure or the version of Tertium changed.
"""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from tertium._version import __version__
from tertium.data.pairs import RowList
from tertium.errors import CutWarning, DataWarning, LanguageError, no_parameters
from tertium.jobs.local import work_ahead
from tertium.jobs.task import NO_PROGRESS, JobProgress
from tertium.jobs.tasks.score import score_rows
from tertium.measures.base import CUT_REASON, Measure, ModelKind, Segments
from tertium.measures.loading import (
    MeasureSpec,
    ModelPool,
    ModelSettings,
    ModelSource,
    make_measure,
)
from tertium.measures.scores import Scores
from tertium.measures.totals import Signature, Totals
from tertium.models.base import Progress
from tertium.report.tables import Cell, Table
from tertium.storage.atomic import write_text
from tertium.studies.report import file_name
from tertium.text import Row, Text

LAYOUT = 2
"""Of the files of cells; files of another layout are computed again."""
PARTLY_SCORED = "partly-scored"

Item = TypeVar("Item")
TextPair = tuple[Text, Text]
CellKey = tuple[str, str]
"""A dataset and a measure."""
Advance = Callable[[int], None]
"""Called with the number of rows that are done."""


@dataclass(frozen=True)
class Scored:
    """The numbers of a cell, in parts: ``validation`` and ``test``, for example."""

    parts: Mapping[str, list[Any]]
    cut: Sequence[int] = ()
    """Which rows were scored only in part, counted from 0 over all parts."""


@dataclass(frozen=True)
class Job:
    """A cell that can be computed."""

    dataset: str
    measure: str
    signature: str
    """Every choice that can change a number; the data and the version are added to it."""
    data: str
    """A fingerprint of the texts."""
    rows: int
    compute: Callable[[Progress | None, Advance], Scored]
    """Raises a LanguageError if the model lacks a language; picklable for several processes."""
    label: str = ""
    """The measure as tables name it, if this is only a part of the cell (:func:`in_parts`)."""
    shown: str = ""
    """The signature as people read it, if the other one is not for them."""

    @property
    def key(self) -> CellKey:
        """Where the numbers are kept."""
        return self.dataset, self.measure

    @property
    def cell(self) -> CellKey:
        """What the numbers belong to."""
        return self.dataset, self.label or self.measure


def in_parts(
    dataset: str,
    measure: str,
    signature: str,
    items: Sequence[Item],
    compute: Callable[[Sequence[Item], Progress | None], Scored],
    *,
    size: int,
    content: Sequence[object] | None = None,
) -> list[Job]:
    """The jobs of a cell whose items are computed, and kept, ``size`` at a time.

    ``content`` is what is fingerprinted instead of the items.
    """

    def job(start: int) -> Job:
        part = slice(start, start + size)
        some, texts = items[part], (items if content is None else content)[part]
        name = f"{measure} {start}"
        data = fingerprint(texts)
        return Job(
            dataset, name, signature, data, len(some), lambda p, _: compute(some, p), measure
        )

    return [job(start) for start in range(0, len(items), size)]


@dataclass(frozen=True)
class CellFolder:
    """One file per cell; it is valid for the same signature, data and version of Tertium."""

    folder: Path

    def get(self, dataset: str, measure: str, signature: str, data: str) -> Scored | None:
        """Read a cell, if it is there, valid and complete."""
        try:
            content = json.loads(self._path(dataset, measure).read_text("utf-8"))
            for name, value in self._key(signature, data).items():
                if content.pop(name) != value:
                    return None
            return Scored(**content)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def put(self, dataset: str, measure: str, signature: str, data: str, scored: Scored) -> None:
        """Write a cell."""
        path = self._path(dataset, measure)
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {**self._key(signature, data), **asdict(scored)}
        write_text(path, json.dumps(content) + "\n")

    def _key(self, signature: str, data: str) -> dict[str, object]:
        return {"layout": LAYOUT, "version": __version__, "signature": signature, "data": data}

    def _path(self, dataset: str, measure: str) -> Path:
        digest = hashlib.sha256(json.dumps([dataset, measure]).encode()).hexdigest()[:8]
        return self.folder / file_name(dataset) / f"{file_name(measure)}-{digest}.json"


@dataclass
class Runner:
    """Computes cells, reuses those that are kept, and reports progress over all of them."""

    cells: CellFolder | None = None
    processes: int = 1
    overwrite: bool = False
    """Compute all cells, and replace those that are kept."""
    progress: Progress | None = None
    advance: Advance | None = None
    reused: int = field(default=0, init=False)
    """How many cells were reused."""
    left_out: dict[CellKey, str] = field(default_factory=dict, init=False)
    """Cells that could not be computed because a model lacks the language, and the message."""
    partly: dict[CellKey, tuple[int, int]] = field(default_factory=dict, init=False)
    """Of cells with rows that were scored only in part: how many rows, of how many."""
    count: int = field(default=0, init=False)
    """How many cells there were."""
    done: int = field(default=0, init=False)
    seen: dict[CellKey, Job] = field(default_factory=dict, init=False)
    signatures: dict[str, str] = field(default_factory=dict, init=False)
    """Of each measure, that of its first dataset."""

    def run(self, jobs: Sequence[Job]) -> dict[CellKey, Scored]:
        """Compute the cells, in the order of the jobs; those of ``left_out`` are missing.

        The parts of a cell are joined. The numbers do not depend on the number of processes.
        """
        self.count += len(jobs)
        self.seen |= {job.key: job for job in jobs}
        for job in jobs:
            self.signatures.setdefault(job.cell[1], job.shown or job.signature)
        results = {job.key: kept for job in jobs if (kept := self._kept(job)) is not None}
        if results:
            self.reused += len(results)
            self._advance(sum(job.rows for job in jobs if job.key in results))
        for job, result in self._computed([job for job in jobs if job.key not in results]):
            if isinstance(result, str):
                self.left_out[job.cell] = result
                continue
            if self.cells is not None:
                self.cells.put(*job.key, job.signature, job.data, result)
            results[job.key] = result
        cells: dict[CellKey, list[Job]] = {}
        for job in jobs:
            cells.setdefault(job.cell, []).append(job)
        found = {
            cell: _joined([(job.rows, results[job.key]) for job in parts])
            for cell, parts in cells.items()
            if all(job.key in results for job in parts)
        }
        for cell, scored in found.items():
            if scored.cut:
                self.partly[cell] = (len(scored.cut), sum(job.rows for job in cells[cell]))
        return found

    @property
    def sizes(self) -> dict[str, int]:
        """How many rows each dataset has; a measure may score them in several jobs."""
        rows: dict[CellKey, int] = {}
        for job in self.seen.values():
            rows[job.cell] = rows.get(job.cell, 0) + job.rows
        sizes: dict[str, int] = {}
        for (dataset, _), count in rows.items():
            sizes[dataset] = max(count, sizes.get(dataset, 0))
        return sizes

    def warn(self) -> None:
        """Warn about cells that were left out and rows that were scored only in part."""
        for (dataset, measure), reason in self.left_out.items():
            text = f"{measure} is left out of {dataset}: {reason}"
            warnings.warn(text, DataWarning, stacklevel=3)
        self.warn_partly()

    def warn_partly(self) -> None:
        """Warn about rows that were scored only in part."""
        if self.partly:
            count = sum(cut for cut, _ in self.partly.values())
            total = sum(rows for _, rows in self.partly.values())
            where = f"see the table {PARTLY_SCORED}"
            text = f"{count} of {total} rows {CUT_REASON} ({where})"
            warnings.warn(text, CutWarning, stacklevel=3)

    def tables(self) -> dict[str, Table]:
        """The table of cells that were scored only in part, if there are any."""
        rows = [
            [Cell(f"{measure}, {dataset}"), Cell(cut), Cell(count)]
            for (dataset, measure), (cut, count) in self.partly.items()
        ]
        header = ["measure, dataset", "scored in part", "rows"]
        note = f"Rows that {CUT_REASON}."
        return {PARTLY_SCORED: Table(header, rows, "Scored in part", note)} if rows else {}

    def _kept(self, job: Job) -> Scored | None:
        if self.cells is None or self.overwrite:
            return None
        return self.cells.get(*job.key, job.signature, job.data)

    def _computed(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Scored | str]]:
        """Each cell with its numbers, or the reason why it has none, as they are computed."""
        alone = self.processes == 1 or len(jobs) < 2
        compute = partial(_compute, progress=self.progress, advance=self._within)
        function, processes = (compute, 1) if alone else (_compute, self.processes)
        for job, result in work_ahead(jobs, lambda job: job, function, processes):
            self._advance(job.rows)
            assert result is not None  # every job is computed
            yield job, result

    def _within(self, rows: int) -> None:
        if self.advance is not None:
            self.advance(self.done + rows)

    def _advance(self, rows: int) -> None:
        self.done += rows
        self._within(0)


def _joined(parts: Sequence[tuple[int, Scored]]) -> Scored:
    """The numbers of a cell, from those of its parts with their numbers of rows."""
    if len(parts) == 1:
        return parts[0][1]
    numbers: dict[str, list[Any]] = {}
    cut: list[int] = []
    done = 0
    for rows, scored in parts:
        for name, values in scored.parts.items():
            numbers.setdefault(name, []).extend(values)
        cut += [done + place for place in scored.cut]
        done += rows
    return Scored(numbers, cut)


def _compute(
    job: Job, progress: Progress | None = None, advance: Advance = lambda _: None
) -> Scored | str:
    try:
        return job.compute(progress, advance)
    except LanguageError as error:
        return error.said(no_parameters)


@dataclass(frozen=True)
class SharedModels:
    """A source of models that can be sent to another process; each process loads a model once."""

    settings: ModelSettings = field(default_factory=ModelSettings)

    def __call__(self, kind: ModelKind, name: str | None = None, layer: int | None = None) -> Any:
        return _pool(self.settings)(kind, name, layer)


def uncached(settings: ModelSettings) -> ModelSource:
    """A source of models that remember no results, to measure time."""
    pool = ModelPool(replace(settings, cache=False))

    def load(kind: ModelKind, name: str | None, layer: int | None) -> Any:
        model = pool(kind, name, layer)
        if hasattr(model, "forget"):
            model.forget()
        return model

    return load


@cache
def _pool(settings: ModelSettings) -> ModelPool:
    return ModelPool(settings)


@dataclass(frozen=True)
class Similarity:
    """A measure of two texts whose order does not matter: the mean of both orders.

    The NMTScore paper uses all measures in this way for paraphrases (sections 2.4 and 4.1).
    ``forth`` has the settings of the first text's language, ``back`` those of the second's.
    """

    forth: Measure
    back: Measure

    @classmethod
    def make(cls, spec: MeasureSpec, models: ModelSource, *langs: str | None) -> Similarity:
        """Make the measure once for each language; without a language, once."""
        forth = make_measure(spec, models, lang=langs[0] if langs else None)
        if len(set(langs)) < 2:
            return cls(forth, forth)
        return cls(forth, make_measure(spec, models, lang=langs[1]))

    def segments(
        self,
        pairs: Sequence[TextPair],
        progress: Progress | None = None,
        advance: Advance = lambda _: None,
    ) -> Segments:
        """Score pairs of texts."""
        ways = JobProgress(advance, progress or NO_PROGRESS.detail)
        one = score_alone(self.forth, rows_of(pairs), ways)
        if self.forth.is_symmetric:
            return Segments(one.segments, one.statistics, one.cut)
        two = score_alone(self.back, rows_of([(b, a) for a, b in pairs]), ways)
        return Segments(
            [(x + y) / 2 for x, y in zip(one, two, strict=True)],
            one.statistics,
            [x or y for x, y in zip(one.cut, two.cut, strict=True)],
        )

    def scored(
        self,
        parts: Mapping[str, Sequence[TextPair]],
        progress: Progress | None = None,
        advance: Advance = lambda _: None,
    ) -> Scored:
        """Score pairs in parts."""
        scores: dict[str, list[float]] = {}
        cut: list[int] = []
        done = 0
        for name, pairs in parts.items():
            result = self.segments(pairs, progress, partial(_advance, advance, done))
            scores[name] = result.scores
            cut += [done + place for place, mark in enumerate(result.cut) if mark]
            done += len(pairs)
        return Scored(scores, cut)

    @property
    def needs_all_rows(self) -> bool:
        """Whether a score depends on the other pairs that are scored with it."""
        return self.forth.needs_all_rows or self.back.needs_all_rows

    @property
    def signature(self) -> str:
        """Everything that can change a score."""
        described = [each.description() for each in (self.forth, self.back)]
        return json.dumps([*described, __version__], sort_keys=True)

    @property
    def shown(self) -> str:
        """The signature as `tertium score` prints it, of both orders where they differ."""
        both = [Signature(each.description()).short for each in (self.forth, self.back)]
        return "; ".join(dict.fromkeys(both))


def similarity_job(
    dataset: str,
    spec: MeasureSpec,
    parts: Mapping[str, Sequence[TextPair]],
    models: ModelSource,
    langs: Sequence[str] = (),
) -> Job:
    """A cell of pairs whose order does not matter.

    ``langs`` are the languages of the first and the second texts, if tokenizers depend on them. An
    error means that the measure cannot be used at all, for example because a package is missing.
    """
    measure = Similarity.make(spec, models, *langs)
    rows = sum(map(len, parts.values()))
    compute = partial(_score_pairs, spec, parts, models, langs)
    return Job(
        dataset,
        str(spec),
        measure.signature,
        fingerprint(parts),
        rows,
        compute,
        shown=measure.shown,
    )


def _score_pairs(
    spec: MeasureSpec,
    parts: Mapping[str, Sequence[TextPair]],
    models: ModelSource,
    langs: Sequence[str],
    progress: Progress | None,
    advance: Advance,
) -> Scored:
    return Similarity.make(spec, models, *langs).scored(parts, progress, advance)


def score_alone(
    measure: Measure, rows: Sequence[Row], progress: JobProgress = NO_PROGRESS
) -> Scores:
    """Score rows by one measure, as any job does."""
    if not rows:
        return Scores([], math.nan, measure.signature(Totals()), [])
    has_references, has_source = bool(rows[0].references), rows[0].source is not None
    source = RowList(rows, "the dataset", has_references, has_source)
    return score_rows({"": source}, [measure], progress=progress)[measure.column]


def _advance(advance: Advance, before: int, rows: int) -> None:
    advance(before + rows)


def rows_of(pairs: Sequence[TextPair], start: int = 1) -> list[Row]:
    """Rows that compare the first text of each pair with the second, reference and source alike."""
    return [Row(number, a, (b,), b) for number, (a, b) in enumerate(pairs, start)]


def check_measures(
    specs: Sequence[MeasureSpec], models: ModelSource, langs: Sequence[str | None] = (None,)
) -> None:
    """Make every measure for every language, to report what is missing before any work."""
    for spec in specs:
        for lang in langs:
            make_measure(spec, models, lang=lang).description()


def fingerprint(content: object) -> str:
    """A hash of texts, or of anything else that JSON can hold."""
    return hashlib.sha256(json.dumps(content).encode("ascii")).hexdigest()
