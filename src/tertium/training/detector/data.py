"""Labelled pairs as a network reads them, and which of them a step learns from."""

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
    """A pair in pieces, and whether it is a paraphrase."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    label: int
    lang: str


@dataclass(frozen=True, slots=True)
class PairBatch:
    """Padded arrays, a row a pair."""

    ids: NDArray[np.int64]
    types: NDArray[np.int64]
    mask: NDArray[np.int64]
    labels: NDArray[np.int64]


def read_examples(
    files: Files, tokenizer: Any, max_pieces: int, *, both_orders: bool = False
) -> list[Example]:
    """Read pairs and cut them into pieces, the longer text first where there are too many."""
    examples = []
    for lang, file in files:
        pairs = read_pairs(Path(file), lang=lang)
        if not pairs:
            raise InputError(f"{file} holds no pairs")
        texts = [(pair.a.text, pair.b.text, pair.label) for pair in pairs]
        if both_orders:
            texts += [(b, a, label) for a, b, label in texts]
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True
        tokenizer.enable_truncation(max_pieces)
        found = tokenizer.encode_batch([(a, b) for a, b, _ in texts])
        examples += [
            Example(tuple(one.ids), tuple(one.type_ids), int(label), lang)
            for one, (_, _, label) in zip(found, texts, strict=True)
        ]
    return examples


class PairSampler:
    """Goes through the pairs in an order of chance, epoch after epoch.

    Which pairs an update has is a pure function of the seed and its number.
    """

    def __init__(
        self, examples: Sequence[Example], recipe: DetectorRecipe, pad: int, seed: int
    ) -> None:
        self._examples, self._recipe, self._pad, self._seed = examples, recipe, pad, seed
        self._permutation = lru_cache(maxsize=2)(self._new_permutation)

    @property
    def steps(self) -> int:
        """How many updates the recipe asks for."""
        update = self._recipe.batch_size * self._recipe.accumulate
        return max(1, math.ceil(self._recipe.epochs * len(self._examples) / update))

    def batches(self, step: int) -> list[PairBatch]:
        """The batches of an update, the first being 0."""
        size = self._recipe.batch_size
        update = size * self._recipe.accumulate
        places = range(step * update, (step + 1) * update)
        drawn = [self._example(place) for place in places]
        return [make_pair_batch(drawn[at : at + size], self._pad) for at in range(0, update, size)]

    def _example(self, place: int) -> Example:
        epoch, within = divmod(place, len(self._examples))
        return self._examples[int(self._permutation(epoch)[within])]

    def _new_permutation(self, epoch: int) -> NDArray[np.int64]:
        return np.random.default_rng([self._seed, epoch]).permutation(len(self._examples))


def in_order(examples: Sequence[Example], size: int, pad: int) -> Iterator[tuple[list[int], Any]]:
    """Batches of pairs of like length, with the places that they have among all."""
    order = sorted(range(len(examples)), key=lambda place: len(examples[place].ids))
    for at in range(0, len(order), size):
        places = order[at : at + size]
        yield places, make_pair_batch([examples[place] for place in places], pad)


def make_pair_batch(examples: Sequence[Example], pad: int) -> PairBatch:
    """Pad some pairs to the longest of them."""
    width = max(len(example.ids) for example in examples)
    ids = np.full((len(examples), width), pad, np.int64)
    types, mask = np.zeros_like(ids), np.zeros_like(ids)
    for row, example in enumerate(examples):
        length = len(example.ids)
        ids[row, :length], types[row, :length], mask[row, :length] = example.ids, example.types, 1
    return PairBatch(ids, types, mask, np.array([example.label for example in examples]))
