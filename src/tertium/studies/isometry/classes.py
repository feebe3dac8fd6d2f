"""The behaviours of a translation model on paraphrases (Shankar, 2020, section 4.3.1).

S of a pair of texts is 1 if a detector calls them paraphrases; there is one S before translation
and one after. Several detectors decide by the mode *of the pair* (before, after).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tertium.data.datasets.isometry import Predictions
from tertium.errors import InputError, SettingError
from tertium.stats.arrays import Bools, Ints

THRESHOLD = 0.5
"""The paper's epsilon."""
NONE = -1
ALL = "all"
"""The agreement of every detector."""


@dataclass(frozen=True)
class Behaviour:
    """A value of M(S), and its name."""

    code: int
    """Twice S before translation, and S after it; or NONE."""
    name: str
    symbol: str


BEHAVIOURS = (
    Behaviour(3, "isometric", "[1,1]"),
    Behaviour(0, "ambiguous", "[0,0]"),
    Behaviour(1, "type-1", "[0,1]"),
    Behaviour(2, "type-2", "[1,0]"),
    Behaviour(NONE, "none", "∅"),
)
"""In the order of table 2. Type 1: paraphrases only after translation; type 2: only before."""


def equivalent(probabilities: ArrayLike, threshold: float = THRESHOLD) -> Bools:
    """S of each pair: whether P(paraphrase) reaches the threshold (equation 4).

    >>> equivalent([0.2, 0.5, 0.9])
    array([False,  True,  True])
    """
    if not 0 <= threshold <= 1:
        raise SettingError(f"threshold={threshold!r}: it must be between 0 and 1")
    return np.asarray(np.asarray(probabilities, dtype=np.float64) >= threshold)


def decisions(predictions: Predictions, threshold: float = THRESHOLD) -> Ints:
    """The codes of (S before, S after), of shape (detectors, pairs)."""
    if not predictions.judged:
        raise InputError(f"{predictions.name}: there is no detector")
    rows = [
        2 * equivalent(each.source, threshold) + equivalent(each.target, threshold)
        for each in predictions.judged.values()
    ]
    return np.array(rows, dtype=np.int64)


def mode(codes: ArrayLike) -> Ints:
    """M: the most frequent code of each pair; NONE if several are equally frequent.

    >>> mode([[3, 3, 0], [3, 0, 1], [0, 0, 2]])
    array([ 3,  0, -1])
    """
    table = np.asarray(codes, dtype=np.int64)
    votes = np.stack([(table == code).sum(axis=0) for code in range(4)])
    most = votes.max(axis=0)
    unique = (votes == most).sum(axis=0) == 1
    return np.where(unique, votes.argmax(axis=0), NONE)


def agreement(codes: ArrayLike, names: Sequence[str]) -> list[str]:
    """Which detectors made the decision (figure 5): all of them, some, or none.

    >>> agreement([[3, 3, 0], [3, 0, 1], [3, 3, 2]], ["A", "B", "C"])
    ['all', 'A + C', '']
    """
    table = np.asarray(codes, dtype=np.int64)
    found = []
    for own, decided in zip(table.T, mode(table), strict=True):
        agreeing = [name for name, code in zip(names, own, strict=True) if code == decided]
        found.append(ALL if len(agreeing) == len(names) else " + ".join(agreeing))
    return found


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Names without what follows their first dot, unless two would then be the same.

    >>> short_names(["xlm-r.pawsx.1", "mbert.pawsx.2"])
    {'xlm-r.pawsx.1': 'xlm-r', 'mbert.pawsx.2': 'mbert'}
    """
    cut = [name.rpartition("/")[2].partition(".")[0] or name for name in names]
    return {
        name: short if cut.count(short) == 1 else name
        for name, short in zip(names, cut, strict=True)
    }


def agreement_counts(
    predictions: Sequence[Predictions], threshold: float = THRESHOLD
) -> dict[tuple[str, str], Counter[tuple[int, str]]]:
    """How many pairs there are of each behaviour and agreement, by model and data set."""
    counts = {}
    for each in predictions:
        codes = decisions(each, threshold)
        names = short_names(list(each.judged))
        patterns = agreement(codes, [names[name] for name in each.judged])
        modes = mode(codes).tolist()
        shown = (
            (code, "" if code == NONE else pattern)
            for code, pattern in zip(modes, patterns, strict=True)
        )
        counts[each.model, each.dataset] = Counter(shown)
    return counts
