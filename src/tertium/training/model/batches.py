"""Batches: which pairs they have, and the padded arrays that the network reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tertium.training.model.corpus import Corpus, Kind, Stream
from tertium.training.model.plan import Mixture
from tertium.training.model.tokenizer import END, PAD

BLOCK_BATCHES = 512
BAND_WIDTH = 1.15
"""Ratio of the longest to the shortest target among the pairs that batches are cut from."""
NONE = -1


@dataclass(frozen=True, slots=True)
class Example:
    """Concatenated sentences of one direction: usually one pair, sometimes two."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    target_lang: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Sources: tokens, end. Targets: end, tag, tokens. Labels: tokens, end, without the tag.

    This is Prism's format. The tag is forced, so it is not predicted.
    """

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    labels: NDArray[np.int64]

    @property
    def count(self) -> int:
        """The number of labels without padding."""
        return int((self.labels != PAD).sum())

    def part(self, part: int, parts: int) -> Batch:
        """Return every ``parts``-th row, starting at ``part``, without excess padding.

        >>> rows = np.array([[7, 8, 2], [9, 2, PAD], [2, PAD, PAD]])
        >>> Batch(rows, rows, rows).part(1, 2).labels
        array([[9, 2]])
        """
        if parts == 1:
            return self
        chosen = [rows[part::parts] for rows in (self.sources, self.targets, self.labels)]
        return Batch(*(rows[:, (rows != PAD).any(axis=0)] for rows in chosen))


def make_batch(corpus: Corpus, tags: Mapping[str, int], examples: Sequence[Example]) -> Batch:
    """Add ends and tags to the examples, and pad them."""
    sources, targets, labels = [], [], []
    for example in examples:
        source = [corpus.sentence(number) for number in example.sources]
        target = [corpus.sentence(number) for number in example.targets]
        sources.append(np.concatenate([*source, [END]]))
        targets.append(np.concatenate([[END, tags[example.target_lang]], *target]))
        labels.append(np.concatenate([*target, [END]]))
    return Batch(padded(sources), padded(targets), padded(labels))


def stream_probabilities(mixture: Mixture, streams: Sequence[Stream]) -> NDArray[np.float64]:
    """Return the probability of each stream: by kind, then by direction, then by weight.

    >>> streams = [Stream("translation", "de", "en", 1.0, 0, 90),
    ...            Stream("translation", "fr", "en", 1.0, 90, 100)]
    >>> stream_probabilities(Mixture(temperature=2), streams).round(2).tolist()
    [0.75, 0.25]
    """
    sizes = [stream.weight * stream.size for stream in streams]
    directions = [(stream.kind, stream.source_lang, stream.target_lang) for stream in streams]
    amounts: defaultdict[tuple[Kind, str, str], float] = defaultdict(float)
    for direction, size in zip(directions, sizes, strict=True):
        amounts[direction] += size
    smoothed = {key: amount ** (1 / mixture.temperature) for key, amount in amounts.items()}
    totals: defaultdict[Kind, float] = defaultdict(float)
    for (kind, _, _), amount in smoothed.items():
        totals[kind] += amount
    wanted: dict[Kind, float] = {"paraphrase": mixture.paraphrases, "copy": mixture.copies}
    shares: dict[Kind, float] = {kind: wanted[kind] for kind in wanted if kind in totals}
    shares["translation"] = 1 - sum(shares.values())
    return np.array(
        [
            shares[direction[0]]
            * smoothed[direction]
            / totals[direction[0]]
            * (size / amounts[direction])
            for direction, size in zip(directions, sizes, strict=True)
        ]
    )


class Sampler:
    """Draws blocks of pairs, sorts each by length and cuts it into batches of equal work.

    Block k takes, of each stream, the pairs from ``floor(k n p)`` to ``floor((k + 1) n p)`` of an
    endless sequence of permutations: so a batch depends on nothing but the seed and its number,
    each stream is sampled without replacement, and its share is exact to within one pair.
    """

    def __init__(
        self,
        corpus: Corpus,
        mixture: Mixture,
        tags: Mapping[str, int],
        *,
        batch_tokens: int,
        max_tokens: int,
        seed: int,
    ) -> None:
        self._corpus = corpus
        self._tags = tags
        self.seed = seed
        self._joined = mixture.joined
        self._max_tokens = max_tokens
        self._lengths = corpus.lengths
        self._probabilities = stream_probabilities(mixture, corpus.streams)
        means = [
            self._lengths[corpus.pairs[stream.start : stream.end, 1]].mean() + 1
            for stream in corpus.streams
        ]
        self._block_pairs = max(
            2 * BLOCK_BATCHES,
            round(BLOCK_BATCHES * batch_tokens / float(self._probabilities @ np.array(means))),
        )
        self._permutation = lru_cache(maxsize=2 * len(corpus.streams))(self._new_permutation)
        self._block = lru_cache(maxsize=2)(self._new_block)

    def batch(self, number: int) -> Batch:
        """Return a batch by its number."""
        examples = [
            Example(
                sources=(source, *([source_2] if source_2 != NONE else [])),
                targets=(target, *([target_2] if target_2 != NONE else [])),
                target_lang=self._corpus.streams[stream].target_lang,
            )
            for source, target, source_2, target_2, stream in self._rows(number).tolist()
        ]
        return make_batch(self._corpus, self._tags, examples)

    def count(self, number: int) -> int:
        """Return the number of labels of a batch without making it."""
        rows = self._rows(number)
        return int(self._with_ends(rows[:, 1], rows[:, 3]).sum())

    def _rows(self, number: int) -> NDArray[np.int64]:
        block, place = divmod(number, BLOCK_BATCHES)
        return self._block(block)[place]

    def _new_permutation(self, stream: int, epoch: int) -> NDArray[np.int64]:
        generator = np.random.default_rng([self.seed, 0, stream, epoch])
        return generator.permutation(self._corpus.streams[stream].size)

    def _new_block(self, number: int) -> list[NDArray[np.int64]]:
        """Make the batches of a block; a row has one or two pairs of sentences, and the stream."""
        rows = np.concatenate(
            [
                self._draw(stream, int(number * share), int((number + 1) * share))
                for stream, share in enumerate(self._probabilities * self._block_pairs)
            ]
        )
        generator = np.random.default_rng([self.seed, 1, number])
        generator.shuffle(rows)
        sources = self._with_ends(rows[:, 0], rows[:, 2])
        targets = self._with_ends(rows[:, 1], rows[:, 3])
        band = (np.log(targets) / np.log(BAND_WIDTH)).astype(np.int64)
        # Alternately ascending and descending, so that lengths are alike where two bands meet.
        order = np.lexsort([np.where(band % 2, sources, -sources), band])
        work = np.cumsum((sources + targets)[order])
        cuts = np.searchsorted(work, work[-1] * np.arange(1, BLOCK_BATCHES) / BLOCK_BATCHES)
        batches = np.split(rows[order], cuts)
        return [batches[index] for index in generator.permutation(BLOCK_BATCHES)]

    def _with_ends(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of tokens of one or two sentences, including the end."""
        return np.where(second == NONE, 0, self._lengths[second]) + self._lengths[first] + 1

    def _draw(self, stream: int, start: int, end: int) -> NDArray[np.int64]:
        """Take pairs of one stream; some are joined, if the result is not too long."""
        about = self._corpus.streams[stream]
        epochs, places = np.divmod(np.arange(start, end), about.size)
        chosen = np.concatenate(
            [np.empty(0, np.int64)]
            + [
                self._permutation(stream, int(epoch))[places[epochs == epoch]]
                for epoch in np.unique(epochs)
            ]
        )
        pairs = self._corpus.pairs[about.start + chosen].astype(np.int64)
        joins = int(len(pairs) * self._joined / 2)
        first, second = pairs[:joins], pairs[joins : 2 * joins]
        fits = (self._lengths[first] + self._lengths[second]).max(axis=1) <= self._max_tokens
        alone = np.concatenate([pairs[2 * joins :], first[~fits], second[~fits]])
        rows = np.full((len(alone) + int(fits.sum()), 5), NONE)
        rows[:, 4] = stream
        rows[: len(alone), :2] = alone
        rows[len(alone) :, :2] = first[fits]
        rows[len(alone) :, 2:4] = second[fits]
        return rows


def padded(rows: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Pad rows to the length of the longest."""
    array = np.full((len(rows), max(map(len, rows))), PAD, np.int64)
    for place, row in enumerate(rows):
        array[place, : len(row)] = row
    return array
