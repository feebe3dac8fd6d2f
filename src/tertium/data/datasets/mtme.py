"""Google's releases of WMT judgements: test sets of mt-metrics-eval, and MQM ratings.

A test set of mt-metrics-eval is a folder with sources, references, outputs and scores. MQM ratings
(google/wmt-mqm-human-evaluation) are tables with one row per error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from tertium.data.datasets.base import JudgedSegment, dataset
from tertium.data.datasets.reading import DOWNLOAD_AGAIN, number, row_error, table_records
from tertium.data.lines import check_file, read_lines
from tertium.errors import InputError
from tertium.text import Text

NO_TRANSLATION = "[No translation supplied]"
"""Stands for a missing text in the files of mt-metrics-eval."""
FIELDS = {"sources": "source", "references": "target", "system-outputs": "hypothesis"}
"""The field with the text, by folder, where files are JSON lines."""
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
    """Read a language pair of a test set such as ``mt-metrics-eval-v2/wmt24``.

    ``scores`` names the human scores (``human-scores/LANGS.SCORES.seg.score``: mqm, esa, wmt-z,
    ...), and ``references`` the references to use (default: all). A reference that is also among
    the outputs is not used as its own reference. An output that is missing is an empty text, and a
    reference that is missing is left out.
    """
    source_lang, _, lang = lang_pair.partition("-")
    sources = _texts(folder / "sources" / lang_pair)
    count = len(sources)
    available = {
        path.name.removeprefix(f"{lang_pair}.").rpartition(".")[0]: path.with_suffix("")
        for path in sorted((folder / "references").glob(f"{lang_pair}.*"))
    }
    for name in references:
        if name not in available:
            names = ", ".join(available) or "none"
            raise InputError(f"{folder} has no reference {name!r} for {lang_pair}: {names}")
    texts = {name: _texts(available[name], count) for name in references or available}
    documents = _documents(folder / "documents" / f"{lang_pair}.docs", count)
    outputs: dict[str, list[str | None]] = {}
    seen: dict[str, int] = {}
    segments = []
    path = _human_scores(folder, lang_pair, scores)
    if path is None:  # of systems alone
        systems = read_mtme_systems(folder, lang_pair, scores)
        records = [(row, system, "None") for system in systems for row in range(1, count + 1)]
        path = folder / "human-scores"
    else:
        records = [(row, system, score) for row, (system, score) in enumerate(_pairs(path), 1)]
    for row, system, score in records:
        if system not in outputs:
            outputs[system] = _texts(folder / "system-outputs" / lang_pair / system, count)
        index = seen.get(system, 0)
        seen[system] = index + 1
        if index >= count:
            raise row_error(path, row, f"{system} has more scores than segments", DOWNLOAD_AGAIN)
        domain, document = documents[index]
        segments.append(
            JudgedSegment(
                str(index + 1),
                Text(outputs[system][index] or "", lang),
                tuple(
                    Text(reference, lang)
                    for name, lines in texts.items()
                    if name != system and (reference := lines[index]) is not None
                ),
                Text(sources[index] or "", source_lang),
                system,
                number(score, "score", path, row),
                document,
                domain,
            )
        )
    return segments


def read_mtme_systems(folder: Path, lang_pair: str, scores: str) -> dict[str, float]:
    """Read human scores of the systems; empty if the test set has none of this name.

    References are among them where people judged them as well.
    """
    path = folder / "human-scores" / f"{lang_pair}.{scores}.sys.score"
    if not path.is_file():
        return {}
    found = {}
    for row, (system, value) in enumerate(_pairs(path), start=1):
        score = number(value, "score", path, row)
        if score is not None:
            found[system] = score
    return found


def _human_scores(folder: Path, lang_pair: str, scores: str) -> Path | None:
    """The file of human scores of segments; None if there are scores of systems alone.

    The error for others names those that there are.
    """
    path = folder / "human-scores" / f"{lang_pair}.{scores}.seg.score"
    if path.is_file():
        return path
    if path.with_name(f"{lang_pair}.{scores}.sys.score").is_file():
        return None
    found = sorted((folder / "human-scores").glob(f"{lang_pair}.*.score"))
    names = [each.name[len(lang_pair) + 1 :].rsplit(".", 2)[0] for each in found]
    raise InputError(
        f"{folder} has no human scores {scores!r} of segments for {lang_pair}; "
        f"there are {', '.join(dict.fromkeys(names)) or 'none'}"
    )


def _pairs(path: Path) -> list[list[str]]:
    """The systems and scores of a file."""
    pairs = [line.split() for line in _lines(path)]
    for row, fields in enumerate(pairs, start=1):
        if len(fields) != 2:
            cure = "a line must have a system and a score"
            raise row_error(path, row, f"{len(fields)} fields, not 2", cure)
    return pairs


def _documents(path: Path, count: int) -> list[tuple[str, str]]:
    """Domain and document of each segment; empty if the test set does not have them."""
    if not path.is_file():
        return [("", "")] * count
    found = []
    for row, line in enumerate(_lines(path, count), start=1):
        fields = line.split()
        if len(fields) < 2:
            cure = "a line must have a domain and a document"
            raise row_error(path, row, f"{len(fields)} fields, not 2", cure)
        found.append((fields[0], fields[1]))
    return found


def _texts(path: Path, count: int | None = None) -> list[str | None]:
    """The texts of a file, given without its extension: plain lines, or JSON lines."""
    plain, records = (path.with_name(f"{path.name}.{kind}") for kind in ("txt", "jsonl"))
    if plain.is_file() or not records.is_file():
        return [None if line == NO_TRANSLATION else line for line in _lines(plain, count)]
    column = next(FIELDS[part] for part in reversed(path.parts) if part in FIELDS)
    found = []
    for row, line in enumerate(_lines(records, count), start=1):
        try:
            value = json.loads(line)[column]
        except (ValueError, KeyError, TypeError):
            raise row_error(records, row, f"no field {column!r}", DOWNLOAD_AGAIN) from None
        found.append(value if isinstance(value, str) else None)
    return found


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
