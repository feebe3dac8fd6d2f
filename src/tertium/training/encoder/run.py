"""Training a static encoder, and how it does on rows that it was not trained on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tertium.training.encoder.corpus import Row
from tertium.training.encoder.network import Recipe
from tertium.training.encoder.sentences import Corpus, batches

if TYPE_CHECKING:
    from tertium.training.encoder.network import StaticNetwork

RETRIEVED = 300
"""Pairs of each two languages among which translations are searched."""
Encode = Callable[[Sequence[str]], NDArray[np.float32]]


def train_static(
    corpora: Mapping[str, Corpus],
    weights: Mapping[str, float],
    teacher: NDArray[np.float16],
    recipe: Recipe,
    report: Callable[[int, float], None] = lambda step, loss: None,
) -> StaticNetwork:
    """Train a network from scratch; with one thread, the same input gives the same weights."""
    import torch

    from tertium.training.encoder.network import StaticNetwork, losses, optimizer_of

    torch.manual_seed(recipe.seed)
    network = StaticNetwork(recipe.tokens, recipe.width, teacher.shape[1])
    targets = torch.nn.functional.normalize(torch.from_numpy(teacher.astype(np.float32)), dim=1)
    optimizer = optimizer_of(network, recipe)
    parts, shares = _by_teaching(corpora, weights, recipe.taught)
    drawn = batches(parts, shares, recipe.batch, recipe.steps, recipe.seed)
    for step, batch in enumerate(drawn):
        for group in optimizer.param_groups:
            group["lr"] = recipe.rate_at(step)
        loss = losses(network, batch, targets, recipe)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        report(step + 1, float(loss.detach()))
    return network


def _by_teaching(
    corpora: Mapping[str, Corpus], weights: Mapping[str, float], taught: float
) -> tuple[dict[str, Corpus], dict[str, float]]:
    """Divide each corpus by whether the teacher encoded a row.

    Batches are then all taught or not at all: the similarities of a batch need many taught rows.
    """
    parts, shares = {}, {}
    for name, corpus in corpora.items():
        encoded = corpus.targets >= 0
        for label, chosen, share in (("taught", encoded, taught), ("other", ~encoded, 1 - taught)):
            if chosen.any() and share:
                parts[f"{name} {label}"] = corpus.part(chosen)
                shares[f"{name} {label}"] = weights[name] * share
    return parts, shares


def retrieval(
    encode: Encode, rows: Sequence[Row], languages: Sequence[str]
) -> dict[tuple[str, str], float]:
    """For each two languages, the share of pairs that are mutual nearest neighbours.

    The pairs are the first ones of the rows, at most ``RETRIEVED``; of several sentences of a row
    in one language, the first is used.
    """
    shares = {}
    for one, other in combinations(sorted(languages), 2):
        pairs = []
        for row in rows:
            sentences = dict(reversed(row.sentences()))
            if one in sentences and other in sentences:
                pairs.append((sentences[one], sentences[other]))
        if pairs:
            first, second = zip(*pairs[:RETRIEVED], strict=True)
            shares[one, other] = mutual_nearest(encode(first), encode(second))
    return shares


def mutual_nearest(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """The share of rows of which each is the nearest to the other, by cosine of unit vectors.

    >>> a = np.array([[1, 0], [0, 1], [0.8, 0.6]], dtype=np.float32)
    >>> round(mutual_nearest(a, a), 2), round(mutual_nearest(a, a[[1, 0, 2]]), 2)
    (1.0, 0.33)
    """
    cosines = first @ second.T
    places = np.arange(len(cosines))
    mutual = (cosines.argmax(axis=1) == places) & (cosines.argmax(axis=0) == places)
    return float(mutual.mean())
