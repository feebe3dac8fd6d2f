"""Labelled pairs as token ids, and the batches drawn from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tertium.data.datasets.plain import read_pairs
from tertium.errors import InputError
from tertium.training.detector.plan import DetectorRecipe, Files


@dataclass(frozen=True, slots=True)
class Example:
    """A tokenized pair, and whether it is a paraphrase."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    label: int
    lang: str


@dataclass(frozen=True, slots=True)
class PairBatch:
    """Padded arrays with one row per pair."""

    ids: NDArray[np.int64]
    types: NDArray[np.int64]
    mask: NDArray[np.int64]
    labels: NDArray[np.int64]

    @property
    def count(self) -> int:
        return len(self.labels)

    def part(self, part: int, parts: int) -> PairBatch:
        """Return every ``parts``-th row, starting at ``part``, without excess padding."""
        width = int(self.mask[part::parts].sum(axis=1).max(initial=0))
        ids, types, mask = (rows[part::parts, :width] for rows in (self.ids, self.types, self.mask))
        return PairBatch(ids, types, mask, self.labels[part::parts])


def read_examples(
    files: Files, tokenizer: Any, max_tokens: int, *, both_orders: bool = False
) -> list[Example]:
    """Read and tokenize pairs; where a pair is too long, the longer text is truncated first."""
    examples = []
    for lang, file in files:
        pairs = read_pairs(Path(file), lang=lang)
        if not pairs:
            raise InputError(f"{file} has no pairs")
        texts = [(pair.a.text, pair.b.text, pair.label) for pair in pairs]
        if both_orders:
            texts += [(b, a, label) for a, b, label in texts]
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True
        tokenizer.enable_truncation(max_tokens)
        encodings = tokenizer.encode_batch([(a, b) for a, b, _ in texts])
        examples += [
            Example(tuple(encoding.ids), tuple(encoding.type_ids), int(label), lang)
            for encoding, (_, _, label) in zip(encodings, texts, strict=True)
        ]
    return examples


class PairSampler:
    """Draws the pairs in random order, epoch after epoch."""

    def __init__(
        self, examples: Sequence[Example], recipe: DetectorRecipe, pad: int, seed: int
    ) -> None:
        self._examples, self._recipe, self._pad, self.seed = examples, recipe, pad, seed
        self._permutation = lru_cache(maxsize=2)(self._new_permutation)

    @property
    def steps(self) -> int:
        """The number of updates that the recipe's epochs take."""
        update = self._recipe.batch_size * self._recipe.accumulate
        return max(1, math.ceil(self._recipe.epochs * len(self._examples) / update))

    def batch(self, number: int) -> PairBatch:
        """Return a batch by its number."""
        size = self._recipe.batch_size
        places = range(number * size, (number + 1) * size)
        return make_pair_batch([self._example(place) for place in places], self._pad)

    def count(self, number: int) -> int:
        """Return the number of pairs of a batch, which is the same for all."""
        return self._recipe.batch_size

    def _example(self, place: int) -> Example:
        epoch, within = divmod(place, len(self._examples))
        return self._examples[int(self._permutation(epoch)[within])]

    def _new_permutation(self, epoch: int) -> NDArray[np.int64]:
        return np.random.default_rng([self.seed, epoch]).permutation(len(self._examples))


def in_order(
    examples: Sequence[Example], size: int, pad: int
) -> Iterator[tuple[list[int], PairBatch]]:
    """Yield batches of pairs of similar length, with the indices of the pairs."""
    order = sorted(range(len(examples)), key=lambda place: len(examples[place].ids))
    for start in range(0, len(order), size):
        places = order[start : start + size]
        yield places, make_pair_batch([examples[place] for place in places], pad)


def make_pair_batch(examples: Sequence[Example], pad: int) -> PairBatch:
    """Pad pairs to the length of the longest."""
    width = max(len(example.ids) for example in examples)
    ids = np.full((len(examples), width), pad, np.int64)
    types, mask = np.zeros_like(ids), np.zeros_like(ids)
    for row, example in enumerate(examples):
        length = len(example.ids)
        ids[row, :length], types[row, :length], mask[row, :length] = example.ids, example.types, 1
    return PairBatch(ids, types, mask, np.array([example.label for example in examples]))
