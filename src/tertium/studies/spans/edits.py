"""Known edits: pairs of a bitext that are changed in one place, so that the difference is known.

All edits but ``deleted`` change the hypothesis, and the changed characters are the gold span. For
``deleted``, the hypothesis is a machine translation of the source without a phrase, and the phrase
in the source is the gold span (as in Vamvas and Sennrich, 2022). Controls have no difference:
``complete`` pairs as they are, ``translated`` sources (the control of ``deleted``), and
``reordered`` hypotheses, with the words around a conjunction exchanged.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tertium.explanation.changes import changes
from tertium.explanation.coverage import CoverageSettings, Phrase, phrases
from tertium.explanation.names import NOUNS_CAPITALIZED
from tertium.explanation.spans import A, B
from tertium.explanation.words import Word, split_words
from tertium.models.base import Progress, TranslationModel
from tertium.studies.spans.injections import INJECTED, Names
from tertium.text import Text

Pair = tuple[Text, Text]
CONTROLS: tuple[str, ...] = ("complete", "translated", "reordered")
EDITS: tuple[str, ...] = (
    *("deleted", "inserted", "replaced", "number", "name", "negation", "exchanged"),
    *("decimal", "sign", "unit", "opposite", "half"),
)
PHRASE = CoverageSettings(min_words=3, max_words=5)
"""Phrases of three to five words are deleted, inserted and replaced."""
CONJUNCTIONS = {"en": "and", "de": "und", "fr": "et", "es": "y", "it": "e", "nl": "en", "pt": "e"}


@dataclass(frozen=True)
class Edited:
    """A pair with a known edit; a control has no gold span."""

    kind: str
    a: Text
    b: Text
    side: str = A
    start: int = 0
    end: int = 0
    domain: str = ""
    """Where the pair is from, if that is known."""

    @property
    def pair(self) -> Pair:
        return self.a, self.b


def edited_pairs(
    pairs: Sequence[Pair],
    kinds: Sequence[str] = (*CONTROLS, *EDITS),
    *,
    model: TranslationModel | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    domains: Sequence[str] = (),
) -> list[Edited]:
    """Edit every pair (hypothesis, source) once in every way that its texts allow.

    ``domains`` says where each pair is from.
    """
    made: list[Edited] = []
    domain_of = dict(zip((b for _, b in pairs), domains, strict=False))
    for number, (a, b) in enumerate(pairs):
        draw = random.Random(f"{seed}/{number}")
        other = pairs[draw.randrange(len(pairs))][0].text
        for kind in kinds:
            if kind == "complete":
                made.append(Edited(kind, a, b))
            elif kind in _EDITS or kind in INJECTED:
                found = (
                    _EDITS[kind](a, other, draw)
                    if kind in _EDITS
                    else _injected(kind, (a, b), draw)
                )
                if found is not None:
                    text, start, end = found
                    made.append(Edited(kind, Text(text, a.lang), b, A, start, end))
    if "deleted" in kinds and model is not None:
        made += _deleted(pairs, model, "translated" in kinds, seed, progress)
    return [replace(each, domain=domain_of.get(each.b, "")) for each in made]


def _deleted(
    pairs: Sequence[Pair],
    model: TranslationModel,
    with_control: bool,
    seed: int,
    progress: Progress | None,
) -> list[Edited]:
    """Translate sources without one of their phrases and, as the control, with it."""
    chosen: list[tuple[Pair, Phrase]] = []
    for number, (a, b) in enumerate(pairs):
        draw = random.Random(f"{seed}/{number}/deleted")
        tried = list(phrases(b.text, PHRASE))
        if tried:
            chosen.append(((a, b), draw.choice(tried)))
    sources = [phrase.partial for _, phrase in chosen]
    if with_control:
        sources += [b.text for (_, b), _ in chosen]
    repeats = len(sources) // max(len(chosen), 1)
    translations = model.translate(
        sources,
        target_lang=[a.lang for (a, _), _ in chosen] * repeats,
        source_lang=[b.lang for (_, b), _ in chosen] * repeats,
        progress=progress,
    )
    edited = [
        Edited("deleted", Text(translation.text, a.lang), b, B, phrase.start, phrase.end)
        for ((a, b), phrase), translation in zip(chosen, translations, strict=False)
    ]
    controls = [
        Edited("translated", Text(translation.text, a.lang), b)
        for ((a, b), _), translation in zip(chosen, translations[len(chosen) :], strict=False)
    ]
    return edited + controls


Changed = tuple[str, int, int] | None
"""The new text and the offsets of what is new in it; None if the text does not allow the edit."""


def _injected(kind: str, pair: Pair, draw: random.Random) -> Changed:
    """An error of :mod:`tertium.studies.spans.injections` by which something is new."""
    text = INJECTED[kind](pair, Names(), draw)
    new = [] if text is None else changes(pair[0].text, text)
    if text is None or not new or new[0].b_start == new[-1].b_end:
        return None
    return text, new[0].b_start, new[-1].b_end


def _inserted(a: Text, other: str, draw: random.Random) -> Changed:
    """Insert a phrase of another sentence between two words."""
    options = list(phrases(other, PHRASE))
    gaps = [word.start for word in split_words(a.text)[1:] if not word.is_punctuation]
    if not options or not gaps:
        return None
    phrase = draw.choice(options)
    new, place = other[phrase.start : phrase.end], draw.choice(gaps)
    return f"{a.text[:place]}{new} {a.text[place:]}", place, place + len(new)


def _replaced(a: Text, other: str, draw: random.Random) -> Changed:
    """Replace a phrase by a phrase of another sentence."""
    options, places = list(phrases(other, PHRASE)), list(phrases(a.text, PHRASE))
    if not options or not places:
        return None
    phrase, place = draw.choice(options), draw.choice(places)
    return _put(a.text, place.start, place.end, other[phrase.start : phrase.end])


def _number(a: Text, other: str, draw: random.Random) -> Changed:
    """Change the last digit of a number."""
    words = [word for word in split_words(a.text) if word.text[-1].isdecimal()]
    if not words:
        return None
    word = draw.choice(words)
    digit = draw.choice([digit for digit in "123456789" if digit != word.text[-1]])
    return _put(a.text, word.start, word.end, word.text[:-1] + digit)


def _name(a: Text, other: str, draw: random.Random) -> Changed:
    """Replace a name by one of another sentence."""
    if a.lang in NOUNS_CAPITALIZED:
        return None
    own, others = _capitalized(a.text), _capitalized(other)
    others = [word for word in others if word.text not in {each.text for each in own}]
    if not own or not others:
        return None
    word = draw.choice(own)
    return _put(a.text, word.start, word.end, draw.choice(others).text)


def _capitalized(text: str) -> list[Word]:
    return [word for word in split_words(text)[1:] if word.text.istitle() and len(word.text) > 2]


def _exchanged(a: Text, other: str, draw: random.Random) -> Changed:
    """Take the translation of another sentence."""
    return _put(a.text, 0, len(a.text), other)


def _reordered(a: Text, other: str, draw: random.Random) -> Changed:
    """Exchange the words around a conjunction: "bread and butter", "butter and bread"."""
    words = split_words(a.text)
    conjunction = CONJUNCTIONS.get(a.lang or "")
    for one, middle, two in zip(words, words[1:], words[2:], strict=False):
        around = (one, two)
        if middle.text == conjunction and not any(word.is_punctuation for word in around):
            between = a.text[one.end : two.start]
            swapped = f"{two.text}{between}{one.text}"
            return a.text[: one.start] + swapped + a.text[two.end :], 0, 0
    return None


def _put(text: str, start: int, end: int, new: str) -> Changed:
    if text[start:end] == new:
        return None
    return text[:start] + new + text[end:], start, start + len(new)


_EDITS: dict[str, Callable[[Text, str, random.Random], Changed]] = {
    "reordered": _reordered,
    "inserted": _inserted,
    "replaced": _replaced,
    "number": _number,
    "name": _name,
    "exchanged": _exchanged,
}
