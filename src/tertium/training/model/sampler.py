"""Which pairs a batch holds: a pure function of the seed and the batch's number."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tertium.training.model.batches import Batch, Example, make_batch
from tertium.training.model.corpus import Corpus
from tertium.training.model.mixture import Mixture

BLOCK_BATCHES = 512
BAND_WIDTH = 1.15
"""The ratio of the longest to the shortest target that batches are cut from."""
NONE = -1


class Sampler:
    """Draws blocks of pairs, sorts each by lengths and cuts it into batches of equal work.

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
        self.seed = seed
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
        rows = self._block(number // BLOCK_BATCHES)[number % BLOCK_BATCHES]
        examples = [
            Example(
                sources=(source, *([source_2] if source_2 != NONE else [])),
                targets=(target, *([target_2] if target_2 != NONE else [])),
                target_lang=self._corpus.streams[stream].target_lang,
            )
            for source, target, source_2, target_2, stream in rows.tolist()
        ]
        return make_batch(self._corpus, self._tags, examples)

    def tokens(self, number: int) -> int:
        """How many labels of a batch count; the batch itself need not be made for it."""
        rows = self._block(number // BLOCK_BATCHES)[number % BLOCK_BATCHES]
        return int(self._with_ends(rows[:, 1], rows[:, 3]).sum())

    def _new_permutation(self, stream: int, epoch: int) -> NDArray[np.int64]:
        generator = np.random.default_rng([self.seed, 0, stream, epoch])
        return generator.permutation(self._corpus.streams[stream].size)

    def _new_block(self, number: int) -> list[NDArray[np.int64]]:
        """The batches of a block; a row has the numbers of two pairs (or of one) and the stream."""
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
        # Up and down in turn, so that the batch at the edge of two bands is no mixture.
        order = np.lexsort([np.where(band % 2, sources, -sources), band])
        work = np.cumsum((sources + targets)[order])
        cuts = np.searchsorted(work, work[-1] * np.arange(1, BLOCK_BATCHES) / BLOCK_BATCHES)
        batches = np.split(rows[order], cuts)
        return [batches[index] for index in generator.permutation(BLOCK_BATCHES)]

    def _with_ends(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many pieces one or two sentences have, and the end."""
        return np.where(second == NONE, 0, self._lengths[second]) + self._lengths[first] + 1

    def _draw(self, stream: int, start: int, end: int) -> NDArray[np.int64]:
        """Take pairs of one stream; some are joined, where that is not too long."""
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
        fits = (self._lengths[first] + self._lengths[second]).max(axis=1) <= self._max_pieces
        alone = np.concatenate([pairs[2 * joins :], first[~fits], second[~fits]])
        rows = np.full((len(alone) + int(fits.sum()), 5), NONE)
        rows[:, 4] = stream
        rows[: len(alone), :2] = alone
        rows[len(alone) :, :2] = first[fits]
        rows[len(alone) :, 2:4] = second[fits]
        return rows
