"""How often each stream of the corpus is drawn from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tertium.errors import SettingError
from tertium.training.model.corpus import Kind, Stream


@dataclass(frozen=True, slots=True)
class Mixture:
    """The shares of the kinds of pairs, and how far small directions are raised."""

    paraphrases: float = 0.15
    copies: float = 0.04
    joined: float = 0.1
    """The share of pairs that are put end to end with another pair: practice in long texts."""
    temperature: float = 1.5
    """1 draws every pair equally often; the higher, the nearer to every direction equally often."""

    def __post_init__(self) -> None:
        shares = (self.paraphrases, self.copies, self.joined)
        if min(shares) < 0 or self.paraphrases + self.copies >= 1 or self.joined > 1:
            raise SettingError(
                "the shares of paraphrases, copies and joined pairs lie between 0 and 1, and "
                "leave something for translation"
            )
        if self.temperature < 1:
            raise SettingError(f"the temperature must be 1 or more, not {self.temperature}")

    def probabilities(self, streams: Sequence[Stream]) -> NDArray[np.float64]:
        """The probability of each stream: by kind, then by direction, then by weight.

        >>> streams = [Stream("translation", "de", "en", 1.0, 0, 90),
        ...            Stream("translation", "fr", "en", 1.0, 90, 100)]
        >>> Mixture(temperature=2).probabilities(streams).round(2).tolist()
        [0.75, 0.25]
        """
        amounts: defaultdict[tuple[Kind, str, str], float] = defaultdict(float)
        for stream in streams:
            amounts[_direction(stream)] += stream.weight * stream.size
        raised = {key: amount ** (1 / self.temperature) for key, amount in amounts.items()}
        present = {kind for kind, _, _ in amounts}
        wanted: dict[Kind, float] = {"paraphrase": self.paraphrases, "copy": self.copies}
        shares: dict[Kind, float] = {kind: wanted[kind] for kind in wanted if kind in present}
        shares["translation"] = 1 - sum(shares.values())
        totals: defaultdict[Kind, float] = defaultdict(float)
        for (kind, _, _), amount in raised.items():
            totals[kind] += amount
        return np.array(
            [
                shares[stream.kind]
                * raised[_direction(stream)]
                / totals[stream.kind]
                * (stream.weight * stream.size / amounts[_direction(stream)])
                for stream in streams
            ]
        )


def _direction(stream: Stream) -> tuple[Kind, str, str]:
    return stream.kind, stream.source_lang, stream.target_lang
