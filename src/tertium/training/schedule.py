"""The learning rate: warm-up, then constant or falling by a schedule, then linear decay."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

Schedule = Literal["constant", "inverse-sqrt"]
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)


@dataclass(frozen=True, slots=True)
class Decay:
    """The step at which the rate starts to fall, and in how many steps it reaches zero."""

    start: int
    steps: int

    @property
    def end(self) -> int:
        return self.start + self.steps


def learning_rate(
    step: int,
    *,
    peak: float,
    warmup_steps: int,
    decay: Decay | None = None,
    schedule: Schedule = "constant",
) -> float:
    """Return the rate of a step; the first step is 0.

    >>> [learning_rate(step, peak=1.0, warmup_steps=2, decay=Decay(4, 4)) for step in range(9)]
    [0.5, 1.0, 1.0, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0]

    ``inverse-sqrt`` (Vaswani et al., 2017, equation 3, without the width) falls with the root of
    the number of updates:

    >>> inverse = {"peak": 1.0, "warmup_steps": 4, "schedule": "inverse-sqrt"}
    >>> [learning_rate(step, **inverse) for step in (1, 3, 15, 63)]
    [0.5, 1.0, 0.5, 0.25]
    """
    updates, warmup = step + 1, max(1, warmup_steps)
    rate = peak * min(1.0, updates / warmup)
    if schedule == "inverse-sqrt" and updates > warmup:
        rate = peak * math.sqrt(warmup / updates)
    if decay is not None and step > decay.start:
        rate *= max(0.0, 1 - (step - decay.start) / decay.steps)
    return rate
