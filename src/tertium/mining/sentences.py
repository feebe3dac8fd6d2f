"""Sentence splitting by ICU (extra: words), with abbreviations handled."""

from __future__ import annotations

import re

from tertium.registry import Extra, check_extras

ICU = Extra("words", ("icu4py",))
SUPPRESSIONS = "@ss=standard"
"""Do not split after the abbreviations that ICU knows in a language."""
TITLES = frozenset(
    "dr prof mr mrs ms mme mlle hr fr sr sra st nr no vol fig pp art abs bzw ca vgl cf vs".split()  # noqa: SIM905
)
"""Abbreviations that are followed by a name or a number, in the languages of the bundled model."""
ORDINALS = frozenset({"de", "da", "nb", "nn", "no", "fi", "et", "cs", "sk", "hu", "pl", "sl", "hr"})
"""Languages that write ordinal numbers with a full stop."""
LAST_WORD = re.compile(r"(\w+)\.\s*$")


def split_sentences(text: str, lang: str | None = None) -> list[str]:
    """Split a text into sentences, without the white space around them.

    ICU splits (rules of Unicode, and the abbreviations that it knows). The parts are joined again
    after a single letter (an initial, "z. B."), after a title such as "Dr.", and after a number in
    languages that write ordinals with a full stop.

    >>> split_sentences("Mr. Smith met Dr. J. Weber. They talked.", "en")
    ['Mr. Smith met Dr. J. Weber.', 'They talked.']
    """
    check_extras("splitting into sentences", [ICU], alternative="give one sentence per line")
    from icu4py.breakers import SentenceBreaker

    sentences: list[str] = []
    joined = ""
    for part in map(str, SentenceBreaker(text, (lang or "") + (SUPPRESSIONS if lang else ""))):
        joined += part
        if not _goes_on(part, lang):
            sentences.append(joined.strip())
            joined = ""
    return [sentence for sentence in [*sentences, joined.strip()] if sentence]


def _goes_on(part: str, lang: str | None) -> bool:
    """Whether the last word of a part is an abbreviation rather than the end of a sentence."""
    found = LAST_WORD.search(part)
    if found is None:
        return False
    word = found[1]
    if word.isdecimal():
        return lang in ORDINALS and len(word) <= 2
    return (len(word) == 1 and word.isalpha() and word != "I") or word.lower() in TITLES
