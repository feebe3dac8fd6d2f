"""Google's releases of WMT judgements: test sets of mt-metrics-eval, and MQM ratings.

A test set of mt-metrics-eval is a folder with sources, references, outputs and scores. MQM ratings
(google/wmt-mqm-human-evaluation) are tables with one row per error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from tertium.data.datasets.base import JudgedSegment, dataset
from tertium.data.datasets.reading import DOWNLOAD_AGAIN, number, row_error, table_records
from tertium.data.lines import check_file, read_lines
from tertium.errors import InputError
from tertium.text import Text

MQM_COLUMNS = ("system", "seg_id", "rater", "source", "target", "category", "severity")
ERROR_TAG = re.compile(r"</?v>")
"""Tags around an error in the text."""
MAJOR, MINOR, PUNCTUATION, NON_TRANSLATION = 5.0, 1.0, 0.1, 25.0
"""The weights of Freitag et al. (2021), table 12."""


@dataset(
    "mtme",
    JudgedSegment,
    "A test set of mt-metrics-eval (WMT), with MQM or other human scores",
    origin="https://github.com/google-research/mt-metrics-eval",
    licence="see the WMT metrics tasks",
    layout="sources, references, system-outputs and human-scores",
)
def read_mtme(
    folder: Path, lang_pair: str, *, scores: str = "mqm", references: Sequence[str] = ()
) -> list[JudgedSegment]:
    """Read a language pair of a test set such as ``mt-metrics-eval-v2/wmt20``.

    ``scores`` names the human scores (``human-scores/LANGS.SCORES.seg.score``: mqm, wmt-z, ...),
    and ``references`` the references to use (default: all). A reference that is also among the
    outputs is not used as its own reference.
    """
    source_lang, _, lang = lang_pair.partition("-")
    sources = _lines(folder / "sources" / f"{lang_pair}.txt")
    available = {
        path.name.removeprefix(f"{lang_pair}.").removesuffix(".txt"): path
        for path in sorted((folder / "references").glob(f"{lang_pair}.*.txt"))
    }
    for name in references:
        if name not in available:
            names = ", ".join(available) or "none"
            raise InputError(f"{folder} has no reference {name!r} for {lang_pair}: {names}")
    texts = {name: _lines(available[name], len(sources)) for name in references or available}
    path = folder / "human-scores" / f"{lang_pair}.{scores}.seg.score"
    outputs: dict[str, list[str]] = {}
    seen: dict[str, int] = {}
    segments = []
    for row, line in enumerate(_lines(path), start=1):
        fields = line.split()
        if len(fields) != 2:
            cure = "a line must have a system and a score"
            raise row_error(path, row, f"{len(fields)} fields, not 2", cure)
        system, score = fields
        if system not in outputs:
            place = folder / "system-outputs" / lang_pair / f"{system}.txt"
            outputs[system] = _lines(place, len(sources))
        index = seen.get(system, 0)
        seen[system] = index + 1
        if index >= len(sources):
            raise row_error(path, row, f"{system} has more scores than segments", DOWNLOAD_AGAIN)
        segments.append(
            JudgedSegment(
                str(index + 1),
                Text(outputs[system][index], lang),
                tuple(Text(lines[index], lang) for name, lines in texts.items() if name != system),
                Text(sources[index], source_lang),
                system,
                number(score, "score", path, row),
            )
        )
    return segments


def _lines(path: Path, count: int | None = None) -> list[str]:
    check_file(path)
    lines = list(read_lines(path))
    if count is not None and len(lines) != count:
        raise InputError(f"{path} has {len(lines)} lines, but the source has {count}")
    return lines


@dataset(
    "mqm",
    JudgedSegment,
    "MQM ratings of WMT outputs (Freitag et al., 2021); no references",
    origin="https://github.com/google/wmt-mqm-human-evaluation",
    licence="see its repository",
    layout="one row per error: system, seg_id, rater, source, target, category, severity",
    languages=["en-de", "zh-en"],
)
def read_mqm(path: Path, lang_pair: str) -> list[JudgedSegment]:
    """Read a file of ratings; the score is minus the sum of error weights, averaged over raters."""
    source_lang, _, lang = lang_pair.partition("-")
    weights: dict[tuple[str, str, str], dict[str, float]] = {}
    texts: dict[tuple[str, str, str], tuple[str, str]] = {}
    for _, row, record in table_records(path, format="tsv"):
        missing = [name for name in MQM_COLUMNS if name not in record]
        if missing:
            columns = ", ".join(record)
            raise row_error(path, row, f"no column {missing[0]!r}", f"its columns are {columns}")
        key = (record["system"], record.get("doc", ""), record["seg_id"])
        raters = weights.setdefault(key, {})
        weight = error_weight(record["category"], record["severity"])
        raters[record["rater"]] = raters.get(record["rater"], 0.0) + weight
        texts.setdefault(
            key, (ERROR_TAG.sub("", record["source"]), ERROR_TAG.sub("", record["target"]))
        )
    return [
        JudgedSegment(
            key[2],
            Text(texts[key][1], lang),
            source=Text(texts[key][0], source_lang),
            system=key[0],
            score=-_mean(raters.values()) + 0.0,  # avoid -0.0
        )
        for key, raters in weights.items()
    ]


def error_weight(category: str, severity: str) -> float:
    """The weight of an error.

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
    numbers = list(values)
    return sum(numbers) / len(numbers)
