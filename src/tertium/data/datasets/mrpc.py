"""MRPC: English news sentences (Dolan and Brockett, 2005), with or without ETPC.

Three layouts are read: Microsoft's (``msr_paraphrase_train.txt``, ``msr_paraphrase_test.txt``; the
development pairs are those that GLUE lists in ``dev_ids.tsv``), GLUE's (``dev.tsv``, ``test.tsv``)
and a plain one (``train.tsv``, ``test.tsv`` with a column ``glue_split``); or GLUE on the hub. With
ETPC's ``text_pairs.xml`` beside them, disputed pairs are left out as in the NMTScore paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from tertium.data.datasets.base import LabelledPair, check_labels, fault
from tertium.data.datasets.etpc import pair_key, read_etpc
from tertium.data.datasets.hub import hub_records
from tertium.data.datasets.plain import read_pairs
from tertium.data.datasets.values import label
from tertium.data.lines import check_file, read_lines
from tertium.data.records import open_table
from tertium.errors import InputError
from tertium.text import Text

HUB_ID = "nyu-mll/glue"
ETPC = "text_pairs.xml"
LANG = "en"
PAPER = {"dev": (239, 128), "test": (1002, 566)}
"""Positive and negative pairs in table A3 of the NMTScore paper: without those disputed by ETPC."""


def read_mrpc(
    split: Literal["dev", "test"], *, folder: Path | None = None, offline: bool = False
) -> list[LabelledPair]:
    """Read a split from ``folder``, or from the hub (there with tokenized text)."""
    if folder is None:
        pairs = list(_hub(split, offline))
    elif (folder / "msr_paraphrase_test.txt").exists():
        pairs = list(_microsoft(folder, split))
    elif (folder / "dev.tsv").exists():
        pairs = list(_delimited(folder / f"{split}.tsv"))
    else:
        pairs = _plain(folder, split)
    if folder is not None and (folder / ETPC).exists():
        etpc = read_etpc(folder / ETPC)
        kept = []
        for pair in pairs:
            key = pair_key(pair.a.text, pair.b.text)
            if key not in etpc.disputed:
                a, b = etpc.raw.get(key, (pair.a.text, pair.b.text))
                kept.append(LabelledPair(pair.id, Text(a, LANG), Text(b, LANG), pair.label))
        pairs = kept
    check_labels(f"MRPC {split}", pairs, PAPER[split])
    return pairs


def _hub(split: str, offline: bool) -> Iterator[LabelledPair]:
    name = {"dev": "validation"}.get(split, split)
    for path, row, record in hub_records(HUB_ID, f"mrpc/{name}-*.parquet", offline=offline):
        yield LabelledPair(
            str(record["idx"]),
            Text(record["sentence1"].strip(), LANG),
            Text(record["sentence2"].strip(), LANG),
            label(record["label"], path, row),
        )


def _microsoft(folder: Path, split: str) -> Iterator[LabelledPair]:
    if split == "test":
        yield from _delimited(folder / "msr_paraphrase_test.txt")
        return
    listed = folder / "dev_ids.tsv"
    if not listed.exists():
        raise InputError(
            f"{listed} is missing: Microsoft's release has no development pairs; GLUE lists them "
            "in mrpc_dev_ids.tsv, which is to be put there"
        )
    wanted = {tuple(line.split("\t")) for line in read_lines(listed) if line.strip()}
    for pair in _delimited(folder / "msr_paraphrase_train.txt"):
        if tuple(pair.id.split("-")) in wanted:
            yield pair


def _delimited(path: Path) -> Iterator[LabelledPair]:
    """Read Microsoft's columns: Quality, #1 ID, #2 ID, #1 String, #2 String; no quoting."""
    check_file(path)
    for row, line in enumerate(read_lines(path)):
        fields = line.split("\t")
        if row == 0 or not line.strip():
            continue
        if len(fields) != 5:
            raise fault(path, row, f"{len(fields)} fields, not 5", "fetch the release anew")
        quality, id_a, id_b, a, b = (field.strip() for field in fields)
        yield LabelledPair(
            f"{id_a}-{id_b}", Text(a, LANG), Text(b, LANG), label(quality, path, row)
        )


def _plain(folder: Path, split: str) -> list[LabelledPair]:
    path = folder / ("train.tsv" if split == "dev" else "test.tsv")
    splits = [record.get("glue_split", split) for record in open_table(path)]
    pairs = read_pairs(path, lang=LANG)
    return [pair for pair, own in zip(pairs, splits, strict=True) if own == split]
