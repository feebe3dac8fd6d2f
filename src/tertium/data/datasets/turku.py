"""Turku Paraphrase Corpus: Finnish, and a Swedish test set (Kanerva et al., 2021).

The repository has ``data/dev.json``, ``data/test.json`` and ``data-sv/test.json``. A pair is
positive if its label contains a 4. The NMTScore paper used the later and larger Finnish release of
the hub (``classification``), in which every pair occurs in both orders.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from tertium.data.datasets.base import LabelledPair, check_labels, dataset
from tertium.data.datasets.reading import FileRecord, hub_records, read_json, row_error
from tertium.errors import InputError
from tertium.text import Text

HUB_ID = "TurkuNLP/turku_paraphrase_corpus"
HUB_REVISION = "refs/convert/parquet"
FOLDERS = {"fi": "data", "sv": "data-sv"}
PARAPHRASE = "4"
PAPER = {("fi", "test"): (15368, 5574), ("sv", "test"): (783, 298)}


@dataset(
    "turku",
    LabelledPair,
    "Turku Paraphrase Corpus: Finnish, and a Swedish test set",
    origin="https://github.com/TurkuNLP/Turku-paraphrase-corpus",
    licence="CC BY-SA 4.0",
    layout="data/dev.json, data/test.json and data-sv/test.json",
    languages=["fi", "sv"],
    hub_id=HUB_ID,
)
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
        raise InputError("the Swedish pairs are not on the hub; give a clone of the repository")
    pairs = []
    for path, row, item in rows:
        a, b, annotation = (item.get(name) for name in (*names, "label"))
        if not (isinstance(a, str) and isinstance(b, str) and isinstance(annotation, str)):
            cure = f"an item must have {names[0]}, {names[1]} and label, all text"
            raise row_error(path, row, "a text or the label is missing", cure)
        pairs.append(
            LabelledPair(
                str(item.get("id", row)), Text(a, lang), Text(b, lang), PARAPHRASE in annotation
            )
        )
    check_labels(f"Turku {lang} {split}", pairs, PAPER.get((lang, split)))
    return pairs


def _items(path: Path) -> Iterator[FileRecord]:
    for row, item in enumerate(read_json(path, list), start=1):
        yield path, row, item if isinstance(item, dict) else {}
