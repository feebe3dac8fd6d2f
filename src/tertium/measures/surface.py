"""Surface overlap, as sacrebleu computes it: BLEU, chrF and TER."""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from tertium.errors import SettingError
from tertium.measures.base import Measure, Segments, Texts
from tertium.measures.ngrams import NgramTable, numbered_ngrams, shared_ngrams
from tertium.measures.registry import measure
from tertium.measures.settings import setting
from tertium.measures.words import sacrebleu_bleu
from tertium.models.base import Progress
from tertium.text import Row, Text

if TYPE_CHECKING:
    from tertium.measures.base import Floats

OWN_FIELDS = ("nrefs", "version")
"""Fields of sacrebleu's signature that ours has too; sacrebleu's version gets its own field."""
RECENT = 256
"""Texts whose n-grams are kept: those of aggregated references, and candidates."""
PUNCTUATION = frozenset(string.punctuation)
BATCH_LETTERS = 1 << 14
"""The n-grams of rows with so many characters are counted at once: they fit into a cache."""
Compared = tuple[str, Sequence[str]]
"""A hypothesis and its references."""
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

    def scored(self, texts: Sequence[Compared]) -> list[SegmentScore]:
        """The sentence scores of some hypotheses, each with its references."""
        raise NotImplementedError

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        scores, statistics, cut = [], [], []
        best: list[int | None] = []
        for some in _batches(rows, self.compared):
            texts = [
                [row.hypothesis.text, *(other.text for other in others)] for row, others in some
            ]
            counted = [[self.counted(text) for text in several] for several in texts]
            cut += [each != several for each, several in zip(counted, texts, strict=True)]
            for score, numbers, place in self.scored([(each[0], each[1:]) for each in counted]):
                scores.append((-score if self.negated else score) + 0.0)  # no minus zero
                statistics.append(tuple(map(float, numbers)))
                best.append(place if self.against == "reference" else None)
            done = len(scores)
            if progress is not None and done // 1000 > (done - len(some)) // 1000:
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

    def scored(self, texts: Sequence[Compared]) -> list[SegmentScore]:
        """With one reference, the n-grams of all rows are counted at once."""
        if any(len(references) != 1 for _, references in texts):
            return [self._by_sacrebleu(*compared) for compared in texts]
        words = [self._words(text) for ours, theirs in texts for text in (ours, *theirs)]
        scores: list[SegmentScore] = []
        for place, orders in enumerate(shared_ngrams(words, self.metric.max_ngram_order)):
            totals, _, correct = zip(*orders, strict=True)
            numbers = [*map(len, words[2 * place : 2 * place + 2]), *correct, *totals]
            scores.append((self._score(numbers, effective_order=True), numbers, 0))
        return scores

    def _by_sacrebleu(self, hypothesis: str, references: Sequence[str]) -> SegmentScore:
        found = self.metric.sentence_score(hypothesis, references)
        numbers = [found.sys_len, found.ref_len, *found.counts, *found.totals]
        return found.score, numbers, 0 if len(references) == 1 else None

    def _words(self, text: str) -> list[str]:
        text = text.lower() if self.lowercase else text
        words: list[str] = self.metric.tokenizer(text.rstrip()).split()
        return words

    def _score(self, numbers: Sequence[float], *, effective_order: bool = False) -> float:
        length, reference_length, *counts = map(int, numbers)
        correct, total = counts[: len(counts) // 2], counts[len(counts) // 2 :]
        found = self.metric.compute_bleu(
            correct,
            total,
            length,
            reference_length,
            smooth_method="exp",
            effective_order=effective_order,
        )
        return float(found.score)

    def system(self, statistics: Sequence[float]) -> float:
        return self._score(statistics)

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

    def scored(self, texts: Sequence[Compared]) -> list[SegmentScore]:
        """Statistics of the best reference, which sacrebleu does not make public."""
        pairs = [text for ours, theirs in texts for other in theirs for text in (ours, other)]
        statistics = self._counts(pairs)
        scores: list[SegmentScore] = []
        for _, references in texts:
            candidates = [next(statistics) for _ in references]
            each = [self.system(candidate) for candidate in candidates]
            best = each.index(max(each))  # the first of equals, as in sacrebleu
            scores.append((each[best], candidates[best], best))
        return scores

    def _counts(self, texts: Sequence[str]) -> Iterator[list[float]]:
        """For each two texts and each order, the n-grams of both and those that they share.

        Where the second text has none of an order, those of the first do not count.
        """
        counts = [shared_ngrams(*each) for each in self._sequences(texts)]
        for pair in zip(*counts, strict=True):
            numbers: list[float] = []
            for ours, theirs, shared in chain.from_iterable(pair):
                numbers += ours if theirs else 0, theirs, shared
            yield numbers

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
        """The scores of all pairs; the n-grams of each text are counted once."""
        import numpy as np

        distinct = list(dict.fromkeys(text.text for text in (*hypotheses, *references)))
        places = {text: place for place, text in enumerate(distinct)}
        numbered = [order for each in self._sequences(distinct) for order in numbered_ngrams(*each)]
        table = NgramTable.of(numbered, len(distinct))
        ours, theirs = ([places[text.text] for text in side] for side in (hypotheses, references))
        sizes = table.sizes
        statistics = np.empty((len(ours), len(theirs), len(numbered), 3))
        statistics[..., 1] = sizes[theirs]
        statistics[..., 0] = np.where(sizes[theirs] > 0, sizes[ours][:, None], 0)
        statistics[..., 2] = table.shared(ours, theirs)
        flat = self.systems(statistics.reshape(len(ours) * len(theirs), -1))
        return flat.reshape(len(ours), len(theirs))

    def _sequences(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[Sequence[str]], int]]:
        """The characters of all texts with the longest n-grams, then their words."""
        texts = [text.lower() for text in texts] if self.lowercase else texts
        yield ["".join(text.split()) for text in texts], self.char_order
        if self.word_order:
            yield [_words_and_punctuation(text) for text in texts], self.word_order

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

    def scored(self, texts: Sequence[Compared]) -> list[SegmentScore]:
        scores: list[SegmentScore] = []
        for hypothesis, references in texts:
            found = self.metric.sentence_score(hypothesis, references)
            place = 0 if len(references) == 1 else None  # the length is the mean over references
            scores.append((found.score, [found.num_edits, found.ref_length], place))
        return scores

    def system(self, statistics: Sequence[float]) -> float:
        edits, words = statistics
        rate = edits / words if words > 0 else float(edits > 0)
        return -100 * rate + 0.0  # no minus zero

    def systems(self, sums: Floats) -> Floats:
        import numpy as np

        edits, words = sums[:, 0], sums[:, 1]
        rate = np.divide(edits, words, where=words > 0, out=(edits > 0).astype(np.float64))
        return np.asarray(-100 * rate + 0.0)


def _batches(
    rows: Sequence[Row], compared: Callable[[Row], tuple[Text, ...]]
) -> Iterator[list[tuple[Row, tuple[Text, ...]]]]:
    """Rows with what they are compared with, a limited number of characters at a time."""
    batch: list[tuple[Row, tuple[Text, ...]]] = []
    letters = 0
    for row in rows:
        others = compared(row)
        batch.append((row, others))
        letters += sum(len(row.hypothesis.text) + len(other.text) for other in others)
        if letters >= BATCH_LETTERS:
            yield batch
            batch, letters = [], 0
    if batch:
        yield batch


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
