"""The network of a static encoder while it is trained, and its losses.

A text is the weighted sum of its tokens' vectors, mapped to the teacher's dimensions by a linear
layer. Nothing nonlinear follows, so that the layer can be folded into the vectors afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from tertium.training.encoder.sentences import Batch, Indices


@dataclass(frozen=True)
class Recipe:
    """What determines the weights, besides the text."""

    tokens: int = 32_000
    width: int = 256
    steps: int = 3_000
    batch: int = 512
    """Rows per step, of one corpus."""
    taught: float = 0.7
    """The share of the batches whose rows were encoded by the teacher."""
    rate: float = 0.01
    warmup: int = 30
    decay: float = 0.7
    """The share of the steps, at the end, over which the rate falls to zero."""
    cosine: float = 1.0
    similarities: float = 20.0
    contrast: float = 0.1
    contrast_scale: float = 20.0
    seed: int = 0

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, counted from 0.

        >>> recipe = Recipe(steps=100, warmup=10, rate=1.0, decay=0.5)
        >>> recipe.rate_at(4), recipe.rate_at(50), recipe.rate_at(75)
        (0.5, 1.0, 0.5)
        """
        rising = min(1.0, (step + 1) / self.warmup)
        falling = min(1.0, (self.steps - step) / (self.steps * self.decay))
        return self.rate * rising * falling


INITIAL = 0.1
"""The standard deviation of a component of a token's vector before training."""


class StaticNetwork(nn.Module):
    """Token vectors, the logarithm of a weight for each, and a linear layer."""

    def __init__(self, tokens: int, width: int, depth: int) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.randn(tokens, width) * INITIAL)
        self.log_weights = nn.Parameter(torch.zeros(tokens))
        self.output = nn.Linear(width, depth, bias=False)

    def forward(self, bags: tuple[Indices, Indices]) -> Tensor:
        """Encode texts, given as :meth:`Sentences.bags`, as unit vectors."""
        ids, offsets = (torch.from_numpy(array) for array in bags)
        weights = torch.exp(self.log_weights)[ids]
        sums: Tensor = functional.embedding_bag(
            ids, self.vectors, offsets, mode="sum", per_sample_weights=weights
        )
        return functional.normalize(self.output(sums), dim=1)

    def folded(self) -> NDArray[np.float64]:
        """Vectors whose sums have the cosines of the network's output, in its inner width.

        The output of texts x and y is Wx and Wy, with (Wx)·(Wy) = x·(WᵀW)y = (Rx)·(Ry), where R is
        the symmetric square root of WᵀW. So each token's vector is multiplied with its weight
        and R.
        """
        with torch.no_grad():
            weight = self.output.weight.double().numpy()
            tokens = (self.vectors * torch.exp(self.log_weights)[:, None]).double().numpy()
        values, directions = np.linalg.eigh(weight.T @ weight)
        root = (directions * np.sqrt(np.maximum(values, 0))) @ directions.T
        folded: NDArray[np.float64] = tokens @ root
        return folded


def losses(network: StaticNetwork, batch: Batch, teacher: Tensor, recipe: Recipe) -> Tensor:
    """The sum of the weighted losses of a batch.

    Where the teacher has a vector of the English sentence: one minus the cosine to it, of both
    sentences; and the squared differences between the cosines of all pairs of texts in the batch
    and the teacher's. For all rows: the cross-entropy of finding the second sentence of each row,
    given the first, among those of the batch, and the reverse.
    """
    first, second = network(batch.first), network(batch.second)
    total: Tensor = first.new_zeros(())
    known = torch.from_numpy(batch.targets >= 0)
    if bool(known.any()):
        target = teacher[torch.from_numpy(batch.targets)[known]].float()
        a, b = first[known], second[known]
        distance = 2 - (a * target).sum(1).mean() - (b * target).sum(1).mean()
        expected = target @ target.T
        differences = [
            ((one @ other.T - expected) ** 2).mean() for one, other in ((a, a), (b, b), (a, b))
        ]
        total = total + recipe.cosine * distance / 2
        total = total + recipe.similarities * torch.stack(differences).mean()
    if recipe.contrast:
        scores = first @ second.T * recipe.contrast_scale
        places = torch.arange(len(scores))
        found = functional.cross_entropy(scores, places)
        found = found + functional.cross_entropy(scores.T, places)
        total = total + recipe.contrast * found / 2
    return total


def optimizer_of(network: StaticNetwork, recipe: Recipe) -> Any:
    """Adam, whose rate the loop sets."""
    return torch.optim.Adam(network.parameters(), lr=recipe.rate, betas=(0.9, 0.99))
