"""Alignment of the sentences of a document with those of its translation, from Python."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tertium.data.sentences import best_splitter, join, split_sentences
from tertium.measures.inputs import repeatable
from tertium.models.base import Progress, SentenceEncoder
from tertium.models.catalog import DEFAULT_ENCODER, load_encoder
from tertium.models.encoders.alignment import Aligner
from tertium.report.progress import as_progress
from tertium.report.tables import data_frame
from tertium.stats.alignment import AlignmentSettings
from tertium.text import Text, check_text


class AlignedUnit(NamedTuple):
    """Sentences that belong together; one side may be empty."""

    source: str
    target: str
    source_places: tuple[int, ...]
    """The indices of its sentences, or of the lines that they were split from."""
    target_places: tuple[int, ...]
    cost: float
    """0 for sentences that are as near as can be; 1 is about the cost by chance."""


class AlignedUnits(list[AlignedUnit]):
    """The units of two documents in order, which can become a data frame."""

    def to_pandas(self) -> Any:
        """A data frame with one row per unit."""
        return data_frame(unit._asdict() for unit in self)


def align(
    source: str | Iterable[str],
    target: str | Iterable[str],
    *,
    source_lang: str | None = None,
    target_lang: str | None = None,
    encoder: str | Path | SentenceEncoder = DEFAULT_ENCODER,
    settings: AlignmentSettings | None = None,
    progress: bool | Progress | None = None,
) -> AlignedUnits:
    """Align the sentences of a document with those of its translation.

    A document is a list of sentences, or a text that is split into sentences. Blank sentences are
    left out.

    >>> import tertium
    >>> german = ["Guten Morgen.", "Es regnet heute, und wir bleiben zu Hause."]
    >>> english = ["Good morning.", "It is raining today.", "We are staying at home."]
    >>> for unit in tertium.align(german, english, source_lang="de", target_lang="en"):
    ...     print(unit.source_places, unit.target_places)
    (0,) (0,)
    (1,) (1, 2)
    """
    model = load_encoder(encoder) if isinstance(encoder, str | Path) else encoder
    sides = [_sentences(source, source_lang), _sentences(target, target_lang)]
    texts = [[text for _, text in side] for side in sides]
    aligner = Aligner(model, settings or AlignmentSettings())
    units = aligner(texts[0], texts[1], as_progress(progress))

    def text(side: int, places: range) -> str:
        return join([texts[side][place] for place in places]).text if places else ""

    def indices(side: int, places: range) -> tuple[int, ...]:
        return tuple(sorted({sides[side][place][0] for place in places}))

    return AlignedUnits(
        AlignedUnit(
            text(0, unit.source),
            text(1, unit.target),
            indices(0, unit.source),
            indices(1, unit.target),
            float(unit.cost),
        )
        for unit in units
    )


def _sentences(document: str | Iterable[str], lang: str | None) -> list[tuple[int, Text]]:
    """The sentences that are not blank, with their places."""
    if isinstance(document, str):
        lines = split_sentences(document, lang, best_splitter())
    else:
        lines = repeatable(document)
    return [
        (place, Text(check_text(line, role="sentence", row=place + 1).strip(), lang))
        for place, line in enumerate(lines)
        if line.strip()
    ]
