"""NIST: n-gram precision in bits (Doddington, 2002), as mteval-v13a computes it.

    Info(w1 ... wn) = log2(count(w1 ... wn-1) / count(w1 ... wn))              (equation 2)
    NIST = sum over n of (Info of what is in both / n-grams of the hypothesis) * penalty   (3)
    penalty = exp(beta * ln(min(1, words of hypothesis / words of reference))^2)

The counts are of the references; of nothing (n = 1), it is the number of their words. With one
reference these are also nltk's numbers, where nltk has any: for a hypothesis of fewer than n words
it divides by zero, where mteval, and so we, add nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tertium.errors import SettingError
from tertium.measures.base import Measure, Segments
from tertium.measures.registry import measure
from tertium.measures.settings import setting
from tertium.measures.words import Words, ngrams, tokenizer, tokenizer_choices
from tertium.models.base import Progress
from tertium.text import Row

BETA = math.log(0.5) / math.log(1.5) ** 2
"""Chosen so that a hypothesis of two thirds of the length loses half of its score."""

Ngram = tuple[str, ...]
Information = Callable[[Ngram], float]


@measure
@dataclass(frozen=True)
class Nist(Measure):
    """Matched n-grams, weighted by their information in bits; unbounded."""

    name = "nist"
    summary = "Overlap of word n-grams, each weighted by its information (mteval)."
    bounds = (0.0, math.inf)
    needs_all_rows = True  # for the system score, and with info="corpus" for the segments too
    order: int = setting(5, "Longest word n-grams.", low=1, served=False)
    tokenize: str = setting("13a", "Tokenizer: 13a, intl, char, zh or none.")
    lowercase: bool = setting(False, "Ignore case.")
    info: str = setting(
        "row",
        "Where n-grams are counted: in the references of the row, or of all rows.",
        choices=("row", "corpus"),
        served=False,
    )
    """Which references the information of a segment is computed from: its own (``row``, as nltk's
    sentence_nist) or all (``corpus``, as mteval's segment scores). The system score uses all."""

    short: str = setting(
        "formula",
        "A hypothesis of fewer words than the longest n-grams: scored by those that it has, or 0.",
        choices=("formula", "zero"),
        served=False,
    )
    """``zero`` is for comparison with nltk, which divides by zero there."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order < 1:
            raise SettingError(f"order={self.order!r}: it must be 1 or more")

    def reading(self, score: float) -> str:
        return f"the runs of words that both texts have carry {score:.2f} bits"

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        words = tokenizer(self.tokenize, lowercase=self.lowercase)
        texts = [
            (words(row.hypothesis.text), [words(text.text) for text in self.compared(row)])
            for row in rows
        ]
        corpus = information((text for _, texts in texts for text in texts), self.order)
        scores, statistics = [], []
        for done, (hypothesis, references) in enumerate(texts, start=1):
            counted = _count(hypothesis, references, self.order, corpus)
            statistics.append(counted)
            if self.info == "row":
                own = information(references, self.order)
                counted = _count(hypothesis, references, self.order, own)
            too_short = self.short == "zero" and len(hypothesis) < self.order
            scores.append(0.0 if too_short else self.system(counted))
            if progress is not None and done % 1000 == 0:
                progress(self.name, done, len(rows))
        return Segments(scores, statistics, [False] * len(rows))

    def system(self, statistics: Sequence[float]) -> float:
        matched = statistics[: self.order]
        total = statistics[self.order : 2 * self.order]
        ours, theirs = statistics[2 * self.order :]
        precision = sum(a / b for a, b in zip(matched, total, strict=True) if b)
        return precision * length_penalty(ours, theirs)

    def choices(self) -> Mapping[str, object]:
        return {
            "formula": "mteval-v13a",
            "order": self.order,
            "case": "lc" if self.lowercase else "mixed",
            **tokenizer_choices(self.tokenize),
            "info": self.info,
            **({"short": self.short} if self.short != "formula" else {}),
        }


def information(references: Iterable[Words], order: int) -> Information:
    """Equation 2, with the counts of these references.

    >>> info = information([["a", "b", "a", "c"]], order=2)
    >>> info(("a",)), info(("a", "b"))  # log2 4/2, log2 2/1
    (1.0, 1.0)
    """
    counts: Counter[Ngram] = Counter()
    for words in references:
        counts[()] += len(words)
        for n in range(1, order + 1):
            counts.update(ngrams(words, n))
    return lambda ngram: math.log2(counts[ngram[:-1]] / counts[ngram])


def length_penalty(ours: float, theirs: float) -> float:
    """The penalty for a hypothesis that is too short.

    >>> round(length_penalty(2, 3), 6), length_penalty(4, 3), length_penalty(0, 3)
    (0.5, 1.0, 0.0)
    """
    if ours >= theirs:
        return 1.0
    return math.exp(BETA * math.log(ours / theirs) ** 2) if ours else 0.0


def _count(
    hypothesis: Words, references: Sequence[Words], order: int, info: Information
) -> tuple[float, ...]:
    """Additive statistics: matched information and n-gram counts by order, and both lengths.

    An n-gram is clipped at its maximum count in any reference; the length is the mean.
    """
    matched, total = [], []
    for n in range(1, order + 1):
        ours = Counter(ngrams(hypothesis, n))
        theirs: Counter[Ngram] = Counter()
        for reference in references:
            theirs |= Counter(ngrams(reference, n))
        matched.append(sum(info(ngram) * count for ngram, count in (ours & theirs).items()))
        total.append(float(ours.total()))
    length = sum(map(len, references)) / len(references)
    return (*matched, *total, float(len(hypothesis)), length)
