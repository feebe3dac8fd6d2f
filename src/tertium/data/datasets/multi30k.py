"""Multi30K 2018 with human scores: three JSON files of the SentSim repository.

``MMTsourcedict.json`` and ``MMTgolddict_LANG.json`` have a text for each image, and
``MMTtranslationdict_LANG.json`` lists outputs with their z-scores.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tertium.data.datasets.base import JudgedSegment, check_count, dataset
from tertium.data.datasets.reading import DOWNLOAD_AGAIN, read_json
from tertium.errors import InputError
from tertium.text import Text

SEGMENTS = {"de": 3484}


@dataset(
    "multi30k",
    JudgedSegment,
    "Multi30K 2018: image captions translated from English, with human z-scores",
    origin="https://github.com/Rain9876/Unsupervised-crosslingual-Compound-Method-For-MT",
    licence="not stated",
    layout="MMTsourcedict.json, MMTgolddict_LANG.json and MMTtranslationdict_LANG.json",
    languages=["de", "fr"],
)
def read_multi30k(lang: str = "de", *, folder: Path) -> list[JudgedSegment]:
    """Read the translations from English into German (or French), lower case and tokenized."""
    sources = read_json(folder / "MMTsourcedict.json", dict)
    golden = read_json(folder / f"MMTgolddict_{lang}.json", dict)
    path = folder / f"MMTtranslationdict_{lang}.json"
    segments = []
    for image, outputs in read_json(path, dict).items():
        if image not in sources or image not in golden:
            raise InputError(
                f"{path}: {image} has no source or reference; download all files again"
            )
        for output in outputs:
            try:
                hypothesis, score = str(output[0]), float(output[1])
            except (IndexError, TypeError, ValueError):
                raise InputError(
                    f"{path}: {output!r} of {image} is not a text and a score; {DOWNLOAD_AGAIN}"
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
