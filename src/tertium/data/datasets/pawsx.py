"""PAWS-X: adversarial paraphrases in seven languages (Yang et al., 2019).

The release (x-final.tar.gz) has one folder per language with ``dev_2k.tsv`` and ``test_2k.tsv``. A
pair has the same id and the same label in all languages.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from tertium.data.datasets.base import LabelledPair, check_labels, dataset
from tertium.data.datasets.reading import FileRecord, check_fields, hub_records, label, text
from tertium.data.lines import check_file, read_lines
from tertium.text import Text

LANGUAGES = ("en", "de", "es", "fr", "ja", "ko", "zh")
HUB_ID = "google-research-datasets/paws-x"
FILES = {"dev": "dev_2k.tsv", "test": "test_2k.tsv"}
HUB_SPLITS = {"dev": "validation", "test": "test"}
PLACEHOLDER = "NS"
"""Marks a sentence that was not translated."""
PAPER = {
    ("de", "dev"): (831, 1101),
    ("de", "test"): (895, 1073),
    ("es", "dev"): (847, 1115),
    ("es", "test"): (907, 1092),
    ("fr", "dev"): (860, 1132),
    ("fr", "test"): (903, 1083),
    ("ja", "dev"): (854, 1126),
    ("ja", "test"): (883, 1063),
    ("zh", "dev"): (853, 1131),
    ("zh", "test"): (894, 1081),
}
"""Positive and negative pairs in table A3 of the NMTScore paper."""


@dataset(
    "pawsx",
    LabelledPair,
    "PAWS-X: adversarial paraphrase pairs in seven languages",
    origin="https://github.com/google-research-datasets/paws",
    licence="free use for any purpose (Google)",
    layout="LANG/dev_2k.tsv and LANG/test_2k.tsv",
    languages=LANGUAGES,
    hub_id=HUB_ID,
)
def read_pawsx(
    lang: str,
    split: Literal["dev", "test"],
    *,
    folder: Path | None = None,
    offline: bool = False,
) -> list[LabelledPair]:
    """Read a language and a split from ``folder``, or the hub, without placeholders."""
    if folder is None:
        pattern = f"{lang}/{HUB_SPLITS[split]}-*.parquet"
        rows = hub_records(HUB_ID, pattern, offline=offline)
    else:
        rows = _released(folder / lang / FILES[split])
    pairs = [
        LabelledPair(
            str(record["id"]),
            Text(text(record, "sentence1", path, row), lang),
            Text(text(record, "sentence2", path, row), lang),
            label(record["label"], path, row),
        )
        for path, row, record in rows
        if PLACEHOLDER not in (str(record["sentence1"]).strip(), str(record["sentence2"]).strip())
    ]
    check_labels(f"PAWS-X {lang} {split}", pairs, PAPER.get((lang, split)))
    return pairs


def across(first: Sequence[LabelledPair], second: Sequence[LabelledPair]) -> list[LabelledPair]:
    """Make cross-lingual pairs from the pairs of two languages (NMTScore paper, section 4.6).

    Pairs with the same id and label are joined: for all ids the first sentence of one language with
    the second of the other, followed by all pairs in the reverse direction.

    >>> de = [LabelledPair("7", Text("Hund"), Text("Köter"), True)]
    >>> en = [LabelledPair("7", Text("dog"), Text("hound"), True)]
    >>> [(pair.a.text, pair.b.text) for pair in across(de, en)]
    [('Hund', 'hound'), ('Köter', 'dog')]
    """
    others = {pair.id: pair for pair in second}
    joined = [
        (pair, others[pair.id])
        for pair in first
        if pair.id in others and others[pair.id].label == pair.label
    ]
    forward = [LabelledPair(one.id, one.a, two.b, one.label) for one, two in joined]
    backward = [LabelledPair(one.id, one.b, two.a, one.label) for one, two in joined]
    return forward + backward


def _released(path: Path) -> Iterator[FileRecord]:
    """Read a file of the release: tab-separated; fields with a quote are quoted as in CSV."""
    check_file(path)
    lines = csv.reader((line + "\n" for line in read_lines(path)), delimiter="\t")
    header = next(lines, [])
    for row, fields in enumerate(lines, start=1):
        yield (
            path,
            row,
            dict(zip(header, check_fields(fields, len(header), path, row), strict=True)),
        )
