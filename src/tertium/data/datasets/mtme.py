"""The folders of mt-metrics-eval: a WMT test set with sources, references, outputs and scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tertium.data.datasets.base import JudgedSegment, fault
from tertium.data.datasets.values import number
from tertium.data.lines import check_file, read_lines
from tertium.errors import InputError
from tertium.text import Text


def read_mtme(
    folder: Path, lang_pair: str, *, scores: str = "mqm", references: Sequence[str] = ()
) -> list[JudgedSegment]:
    """Read a language pair of a test set such as ``mt-metrics-eval-v2/wmt20``.

    ``scores`` names the human scores (``human-scores/LANGS.SCORES.seg.score``: mqm, wmt-z, ...),
    and ``references`` the references to use: all, unless some are named. A reference that is itself
    among the outputs is not compared with itself.
    """
    source_lang, _, lang = lang_pair.partition("-")
    sources = _lines(folder / "sources" / f"{lang_pair}.txt")
    found = {
        path.name.removeprefix(f"{lang_pair}.").removesuffix(".txt"): path
        for path in sorted((folder / "references").glob(f"{lang_pair}.*.txt"))
    }
    for name in references:
        if name not in found:
            there = ", ".join(found) or "none"
            raise InputError(f"{folder} has no reference {name!r} for {lang_pair}: {there}")
    texts = {name: _lines(found[name], len(sources)) for name in references or found}
    path = folder / "human-scores" / f"{lang_pair}.{scores}.seg.score"
    outputs: dict[str, list[str]] = {}
    seen: dict[str, int] = {}
    segments = []
    for row, line in enumerate(_lines(path), start=1):
        fields = line.split()
        if len(fields) != 2:
            raise fault(
                path, row, f"{len(fields)} fields, not 2", "a line has a system and a score"
            )
        system, score = fields
        if system not in outputs:
            place = folder / "system-outputs" / lang_pair / f"{system}.txt"
            outputs[system] = _lines(place, len(sources))
        index = seen.get(system, 0)
        seen[system] = index + 1
        if index >= len(sources):
            raise fault(path, row, f"{system} has more scores than segments", "fetch it anew")
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
        raise InputError(f"{path} has {len(lines)} lines, and the source has {count}")
    return lines
