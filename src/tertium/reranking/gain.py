"""What a choice is worth: the system score of the first candidates, of the chosen, of the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium.data.nbest import CandidateList
from tertium.measures.base import Measure
from tertium.models.base import Progress
from tertium.text import Row

FIRST, CHOSEN, ORACLE = "first", "chosen", "oracle"


class Judged(NamedTuple):
    """The scores of the candidates of a list against references, and their statistics."""

    scores: list[float]
    statistics: NDArray[np.float64]


def judge(
    measure: Measure, lists: Sequence[CandidateList], progress: Progress | None = None
) -> list[Judged]:
    """Score all candidates against the references of their list."""
    distinct = [tuple(dict.fromkeys(each.candidates)) for each in lists]
    rows = [
        Row(each.number, text, each.references, each.source)
        for each, texts in zip(lists, distinct, strict=True)
        for text in texts
    ]
    segments = measure.segments(rows, progress)
    found = iter(zip(segments.scores, segments.statistics, strict=True))
    judged = []
    for each, texts in zip(lists, distinct, strict=True):
        results = {text: next(found) for text in texts}
        scores, statistics = zip(*(results[text] for text in each.candidates), strict=True)
        judged.append(Judged(list(scores), np.array(statistics, np.float64)))
    return judged


@dataclass
class Gain:
    """Sums over lists; the oracle takes the candidate with the best score of its own."""

    sums: dict[str, list[float]] = field(default_factory=dict)
    lists: int = 0

    def add(self, judged: Judged, chosen: int) -> None:
        """Add a list, of which one candidate was chosen."""
        places = {FIRST: 0, CHOSEN: chosen, ORACLE: int(np.argmax(judged.scores))}
        self.lists += 1
        for name, place in places.items():
            before = self.sums.get(name) or [0.0] * judged.statistics.shape[1]
            self.sums[name] = (np.array(before) + judged.statistics[place]).tolist()

    def merge(self, other: Gain) -> None:
        """Add the sums over other lists."""
        self.lists += other.lists
        for name, sums in other.sums.items():
            before = self.sums.get(name) or [0.0] * len(sums)
            self.sums[name] = (np.array(before) + np.array(sums)).tolist()

    def systems(self, measure: Measure) -> dict[str, float]:
        """The three system scores."""
        return {name: measure.system(sums) for name, sums in self.sums.items()}

    def state(self) -> dict[str, Any]:
        return {"sums": self.sums, "lists": self.lists}
