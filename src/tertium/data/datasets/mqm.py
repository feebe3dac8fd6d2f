"""MQM ratings as google/wmt-mqm-human-evaluation publishes them: a row for each error found."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tertium.data.datasets.base import JudgedSegment, fault
from tertium.data.records import open_table
from tertium.text import Text

COLUMNS = ("system", "seg_id", "rater", "source", "target", "category", "severity")
MARK = re.compile(r"</?v>")
"""What surrounds an error in the text."""
MAJOR, MINOR, PUNCTUATION, NON_TRANSLATION = 5.0, 1.0, 0.1, 25.0
"""The weights of Freitag et al. (2021), table 12."""


def read_mqm(path: Path, lang_pair: str) -> list[JudgedSegment]:
    """Read a file of ratings; the score is minus the weight of the errors, a mean over raters."""
    source_lang, _, lang = lang_pair.partition("-")
    weights: dict[tuple[str, str, str], dict[str, float]] = {}
    texts: dict[tuple[str, str, str], tuple[str, str]] = {}
    for row, record in enumerate(open_table(path, format="tsv"), start=1):
        missing = [name for name in COLUMNS if name not in record]
        if missing:
            raise fault(path, row, f"no column {missing[0]!r}", f"it has {', '.join(record)}")
        key = (record["system"], record.get("doc", ""), record["seg_id"])
        raters = weights.setdefault(key, {})
        weight = error_weight(record["category"], record["severity"])
        raters[record["rater"]] = raters.get(record["rater"], 0.0) + weight
        texts.setdefault(key, (MARK.sub("", record["source"]), MARK.sub("", record["target"])))
    return [
        JudgedSegment(
            key[2],
            Text(texts[key][1], lang),
            source=Text(texts[key][0], source_lang),
            system=key[0],
            score=-_mean(raters.values()) + 0.0,  # no minus zero
        )
        for key, raters in weights.items()
    ]


def error_weight(category: str, severity: str) -> float:
    """How much an error counts.

    >>> error_weight("Fluency/Punctuation", "Minor"), error_weight("Accuracy/Omission", "Major")
    (0.1, 5.0)
    """
    category, severity = category.strip().lower(), severity.strip().lower()
    if severity not in ("major", "minor"):  # neutral, no-error
        return 0.0
    if category.startswith("non-translation"):
        return NON_TRANSLATION
    if severity == "major":
        return MAJOR
    return PUNCTUATION if category == "fluency/punctuation" else MINOR


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
