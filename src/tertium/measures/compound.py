"""SentSim, any other sum of measures, and Prism's contrast of a cosine and a language model.

Song, Zhao and Specia, "SentSim: Crosslingual Semantic Evaluation of Machine Translation" (2021),
section 3.4. Thompson and Post, "Automatic Machine Translation Evaluation in Many Languages via
Zero-Shot Paraphrasing" (2020), figure 5.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from tertium.errors import InputError, LanguageError, SettingError
from tertium.measures.base import (
    EmptyRule,
    Measure,
    Segments,
    percent,
)
from tertium.measures.embedding import EmbeddingMeasure
from tertium.measures.references import worst_if_empty
from tertium.measures.settings import setting
from tertium.measures.totals import Role
from tertium.models.base import Progress
from tertium.text import Row, Text

UNRELATED = Path(__file__).with_name("unrelated.txt")
"""English sentences of which no two have to do with each other."""
NEIGHBOURS = 3
"""Each of them is compared with so many that follow."""
COSINE_FACTOR = 10.0
"""A cosine ranges over 1, a mean log-probability over some 10 (Prism, figure 5)."""


@dataclass(frozen=True)
class Combination(Measure):
    """What combinations of measures share."""

    parts: tuple[Measure, ...]
    _: KW_ONLY
    title: str = ""

    @property
    def name(self) -> str:
        return self.title or "+".join(part.name for part in self.parts)

    @property
    def reads(self) -> tuple[Role, ...]:
        return tuple(dict.fromkeys(role for part in self.parts for role in part.reads))

    @property
    def is_symmetric(self) -> bool:
        return all(part.is_symmetric for part in self.parts)

    def prepare(self, rows: Sequence[Row]) -> None:
        for part in self.parts:
            part.prepare(rows)

    def of_parts(self) -> dict[str, object]:
        """The choices of the parts, with their names."""
        own: dict[str, object] = {}
        for part in self.parts:
            described = part.description()
            del described["measure"]
            own |= {f"{part.name}.{name}": value for name, value in described.items()}
        return own


@dataclass(frozen=True)
class CosineAndFluency(Combination):
    """(1 - alpha) H(sys) + 10 alpha cos(sys, ref): "LASER + LM" of the Prism paper.

    The encoder is any sentence encoder; LASER's own is a network that the engine does not run.
    """

    _: KW_ONLY
    alpha: float = setting(
        0.5, "Weight of the cosine; the rest is that of the language model.", low=0, high=1
    )

    def reading(self, score: float) -> str:
        return f"similar in meaning and fluent; at most {COSINE_FACTOR * self.alpha:g}"

    @property
    def bounds(self) -> tuple[float, float]:  # type: ignore[override]  # a constant elsewhere
        return -math.inf, COSINE_FACTOR * self.alpha

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        cosine, fluency = (part.segments(rows, progress) for part in self.parts)
        scores = [
            (1 - self.alpha) * H + COSINE_FACTOR * self.alpha * cos
            for H, cos in zip(fluency.scores, cosine.scores, strict=True)
        ]
        cut = [a or b for a, b in zip(cosine.cut, fluency.cut, strict=True)]
        return Segments(scores, [(score, 1.0) for score in scores], cut, cosine.best_reference)

    def choices(self) -> Mapping[str, object]:
        return {"alpha": f"{self.alpha:g}", **self.of_parts()}


@dataclass(frozen=True)
class Compound(Combination):
    """w1 * exp(A) + w2 * exp(B) + ..., each component scaled to 0..1 (equation 7).

    A distance B counts as exp(1 - B); since Tertium's distances are already negated, scaling them
    to 0..1 does just that.
    """

    _: KW_ONLY
    weights: tuple[float, ...] = setting((), "Weights of the parts of a sum.")
    """One per component; equal by default. They are normalized to sum to 1."""
    scale: Literal["unrelated", "fixed", "corpus"] = setting(
        "unrelated",
        "How the parts of a sum are scaled: unrelated sentences count as 0 (embedding-based "
        "parts), by the range of each measure, or by the lowest and highest score of the rows.",
    )
    """With ``corpus``, as in the paper's code, a score depends on the other rows that are scored
    with it. With ``unrelated``, it does not, and parts with other spreads keep their weight."""
    empty: EmptyRule = setting(
        "worst", "The score of an empty text: the lowest, or what the formula gives."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.parts) < 2:
            raise SettingError("a sum needs at least two measures")
        names = [part.name for part in self.parts]
        if len(set(names)) < len(names):
            raise SettingError(f"{'+'.join(names)}: each measure may occur only once")
        weights = tuple(self.weights) or (1.0,) * len(self.parts)
        if len(weights) != len(self.parts) or not all(0 < w < math.inf for w in weights):
            raise SettingError(
                f"weights={self.weights!r}: there must be {len(self.parts)}, all greater than 0, "
                f"for {', '.join(names)}"
            )
        object.__setattr__(self, "weights", tuple(w / sum(weights) for w in weights))

    def reading(self, score: float) -> str:
        share = (score - 1) / (math.e - 1)
        return f"{percent(share)} of the way from nothing in common (1) to the same text (2.718)"

    @property
    def bounds(self) -> tuple[float, float]:  # type: ignore[override]  # a constant elsewhere
        return 1.0, math.e

    @property
    def needs_all_rows(self) -> bool:  # type: ignore[override]  # a constant elsewhere
        return self.scale == "corpus" or any(part.needs_all_rows for part in self.parts)

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        found = [part.segments(rows, progress) for part in self.parts]
        if self.scale == "corpus":
            scaled = [
                over_the_corpus(segments.scores, part.name)
                for part, segments in zip(self.parts, found, strict=True)
            ]
        else:
            scaled = [
                to_unit_range(segments.scores, bounds)
                for bounds, segments in zip(self._ranges, found, strict=True)
            ]
        scores = [
            sum(w * math.exp(a) for w, a in zip(self.weights, row, strict=True))
            for row in zip(*scaled, strict=True)
        ]  # SentSim(A, B) = w1 * exp(A) + w2 * exp(B)
        scores = [
            worst_if_empty(self, score, self._blank_pair(row))
            for score, row in zip(scores, rows, strict=True)
        ]
        cut = [any(flags) for flags in zip(*(segments.cut for segments in found), strict=True)]
        parts = [
            tuple(part for parts in row for part in parts)
            for row in zip(*(segments.parts or [()] * len(rows) for segments in found), strict=True)
        ]
        return Segments(scores, [(score, 1.0) for score in scores], cut, parts=parts)

    @cached_property
    def _ranges(self) -> tuple[tuple[float, float], ...]:
        """Which scores of each part become 0 and 1."""
        return tuple(
            (unrelated_score(part), part.bounds[1])
            if self.scale == "unrelated" and isinstance(part, EmbeddingMeasure)
            else part.bounds
            for part in self.parts
        )

    def _blank_pair(self, row: Row) -> list[Text]:
        """The hypothesis, and what decides whether a row counts as empty.

        Of several texts to compare with, one with text is enough.
        """
        others = [text for part in self.parts for text in part.compared(row)]
        return [row.hypothesis, max(others, key=lambda text: len(text.text.strip()))]

    def choices(self) -> Mapping[str, object]:
        own: dict[str, object] = {
            "parts": "+".join(part.name for part in self.parts),
            "weights": ",".join(f"{weight:g}" for weight in self.weights),
            "scale": f"unrelated-{unrelated_pairs()[1]}"
            if self.scale == "unrelated"
            else self.scale,
        }
        if self.empty != "worst":
            own["empty"] = self.empty
        return own | self.of_parts()


def to_unit_range(scores: Sequence[float], bounds: tuple[float, float]) -> list[float]:
    """Scale scores to 0..1 by the range of their measure, independent of the corpus.

    In a range without lower bound, a score at distance d from the best becomes 1 / (1 + d).

    >>> to_unit_range([0.0, 50.0, 120.0], (0.0, 100.0))
    [0.0, 0.5, 1.0]
    >>> to_unit_range([0.0, -1.0, -3.0], (-math.inf, 0.0))
    [1.0, 0.5, 0.25]
    """
    low, high = bounds
    if math.isinf(high):
        raise SettingError("a measure without an upper bound cannot be summed with others")
    if math.isinf(low):
        return [1 / (1 + max(high - score, 0.0)) for score in scores]
    return [min(max((score - low) / (high - low), 0.0), 1.0) for score in scores]


def over_the_corpus(scores: Sequence[float], name: str) -> list[float]:
    """Scale the minimum to 0 and the maximum to 1, as the paper's code does.

    >>> over_the_corpus([2.0, 3.0, 6.0], "wmd")
    [0.0, 0.25, 1.0]
    >>> over_the_corpus([5.0, 5.0], "wmd")
    Traceback (most recent call last):
    ...
    tertium.errors.InputError: scale=corpus: wmd gives all rows the same score, 5, so that ...
    """
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    if scores and high <= low:
        who = "the only row a score of" if len(scores) == 1 else "all rows the same score,"
        raise InputError(
            f"scale=corpus: {name} gives {who} {low:g}, so that there is no lowest and highest",
            cure=("score more rows together", "use scale=unrelated"),
        )
    return [(score - low) / (high - low) for score in scores]


@cache
def unrelated_pairs() -> tuple[list[tuple[Text, Text]], str]:
    """Pairs of unrelated sentences, and a short digest of their text."""
    content = UNRELATED.read_text("utf-8")
    texts = [Text(line, "en") for line in content.splitlines()]
    pairs = [
        (text, texts[(place + step) % len(texts)])
        for place, text in enumerate(texts)
        for step in range(1, NEIGHBOURS + 1)
    ]
    return pairs, hashlib.sha256(content.encode()).hexdigest()[:6]


def unrelated_score(part: EmbeddingMeasure) -> float:
    """The mean score of pairs of unrelated sentences: it is to count as 0."""
    pairs, _ = unrelated_pairs()
    try:
        scores, _ = part.compare([a for a, _ in pairs], [b for _, b in pairs], None)
    except LanguageError as error:
        raise SettingError(
            f"scale=unrelated compares English sentences, but {error}",
            cure="use scale=fixed",
        ) from None
    mean = math.fsum(scores) / len(scores)
    if not mean < part.bounds[1]:
        raise SettingError(
            f"scale=unrelated: to {part.name}, unrelated sentences are as similar as equal ones",
            cure=("use another encoder", "use scale=fixed"),
        )
    return mean
