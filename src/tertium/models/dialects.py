"""How a model family spells languages and frames its input.

The families differ in three things only: how a language is written as a token, which language (if
any) is named before the source, and whether the target begins with its language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tertium.errors import ModelError

END = "</s>"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The spelling of one model family.

    >>> DIALECTS["m2m100"].source(["▁Hallo"], source_lang="de", target_lang="en")
    ['__de__', '▁Hallo', '</s>']
    >>> DIALECTS["prism"].source(["▁Hallo"], source_lang=None, target_lang="en")
    ['▁Hallo', '</s>']
    >>> DIALECTS["prism"].target_prefix("en")
    ['__en__']
    """

    name: str
    tag: str
    """A language as a token, with the code in the place of ``{}``."""
    source_tag: Literal["none", "source"]
    """Which language is named before the source."""
    target_tag: bool
    """Whether the target begins with its language."""

    @property
    def needs_source_language(self) -> bool:
        return self.source_tag == "source"

    def source(
        self, pieces: Sequence[str], *, source_lang: str | None, target_lang: str
    ) -> list[str]:
        """Frame a source as the encoder expects it."""
        prefix = [self.tag.format(source_lang)] if self.source_tag == "source" else []
        return [*prefix, *pieces, END]

    def target_prefix(self, lang: str) -> list[str]:
        """What is forced before the first piece of a target; it is never scored."""
        return [self.tag.format(lang)] if self.target_tag else []


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("prism", tag="__{}__", source_tag="none", target_tag=True),
        Dialect("m2m100", tag="__{}__", source_tag="source", target_tag=True),
    )
}


def dialect(name: str) -> Dialect:
    """Look up a dialect by name."""
    try:
        return DIALECTS[name]
    except KeyError:
        raise ModelError(
            f"unknown dialect {name!r}; this version of Tertium speaks {', '.join(DIALECTS)}"
        ) from None
