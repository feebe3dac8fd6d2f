"""ETPC: a second annotation of MRPC (Kovatchev et al., 2018), ``text_pairs.xml``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tertium.data.lines import check_file
from tertium.errors import InputError

BAD_CHARACTER, APOSTROPHE = "\x12", "'"
"""What the published file has in some places, and what it means."""


@dataclass(frozen=True)
class Reannotation:
    """The pairs on which ETPC and MRPC disagree, and the untokenized texts of all pairs."""

    disputed: frozenset[tuple[str, str]]
    raw: dict[tuple[str, str], tuple[str, str]]


def read_etpc(path: Path) -> Reannotation:
    """Read the file; pairs are known by their texts, white space aside."""
    check_file(path)
    content = path.read_text("utf-8").replace(BAD_CHARACTER, APOSTROPHE)
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise InputError(f"{path} is no XML: {error}; fetch it anew") from None
    disputed, raw = set(), {}
    for row, pair in enumerate(root.iter("text_pair"), start=1):
        field = {child.tag: (child.text or "").strip() for child in pair}
        try:
            texts = (field["sent1_raw"], field["sent2_raw"])
            tokens = (field["sent1_tokenized"], field["sent2_tokenized"])
            same = field["mrpc_label"] == field["etpc_label"]
        except KeyError as error:
            raise InputError(f"{path}, pair {row}: it has no {error}; fetch it anew") from None
        for key in (pair_key(*texts), pair_key(*tokens)):
            raw[key] = texts
            if not same:
                disputed.add(key)
    return Reannotation(frozenset(disputed), raw)


def pair_key(a: str, b: str) -> tuple[str, str]:
    """What a pair is known by, however it was tokenized or quoted.

    >>> pair_key("It does n't .", "``No''") == pair_key("It doesn't.", '"No"')
    True
    """

    def bare(text: str) -> str:
        return "".join(text.replace("``", '"').replace("''", '"').split())

    return bare(a), bare(b)
