"""The settings of the training of a static encoder."""

from __future__ import annotations

from dataclasses import dataclass


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
