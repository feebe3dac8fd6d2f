"""MRPC: English news sentences (Dolan and Brockett, 2005), with or without ETPC.

Three layouts are supported: Microsoft's (``msr_paraphrase_train.txt``, ``msr_paraphrase_test.txt``;
the development pairs are those that GLUE lists in ``dev_ids.tsv``), GLUE's (``dev.tsv``,
``test.tsv``) and a plain one (``train.tsv``, ``test.tsv`` with a column ``glue_split``); or GLUE on
the hub. If the folder also contains ETPC's ``text_pairs.xml``, a second annotation of MRPC
(Kovatchev et al., 2018), pairs with different labels are left out as in the NMTScore paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

from tertium.data.datasets.base import LabelledPair, check_labels, dataset
from tertium.data.datasets.plain import read_pairs
from tertium.data.datasets.reading import DOWNLOAD_AGAIN, check_fields, hub_records, label
from tertium.data.lines import check_file, read_lines
from tertium.data.records import open_table
from tertium.errors import InputError
from tertium.text import Text

HUB_ID = "nyu-mll/glue"
ETPC = "text_pairs.xml"
LANG = "en"
PAPER = {"dev": (239, 128), "test": (1002, 566)}
"""Positive and negative pairs in table A3 of the NMTScore paper, without those disputed by ETPC."""
BAD_CHARACTER, APOSTROPHE = "\x12", "'"
"""A character that the published file of ETPC has in some places, and what it means."""


@dataset(
    "mrpc",
    LabelledPair,
    "Microsoft Research Paraphrase Corpus: English news sentences",
    origin="https://www.microsoft.com/en-us/download/details.aspx?id=52398",
    licence="Microsoft Research Shared Source (non-commercial)",
    layout="msr_paraphrase_test.txt and dev_ids.tsv, or GLUE's dev.tsv and test.tsv",
    languages=[LANG],
    hub_id=HUB_ID,
)
def read_mrpc(
    split: Literal["dev", "test"], *, folder: Path | None = None, offline: bool = False
) -> list[LabelledPair]:
    """Read a split from ``folder``, or from the hub (where the text is tokenized)."""
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
            f"{listed} is missing: Microsoft's release has no development split; GLUE lists its "
            "pairs in mrpc_dev_ids.tsv: save that file under this name"
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
        quality, id_a, id_b, a, b = map(str.strip, check_fields(fields, 5, path, row))
        yield LabelledPair(
            f"{id_a}-{id_b}", Text(a, LANG), Text(b, LANG), label(quality, path, row)
        )


def _plain(folder: Path, split: str) -> list[LabelledPair]:
    path = folder / ("train.tsv" if split == "dev" else "test.tsv")
    splits = [record.get("glue_split", split) for record in open_table(path)]
    pairs = read_pairs(path, lang=LANG)
    return [pair for pair, its_split in zip(pairs, splits, strict=True) if its_split == split]


@dataclass(frozen=True)
class EtpcAnnotation:
    """The pairs on which ETPC and MRPC disagree, and the untokenized texts of all pairs."""

    disputed: frozenset[tuple[str, str]]
    raw: dict[tuple[str, str], tuple[str, str]]


def read_etpc(path: Path) -> EtpcAnnotation:
    """Read ETPC; pairs are identified by their texts without white space."""
    check_file(path)
    content = path.read_text("utf-8").replace(BAD_CHARACTER, APOSTROPHE)
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise InputError(f"{path} is not XML: {error}; {DOWNLOAD_AGAIN}") from None
    disputed, raw = set(), {}
    for row, pair in enumerate(root.iter("text_pair"), start=1):
        field = {child.tag: (child.text or "").strip() for child in pair}
        try:
            texts = (field["sent1_raw"], field["sent2_raw"])
            tokens = (field["sent1_tokenized"], field["sent2_tokenized"])
            same = field["mrpc_label"] == field["etpc_label"]
        except KeyError as error:
            raise InputError(f"{path}, pair {row}: no {error}; {DOWNLOAD_AGAIN}") from None
        for key in (pair_key(*texts), pair_key(*tokens)):
            raw[key] = texts
            if not same:
                disputed.add(key)
    return EtpcAnnotation(frozenset(disputed), raw)


def pair_key(a: str, b: str) -> tuple[str, str]:
    """A key of a pair that does not depend on tokenization and quotation marks.

    >>> pair_key("It does n't .", "``No''") == pair_key("It doesn't.", '"No"')
    True
    """

    def bare(text: str) -> str:
        return "".join(text.replace("``", '"').replace("''", '"').split())

    return bare(a), bare(b)
