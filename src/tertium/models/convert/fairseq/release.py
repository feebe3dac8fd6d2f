"""The original release of Prism (``m39v1``): files of fairseq, converted without fairseq.

The release is a folder with ``checkpoint.pt``, ``spm.model``, ``dict.src.txt`` and
``dict.tgt.txt``. Its dictionary has a tag for each language (``<en>``), which comes first in the
target and is not in the source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tertium.errors import ModelError
from tertium.models.convert.fairseq.checkpoint import (
    SPECIAL,
    Checkpoint,
    read_checkpoint,
    read_dictionary,
)
from tertium.models.convert.fairseq.network import max_length, transformer
from tertium.models.convert.families import Family, with_aliases
from tertium.models.tokenizer import open_sentencepiece

DIALECT = "prism"
CHECKPOINT, TOKENIZER = "checkpoint.pt", "spm.model"
SOURCE_DICTIONARY, TARGET_DICTIONARY = "dict.src.txt", "dict.tgt.txt"
FILES = (CHECKPOINT, TOKENIZER, SOURCE_DICTIONARY, TARGET_DICTIONARY)
TAG = re.compile(r"<([a-z]{2,3})>")
M39V1 = (
    "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "eo", "es", "et", "fi", "fr", "he", "hr",
    "hu", "id", "it", "ja", "kk", "lt", "lv", "mk", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl",
    "sq", "sr", "sv", "tr", "uk", "vi", "zh",
)  # fmt: skip
"""The languages of the release."""


@dataclass(frozen=True)
class Release:
    """The contents of a release: checkpoint and dictionaries."""

    family: Family
    source_tokens: list[str]
    checkpoint: Checkpoint

    def write(self, out: Path) -> None:
        """Write CTranslate2's files."""
        spec = transformer(self.checkpoint, self.source_tokens, self.family.tokens)
        try:
            spec.validate()
        except ValueError as error:
            raise ModelError(f"the parts of the checkpoint do not match: {error}") from None
        spec.optimize()
        out.mkdir()
        spec.save(str(out))


def is_release(folder: Path) -> bool:
    """Whether a folder has the files of a fairseq release."""
    return all((folder / name).is_file() for name in (CHECKPOINT, SOURCE_DICTIONARY))


def read_release(folder: Path, *, dialect: str | None = None) -> Release:
    """Read a release; the checkpoint is read safely, and comes last because it is large."""
    for name in FILES:
        if not (folder / name).is_file():
            raise ModelError(f"{folder} has no {name}; a release has {', '.join(FILES)}")
    if dialect not in (None, DIALECT):
        raise ModelError(f"{folder} has the dialect {DIALECT}, not {dialect}")
    source = read_dictionary(folder / SOURCE_DICTIONARY)
    target = read_dictionary(folder / TARGET_DICTIONARY)
    tags = language_tags(target)
    if not tags:
        raise ModelError(
            f"{folder / TARGET_DICTIONARY} has no language tags like <en>: "
            "it is not a multilingual model like Prism"
        )
    open_sentencepiece(folder / TOKENIZER)
    checkpoint = read_checkpoint(folder / CHECKPOINT)
    family = Family(
        dialect=DIALECT,
        tokens=target,
        languages=with_aliases(tags, tags),
        max_length=max_length(checkpoint.options),
        source_tokenizer=TOKENIZER,
        target_tokenizer=TOKENIZER,
    )
    return Release(family, source, checkpoint)


def language_tags(tokens: Sequence[str]) -> dict[str, str]:
    """Find the language tags in a dictionary.

    If it has all tags of the release, it has no others: anything else that looks like a tag is
    text, such as markup.

    >>> language_tags(["<pad>", "<unk>", "▁a", "<en>", "<de>"])
    {'en': '<en>', 'de': '<de>'}
    """
    matches = (TAG.fullmatch(token) for token in tokens if token not in SPECIAL)
    tags = {match[1]: match[0] for match in matches if match}
    return {lang: tags[lang] for lang in M39V1} if tags.keys() >= set(M39V1) else tags
