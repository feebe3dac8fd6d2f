"""Sentences that have nothing to do with a text: what is probable given them, is probable anyway.

They are the same in every run, so that a result depends on nothing but its pair. One is short and
one is long, because a long target is improbable given a short source.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tertium.data.codes import primary
from tertium.data.records import open_table
from tertium.errors import LanguageError
from tertium.models.base import TranslationModel
from tertium.text import Text

FALLBACK = "en"
SENTENCES = Path(__file__).with_name("unrelated.tsv")


@cache
def sentences() -> dict[str, list[str]]:
    """The sentences of each language."""
    return {
        str(record["lang"]): [str(record["short"]), str(record["long"])]
        for record in open_table(SENTENCES)
    }


def unrelated_sources(model: TranslationModel, target: Text, source: Text) -> Sequence[Text]:
    """Sentences in the language of the source, or in English, that are not the source itself.

    >>> import tertium
    >>> pair = Text("Ich sehe.", "de"), Text("I see.", "en")
    >>> [text.text for text in unrelated_sources(tertium.load_model(cache=False), *pair)][0]
    'The gardener is mending the old fence.'
    """
    for lang, code in ((source.lang, primary(source.lang or "")), (FALLBACK, FALLBACK)):
        if code in sentences() and model.translates(lang, target.lang):
            return [Text(text, lang) for text in sentences()[code] if text != source.text.strip()]
    raise LanguageError(
        f"there are no unrelated sentences in {source.lang!r} ({', '.join(sentences())}), and "
        f"{model.name} does not translate from English to {target.lang!r}"
    )
