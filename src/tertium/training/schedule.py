"""The learning rate: warm-up, a constant phase of any length, linear decay."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Decay:
    """The step at which the rate starts to fall, and in how many steps it reaches zero."""

    start: int
    steps: int

    @property
    def end(self) -> int:
        return self.start + self.steps


def learning_rate(step: int, *, peak: float, warmup_steps: int, decay: Decay | None) -> float:
    """Return the rate of a step; the first step is 0.

    >>> [learning_rate(step, peak=1.0, warmup_steps=2, decay=Decay(4, 4)) for step in range(9)]
    [0.5, 1.0, 1.0, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0]
    """
    rate = peak * min(1.0, (step + 1) / max(1, warmup_steps))
    if decay is not None and step > decay.start:
        rate *= max(0.0, 1 - (step - decay.start) / decay.steps)
    return rate
