"""BLEU, chrF and METEOR as nltk computes them (extra: nltk): not the numbers of sacrebleu."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

from tertium.errors import SettingError
from tertium.measures.base import Measure, Segments, percent
from tertium.measures.registry import measure
from tertium.measures.settings import setting
from tertium.measures.words import tokenizer, tokenizer_choices
from tertium.models.base import Progress
from tertium.registry import Extra
from tertium.text import Row

NLTK = (Extra("nltk", ("nltk",)),)
UNSMOOTHED = "method0"
SMOOTHING = (UNSMOOTHED, "method1", "method2", "method3", "method4")
"""Chen and Cherry's methods, by nltk's numbers; the others look at texts, not at counts alone."""


@measure
@dataclass(frozen=True)
class BleuNltk(Measure):
    """``sentence_bleu`` for segments, ``corpus_bleu`` as the system score; from 0 to 1.

    The words are taken as they are given, and nothing is smoothed unless that is asked for. Without
    smoothing, a segment that shares no 4-gram with its reference scores 0, even if it is identical
    to it but has fewer than four words. (nltk puts the smallest float in the place of a precision
    of 0, and arrives at some 1e-78; that is 0 here.)
    """

    name = "bleu-nltk"
    summary = "BLEU as nltk computes it."
    requires = NLTK
    bounds = (0.0, 1.0)
    order: int = setting(4, "Longest word n-grams.", low=1, served=False)
    tokenize: str = setting("split", "Tokenizer: split (at spaces), 13a, intl, char, zh or none.")
    lowercase: bool = setting(False, "Ignore case.")
    smooth: str = setting(UNSMOOTHED, "Smoothing of nltk.", choices=SMOOTHING, served=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order < 1:
            raise SettingError(f"order={self.order!r}: it must be 1 or more")

    def reading(self, score: float) -> str:
        return f"{percent(score)}: overlap of runs of up to four words, as nltk counts them"

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        words = tokenizer(self.tokenize, lowercase=self.lowercase)
        scores, statistics = [], []
        for done, row in enumerate(rows, start=1):
            hypothesis = words(row.hypothesis.text)
            references = [words(other.text) for other in self.compared(row)]
            counted = self._count(hypothesis, references)
            statistics.append(counted)
            scores.append(self.system(counted))
            if progress is not None and done % 1000 == 0:
                progress(self.name, done, len(rows))
        return Segments(scores, statistics, [False] * len(rows))

    def system(self, statistics: Sequence[float]) -> float:
        """The end of nltk's corpus_bleu, from where it has counted."""
        bleu = self._bleu
        matched = statistics[: self.order]
        total = statistics[self.order : 2 * self.order]
        ours, theirs = map(int, statistics[2 * self.order :])
        if not matched[0] or (self.smooth == UNSMOOTHED and not all(matched)):
            return 0.0
        precisions = [
            bleu.Fraction(int(a), int(b), _normalize=False)
            for a, b in zip(matched, total, strict=True)
        ]
        method = getattr(bleu.SmoothingFunction(), self.smooth)
        smoothed = method(precisions, references=[], hypothesis=[], hyp_len=ours)
        mean = math.fsum(math.log(p) for p in smoothed) / self.order
        return float(bleu.brevity_penalty(theirs, ours)) * math.exp(mean)

    def choices(self) -> Mapping[str, object]:
        return {
            "order": self.order,
            "case": "lc" if self.lowercase else "mixed",
            **tokenizer_choices(self.tokenize),
            "smooth": self.smooth,
            "nltk": version("nltk"),
        }

    def _count(self, hypothesis: list[str], references: list[list[str]]) -> tuple[float, ...]:
        """What adds up: n-grams matched and n-grams there are, by order, and both lengths."""
        bleu = self._bleu
        found = [
            bleu.modified_precision(references, hypothesis, n) for n in range(1, self.order + 1)
        ]
        ours = len(hypothesis)
        return (
            *(float(each.numerator) for each in found),
            *(float(each.denominator) for each in found),
            float(ours),
            float(bleu.closest_ref_length(references, ours)),
        )

    @cached_property
    def _bleu(self) -> Any:
        import nltk.translate.bleu_score

        return nltk.translate.bleu_score


@measure
@dataclass(frozen=True)
class ChrFNltk(Measure):
    """``sentence_chrf`` for segments, their mean as the system score; from 0 to 1.

    It is the mean of the F-scores of the orders, with recall weighted three times. sacrebleu
    averages precision and recall over the orders first, has beta 2, and leaves out orders that a
    short text does not have; here such an order counts as 0.

    nltk takes one reference; of several, the one that scores best counts.
    """

    name = "chrf-nltk"
    summary = "chrF as nltk computes it."
    requires = NLTK
    bounds = (0.0, 1.0)
    char_order: int = setting(6, "Longest character n-grams.", low=1)
    beta: float = setting(3.0, "Weight of recall.", low=0)
    whitespace: bool = setting(False, "Whether spaces count.", served=False)
    """Whether spaces count as characters."""
    lowercase: bool = setting(False, "Ignore case.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.char_order < 1:
            raise SettingError(f"char_order={self.char_order!r}: it must be 1 or more")

    def reading(self, score: float) -> str:
        return f"{percent(score)}: overlap of runs of characters, as nltk counts them"

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        from nltk.translate.chrf_score import sentence_chrf

        scores = []
        for done, row in enumerate(rows, start=1):
            hypothesis, *references = (
                text.text.lower() if self.lowercase else text.text
                for text in (row.hypothesis, *self.compared(row))
            )
            found = (
                sentence_chrf(
                    reference,
                    hypothesis,
                    max_len=self.char_order,
                    beta=self.beta,
                    ignore_whitespace=not self.whitespace,
                )
                for reference in references
            )
            scores.append(float(max(found)))
            if progress is not None and done % 1000 == 0:
                progress(self.name, done, len(rows))
        return Segments(scores, [(score, 1.0) for score in scores], [False] * len(rows))

    def choices(self) -> Mapping[str, object]:
        return {
            "nc": self.char_order,
            "beta": self.beta,
            "space": self.whitespace,
            "case": "lc" if self.lowercase else "mixed",
            "nltk": version("nltk"),
        }


class NoSynonyms:
    """What nltk asks for synonyms, without the data of WordNet: there are none."""

    def synsets(self, word: str) -> tuple[()]:
        return ()


@measure
@dataclass(frozen=True)
class Meteor(Measure):
    """``meteor_score`` for segments, their mean as the system score; from 0 to 1.

    Banerjee and Lavie (2005) with the weights of Lavie and Agarwal (2007). Words are matched if
    they are equal in lower case, then if their stems are (Porter, English), and then, with the data
    of WordNet, if they are synonyms. Of several references, the one that scores best counts.
    """

    name = "meteor"
    summary = "Matched words and stems, with a penalty for their order, as nltk computes METEOR."
    requires = NLTK
    bounds = (0.0, 1.0)
    synonyms: bool = setting(
        False, "Match synonyms of WordNet too; its data must be installed.", served=False
    )
    tokenize: str = setting("split", "Tokenizer: split (at spaces), 13a, intl, char, zh or none.")

    def reading(self, score: float) -> str:
        return f"{percent(score)}: overlap of words and stems, less where their order differs"

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        from nltk.translate.meteor_score import meteor_score

        words, wordnet = tokenizer(self.tokenize, lowercase=False), self._wordnet
        scores = []
        for done, row in enumerate(rows, start=1):
            references = [words(other.text) for other in self.compared(row)]
            scores.append(
                float(meteor_score(references, words(row.hypothesis.text), wordnet=wordnet))
            )
            if progress is not None and done % 1000 == 0:
                progress(self.name, done, len(rows))
        return Segments(scores, [(score, 1.0) for score in scores], [False] * len(rows))

    def choices(self) -> Mapping[str, object]:
        return {
            "stages": "exact+stem+synonyms" if self.synonyms else "exact+stem",
            **tokenizer_choices(self.tokenize),
            "nltk": version("nltk"),
        }

    @property
    def _wordnet(self) -> Any:
        if not self.synonyms:
            return NoSynonyms()
        from nltk.corpus import wordnet

        try:
            wordnet.ensure_loaded()
        except LookupError:
            raise SettingError(
                "synonyms=yes needs the data of WordNet, which nltk does not find; install them "
                "(python -m nltk.downloader wordnet), or leave synonyms out"
            ) from None
        return wordnet
