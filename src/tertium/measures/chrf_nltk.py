"""chrF as nltk computes it: the mean of the F-scores of the orders, recall weighted three times.

It is not sacrebleu's number: sacrebleu averages precision and recall over the orders first, has
beta 2, and leaves out orders that a short text does not have; here such an order counts as 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tertium.errors import SettingError
from tertium.measures.base import Measure, Segments
from tertium.measures.bleu_nltk import nltk_version
from tertium.models.base import Progress
from tertium.text import Row


@dataclass(frozen=True)
class ChrFNltk(Measure):
    """``sentence_chrf`` for segments, their mean as the system score; from 0 to 1.

    nltk takes one reference; of several, the one that scores best counts.
    """

    name = "chrf-nltk"
    bounds = (0.0, 1.0)
    char_order: int = 6
    beta: float = 3.0
    whitespace: bool = False
    """Whether spaces count as characters."""
    lowercase: bool = False

    def __post_init__(self) -> None:
        if self.char_order < 1:
            raise SettingError(f"char_order={self.char_order!r}: it must be 1 or more")

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        nltk_version()
        from nltk.translate.chrf_score import sentence_chrf

        scores = []
        for done, row in enumerate(rows, start=1):
            hypothesis, *references = (
                text.text.lower() if self.lowercase else text.text
                for text in (row.hypothesis, *row.references)
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
            "nltk": nltk_version(),
        }
