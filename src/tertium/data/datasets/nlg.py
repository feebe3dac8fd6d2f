"""Judged outputs of data-to-text systems: WebNLG 2020 and multilingual AMR-to-text.

Both are read from the NMTScore repository (``experiments/data``), which stores them as JSON Lines
of SacreROUGE: ``NAME.generated.jsonl`` has the outputs and references, ``NAME.metrics.jsonl`` a
list of ratings for each criterion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tertium.data.datasets.base import JudgedSegment, check_count, dataset
from tertium.data.datasets.reading import DOWNLOAD_AGAIN, row_error, table_records
from tertium.text import Text

ADEQUACY = ("correctness", "data_coverage", "relevance")
"""The criteria whose mean is the adequacy (NMTScore, section 5.1)."""
FLUENCY = ("fluency", "text_structure")
WEBNLG_OUTPUTS = {"en": 2848, "ru": 770}
AMR_LANGUAGES = (
    *("da", "el", "es", "fi", "it", "nl", "pt", "sv"),
    *("bg", "cs", "et", "hu", "lv", "pl", "ro"),
)
AMR_OUTPUTS = 50

Ratings = Mapping[str, Sequence[float]]


@dataset(
    "webnlg",
    JudgedSegment,
    "WebNLG 2020, RDF to text: outputs of all systems, judged for adequacy",
    origin="https://github.com/ZurichNLP/nmtscore (experiments/data/webnlg2020)",
    licence="CC BY-NC-SA 4.0",
    layout="webnlg2020.LANG.generated.jsonl and webnlg2020.LANG.metrics.jsonl",
    languages=["en", "ru"],
)
def read_webnlg(
    lang: str, *, folder: Path, criteria: Sequence[str] = ADEQUACY
) -> list[JudgedSegment]:
    """Read the outputs of all systems with their adequacy, or the mean of other criteria."""
    segments = read_sacrerouge(folder, f"webnlg2020.{lang}", lang, criteria)
    check_count(f"WebNLG {lang}: outputs", len(segments), WEBNLG_OUTPUTS.get(lang))
    return segments


@dataset(
    "amr",
    JudgedSegment,
    "Multilingual AMR-to-text: one system in 15 languages (Fan and Gardent, 2020)",
    origin="https://github.com/ZurichNLP/nmtscore (experiments/data/multilingual_amr)",
    licence="MIT",
    layout="amr.LANG.generated.jsonl and amr.LANG.metrics.jsonl",
    languages=AMR_LANGUAGES,
)
def read_amr(
    lang: str, *, folder: Path, criterion: str = "semantic_accuracy"
) -> list[JudgedSegment]:
    """Read the outputs in a language with the mean rating of a criterion."""
    segments = read_sacrerouge(folder, f"amr.{lang}", lang, (criterion,))
    check_count(f"AMR {lang}: outputs", len(segments), AMR_OUTPUTS)
    return segments


def read_sacrerouge(
    folder: Path, name: str, lang: str, criteria: Sequence[str]
) -> list[JudgedSegment]:
    """Read outputs with their score: the mean over raters, then over ``criteria``."""
    judged = folder / f"{name}.metrics.jsonl"
    ratings: dict[tuple[str, str], tuple[int, Ratings]] = {}
    for _, row, record in table_records(judged):
        human = record.get("metrics", {}).get("human")
        if not isinstance(human, dict):
            raise row_error(judged, row, "no human ratings", DOWNLOAD_AGAIN)
        ratings[_key(record)] = (row, human)
    path = folder / f"{name}.generated.jsonl"
    segments = []
    for _, row, record in table_records(path):
        try:
            hypothesis = record["summary"]["text"]
            references = [reference["text"] for reference in record["references"]]
        except (KeyError, TypeError):
            cure = "a record must have summary.text and references, each with a text"
            raise row_error(path, row, "a text is missing", cure) from None
        if _key(record) not in ratings:
            raise row_error(path, row, f"{judged.name} has no rating", "download both files again")
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
            cure = f"its criteria are {', '.join(human)}"
            raise row_error(path, row, f"no ratings of {criterion}", cure)
        if not human[criterion]:
            return None
        means.append(sum(human[criterion]) / len(human[criterion]))
    return sum(means) / len(means)
