"""Multi30K 2018 with human scores, as the repository of SentSim publishes them: three JSON files.

``MMTsourcedict.json`` and ``MMTgolddict_LANG.json`` have a text for each image, and
``MMTtranslationdict_LANG.json`` lists outputs with their z-scores.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tertium.data.datasets.base import JudgedSegment, check_count
from tertium.data.lines import check_file
from tertium.errors import InputError
from tertium.text import Text

SEGMENTS = {"de": 3484}


def read_multi30k(lang: str = "de", *, folder: Path) -> list[JudgedSegment]:
    """Read the translations from English into German (or French), lower case and tokenized."""
    sources = _read(folder / "MMTsourcedict.json")
    golden = _read(folder / f"MMTgolddict_{lang}.json")
    path = folder / f"MMTtranslationdict_{lang}.json"
    segments = []
    for image, outputs in _read(path).items():
        if image not in sources or image not in golden:
            raise InputError(f"{path}: {image} has no source or no reference; fetch all three anew")
        for output in outputs:
            try:
                hypothesis, score = str(output[0]), float(output[1])
            except (IndexError, TypeError, ValueError):
                raise InputError(
                    f"{path}: {output!r} of {image} is no pair of a text and a score; fetch it anew"
                ) from None
            segments.append(
                JudgedSegment(
                    image,
                    Text(hypothesis, lang),
                    tuple(Text(reference, lang) for reference in _texts(golden[image])),
                    Text(_texts(sources[image])[0], "en"),
                    score=score,
                )
            )
    check_count(f"Multi30K en-{lang}: outputs", len(segments), SEGMENTS.get(lang))
    return segments


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [str(text) for text in value]


def _read(path: Path) -> dict[str, Any]:
    check_file(path)
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}; fetch it anew") from None
    if not isinstance(found, dict):
        raise InputError(f"{path} is no table of images; fetch it anew")
    return found
