"""One update of the weights, by however many processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tertium.training.model.batches import part_of
from tertium.training.model.network import train_on
from tertium.training.model.recipes import Recipe
from tertium.training.model.sampler import Sampler
from tertium.training.model.shares import Share, shares
from tertium.training.precision import MixedPrecision
from tertium.training.worker import Worker


def step(
    network: Any,
    optimizer: Any,
    sampler: Sampler,
    number: int,
    rate: float,
    recipe: Recipe,
    worker: Worker,
    precision: MixedPrecision,
) -> tuple[float, int]:
    """Make one update; return the summed loss and the number of tokens, of all processes.

    Each process divides by the tokens of all, so that the gradients need only be added up: the
    loss is a mean over tokens, whoever has how many of them.
    """
    import torch

    first = number * recipe.accumulate
    numbers = range(first, first + recipe.accumulate)
    tokens = sum(map(sampler.tokens, numbers))
    scale = precision.loss_scale() / tokens
    loss = 0.0
    for share in shares(numbers, worker.index, worker.count):
        batch = part_of(sampler.batch(share.number), share.part, share.parts)
        if not batch.tokens:
            continue
        if not worker.draws_in_turn:
            torch.manual_seed(dropout_seed(sampler.seed, share))
        loss += train_on(
            network, batch, smoothing=recipe.label_smoothing, scale=scale, dtype=precision.dtype
        )
    worker.sum_gradients(network.parameters())
    for group in optimizer.param_groups:
        group["lr"] = rate
    precision.update(network, optimizer, clip_norm=recipe.clip_norm)
    return worker.sum(loss), tokens


def dropout_seed(seed: int, share: Share) -> int:
    """A seed for each part of each batch."""
    return int(np.random.SeedSequence([seed, 2, *share]).generate_state(1, np.uint64)[0])
