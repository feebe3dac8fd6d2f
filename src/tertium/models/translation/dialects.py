"""Input formats of the model families: the positions of language tags and of the end of sentence.

The tags themselves (``__de__``, ``deu_Latn``, ``<2de>``) are listed in the model folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tertium.errors import ModelError

END = "</s>"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The input format of one model family.

    >>> DIALECTS["m2m100"].source(["▁Hallo"], source_tag="__de__", target_tag="__en__")
    ['__de__', '▁Hallo', '</s>']
    >>> DIALECTS["small100"].source(["▁Hallo"], source_tag="__de__", target_tag="__en__")
    ['__en__', '▁Hallo', '</s>']
    >>> DIALECTS["prism"].source(["▁Hallo"], source_tag="", target_tag="__en__")
    ['▁Hallo', '</s>']
    >>> DIALECTS["prism"].target_prefix("__en__")
    ['__en__']
    """

    name: str
    before_source: Literal["nothing", "source", "target"]
    """The language whose tag precedes the source."""
    before_target: bool
    """Whether the target begins with its language tag."""
    tag_is_text: bool = False
    """Whether the tag before the source is tokenized together with the text."""

    @property
    def needs_source_language(self) -> bool:
        return self.before_source == "source"

    def source_text(self, text: str, *, target_tag: str) -> str:
        """The text to be tokenized."""
        return f"{target_tag} {text}" if self.tag_is_text else text

    def source(self, tokens: Sequence[str], *, source_tag: str, target_tag: str) -> list[str]:
        """Add the special tokens that the encoder expects; an empty tag adds no token."""
        tag = {"nothing": "", "source": source_tag, "target": target_tag}[self.before_source]
        prefix = [tag] if tag and not self.tag_is_text else []
        return [*prefix, *tokens, END]

    def target_prefix(self, tag: str) -> list[str]:
        """The forced tokens before the first token of a target; they are not scored."""
        return [tag] if self.before_target and tag else []


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("prism", before_source="nothing", before_target=True),
        Dialect("m2m100", before_source="source", before_target=True),
        Dialect("nllb", before_source="source", before_target=True),
        Dialect("mbart50", before_source="source", before_target=True),
        Dialect("small100", before_source="target", before_target=False),
        Dialect("marian", before_source="target", before_target=False),
        Dialect("madlad", before_source="target", before_target=False, tag_is_text=True),
    )
}


def dialect(name: str) -> Dialect:
    """Look up a dialect by name."""
    try:
        return DIALECTS[name]
    except KeyError:
        raise ModelError(
            f"unsupported dialect {name!r}; this version of Tertium supports {', '.join(DIALECTS)}"
        ) from None
