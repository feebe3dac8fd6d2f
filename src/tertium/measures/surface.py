"""Surface overlap, as sacrebleu computes it: BLEU, chrF and TER."""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from tertium.errors import SettingError
from tertium.measures.base import Measure, Segments, Texts
from tertium.measures.registry import measure
from tertium.measures.settings import setting
from tertium.measures.words import sacrebleu_bleu
from tertium.models.base import Progress
from tertium.text import Row

if TYPE_CHECKING:
    from tertium.measures.base import Floats

OWN_FIELDS = ("nrefs", "version")
"""Fields of sacrebleu's signature that ours has too; sacrebleu's version gets its own field."""
RECENT = 256
"""Texts whose n-grams are kept: candidates are compared with each other, and systems with the same
references."""
PUNCTUATION = frozenset(string.punctuation)
SegmentScore = tuple[float, list[float], int | None]
"""A sentence score, the additive statistics that the system score is built on, and the reference
that gave the score, counted from 0; None if all references count."""


class SurfaceMeasure(Measure):
    """A sacrebleu metric; multiple references are treated as that metric treats them.

    Only sacrebleu's public interface is used.
    """

    @cached_property
    def metric(self) -> Any:
        """The sacrebleu metric with these settings."""
        raise NotImplementedError

    def segment(self, hypothesis: str, references: Sequence[str]) -> SegmentScore:
        """The sentence score, its statistics, and the best reference."""
        raise NotImplementedError

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        scores, statistics, cut = [], [], []
        best: list[int | None] = []
        for done, row in enumerate(rows, start=1):
            texts = [row.hypothesis.text, *(other.text for other in self.compared(row))]
            hypothesis, *references = counted = [self.counted(text) for text in texts]
            score, numbers, place = self.segment(hypothesis, references)
            scores.append((-score if self.negated else score) + 0.0)  # no minus zero
            statistics.append(tuple(map(float, numbers)))
            cut.append(counted != texts)
            best.append(place if self.against == "reference" else None)
            if progress is not None and done % 1000 == 0:
                progress(self.name, done, len(rows))
        return Segments(scores, statistics, cut, best)

    def counted(self, text: str) -> str:
        """The part of a text that is scored: all of it, unless the measure has a limit."""
        return text

    def choices(self) -> Mapping[str, object]:
        import sacrebleu

        self.metric.num_refs = 1  # sacrebleu has no signature before it has seen a reference
        theirs = {
            name: value
            for name, value in self.metric.get_signature().info.items()
            if name not in OWN_FIELDS and value is not None
        }
        negated = {"sign": "negated"} if self.negated else {}
        return {**theirs, **negated, "sacrebleu": sacrebleu.__version__}


@measure
@dataclass(frozen=True)
class Bleu(SurfaceMeasure):
    """Sentence BLEU with exponential smoothing; corpus BLEU as the system score."""

    name = "bleu"
    summary = "Overlap of word n-grams (sacrebleu)."
    bounds = (0.0, 100.0)
    tokenize: str = setting(
        "13a", "Tokenizer: 13a, intl, char, zh, ja-mecab, ko-mecab, flores200 or none."
    )
    lowercase: bool = setting(False, "Ignore case.")

    def reading(self, score: float) -> str:
        return f"{score:.0f} of 100: overlap of runs of up to four words"

    @cached_property
    def metric(self) -> Any:
        return sacrebleu_bleu(self.tokenize, lowercase=self.lowercase, effective_order=True)

    def choices(self) -> Mapping[str, object]:
        return {**super().choices(), "eff": "segments"}  # as sacrebleu does: not for the system

    def segment(self, hypothesis: str, references: Sequence[str]) -> SegmentScore:
        found = self.metric.sentence_score(hypothesis, references)
        numbers = [found.sys_len, found.ref_len, *found.counts, *found.totals]
        return found.score, numbers, 0 if len(references) == 1 else None

    def system(self, statistics: Sequence[float]) -> float:
        from sacrebleu.metrics.bleu import BLEU

        length, reference_length, *counts = map(int, statistics)
        correct, total = counts[: len(counts) // 2], counts[len(counts) // 2 :]
        found = BLEU.compute_bleu(correct, total, length, reference_length, smooth_method="exp")
        return float(found.score)

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
    char_order: int = setting(6, "Longest character n-grams.", low=1)
    word_order: int = setting(0, "Longest word n-grams: 2 is chrF++, 0 is chrF.", low=0)
    beta: int = setting(2, "Weight of recall.", low=1)
    lowercase: bool = setting(False, "Ignore case.")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("char_order", 1), ("word_order", 0), ("beta", 1)):
            if getattr(self, name) < least:
                value = getattr(self, name)
                raise SettingError(f"{name}={value!r}: it must be {least} or more")

    def reading(self, score: float) -> str:
        return f"{score:.0f} of 100: overlap of runs of up to six characters"

    @cached_property
    def metric(self) -> Any:
        from sacrebleu.metrics.chrf import CHRF

        return CHRF(self.char_order, self.word_order, self.beta, self.lowercase)

    def choices(self) -> Mapping[str, object]:
        return {**super().choices(), "beta": self.beta}  # which sacrebleu leaves out

    def segment(self, hypothesis: str, references: Sequence[str]) -> SegmentScore:
        """Statistics of the best reference, which sacrebleu does not make public."""
        ours = self._ngrams(hypothesis)
        candidates = [_matches(ours, self._ngrams(reference)) for reference in references]
        scores = [self.system(candidate) for candidate in candidates]
        best = scores.index(max(scores))  # the first of equals, as in sacrebleu
        return scores[best], candidates[best], best

    def against_aggregate(self, hypotheses: Texts, references: Texts) -> tuple[list[float], bool]:
        """chrF against the mean n-gram counts of all references (Vamvas and Sennrich 2024).

        >>> from tertium.text import Text
        >>> chrf = ChrF(char_order=1)
        >>> chrf.against_aggregate([Text("ab")], [Text("ab"), Text("cd")])[0]  # 1 of 2 letters
        [50.0]
        """
        share = 1 / len(references)
        means: list[Counter[str]] = []
        for text, count in Counter(reference.text for reference in references).items():
            ngrams = self._ngrams(text)
            means = means or [Counter() for _ in ngrams]
            for mean, order in zip(means, ngrams, strict=True):
                for ngram, times in order.items():
                    mean[ngram] += times * count * share  # type: ignore[assignment]
        scores = {
            text: self.system(_matches(self._ngrams(text), means))
            for text in {hypothesis.text for hypothesis in hypotheses}
        }
        return [scores[hypothesis.text] for hypothesis in hypotheses], False

    def pairwise(self, hypotheses: Texts, references: Texts) -> Floats:
        """The scores of all pairs, with one array of n-gram counts per order."""
        import numpy as np

        ours, theirs = (
            [self._ngrams(text.text) for text in side] for side in (hypotheses, references)
        )
        statistics = np.zeros((len(ours), len(theirs), 3 * (self.char_order + self.word_order)))
        for order in range(self.char_order + self.word_order):
            ids = {
                ngram: number
                for number, ngram in enumerate({ngram for each in theirs for ngram in each[order]})
            }
            counts = np.zeros((len(theirs), len(ids)), np.int32)
            for row, each in zip(counts, theirs, strict=True):
                row[[ids[ngram] for ngram in each[order]]] = list(each[order].values())
            sizes = counts.sum(axis=1)
            for place, each in enumerate(ours):
                known = [ngram for ngram in each[order] if ngram in ids]
                row = np.array([each[order][ngram] for ngram in known], np.int32)
                matches = np.minimum(counts[:, [ids[ngram] for ngram in known]], row).sum(axis=1)
                found = (np.where(sizes > 0, each[order].total(), 0), sizes, matches)
                statistics[place, :, 3 * order : 3 * order + 3] = np.column_stack(found)
        flat = self.systems(statistics.reshape(len(ours) * len(theirs), -1))
        return flat.reshape(len(ours), len(theirs))

    def _ngrams(self, text: str) -> list[Counter[str]]:
        """Count n-grams; the caller must not change them."""
        return _ngrams(text, self.char_order, self.word_order, self.lowercase)

    def system(self, statistics: Sequence[float]) -> float:
        precision = recall = 0.0
        orders = 0
        for start in range(0, len(statistics), 3):
            ours, theirs, matches = statistics[start : start + 3]
            if ours > 0 and theirs > 0:
                precision += matches / ours
                recall += matches / theirs
                orders += 1
        if not precision + recall:
            return 0.0
        precision, recall = precision / orders, recall / orders
        factor = self.beta**2
        return 100 * ((1 + factor) * precision * recall / (factor * precision + recall))

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
    negated = True
    normalize_text: bool = setting(False, "Separate punctuation from words.")
    case_sensitive: bool = setting(False, "Distinguish case.")
    longest: int = setting(500, "Longer texts are cut after this many words.", low=1, served=False)
    """Longer texts are cut after so many words: the search for shifts can take a tenth of a second
    per word."""

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

    @property
    def cut_reason(self) -> str:
        return f"hold text that is longer than {self.longest} words: only the beginning counts"

    def segment(self, hypothesis: str, references: Sequence[str]) -> SegmentScore:
        found = self.metric.sentence_score(hypothesis, references)
        place = 0 if len(references) == 1 else None  # the length is the mean over references
        return found.score, [found.num_edits, found.ref_length], place

    def system(self, statistics: Sequence[float]) -> float:
        edits, words = statistics
        rate = edits / words if words > 0 else float(edits > 0)
        return -100 * rate + 0.0  # no minus zero

    def systems(self, sums: Floats) -> Floats:
        import numpy as np

        edits, words = sums[:, 0], sums[:, 1]
        rate = np.divide(edits, words, where=words > 0, out=(edits > 0).astype(np.float64))
        return np.asarray(-100 * rate + 0.0)


@lru_cache(maxsize=RECENT)
def _ngrams(text: str, char_order: int, word_order: int, lowercase: bool) -> list[Counter[str]]:
    """Count character n-grams without white space, then word n-grams, order by order."""
    from sacrebleu.metrics.helpers import extract_all_char_ngrams, extract_word_ngrams

    text = text.lower() if lowercase else text
    words = _words_and_punctuation(text) if word_order else []
    return [
        *extract_all_char_ngrams(text, char_order, include_whitespace=False),
        *(extract_word_ngrams(words, order + 1) for order in range(word_order)),
    ]


def _matches(ours: list[Counter[str]], theirs: list[Counter[str]]) -> list[float]:
    """For each order, the n-grams of the hypothesis, of the reference, and those they share.

    Where the reference has none of an order, those of the hypothesis do not count.
    """
    numbers: list[float] = []
    for our, their in zip(ours, theirs, strict=True):
        shared = sum(  # half the time of a generator with min()
            [
                count if count < (other := their[ngram]) else other
                for ngram, count in our.items()
                if ngram in their
            ]
        )
        numbers += [our.total() if their else 0, their.total(), shared]
    return numbers


def _words_and_punctuation(text: str) -> list[str]:
    """Split at white space, and one punctuation mark off a word: at its end, else at its start.

    >>> _words_and_punctuation("(Hello) there, «general»!")
    ['(Hello', ')', 'there', ',', '«general»', '!']
    """
    words: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in PUNCTUATION:
            words += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in PUNCTUATION:
            words += [word[0], word[1:]]
        else:
            words.append(word)
    return words
