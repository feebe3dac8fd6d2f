"""Scores of paraphrases in many languages (Wang, Chen and Ataman, 2024).

Every pair of sentences with the same meaning is scored in both orders; the score of a language is
the mean over its pairs, that of a family the mean over its languages.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from statistics import fmean

import numpy as np

from tertium.data.datasets.base import ParaphraseSet
from tertium.data.datasets.plain import read_sets
from tertium.data.datasets.tapaco import read_tapaco
from tertium.data.languages import iso_code
from tertium.errors import InputError
from tertium.measures.loading import MeasureSpec, ModelSource, make_measure
from tertium.measures.nist import Nist
from tertium.measures.registry import settings_of
from tertium.measures.words import SPLIT, tokenizer
from tertium.stats.conventions import SAMPLES, Interval
from tertium.stats.resampling import bootstrap_counts, percentile_interval
from tertium.studies.runner import CellKey, Job, Runner, SharedModels, Similarity, similarity_job
from tertium.text import Text

SETS = "sets.tsv"
PACKED = ("", ".xz", ".gz", ".bz2")
PART = "pairs"
NIST = "nist"


@dataclass(frozen=True)
class LanguagePairs:
    """The pairs of a language: all pairs of its sets, or a sample of them."""

    lang: str
    sets: int
    of: int
    """How many pairs its sets have in all."""
    pairs: Sequence[tuple[str, str]]
    members: Sequence[int] = ()
    """The number of the set of each pair; without, each pair is a set of its own."""

    def interval(self, scores: Sequence[float], *, samples: int, seed: int) -> Interval | None:
        """Of the mean over pairs, by samples of sets: pairs of a set share sentences.

        None for a single set.
        """
        _, places = np.unique(self.members or range(len(scores)), return_inverse=True)
        sizes, sums = np.bincount(places), np.bincount(places, scores)
        if len(sizes) < 2:
            return None
        counts = bootstrap_counts(len(sizes), samples=samples, seed=seed)
        return percentile_interval(counts @ sums / (counts @ sizes))

    @property
    def words(self) -> float:
        """The mean number of words (at spaces) of a sentence; each sentence counts once.

        >>> LanguagePairs("en", 1, 1, [("Hello there.", "Good morning, all.")]).words
        2.5
        """
        lengths = [len(text.split()) for text in {text for both in self.pairs for text in both}]
        return fmean(lengths) if lengths else math.nan


@dataclass(frozen=True)
class ShortPairs:
    """The mean NIST of a language, if nltk's divisions by zero count as 0 or are left out.

    nltk divides by zero for a hypothesis of fewer words than the longest n-grams.
    """

    as_zero: float
    left_out: float
    """NaN if nothing is left."""
    share: float
    """The share of such hypotheses; each pair has two."""


@dataclass(frozen=True)
class Results:
    """The mean of each measure in each language; ``left_out`` has the reasons for missing ones."""

    languages: Sequence[LanguagePairs]
    measures: Sequence[str]
    means: Mapping[CellKey, float]
    left_out: Mapping[CellKey, str]
    signatures: Mapping[str, str]
    short: Mapping[CellKey, ShortPairs] = field(default_factory=dict)
    """Of NIST."""
    intervals: Mapping[CellKey, Interval] = field(default_factory=dict)
    """Of the means; a language with a single set has none."""

    def family_means(self, families: Mapping[str, str]) -> dict[CellKey, float]:
        """The mean over the languages of each family, for each measure."""
        values: dict[CellKey, list[float]] = {}
        for language in self.languages:
            for measure in self.measures:
                value = self.means.get((language.lang, measure))
                family = families.get(language.lang)
                if value is not None and family is not None:
                    values.setdefault((family, measure), []).append(value)
        return {cell: fmean(each) for cell, each in values.items()}


@dataclass
class RephrasingStudy:
    """Measures over the pairs of languages."""

    languages: Sequence[LanguagePairs]
    specs: Sequence[MeasureSpec]
    models: ModelSource = field(default_factory=SharedModels)
    runner: Runner = field(default_factory=Runner)
    samples: int = SAMPLES
    """Of the intervals."""
    seed: int = 0

    @property
    def size(self) -> int:
        """How many pairs there are to score, over all measures."""
        measures = len(self.specs) + len(self._short_as_zero)
        return measures * sum(len(language.pairs) for language in self.languages)

    @cached_property
    def _short_as_zero(self) -> dict[str, MeasureSpec]:
        """NIST as it is with zero for short hypotheses, by its name in the tables."""
        zero = {"short": "zero"}
        return {
            str(spec): replace(spec, settings={**spec.settings, **zero}, label="")
            for spec in self.specs
            if spec.measure == NIST and "short" not in spec.settings
        }

    def run(self) -> Results:
        """Score what is not scored yet, and average."""
        zero = self._short_as_zero
        scored = self.runner.run(
            [
                self._job(language, spec)
                for language in self.languages
                for spec in [*self.specs, *zero.values()]
            ]
        )
        self.runner.warn_partly()
        left_out = dict(self.runner.left_out)
        for language in self.languages:
            if not language.pairs:
                left_out |= {
                    (language.lang, str(spec)): "there are no pairs" for spec in self.specs
                }
        order = [(lang.lang, str(spec)) for lang in self.languages for spec in self.specs]
        parts = {key: each.parts[PART] for key, each in scored.items() if each.parts[PART]}
        return Results(
            self.languages,
            [str(spec) for spec in self.specs],
            {key: fmean(each) for key, each in parts.items()},
            {key: left_out[key] for key in order if key in left_out},
            {str(spec): Similarity.make(spec, self.models).shown for spec in self.specs},
            {
                (each.lang, name): _short_pairs(
                    each, spec, scored[each.lang, str(spec)].parts[PART]
                )
                for each in self.languages
                for name, spec in zero.items()
                if each.pairs and (each.lang, str(spec)) in scored
            },
            self._intervals(parts),
        )

    def _intervals(self, parts: Mapping[CellKey, Sequence[float]]) -> dict[CellKey, Interval]:
        of = {language.lang: language for language in self.languages}
        found = {
            key: of[key[0]].interval(scores, samples=self.samples, seed=self.seed)
            for key, scores in parts.items()
        }
        return {key: interval for key, interval in found.items() if interval is not None}

    def _job(self, language: LanguagePairs, spec: MeasureSpec) -> Job:
        lang = language.lang
        parts = {PART: [(Text(a, lang), Text(b, lang)) for a, b in language.pairs]}
        return similarity_job(lang, spec, parts, self.models)  # one tokenizer: see with_words


def _short_pairs(language: LanguagePairs, spec: MeasureSpec, scores: Sequence[float]) -> ShortPairs:
    """``scores`` are the means of both orders, in which short hypotheses count as 0."""
    measure = make_measure(spec, SharedModels(), lang=language.lang)
    assert isinstance(measure, Nist)
    words = tokenizer(measure.tokenize, lowercase=measure.lowercase)
    sentences = [text for both in language.pairs for text in both]
    defined = sum(len(words(text)) >= measure.order for text in sentences)
    total = 2 * math.fsum(scores)
    return ShortPairs(
        fmean(scores),
        total / defined if defined else math.nan,
        1 - defined / len(sentences),
    )


def read_paraphrase_sets(
    source: Path, langs: Sequence[str] | None = None
) -> dict[str, list[ParaphraseSet]]:
    """Read sets by language, in the order of their codes.

    ``source`` is a file with the columns lang, set_id and sentence, a folder with such a file
    (sets.tsv, packed or not), or a folder with TaPaCo's LANG.txt. ``langs`` are the codes used
    there (or in a column lang1).
    """
    found: dict[str, list[ParaphraseSet]] = {}
    plain = _plain(source)
    if plain is not None:
        for each in read_sets(plain):
            found.setdefault(each.lang, []).append(each)
    elif source.is_dir():
        for path in sorted(source.rglob("*.txt")):
            if 2 <= len(path.stem) <= 4:  # a code; others are read-me files
                found[path.stem] = read_tapaco(path.stem, folder=path.parent)
    if not found:
        raise InputError(
            f"{source} holds no sets of paraphrases: give a file with the columns lang, set_id and "
            f"sentence, a folder with {SETS}, or one with TaPaCo's LANG.txt"
        )
    if langs is not None:
        wanted = {iso_code(lang) for lang in langs}
        there = {iso_code(lang): lang for lang in found}
        for lang in langs:
            if iso_code(lang) not in there:
                raise InputError(f"{source} has no {lang}: it has {', '.join(sorted(found))}")
        found = {there[code]: found[there[code]] for code in wanted}
    return dict(sorted(found.items()))


def pairs_of(
    lang: str, sets: Sequence[ParaphraseSet], *, count: int | None = None, seed: int = 0
) -> LanguagePairs:
    """Pair each sentence of a set with each later one; of all these pairs, draw ``count``.

    The draw is without replacement, keeps the order of the data, and depends on the seed and on the
    language alone, not on which other languages there are.

    >>> one = ParaphraseSet("1", "en", ("Hi.", "Hello.", "Hey."))
    >>> pairs_of("en", [one]).pairs
    [('Hi.', 'Hello.'), ('Hi.', 'Hey.'), ('Hello.', 'Hey.')]
    >>> pairs_of("en", [one], count=2).of
    3
    """
    numbered = [
        (number, pair)
        for number, each in enumerate(sets)
        for pair in combinations(each.sentences, 2)
    ]
    total = len(numbered)
    if count is not None and count < total:
        generator = np.random.default_rng([seed, zlib.crc32(lang.encode())])
        chosen = np.sort(generator.choice(total, size=count, replace=False))
        numbered = [numbered[place] for place in chosen]
    members, pairs = [number for number, _ in numbered], [pair for _, pair in numbered]
    return LanguagePairs(lang, len(sets), total, pairs, members)


def _plain(source: Path) -> Path | None:
    if source.is_file():
        return source
    if not source.exists():
        raise InputError(f"{source} does not exist")
    places = (source / f"{SETS}{suffix}" for suffix in PACKED)
    return next((place for place in places if place.is_file()), None)


def with_words(spec: MeasureSpec, tokenize: str = SPLIT) -> MeasureSpec:
    """Set the tokenizer, the same for all languages, unless the spec names one.

    ``bleu`` keeps the default of sacrebleu.

    >>> str(with_words(MeasureSpec.parse("nist"))), str(with_words(MeasureSpec.parse("bleu")))
    ('nist:tokenize=split', 'bleu')
    """
    about = settings_of(spec.measure).get("tokenize")
    default = tokenize if about is None else about.default
    if default == tokenize or "tokenize" in spec.settings or "bleu" in spec.measure.split("+"):
        return spec
    return MeasureSpec(spec.measure, spec.model, {**spec.settings, "tokenize": tokenize})


def words_of(spec: MeasureSpec) -> str | None:
    """The tokenizer of a measure; None if it has none.

    >>> words_of(MeasureSpec.parse("bleu-nltk")), words_of(MeasureSpec.parse("chrf"))
    ('split', None)
    """
    about = settings_of(spec.measure).get("tokenize")
    found = spec.settings.get("tokenize", None if about is None else about.default)
    return None if found is None else str(found)
