"""By way of what cross and pivot compare two texts: their translations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tertium.text import Text

if TYPE_CHECKING:
    from tertium.measures.translation import Cross, Pivot


@dataclass(frozen=True)
class Intermediate:
    """Both texts in the language that a measure translates them into."""

    measure: Literal["cross", "pivot"]
    lang: str
    hypothesis: str
    reference: str


def intermediate_translations(a: Text, b: Text, measure: Cross | Pivot) -> Intermediate:
    """Translate both texts as the measure does.

    >>> import tertium
    >>> found = intermediate_translations(Text("Hallo!"), Text("Hola."), tertium.load("cross"))
    >>> found.measure, found.lang
    ('cross', 'en')
    """
    from tertium.measures.translation import Cross

    lang = measure.target_lang if isinstance(measure, Cross) else measure.pivot_lang
    hypothesis, reference = measure.model.translate(
        [a.text, b.text],
        target_lang=lang,
        source_lang=[a.lang, b.lang],
        beam_size=measure.beam_size,
    )
    name: Literal["cross", "pivot"] = "cross" if isinstance(measure, Cross) else "pivot"
    return Intermediate(name, lang, hypothesis.text, reference.text)
