"""SacreROUGE's JSON Lines, in which the NMTScore repository keeps WebNLG and AMR.

``NAME.generated.jsonl`` has the outputs and references, ``NAME.metrics.jsonl`` the judgements: a
list of ratings for each criterion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tertium.data.datasets.base import JudgedSegment, fault
from tertium.data.records import open_table
from tertium.text import Text

Ratings = Mapping[str, Sequence[float]]


def read_sacrerouge(
    folder: Path, name: str, lang: str, criteria: Sequence[str]
) -> list[JudgedSegment]:
    """Read outputs with their score: the mean over raters, then over ``criteria``."""
    judged = folder / f"{name}.metrics.jsonl"
    ratings: dict[tuple[str, str], tuple[int, Ratings]] = {}
    for row, record in enumerate(open_table(judged), start=1):
        human = record.get("metrics", {}).get("human")
        if not isinstance(human, dict):
            raise fault(judged, row, "it has no human ratings", "fetch the file anew")
        ratings[_key(record)] = (row, human)
    path = folder / f"{name}.generated.jsonl"
    segments = []
    for row, record in enumerate(open_table(path), start=1):
        try:
            hypothesis = record["summary"]["text"]
            references = [reference["text"] for reference in record["references"]]
        except (KeyError, TypeError):
            cure = "a record has summary.text and references, each with a text"
            raise fault(path, row, "a text is missing", cure) from None
        if _key(record) not in ratings:
            raise fault(path, row, f"{judged.name} does not rate it", "fetch both files anew")
        number, human = ratings[_key(record)]
        segments.append(
            JudgedSegment(
                _key(record)[0],
                Text(hypothesis, lang),
                tuple(Text(reference, lang) for reference in references),
                system=_key(record)[1],
                score=_mean_score(human, criteria, judged, number),
            )
        )
    return segments


def _key(record: Mapping[str, Any]) -> tuple[str, str]:
    return str(record.get("instance_id")), str(record.get("summarizer_id"))


def _mean_score(human: Ratings, criteria: Sequence[str], path: Path, row: int) -> float | None:
    means = []
    for criterion in criteria:
        if criterion not in human:
            cure = f"the criteria there are {', '.join(human)}"
            raise fault(path, row, f"no ratings of {criterion}", cure)
        if not human[criterion]:
            return None
        means.append(sum(human[criterion]) / len(human[criterion]))
    return sum(means) / len(means)
