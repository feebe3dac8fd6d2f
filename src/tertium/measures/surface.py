"""Surface overlap, as sacrebleu computes it: BLEU, chrF and TER."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from tertium.errors import SettingError
from tertium.measures.base import Measure, Segments
from tertium.measures.registry import measure
from tertium.models.base import Progress
from tertium.text import Row

if TYPE_CHECKING:
    from tertium.measures.base import Floats

OWN_FIELDS = ("nrefs", "version")
"""What sacrebleu's signature calls by the same names as ours; its version goes under its name."""


class SurfaceMeasure(Measure):
    """A sacrebleu metric; several references are treated as that metric treats them."""

    sign: ClassVar[float] = 1.0
    """-1 for an error rate, which is turned round: higher is better, always."""

    @cached_property
    def metric(self) -> Any:
        """The sacrebleu metric with these settings."""
        raise NotImplementedError

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        scores, statistics, cut = [], [], []
        for done, row in enumerate(rows, start=1):
            texts = [row.hypothesis.text, *(other.text for other in self.compared(row))]
            hypothesis, *references = counted = [self.counted(text) for text in texts]
            # The additive statistics that sacrebleu's own significance tests are built on.
            [numbers] = self.metric._extract_corpus_statistics(
                [hypothesis], [[reference] for reference in references]
            )
            found = self.metric._compute_score_from_stats(numbers).score
            scores.append(self.sign * found + 0.0)  # no minus zero
            statistics.append(tuple(float(number) for number in numbers))
            cut.append(counted != texts)
            if progress is not None and done % 1000 == 0:
                progress(self.name, done, len(rows))
        return Segments(scores, statistics, cut)

    def counted(self, text: str) -> str:
        """So much of a text as counts: all of it, unless the measure cannot take so much."""
        return text

    def system(self, statistics: Sequence[float]) -> float:
        found = self._corpus_metric._compute_score_from_stats(statistics).score
        return self.sign * float(found) + 0.0

    @cached_property
    def _corpus_metric(self) -> Any:
        return self.metric

    def choices(self) -> Mapping[str, object]:
        import sacrebleu

        self.metric.num_refs = 1  # sacrebleu signs nothing before it has seen a reference
        theirs = {
            name: value
            for name, value in self.metric.get_signature().info.items()
            if name not in OWN_FIELDS and value is not None
        }
        negated = {"sign": "negated"} if self.sign < 0 else {}
        return {**theirs, **negated, "sacrebleu": sacrebleu.__version__}


@measure
@dataclass(frozen=True)
class Bleu(SurfaceMeasure):
    """Sentence BLEU with exponential smoothing; corpus BLEU as the system score."""

    name = "bleu"
    summary = "Overlap of word n-grams (sacrebleu)."
    bounds = (0.0, 100.0)
    tokenize: str = "13a"
    lowercase: bool = False

    def reading(self, score: float) -> str:
        return f"{score:.0f} of 100: overlap of runs of up to four words"

    @cached_property
    def metric(self) -> Any:
        from sacrebleu.metrics.bleu import BLEU

        if self.tokenize not in BLEU.TOKENIZERS:
            known = ", ".join(sorted(BLEU.TOKENIZERS))
            raise SettingError(f"tokenize={self.tokenize!r}: it must be one of {known}")
        try:
            return BLEU(lowercase=self.lowercase, tokenize=self.tokenize, effective_order=True)
        except RuntimeError as error:  # a tokenizer that has to be installed
            raise SettingError(f"tokenize={self.tokenize!r}: {str(error).strip()}") from None

    def choices(self) -> Mapping[str, object]:
        return {**super().choices(), "eff": "segments"}  # as sacrebleu does: not for the system

    @cached_property
    def _corpus_metric(self) -> Any:
        from sacrebleu.metrics.bleu import BLEU

        return BLEU(lowercase=self.lowercase, tokenize=self.tokenize)

    def systems(self, sums: Floats) -> Floats:
        import numpy as np

        lengths, reference_lengths = sums[:, 0], sums[:, 1]
        correct, total = np.split(sums[:, 2:], 2, axis=1)
        plain = (correct > 0).all(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            brevity = np.minimum(0.0, 1 - reference_lengths / lengths)
            scores = 100 * np.exp(np.log(correct / total).mean(axis=1) + brevity)
        if not plain.all():  # the smoothing is sacrebleu's
            scores[~plain] = super().systems(sums[~plain])
        return np.asarray(scores)


@measure
@dataclass(frozen=True)
class ChrF(SurfaceMeasure):
    """Character n-gram F-score; with ``word_order=2``, chrF++."""

    name = "chrf"
    summary = "Overlap of character n-grams; with word_order=2, chrF++ (sacrebleu)."
    bounds = (0.0, 100.0)
    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False

    def reading(self, score: float) -> str:
        return f"{score:.0f} of 100: overlap of runs of up to six characters"

    @cached_property
    def metric(self) -> Any:
        from sacrebleu.metrics.chrf import CHRF

        return CHRF(self.char_order, self.word_order, self.beta, self.lowercase)

    def choices(self) -> Mapping[str, object]:
        return {**super().choices(), "beta": self.beta}  # which sacrebleu leaves out

    def systems(self, sums: Floats) -> Floats:
        import numpy as np

        ours, theirs, matches = np.moveaxis(sums.reshape(len(sums), -1, 3), 2, 0)
        there = (ours > 0) & (theirs > 0)
        orders = np.maximum(there.sum(axis=1), 1)
        precision, recall = (
            np.divide(matches, size, where=there, out=np.zeros_like(matches)).sum(axis=1) / orders
            for size in (ours, theirs)
        )
        factor = self.beta**2
        weighted = factor * precision + recall
        f_score = (1 + factor) * precision * recall
        shares = np.divide(f_score, weighted, where=weighted > 0, out=np.zeros(len(sums)))
        return np.asarray(100 * shares)


@measure
@dataclass(frozen=True)
class Ter(SurfaceMeasure):
    """Translation edit rate, negated: 0 for identical text, -100 for as many edits as words."""

    name = "ter"
    summary = "Translation edit rate, negated (sacrebleu)."
    bounds = (-math.inf, 0.0)
    sign: ClassVar[float] = -1.0
    normalize_text: bool = False
    case_sensitive: bool = False
    longest: int = 500
    """Of a longer text, so many words count: the search for shifts may take a tenth of a second a
    word."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.longest < 1:
            raise SettingError(f"longest={self.longest!r}: it must be 1 or more")

    def reading(self, score: float) -> str:
        return f"{-score:.0f} edits for every 100 words turn one text into the other"

    @cached_property
    def metric(self) -> Any:
        from sacrebleu.metrics.ter import TER

        return TER(normalized=self.normalize_text, case_sensitive=self.case_sensitive)

    def counted(self, text: str) -> str:
        words = self.metric.tokenizer(text).split()
        return text if len(words) <= self.longest else " ".join(words[: self.longest])

    def choices(self) -> Mapping[str, object]:
        return {**super().choices(), "longest": self.longest}

    def systems(self, sums: Floats) -> Floats:
        import numpy as np

        edits, words = sums[:, 0], sums[:, 1]
        rate = np.divide(edits, words, where=words > 0, out=(edits > 0).astype(np.float64))
        return np.asarray(-100 * rate + 0.0)
