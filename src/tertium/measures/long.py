"""Texts of any length: split into sentences, aligned, scored in parts, and put together.

A text that is longer than the model reads is split into sentences, and so is the text that it is
compared with; :class:`~tertium.models.encoders.alignment.Aligner` aligns them. Each part, one or
more sentences of both texts, is scored like a pair of its own. The score of the whole is the mean
of its parts, weighted by their shares of both texts:

    w(a, b) = |a| / |A| + |b| / |B|        score(A, B) = sum w(a, b) score(a, b) / sum w(a, b)

where the length |a| is a number of characters, or of tokens for log-probabilities. A sentence
without counterpart has the lowest score of the measure; if there is none, what the formula gives
for it and an empty text, but no more than any other part has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from tertium.data.sentences import halves, join, split_sentences
from tertium.errors import SettingError
from tertium.models.base import LimitedModel, Progress
from tertium.text import Text

if TYPE_CHECKING:
    from tertium.measures.base import Measure
    from tertium.models.encoders.alignment import Aligner

Long = Literal["split", "cut", "always"]
"""What is done with long texts: split those that the model cannot read as a whole, read only their
beginning, or split all texts into sentences."""
LONG: tuple[Long, ...] = ("split", "cut", "always")
TextPair = tuple[Text, Text]


class Part(NamedTuple):
    """Aligned sentences of two texts, their score, and the weight of the score."""

    hypothesis: str
    other: str
    score: float
    weight: float


def split_pairs(
    measure: Measure, pairs: Sequence[TextPair], progress: Progress | None = None
) -> list[list[TextPair]]:
    """The parts of each pair: the pair itself, unless its texts are to be split."""
    parts = [[pair] for pair in pairs]
    long, model = getattr(measure, "long", "cut"), getattr(measure, "model", None)
    if long == "cut" or (long == "split" and not isinstance(model, LimitedModel)):
        return parts
    if not isinstance(model, LimitedModel):
        raise SettingError(f"{measure.name}: its model cannot split texts (long={long})")
    chosen = set(pairs)
    if long == "split":
        texts = list(dict.fromkeys(text.text for pair in pairs for text in pair))
        too_long = {text for text, flag in zip(texts, model.too_long(texts), strict=True) if flag}
        chosen = {pair for pair in pairs if any(text.text in too_long for text in pair)}
    if not chosen:
        return parts
    from tertium.models.encoders.alignment import Aligner

    aligner = Aligner(measure.aligning_encoder())
    aligned = {
        pair: _aligned(pair, model, aligner, progress)
        for pair in dict.fromkeys(pair for pair in pairs if pair in chosen)
    }
    return [aligned.get(pair, [pair]) for pair in pairs]


def weigh_parts(measure: Measure, parts: Sequence[TextPair], scores: Sequence[float]) -> list[Part]:
    """The parts of one pair with their scores and weights; see :meth:`Measure.whole`."""
    lengths = [measure.lengths([pair[side] for pair in parts]) for side in (0, 1)]
    totals = [sum(side) for side in lengths]
    one_sided = [not all(text.text.strip() for text in pair) for pair in parts]
    worst = measure.bounds[0]
    if math.isinf(worst):
        worst = min(
            (score for score, lacks in zip(scores, one_sided, strict=True) if not lacks),
            default=math.inf,
        )
    return [
        Part(
            a.text,
            b.text,
            min(score, worst) if lacks else score,
            sum(length / total for length, total in zip(sizes, totals, strict=True) if total),
        )
        for (a, b), score, lacks, sizes in zip(
            parts, scores, one_sided, zip(*lengths, strict=True), strict=True
        )
    ]


def _aligned(
    pair: TextPair, model: LimitedModel, aligner: Aligner, progress: Progress | None
) -> list[TextPair]:
    """Aligned sentences of two texts; of a sentence without counterpart, the other is empty."""
    sides = [_sentences(text, model, aligner.settings.longest) for text in pair]
    empty = [Text("", text.lang) for text in pair]
    if not all(sides):
        found = [(sentence, empty[1]) for sentence in sides[0]]
        found += [(empty[0], sentence) for sentence in sides[1]]
        return found or [pair]
    return [
        (
            join(sides[0][unit.source.start : unit.source.stop]) if unit.source else empty[0],
            join(sides[1][unit.target.start : unit.target.stop]) if unit.target else empty[1],
        )
        for unit in aligner(sides[0], sides[1], progress)
    ]


def _sentences(text: Text, model: LimitedModel, most: int) -> list[Text]:
    """The sentences of a text; one that is so long that ``most`` of them do not fit is halved."""
    parts = split_sentences(text.text, text.lang)
    while True:
        joined = [join([Text(part, text.lang)] * most).text for part in parts]
        flags = model.too_long(joined)
        if not any(flag and len(part) > 1 for flag, part in zip(flags, parts, strict=True)):
            return [Text(part, text.lang) for part in parts]
        parts = [
            half
            for part, flag in zip(parts, flags, strict=True)
            for half in (halves(part) if flag and len(part) > 1 else (part,))
            if half
        ]
