"""From evidence to a decision: thresholds by false alarms, and the probability of an error.

What is learned for a model is in ``decisions.json``, in the model's folder, and counts for the
model with the fingerprint that it names; ``scripts/learn_decisions.py`` learns it. It has, for
texts in two languages and for texts in one, the scores that a share of right rows reaches, and
which right rows reach them together: so the threshold for a rate of false alarms depends on the
methods that are chosen, and holds for all of them together, in each domain.
"""

from __future__ import annotations

import hashlib
import json
import math
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tertium.errors import ModelError, SettingError
from tertium.explanation.coverage import Factors
from tertium.models.base import TranslationModel

FILE = "decisions.json"
FORMAT = 2
LEVELS = (
    *(0.5, 0.35, 0.25, 0.18, 0.13, 0.1, 0.08, 0.065, 0.05, 0.04, 0.032, 0.026, 0.021, 0.017),
    *(0.013, 0.01, 0.008, 0.006, 0.004, 0.0025),
)
"""Shares of right rows that reach a threshold of one kind of evidence."""
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
"""How many levels a row reaches, as one character."""
FALSE_ALARMS = 0.05
RESERVED = 0.25
"""The part of the rate of false alarms that flags cannot take from methods."""
FLAGGED = "flags"
TRANSLATIONS, PARAPHRASES = "translations", "paraphrases"


@dataclass(frozen=True, eq=False)
class Decisions:
    """What was learned from right and wrong rows of one kind: in two languages, or in one."""

    kinds: tuple[str, ...]
    """The kinds of evidence that have scores."""
    methods: tuple[str, ...]
    """The methods that the probability was learned with."""
    thresholds: Mapping[str, tuple[float, ...]]
    """For each kind, the score that each of the ``LEVELS`` of right rows reaches."""
    alarms: Mapping[str, Mapping[str, int]]
    """For each domain, how many right rows reach which levels: one of ``DIGITS`` for each kind, and
    a last one: 1 if there is a flag."""
    errors: Mapping[str, Mapping[str, int]]
    """The same counts of wrong rows, for each kind of injected error."""
    weights: Mapping[str, float]
    """Of each kind of evidence, in nats per natural logarithm of a false alarm rate; of a flag."""
    intercept: float
    """The log odds of an error without any evidence, where half of the rows have one."""

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` returned."""
        return cls(
            tuple(fields["kinds"]),
            tuple(fields["methods"]),
            {kind: tuple(scores) for kind, scores in fields["thresholds"].items()},
            {domain: dict(counts) for domain, counts in fields["alarms"].items()},
            {error: dict(counts) for error, counts in fields["errors"].items()},
            dict(fields["weights"]),
            float(fields["intercept"]),
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields as an object of JSON."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def level(self, kind: str, score: float) -> int:
        """How many of the levels a score reaches.

        >>> Decisions(("x",), (), {"x": (0.5, 0.5, 2.0)}, {}, {}, {}, 0.0).level("x", 0.5)
        2
        """
        return bisect_right(self.thresholds[kind], score)

    def chosen(self, kinds: Collection[str], flags: bool, rate: float) -> dict[str, float]:
        """The threshold of each kind, so that at most this share of right rows is reported.

        First, all kinds have the same level: the lowest at which the share of right rows is not
        above ``rate`` in any domain, or the highest; where flags alone take most of the rate, a
        quarter of it is left for the methods. Then, one after the other, that threshold is lowered
        that finds the most wrong rows (each kind of error counts the same) for each right row that
        it reports, as long as that holds.
        """
        return dict(_chosen(self, frozenset(kinds), flags, rate))

    def pattern(self, evidence: Mapping[str, float], flagged: bool) -> str:
        """The levels that a row reaches, as they are counted in ``alarms``."""
        levels = (self.level(kind, evidence.get(kind, -math.inf)) for kind in self.kinds)
        return "".join(DIGITS[level] for level in levels) + str(int(flagged))

    def features(self, evidence: Mapping[str, float], flagged: bool) -> dict[str, float]:
        """The evidence on one scale: minus the logarithm of the rate at which right rows reach it.

        From the second level on; and one number for flags.
        """
        found = {FLAGGED: float(flagged)}
        for kind in self.kinds:
            level = self.level(kind, evidence.get(kind, -math.inf))
            found[kind] = math.log(LEVELS[0] / LEVELS[level - 1]) if level else 0.0
        return found

    def probability(self, evidence: Mapping[str, float], flagged: bool) -> float:
        """The probability of an error, where half of the rows have one (Platt's scaling)."""
        features = self.features(evidence, flagged)
        log_odds = self.intercept + sum(
            self.weights.get(name, 0.0) * value for name, value in features.items()
        )
        return 1 / (1 + math.exp(-log_odds))


@lru_cache(maxsize=64)
def _chosen(
    decisions: Decisions, kinds: frozenset[str], flags: bool, rate: float
) -> dict[str, float]:
    places = [place for place, kind in enumerate(decisions.kinds) if kind in kinds]
    right = [_Rows.of(counts, places, flags) for counts in decisions.alarms.values()]
    wrong = [_Rows.of(counts, places, flags) for counts in decisions.errors.values()]
    allowed = [max(rate, rows.share(rows.flagged) + RESERVED * rate) for rows in right]
    common = next(
        level
        for level in range(len(LEVELS))
        if level == len(LEVELS) - 1
        or all(
            rows.share(rows.reported([level] * len(places))) <= limit
            for rows, limit in zip(right, allowed, strict=True)
        )
    )
    levels = [common] * len(places)
    """For each kind, how many levels are not enough to be reported."""
    while True:
        found = [rows.reported(levels) for rows in wrong]
        alarms = [rows.reported(levels) for rows in right]
        best: tuple[float, int, int] | None = None
        for column, current in enumerate(levels):
            for level in range(current):
                more = [
                    rows.share(reported | rows.beyond(column, level))
                    for rows, reported in zip(right, alarms, strict=True)
                ]
                if any(share > limit for share, limit in zip(more, allowed, strict=True)):
                    continue
                gain = sum(
                    rows.share(~reported & rows.beyond(column, level))
                    for rows, reported in zip(wrong, found, strict=True)
                )
                cost = sum(more) - sum(map(_Rows.share, right, alarms))
                worth = gain / (cost + 0.1 * rate)
                if gain > 0 and (best is None or worth > best[0]):
                    best = worth, column, level
        if best is None:
            break
        levels[best[1]] = best[2]
    names = [decisions.kinds[place] for place in places]
    return {
        name: decisions.thresholds[name][level] for name, level in zip(names, levels, strict=True)
    }


@dataclass(frozen=True)
class _Rows:
    """Counted patterns as arrays."""

    levels: NDArray[np.int64]
    """Shape (patterns, kinds)."""
    flagged: NDArray[np.bool_]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, counts: Mapping[str, int], places: Sequence[int], flags: bool) -> Self:
        levels = [[DIGITS.index(pattern[place]) for place in places] for pattern in counts]
        return cls(
            np.array(levels, dtype=np.int64).reshape(len(counts), len(places)),
            np.array([flags and pattern[-1] == "1" for pattern in counts], dtype=bool),
            np.array(list(counts.values()), dtype=np.int64),
        )

    def beyond(self, column: int, level: int) -> NDArray[np.bool_]:
        """Which have a kind of evidence beyond a level."""
        return np.asarray(self.levels[:, column] > level)

    def reported(self, levels: Sequence[int]) -> NDArray[np.bool_]:
        """Which have a flag, or any kind of evidence beyond its level."""
        return np.asarray(self.flagged | (self.levels > np.array(levels)).any(axis=1))

    def share(self, reported: NDArray[np.bool_]) -> float:
        """The share of rows that is reported."""
        return float(self.counts @ reported) / max(int(self.counts.sum()), 1)


@dataclass(frozen=True)
class LearnedDecisions:
    """The content of ``decisions.json``."""

    model: str
    """The fingerprint of the translation model."""
    aligner: str
    """The fingerprint of the encoder that says which words have a counterpart."""
    factors: Factors
    tried: int
    """Settings of coverage."""
    decisions: Mapping[str, Decisions]
    rows: Mapping[str, Any]
    """How many rows of what it was learned from."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file; one that is damaged or of another format is an error."""
        try:
            fields = json.loads(path.read_text("utf-8"))
            if fields["format"] != FORMAT:
                raise ModelError(f"{path} has the format {fields['format']}, not {FORMAT}")
            return cls(
                str(fields["model"]),
                str(fields["aligner"]),
                Factors(**fields["factors"]),
                int(fields["tried"]),
                {name: Decisions.from_dict(each) for name, each in fields["decisions"].items()},
                fields["rows"],
            )
        except OSError as error:
            raise ModelError(f"{path} cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"{path} is not readable as learned decisions: {error!r}") from None

    def text(self) -> str:
        """The content of the file."""
        content = {
            "format": FORMAT,
            "model": self.model,
            "aligner": self.aligner,
            "factors": asdict(self.factors),
            "tried": self.tried,
            "decisions": {name: each.to_dict() for name, each in self.decisions.items()},
            "rows": self.rows,
        }
        return json.dumps(content, indent=1, sort_keys=True) + "\n"

    @cached_property
    def digest(self) -> str:
        """A hash of the content."""
        return hashlib.sha256(self.text().encode()).hexdigest()[:12]


def folder_of(model: TranslationModel) -> Path | None:
    """The folder of a model; None if it is none, or a pair of models."""
    inner: Any = model
    while not hasattr(inner, "card") and hasattr(inner, "model"):
        inner = inner.model  # behind a cache
    card = getattr(inner, "card", None)
    return None if card is None else Path(card.path)


def decisions_for(
    model: TranslationModel | None, path: Path | None = None
) -> LearnedDecisions | None:
    """What was learned for a model, from a file or from the model's folder; None without.

    A file in the folder that was learned for other weights is not used; one that is given is an
    error then.
    """
    if model is None:
        return None
    if path is None:
        folder = folder_of(model)
        if folder is None or not (folder / FILE).is_file():
            return None
        found = read_decisions(folder / FILE)
        return found if found.model == model.fingerprint else None
    found = read_decisions(path)
    if found.model != model.fingerprint:
        raise SettingError(
            f"{path} was learned for a model with the fingerprint {found.model[:12]}, not for "
            f"{model.name} ({model.fingerprint[:12]})"
        )
    return found


def read_decisions(path: Path) -> LearnedDecisions:
    """Read a file, or return what was read before; then the thresholds are chosen already."""
    try:
        about = path.stat()
    except OSError:
        return LearnedDecisions.read(path)  # which says why
    return _read(path, about.st_ino, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=8)
def _read(path: Path, *state: int) -> LearnedDecisions:
    """``state`` tells files apart that were written one after the other."""
    return LearnedDecisions.read(path)


def check_rate(rate: float) -> float:
    """Refuse a rate of false alarms that is none."""
    if not 0 < rate < 1:
        raise SettingError(f"false alarms {rate}: give a share between 0 and 1, such as 0.05")
    return rate


def learn_thresholds(scores: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, ...]]:
    """For each kind, the score that at most each of the ``LEVELS`` of right rows reaches.

    >>> [round(score) for score in learn_thresholds({"x": range(100)})["x"][:3]]
    [49, 64, 74]
    """
    found = {}
    for kind, values in scores.items():
        ordered = sorted(values, reverse=True)
        thresholds = []
        for level in LEVELS:
            allowed = int(level * len(ordered))  # so many rows may reach the threshold
            highest = ordered[allowed] if allowed < len(ordered) else -math.inf
            thresholds.append(_above(highest))
        found[kind] = tuple(thresholds)
    return found


def _above(score: float) -> float:
    """A number above a score, with six digits where that is enough."""
    rounded = math.ceil(score * 1e6) / 1e6 if math.isfinite(score) else score
    return rounded if rounded > score else math.nextafter(rounded, math.inf)
