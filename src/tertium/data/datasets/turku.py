"""Turku Paraphrase Corpus: Finnish, and a Swedish test set (Kanerva et al., 2021).

The repository has ``data/dev.json``, ``data/test.json`` and ``data-sv/test.json``. A pair is
positive where its label has a 4. The NMTScore paper used a later and larger Finnish release, as the
hub has it (``classification``), in which every pair stands in both orders.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from tertium.data.datasets.base import LabelledPair, check_labels, fault
from tertium.data.datasets.hub import hub_records
from tertium.data.lines import check_file
from tertium.errors import InputError
from tertium.text import Text

HUB_ID = "TurkuNLP/turku_paraphrase_corpus"
HUB_REVISION = "refs/convert/parquet"
FOLDERS = {"fi": "data", "sv": "data-sv"}
PARAPHRASE = "4"
PAPER = {("fi", "test"): (15368, 5574), ("sv", "test"): (783, 298)}


def read_turku(
    lang: Literal["fi", "sv"],
    split: Literal["dev", "test"],
    *,
    folder: Path | None = None,
    offline: bool = False,
) -> list[LabelledPair]:
    """Read a language and a split from a clone of the repository; Finnish also from the hub."""
    if folder is not None:
        rows, names = _items(folder / FOLDERS[lang] / f"{split}.json"), ("txt1", "txt2")
    elif lang == "fi":
        name = {"dev": "validation"}.get(split, split)
        rows = hub_records(
            HUB_ID,
            f"classification/{name}/*.parquet",
            revision=HUB_REVISION,
            offline=offline,
        )
        names = ("text1", "text2")
    else:
        raise InputError("the Swedish pairs are not on the hub; name a clone of the repository")
    pairs = []
    for path, row, item in rows:
        a, b, found = (item.get(name) for name in (*names, "label"))
        if not (isinstance(a, str) and isinstance(b, str) and isinstance(found, str)):
            cure = f"an item has {names[0]}, {names[1]} and label, all text"
            raise fault(path, row, "a text or the label is missing", cure)
        pairs.append(
            LabelledPair(
                str(item.get("id", row)), Text(a, lang), Text(b, lang), PARAPHRASE in found
            )
        )
    check_labels(f"Turku {lang} {split}", pairs, PAPER.get((lang, split)))
    return pairs


def _items(path: Path) -> Iterator[tuple[Path, int, Any]]:
    check_file(path)
    try:
        items = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}; fetch it anew") from None
    if not isinstance(items, list):
        raise InputError(f"{path} is no list of pairs; fetch it anew")
    for row, item in enumerate(items, start=1):
        yield path, row, item if isinstance(item, dict) else {}
