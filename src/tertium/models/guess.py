"""The language of texts that come without one: assumed where it is clear, an error where not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from tertium.data.identify import CONFIDENT, guess_among, identify, same_language
from tertium.data.pairs import DerivedSource
from tertium.errors import LanguageError
from tertium.models.languages import LanguageSet
from tertium.text import Row, Text

TEXTS_READ = 100
"""How many texts the language of all of them is identified from."""
ROLES = {"lang": "hypothesis", "reference_lang": "reference", "source_lang": "source"}
LANGUAGE_OF = {role: name for name, role in ROLES.items()} | {"second text": "reference_lang"}
"""The parameter that gives the language of a role."""


class LanguageGuess(NamedTuple):
    """A language, how probable it is, and whether the model has it."""

    lang: str
    probability: float
    supported: bool


def guess_language(text: str, languages: LanguageSet) -> LanguageGuess | None:
    """Identify the language of a text; None if nothing is known about it.

    A text that is too short to tell which of all languages it is in may still be identified among
    those of the model.
    """
    guess = identify(text)
    if guess is not None and guess.probability >= CONFIDENT:
        codes = sorted(lang for lang in languages.all if same_language(lang, guess.lang))
        lang = next((code for code in codes if code == languages.resolve(guess.lang)), None)
        lang = lang or (codes[0] if codes else None)
        return LanguageGuess(lang or guess.lang, guess.probability, lang is not None)
    among = guess_among(text, languages.all)
    return None if among is None else LanguageGuess(among.lang, among.probability, True)


def assume_language(texts: Iterable[str], languages: LanguageSet, role: str = "text") -> str:
    """The language of some texts together; an error with the guess in it if that is not clear.

    >>> from tertium import load_model
    >>> assume_language(["Where is the station?"], load_model("tertium-mini").languages)
    'en'
    """
    cure = f"use {{{LANGUAGE_OF.get(role, 'lang')}}}"
    guess = guess_language("\n".join(islice(texts, TEXTS_READ)), languages)
    if guess is None:
        raise LanguageError(
            f"the language of the {role} is needed and cannot be identified", cure=cure
        )
    if guess.probability < CONFIDENT:
        raise LanguageError(
            f"the language of the {role} is needed and not clear: perhaps {guess.lang!r} "
            f"(probability {guess.probability:.2f})",
            cure=cure,
        )
    return guess.lang


@dataclass(frozen=True)
class AssumedLanguages(DerivedSource):
    """Rows whose texts have a language that was identified where they have none of their own."""

    languages: Mapping[str, str]
    """By role: hypothesis, reference, source."""

    def count(self) -> int | None:
        return self.source.count()

    def __iter__(self) -> Iterator[Row]:
        return map(self._filled, self.source)

    def between(self, start: int, stop: int) -> Iterator[Row]:
        return map(self._filled, self.source.between(start, stop))

    def _filled(self, row: Row) -> Row:
        def filled(text: Text, role: str) -> Text:
            return Text(text.text, text.lang or self.languages.get(role))

        return replace(
            row,
            hypothesis=filled(row.hypothesis, "hypothesis"),
            references=tuple(filled(text, "reference") for text in row.references),
            source=None if row.source is None else filled(row.source, "source"),
        )


def assumed_languages(
    source: Iterable[Row], roles: Iterable[str], languages: LanguageSet
) -> dict[str, str]:
    """The languages of those roles in rows that have texts without one."""
    rows = list(islice(source, TEXTS_READ))
    found = {}
    for role in roles:
        texts = [text for row in rows for text in _texts(row, role)]
        missing = [text.text for text in texts if text.lang is None and text.text.strip()]
        if missing:
            found[role] = assume_language(missing, languages, role)
    return found


def _texts(row: Row, role: str) -> Sequence[Text]:
    if role == "hypothesis":
        return [row.hypothesis]
    if role == "reference":
        return row.references
    return [] if row.source is None else [row.source]
