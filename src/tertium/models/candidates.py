"""Candidate translations, and how they are searched for or sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tertium.errors import SettingError

BEAM_SIZE = 5
SAMPLING = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "epsilon": 0.0}
"""What narrows the distribution that tokens are drawn from; by default, nothing."""


@dataclass(frozen=True, slots=True)
class Search:
    """How candidates are found: by beam search, or by sampling.

    >>> Search(count=3).settings
    {'count': 3, 'beam_size': 5}
    >>> Search(count=3, sampling=True, epsilon=0.02).settings
    {'count': 3, 'sampling': True, 'epsilon': 0.02, 'seed': 0}
    """

    count: int = 1
    """Candidates per source. Sampling may return the same text several times."""
    beam_size: int = BEAM_SIZE
    sampling: bool = False
    """Draw each token from the model's distribution instead of searching for the best."""
    temperature: float = 1.0
    """Divides the logits: below 1, probable tokens are drawn more often."""
    top_k: int = 0
    """Draw only from so many of the most probable tokens; 0: from all."""
    top_p: float = 1.0
    """Draw only from the most probable tokens that together have this probability."""
    epsilon: float = 0.0
    """Draw no token whose probability is lower (Hewitt et al. 2022); if all are, the best one."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("count", 1), ("beam_size", 1), ("top_k", 0), ("seed", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise SettingError(f"{name}={value!r}: it must be a whole number from {least}")
        if not 0 < self.temperature < float("inf"):
            raise SettingError(f"temperature={self.temperature!r}: it must be greater than 0")
        if not 0 < self.top_p <= 1:
            raise SettingError(f"top_p={self.top_p!r}: it must be greater than 0 and at most 1")
        if not 0 <= self.epsilon < 1:
            raise SettingError(f"epsilon={self.epsilon!r}: it must be from 0 to less than 1")
        if not self.sampling:
            for name, default in SAMPLING.items():
                if getattr(self, name) != default:
                    raise SettingError(f"{name} is a setting of sampling; use sampling too")
            if self.count > self.beam_size:
                raise SettingError(
                    f"beam_size={self.beam_size}: beam search for {self.count} candidates needs "
                    f"a beam size of at least {self.count}"
                )
        elif self.epsilon and (self.top_k or self.top_p < 1):
            raise SettingError("epsilon cannot be combined with top_k or top_p; use one of them")

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that can change the candidates, for signatures and records of runs."""
        if not self.sampling:
            return {"count": self.count, "beam_size": self.beam_size}
        narrowed = {
            name: getattr(self, name)
            for name, default in SAMPLING.items()
            if getattr(self, name) != default
        }
        return {"count": self.count, "sampling": True, **narrowed, "seed": self.seed}


BEAM_SEARCH = Search()
"""The best translation by beam search."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate translation with its log-probability under the model.

    >>> Candidate("Hello.", -1.5, 3).H
    -0.5
    """

    text: str
    log_prob: float
    """The natural-log probability of the token sequence, with its end, without language tag."""
    length: int
    """The number of tokens, including the end of the sentence."""
    cut: bool = False
    """Whether the source was truncated, or the translation did not end."""

    @property
    def H(self) -> float:  # noqa: N802
        """The mean token log-probability, by which candidates are ordered."""
        return self.log_prob / max(1, self.length)
