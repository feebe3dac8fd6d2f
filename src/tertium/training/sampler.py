"""Which pairs a batch holds: a pure function of the seed and the batch's number."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tertium.training.batches import Batch, Example, make_batch
from tertium.training.corpus import Corpus
from tertium.training.mixture import Mixture

BLOCK_BATCHES = 64


class Sampler:
    """Draws blocks of pairs, sorts each by length and cuts it into batches of equal work.

    Block k takes, of each stream, the pairs from ``floor(k n p)`` to ``floor((k + 1) n p)`` of an
    endless sequence of permutations: nothing depends on what was drawn before, each stream is
    gone through without replacement, and its share is kept to within one pair.
    """

    def __init__(
        self,
        corpus: Corpus,
        mixture: Mixture,
        tags: Mapping[str, int],
        *,
        batch_tokens: int,
        max_pieces: int,
        seed: int,
    ) -> None:
        self._corpus = corpus
        self._tags = tags
        self._seed = seed
        self._joined = mixture.joined
        self._max_pieces = max_pieces
        self._lengths = corpus.lengths
        self._probabilities = mixture.probabilities(corpus.streams)
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
        """Return a batch by its number, whatever was asked before."""
        examples = self._block(number // BLOCK_BATCHES)[number % BLOCK_BATCHES]
        return make_batch(self._corpus, self._tags, examples)

    def _new_permutation(self, stream: int, epoch: int) -> NDArray[np.int64]:
        generator = np.random.default_rng([self._seed, 0, stream, epoch])
        return generator.permutation(self._corpus.streams[stream].size)

    def _new_block(self, number: int) -> list[list[Example]]:
        examples = [
            example
            for stream, share in enumerate(self._probabilities * self._block_pairs)
            for example in self._draw(stream, int(number * share), int((number + 1) * share))
        ]
        generator = np.random.default_rng([self._seed, 1, number])
        examples = [examples[place] for place in generator.permutation(len(examples))]
        sizes = np.array(
            [
                [self._lengths[list(example.targets)].sum() for example in examples],
                [self._lengths[list(example.sources)].sum() for example in examples],
            ]
        )
        order = np.lexsort(sizes[::-1])  # by target length, and by source length within it
        work = np.cumsum(sizes.sum(axis=0)[order] + 2)
        cuts = np.searchsorted(work, work[-1] * np.arange(1, BLOCK_BATCHES) / BLOCK_BATCHES)
        batches = [part.tolist() for part in np.split(order, cuts)]
        return [
            [examples[place] for place in batches[index]]
            for index in generator.permutation(BLOCK_BATCHES)
        ]

    def _draw(self, stream: int, start: int, end: int) -> list[Example]:
        """Take pairs of one stream; some are joined, where that is not too long."""
        about = self._corpus.streams[stream]
        positions = np.arange(start, end)
        chosen = [
            about.start
            + self._permutation(stream, int(position) // about.size)[position % about.size]
            for position in positions
        ]
        pairs = self._corpus.pairs[np.array(chosen, np.int64)]
        joins = int(len(pairs) * self._joined / 2)
        rows = [[pair] for pair in pairs[2 * joins :]]
        for a, b in zip(pairs[:joins], pairs[joins : 2 * joins], strict=True):
            fits = (self._lengths[a] + self._lengths[b]).max() <= self._max_pieces
            rows += [[a, b]] if fits else [[a], [b]]
        return [
            Example(
                sources=tuple(int(pair[0]) for pair in row),
                targets=tuple(int(pair[1]) for pair in row),
                target_lang=about.target_lang,
            )
            for row in rows
        ]
