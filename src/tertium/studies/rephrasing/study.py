"""How measures respond to rephrasing, language by language (Wang, Chen and Ataman, 2024).

Every pair of sentences that mean the same is scored, in both orders; a language's score is the mean
over its pairs, a family's the mean over its languages.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache as once
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any

from tertium.engines.local.processes import follow_parent
from tertium.errors import CutWarning, LanguageError
from tertium.measures.base import CUT_REASON, Measure
from tertium.measures.loading import load
from tertium.measures.registry import kinds_of, settings_of
from tertium.measures.words import SPLIT
from tertium.models.base import Progress
from tertium.models.catalog import DEFAULT_MODEL, load_model
from tertium.models.encoders.catalog import load_encoder
from tertium.studies.cells import CellFolder, Scored
from tertium.studies.rephrasing.pairs import LanguagePairs
from tertium.studies.specs import MeasureSpec, Similarity
from tertium.text import Text

PAIRS_AT_A_TIME = 1024
PART = "pairs"

Cell = tuple[str, str]
"""A language and a measure."""


@dataclass(frozen=True)
class Engines:
    """Which models measures ask; small and plain, so that it can go to another process."""

    model: str = DEFAULT_MODEL
    encoder: str | None = None
    compute_type: str = "auto"
    threads: int | None = None
    cache: bool | Path = True

    def similarity(self, spec: MeasureSpec) -> Similarity:
        """Make a measure; each model is loaded once in a process."""
        settings: dict[str, Any] = dict(spec.settings)
        layer = settings.pop("layer", None)
        loaded: dict[str, Any] = {}
        for kind in kinds_of(spec.measure):
            if kind == "translation":
                name = spec.model or self.model
                loaded["model"] = _translation(name, self.compute_type, self.threads, self.cache)
            else:
                name = spec.model or self.encoder or self.model
                role = "encoder" if kind == "tokens" else "sentence_encoder"
                loaded[role] = _encoder(name, layer, self.compute_type, self.threads)
        made: Measure = load(spec.measure, **loaded, **settings)
        return Similarity(made, made)


@dataclass(frozen=True)
class Results:
    """The mean of each measure in each language; where there is none, ``left_out`` says why."""

    languages: Sequence[LanguagePairs]
    measures: Sequence[str]
    means: Mapping[Cell, float]
    left_out: Mapping[Cell, str]
    signatures: Mapping[str, str]

    def column(self, measure: str, langs: Sequence[str]) -> list[float | None]:
        """The means of a measure in some languages."""
        return [self.means.get((lang, measure)) for lang in langs]

    def family_means(self, families: Mapping[str, str]) -> dict[Cell, float]:
        """The means over the languages of each family, for each measure that has any."""
        values: dict[Cell, list[float]] = {}
        for language in self.languages:
            for measure in self.measures:
                value = self.means.get((language.lang, measure))
                family = families.get(language.lang)
                if value is not None and family is not None:
                    values.setdefault((family, measure), []).append(value)
        return {cell: fmean(each) for cell, each in values.items()}


@dataclass
class RephrasingStudy:
    """Measures over the pairs of languages; ``cells`` keeps what is done."""

    languages: Sequence[LanguagePairs]
    specs: Sequence[MeasureSpec]
    engines: Engines = field(default_factory=Engines)
    cells: CellFolder | None = None
    processes: int = 1
    progress: Progress | None = None
    advance: Callable[[int], None] | None = None
    reused: int = field(default=0, init=False)

    @property
    def size(self) -> int:
        """How many pairs there are to score, over all measures."""
        return len(self.specs) * sum(len(language.pairs) for language in self.languages)

    def run(self) -> Results:
        """Score what is not scored yet; the numbers do not depend on the number of processes."""
        scored: dict[Cell, Scored] = {}
        left_out: dict[Cell, str] = {}
        for (lang, measure), found in self._cells():
            if isinstance(found, Scored):
                scored[lang, measure] = found
            else:
                left_out[lang, measure] = found
        cut = sum(each.cut for each in scored.values())
        if cut:
            warnings.warn(f"{cut} pairs {CUT_REASON}", CutWarning, stacklevel=2)
        order = [(lang.lang, str(spec)) for lang in self.languages for spec in self.specs]
        return Results(
            self.languages,
            [str(spec) for spec in self.specs],
            {cell: fmean(scored[cell].parts[PART]) for cell in order if cell in scored},
            {cell: left_out[cell] for cell in order if cell in left_out},
            {str(spec): self.engines.similarity(spec).signature for spec in self.specs},
        )

    def _cells(self) -> Iterator[tuple[Cell, Scored | str]]:
        """Each cell with its scores, or with the reason why it has none, as they come."""
        done = 0
        waiting: list[tuple[LanguagePairs, MeasureSpec, str]] = []
        for spec in self.specs:
            signature = self.engines.similarity(spec).signature
            for language in self.languages:
                known = self._known(language, spec, signature)
                if known is None:
                    waiting.append((language, spec, signature))
                    continue
                self.reused += 1
                done += len(language.pairs)
                yield (language.lang, str(spec)), known
        for language, spec, signature, found in self._scored(waiting, done):
            if self.cells is not None and isinstance(found, Scored):
                key = (language.lang, str(spec), signature, language.fingerprint)
                self.cells.put(*key, found)
            yield (language.lang, str(spec)), found

    def _known(self, language: LanguagePairs, spec: MeasureSpec, signature: str) -> Scored | None:
        if self.cells is None:
            return None
        return self.cells.get(language.lang, str(spec), signature, language.fingerprint)

    def _scored(
        self, waiting: Sequence[tuple[LanguagePairs, MeasureSpec, str]], done: int
    ) -> Iterator[tuple[LanguagePairs, MeasureSpec, str, Scored | str]]:
        if self.processes == 1 or len(waiting) < 2:
            for language, spec, signature in waiting:
                before = done

                def report(pairs: int, before: int = before) -> None:
                    self._report(before + pairs)

                found = score_language(language, spec, self.engines, self.progress, report)
                done += len(language.pairs)
                self._report(done)
                yield language, spec, signature, found
            return
        context = get_context("spawn")  # engines do not survive a fork
        with ProcessPoolExecutor(self.processes, context, initializer=follow_parent) as pool:
            jobs: dict[Future[Scored | str], tuple[LanguagePairs, MeasureSpec, str]] = {
                pool.submit(score_language, each[0], each[1], self.engines): each
                for each in waiting
            }
            try:
                for job in as_completed(jobs):
                    language, spec, signature = jobs[job]
                    done += len(language.pairs)
                    self._report(done)
                    yield language, spec, signature, job.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _report(self, done: int) -> None:
        if self.advance is not None:
            self.advance(done)


def score_language(
    language: LanguagePairs,
    spec: MeasureSpec,
    engines: Engines,
    progress: Progress | None = None,
    report: Callable[[int], None] | None = None,
) -> Scored | str:
    """Score the pairs of a language, or say why the measure cannot."""
    similarity = engines.similarity(spec)
    lang = language.lang
    scores: list[float] = []
    cut = 0
    step = len(language.pairs) if needs_all_pairs(spec, similarity) else PAIRS_AT_A_TIME
    try:
        for start in range(0, len(language.pairs), max(step, 1)):
            pairs = language.pairs[start : start + step]
            found = similarity.segments(
                [(Text(a, lang), Text(b, lang)) for a, b in pairs], progress
            )
            scores += found.scores
            cut += sum(found.cut)
            if report is not None:
                report(len(scores))
    except LanguageError as error:
        return str(error)
    return Scored({PART: scores}, cut) if scores else "there are no pairs"


def needs_all_pairs(spec: MeasureSpec, similarity: Similarity) -> bool:
    """Whether a pair's score depends on the others; NIST's does not, if it is by its own row."""
    if spec.measure == "nist":
        return spec.settings.get("info") == "corpus"
    return similarity.forth.needs_all_rows


def with_words(spec: MeasureSpec, tokenize: str = SPLIT) -> MeasureSpec:
    """Settle how words are told apart, alike for all languages, where the spec does not say.

    ``bleu`` keeps sacrebleu's own default.

    >>> str(with_words(MeasureSpec.parse("nist"))), str(with_words(MeasureSpec.parse("bleu")))
    ('nist:tokenize=split', 'bleu')
    """
    default = settings_of(spec.measure).get("tokenize", tokenize)
    if default == tokenize or "tokenize" in spec.settings or "bleu" in spec.measure.split("+"):
        return spec
    return MeasureSpec(spec.measure, spec.model, {**spec.settings, "tokenize": tokenize})


def words_of(spec: MeasureSpec) -> str | None:
    """How a measure tells words apart; None if it does not.

    >>> words_of(MeasureSpec.parse("bleu-nltk")), words_of(MeasureSpec.parse("chrf"))
    ('split', None)
    """
    found = {**settings_of(spec.measure), **spec.settings}.get("tokenize")
    return None if found is None else str(found)


@once
def _translation(name: str, compute_type: str, threads: int | None, cache: bool | Path) -> Any:
    return load_model(name, compute_type=compute_type, threads=threads, cache=cache)  # type: ignore[arg-type]


@once
def _encoder(name: str, layer: int | None, compute_type: str, threads: int | None) -> Any:
    return load_encoder(name, layer=layer, compute_type=compute_type, threads=threads)  # type: ignore[arg-type]
