"""Translates a stream of texts in this process: batch by batch, saved after each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tertium._version import __version__
from tertium.data.pairs import Item
from tertium.data.sources import Sources
from tertium.engines.local.scoring import batches, skip_rows
from tertium.engines.output import CUT, Output
from tertium.engines.progress import NO_PROGRESS, JobProgress
from tertium.engines.scoring import chain_digest
from tertium.errors import InputError, LanguageError
from tertium.models.base import TranslationModel
from tertium.models.candidates import Candidate, Search, candidate_model
from tertium.models.translation.translate import check_source

ROWS_AT_A_TIME = 64
GROUP, RANK, HYP, SCORE, LOG_PROB, LENGTH = "group", "rank", "hyp", "score", "log_prob", "length"
CANDIDATES = "candidates"


@dataclass
class TranslationResult:
    """What was translated."""

    rows: int = 0
    candidates: int = 0
    cut: int = 0
    """Texts of which a candidate is marked: too long, or a translation that did not end."""
    resumed: int = 0
    """Rows that an interrupted run had done before."""


@dataclass(frozen=True)
class TranslationJob:
    """Candidates for any number of texts."""

    sources: Sources
    model: TranslationModel
    target_lang: str
    search: Search
    output: Output
    nested: bool = False
    """Write one row per text with a list of candidates, instead of one row per candidate."""
    rows_at_a_time: int = ROWS_AT_A_TIME

    def count(self) -> int | None:
        """The number of texts, if it is known beforehand."""
        return self.sources.count()

    def run(self, progress: JobProgress = NO_PROGRESS) -> TranslationResult:
        """Translate and write everything."""
        try:
            return self._run(progress)
        finally:
            self.output.close()

    def _run(self, progress: JobProgress) -> TranslationResult:
        columns = self._columns()
        job = {
            "model": [self.model.name, self.model.fingerprint, dict(self.model.settings)],
            "target_lang": self.target_lang,
            "search": self.search.settings,
            "columns": columns,
            "rows_at_a_time": self.rows_at_a_time,
            "version": __version__,
        }
        state = self.output.begin(job, columns)
        result, digest = TranslationResult(), ""
        stream = batches(self.sources, self.rows_at_a_time)
        if state is not None:
            digest = skip_rows(self.sources.name, stream, state, progress)
            result = TranslationResult(**state["result"])
            result.resumed = result.rows
        for items in stream:
            digest = chain_digest(digest, items)
            found = self._translated(items, progress)
            rows = []
            for item, candidates in zip(items, found, strict=True):
                rows += self._rows(item, candidates, columns)
                result.rows += 1
                result.candidates += len(candidates)
                result.cut += any(candidate.cut for candidate in candidates)
            if self.output.hides_progress:
                progress.hide()
            state = {"rows": result.rows, "digest": digest, "result": asdict(result)}
            self.output.add(rows, state)
            progress.advance(result.rows)
        if not result.rows:
            raise InputError(f"{self.sources.name} is empty: there is nothing to translate")
        self.output.finish(asdict(result))
        return result

    def _translated(self, items: Sequence[Item], progress: JobProgress) -> list[list[Candidate]]:
        texts = [item.source for item in items if item.source is not None]
        for item, text in zip(items, texts, strict=True):
            try:
                check_source(self.model, text.lang)
            except LanguageError as error:
                raise LanguageError(
                    f"{self.sources.name}, row {item.number}: {error}; give it with --src-lang"
                ) from None
        return candidate_model(self.model).candidates(
            [text.text for text in texts],
            target_lang=self.target_lang,
            source_lang=[text.lang for text in texts],
            search=self.search,
            progress=progress.detail,
        )

    def _columns(self) -> list[str]:
        flat = [GROUP, RANK, HYP, SCORE, LOG_PROB, LENGTH, CUT]
        new = [CANDIDATES] if self.nested else flat
        for name in new:
            if name in self.sources.columns:
                raise InputError(
                    f"{self.sources.name} already has a column {name!r}, which the translations "
                    "would replace; rename it"
                )
        return [*self.sources.columns, *new]

    def _rows(
        self, item: Item, candidates: Sequence[Candidate], columns: Sequence[str]
    ) -> list[dict[str, Any]]:
        made = [
            {
                GROUP: item.number,
                RANK: rank,
                HYP: candidate.text,
                SCORE: candidate.H,
                LOG_PROB: candidate.log_prob,
                LENGTH: candidate.length,
                CUT: candidate.cut,
            }
            for rank, candidate in enumerate(candidates, start=1)
        ]
        if self.nested:
            inner = (HYP, SCORE, LOG_PROB, LENGTH, CUT)
            made = [{CANDIDATES: [{name: row[name] for name in inner} for row in made]}]
        return [{name: {**item.record, **row}.get(name) for name in columns} for row in made]
