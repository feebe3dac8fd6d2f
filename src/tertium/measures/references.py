"""Comparison with one or more references, of texts of any length.

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
from collections.abc import Callable, Iterator, Sequence, Set
from typing import TYPE_CHECKING, Literal

from tertium.data.sentences import halves, join, split_sentences
from tertium.errors import SettingError
from tertium.measures.base import Measure, Part, Segments, Texts
from tertium.measures.degenerate import is_degenerate
from tertium.models.base import LimitedModel, Progress
from tertium.text import Row, Text

if TYPE_CHECKING:
    from tertium.measures.base import Measure, Part
    from tertium.models.encoders.alignment import Aligner


Long = Literal["split", "cut", "always"]
"""What is done with long texts: split those that the model cannot read as a whole, read only their
beginning, or split all texts into sentences."""
LONG: tuple[Long, ...] = ("split", "cut", "always")
TextPair = tuple[Text, Text]


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


# The settings that measures share which compare with references: the default, and the meaning.
SEVERAL_REFERENCES = ("max", "Of several references, the best score or the mean.")
EMPTY_TEXT = (
    "worst",
    "The score of an empty text: the lowest of the measure, or what the formula gives.",
)
LONG_TEXT = (
    "split",
    "Texts beyond the model's length: split and scored in parts, or cut; always: split all.",
)
COPIES = (
    "formula",
    "The score of copies of the source, of text in another language, and of empty or repeated "
    "text: what the formula gives, or the lowest.",
)
UNINFORMED = -math.log(1 << 15)
"""The worst score of a log-probability per token: that of a model that knows nothing, if each of
32 768 tokens is as likely."""
Compare = Callable[[Texts, Texts], tuple[Sequence[float], Set[str]]]
"""From hypotheses and as many other texts to their similarities, and to the truncated texts."""


def over_references(
    measure: Measure,
    rows: Sequence[Row],
    compare: Compare,
    references: Literal["max", "mean"],
    progress: Progress | None = None,
) -> Segments:
    """Compare each hypothesis with each of its references (or its source), in one call.

    Of several references the best score counts, or the mean. An empty text has the worst score of
    the measure, whatever it is compared with: what is missing is neither similar nor correct.
    Measures without a lower bound (log-probabilities, distances) have no worst score: theirs is
    the formula's. With ``empty="formula"``, so is every other. Texts that are too long for the
    model are split first.
    """
    others = [measure.compared(row) for row in rows]
    pairs = [
        (row.hypothesis, other) for row, texts in zip(rows, others, strict=True) for other in texts
    ]
    split = split_pairs(measure, pairs, progress)
    units = [unit for parts in split for unit in parts]
    result, cut_texts = compare([a for a, _ in units], [b for _, b in units])
    similarities = iter(
        worst_if_empty(measure, score, unit) for score, unit in zip(result, units, strict=True)
    )
    wholes = iter(
        _whole(measure, pair, parts, similarities) for pair, parts in zip(pairs, split, strict=True)
    )
    scores, cut, parts_of_rows = [], [], []
    best: list[int | None] = []
    unit_texts = iter(split)
    for texts in others:
        found = [next(wholes) for _ in texts]
        values = [score for score, _ in found]
        scores.append(max(values) if references == "max" else sum(values) / len(values))
        chosen = values.index(max(values)) if references == "max" else None
        best.append(chosen)
        cut.append(
            any(text.text in cut_texts for _ in texts for unit in next(unit_texts) for text in unit)
        )
        shown = found if chosen is None else found[chosen : chosen + 1]
        parts_of_rows.append(tuple(part for _, parts in shown for part in parts))
    if measure.against != "reference":
        best = [None] * len(best)
    if getattr(measure, "copies", "formula") == "worst":
        lowest = measure.bounds[0] if math.isfinite(measure.bounds[0]) else UNINFORMED
        scores = [
            min(score, lowest) if is_degenerate(row) else score
            for row, score in zip(rows, scores, strict=True)
        ]
    return Segments(scores, [(score, 1.0) for score in scores], cut, best, parts_of_rows)


def _whole(
    measure: Measure,
    pair: tuple[Text, Text],
    units: Sequence[tuple[Text, Text]],
    similarities: Iterator[float],
) -> tuple[float, list[Part]]:
    """The score of a pair, and its parts if it was split."""
    scores = [next(similarities) for _ in units]
    if list(units) == [pair]:
        return scores[0], []
    parts = weigh_parts(measure, units, scores)
    return measure.whole([part.score for part in parts], [part.weight for part in parts]), parts


def worst_if_empty(measure: Measure, score: float, texts: Sequence[Text]) -> float:
    """The score of some texts, or the lowest one of the measure if one of them is empty."""
    lowest = measure.bounds[0]
    if getattr(measure, "empty", "formula") == "formula" or math.isinf(lowest):
        return score
    return score if all(text.text.strip() for text in texts) else min(score, lowest)
