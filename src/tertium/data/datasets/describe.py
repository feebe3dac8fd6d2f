"""What is in a dataset: the statistics that papers print of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from tertium.data.datasets.base import (
    Dataset,
    DatasetRecord,
    JudgedSegment,
    LabelledPair,
    ParaphraseSet,
)
from tertium.report.tables import Cell, Table


def describe(
    dataset: Dataset,
    path: Path | None = None,
    *,
    langs: Sequence[str] | None = None,
    **settings: Any,
) -> Table:
    """The statistics of each language and split, as in tables A3 to A6 of the NMTScore paper."""
    rows: list[list[Cell]] = []
    names: list[str] = []
    for split in dataset.splits or ("",):
        given = {"split": split} if split else {}
        for lang, records in dataset.read_languages(path, langs, **given, **settings).items():
            found = statistics(records)
            names = names or list(found)
            label = " ".join(filter(None, (lang, split))) or dataset.name
            cells = [
                Cell(value, ".1f" if isinstance(value, float) else "d") for value in found.values()
            ]
            rows.append([Cell(label), *cells])
    return Table(["", *names], rows, dataset.description)


def statistics(records: Sequence[DatasetRecord]) -> dict[str, int | float | None]:
    """The numbers of one language and split.

    >>> from tertium.text import Text
    >>> pair = LabelledPair("1", Text("Hi."), Text("Hello."), True)
    >>> statistics([pair])
    {'positive': 1, 'negative': 0, 'characters': 4.5}
    """
    first = records[0] if records else None
    if isinstance(first, LabelledPair):
        pairs = [each for each in records if isinstance(each, LabelledPair)]
        return {
            "positive": sum(pair.label for pair in pairs),
            "negative": sum(not pair.label for pair in pairs),
            "characters": fmean(len(side.text) for pair in pairs for side in (pair.a, pair.b)),
        }
    if isinstance(first, JudgedSegment):
        return _judged([each for each in records if isinstance(each, JudgedSegment)])
    if isinstance(first, ParaphraseSet):
        sets = [each for each in records if isinstance(each, ParaphraseSet)]
        sentences = [sentence for each in sets for sentence in each.sentences]
        return {
            "sets": len(sets),
            "sentences": len(sentences),
            "characters": fmean(map(len, sentences)),
        }
    return {"records": len(records)}


def _judged(outputs: Sequence[JudgedSegment]) -> dict[str, int | float | None]:
    """References and their characters are means over the outputs, as in the paper."""
    inputs = {(each.source and each.source.text, each.references) for each in outputs}
    references = [text.text for each in outputs for text in each.references]
    return {
        "inputs": len(inputs),
        "systems": len({each.system for each in outputs}),
        "outputs": len(outputs),
        "judged": sum(each.score is not None for each in outputs),
        "references": fmean(len(each.references) for each in outputs),
        "characters": fmean(map(len, references)) if references else None,
    }
