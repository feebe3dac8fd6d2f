"""BLEU as nltk computes it: of words as they are given, unsmoothed unless one says so.

It is not sacrebleu's number. Without smoothing, a segment that shares no 4-gram with its reference
has 0, be it identical to it, where it has fewer than four words. (nltk puts the smallest float in
the place of a precision of 0, and comes to some 1e-78; that is 0 here.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from tertium.errors import SettingError
from tertium.measures.base import Measure, Segments
from tertium.measures.settings import check_settings
from tertium.measures.words import tokenizer, tokenizer_choices
from tertium.models.base import Progress
from tertium.text import Row

UNSMOOTHED = "method0"
SMOOTHING = (UNSMOOTHED, "method1", "method2", "method3", "method4")
"""Chen and Cherry's methods, by nltk's numbers; the others look at texts, not at counts alone."""


@dataclass(frozen=True)
class BleuNltk(Measure):
    """``sentence_bleu`` for segments, ``corpus_bleu`` as the system score; from 0 to 1."""

    name = "bleu-nltk"
    bounds = (0.0, 1.0)
    order: int = 4
    tokenize: str = "split"
    lowercase: bool = False
    smooth: str = UNSMOOTHED

    def __post_init__(self) -> None:
        check_settings(self, {"smooth": SMOOTHING})
        if self.order < 1:
            raise SettingError(f"order={self.order!r}: it must be 1 or more")

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        words = tokenizer(self.tokenize, lowercase=self.lowercase)
        scores, statistics = [], []
        for done, row in enumerate(rows, start=1):
            hypothesis = words(row.hypothesis.text)
            references = [words(reference.text) for reference in row.references]
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
            "nltk": nltk_version(),
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
        nltk_version()
        import nltk.translate.bleu_score

        return nltk.translate.bleu_score


def nltk_version() -> str:
    """Which nltk is there; without any, say how to get it."""
    if find_spec("nltk") is None:
        raise SettingError(
            "nltk's variants need nltk: install Tertium with its extra, "
            "`pip install 'tertium[nltk]'`"
        )
    from importlib.metadata import version

    return version("nltk")
