"""Flags: defects of a pair that can be seen without a model.

Each flag is the name of a defect; where it has a place in a text, there is a span as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher

from tertium.data.identify import is_other_language
from tertium.explanation.spans import A, B, Span
from tertium.explanation.words import Word, split_words
from tertium.text import Text

COPY, LANGUAGE, TRUNCATED, REPETITION = "copy", "language", "truncated", "repetition"
NUMBER, NAME = "number", "name"
EMPTY = "empty"
COPIED = 0.8
"""The share of words in common from which a text in another language is a copy."""
MIN_COPIED_WORDS = 3
SHORT = 0.6
"""A hypothesis without final punctuation is truncated if it is shorter than this share of the
other text, in words (characters in scripts without spaces)."""
REPEATS = 3
MAX_PERIOD = 8
"""Repetitions of up to this many words are found."""
SPELT_OUT = 20
"""Numbers below this are often spelt out: one is missing only if the other side has a number that
does not match either."""
NUMBERS = re.compile(r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d+(?:[.,:/'’]\d+)*")
NOUNS_CAPITALIZED = frozenset({"de", "lb"})
MIN_NAME_LETTERS = 3
SIMILAR_NAMES = 0.6
NOT_NAMES = frozenset(
    [
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
        *("october", "november", "december", "christmas", "easter", "internet"),
        *("english", "german", "french", "spanish", "italian", "dutch", "portuguese", "russian"),
        *("chinese", "japanese", "czech", "hungarian", "polish", "swedish", "turkish", "greek"),
        *("american", "british", "european", "jewish"),
    ]
)
"""English words with a capital letter that other languages translate, and often write small."""


def flag(a: Text, b: Text) -> tuple[list[str], list[Span]]:
    """Flag a pair; ``a`` is the hypothesis, ``b`` the reference or the source.

    >>> names, spans = flag(Text("Er kam 1998.", "de"), Text("He came in 1989.", "en"))
    >>> names, [(span.side, span.text) for span in spans]
    (['number'], [('a', '1998'), ('b', '1989')])
    """
    names: list[str] = []
    if bool(a.text.strip()) != bool(b.text.strip()):
        return [EMPTY], []
    if is_copy(a, b):
        return [COPY], []
    if a.lang is not None and is_other_language(a.text, a.lang):
        names.append(LANGUAGE)
    if is_truncated(a.text, b.text):
        names.append(TRUNCATED)
    spans = [*repetitions(a.text, b.text), *missing_numbers(a.text, b.text), *missing_names(a, b)]
    names += sorted({span.kind for span in spans})
    return names, spans


def is_copy(a: Text, b: Text) -> bool:
    """Whether most words of ``a`` are those of ``b``, in another language.

    >>> is_copy(Text("I see the big dog", "de"), Text("I see the big dog.", "en"))
    True
    """
    if a.lang is None or b.lang is None or a.lang == b.lang:
        return False
    first, second = (
        [word.text.casefold() for word in split_words(text.text) if word.text.isalpha()]
        for text in (a, b)
    )
    if min(len(first), len(second)) < MIN_COPIED_WORDS:
        return False
    return SequenceMatcher(None, first, second, autojunk=False).ratio() >= COPIED


def is_truncated(a: str, b: str) -> bool:
    """Whether ``a`` is much shorter than ``b`` and has no final punctuation, which ``b`` has.

    >>> is_truncated("Ich habe das", "I have read the book that you gave me.")
    True
    """
    first, second = split_words(a), split_words(b)
    if not first or not second or first[-1].is_punctuation or not second[-1].is_punctuation:
        return False
    counts = [sum(not word.is_punctuation for word in words) for words in (first, second)]
    return counts[0] < SHORT * counts[1]


def repetitions(a: str, b: str) -> list[Span]:
    """Find words that ``a`` repeats in sequence, more often than ``b`` does.

    >>> [span.text for span in repetitions("the the the the dog", "der Hund")]
    ['the the the']
    """
    found = _repeated(split_words(a))
    if found is None:
        return []
    usual = _repeated(split_words(b))
    times, second, last = found
    if usual is not None and usual[0] >= times:
        return []
    evidence = f"{times} times in sequence"
    span = Span.of(
        a,
        second.start,
        last.end,
        side=A,
        kind=REPETITION,
        score=float(times),
        severity="major",
        evidence=evidence,
    )
    return [span]


def _repeated(words: list[Word]) -> tuple[int, Word, Word] | None:
    """The longest repetition: how many times, the first repeated word, and the last."""
    keys = [word.text.casefold() for word in words]
    best: tuple[int, int, int] | None = None
    for period in range(1, min(MAX_PERIOD, len(words) // REPEATS) + 1):
        run = 0
        for index in range(period, len(words)):
            run = run + 1 if keys[index] == keys[index - period] else 0
            times = run // period + 1
            start = index - run + 1
            has_word = any(not word.is_punctuation for word in words[start : index + 1])
            longest = 0 if best is None else best[2] - best[1] + 1
            if times >= REPEATS and has_word and run > longest:
                best = (times, start, index)
    return None if best is None else (best[0], words[best[1]], words[best[2]])


def missing_numbers(a: str, b: str) -> list[Span]:
    """Find numbers of one side that the other does not have; separators do not matter.

    >>> missing_numbers("1.000 Euro, 3,5 km, zwei", "1,000 euros, 3.5 km, 2")
    []
    """
    sides = {A: list(_numbers(a)), B: list(_numbers(b))}
    counts = {side: Counter(value for _, _, value in found) for side, found in sides.items()}
    lacking = {A: counts[A] - counts[B], B: counts[B] - counts[A]}
    spans = []
    for side, other, text in ((A, B, a), (B, A, b)):
        for start, end, value in sides[side]:
            if not lacking[side][value]:
                continue
            if len(value) < 3 and int(value) < SPELT_OUT and not lacking[other]:
                continue
            evidence = "the other text does not have this number"
            spans.append(
                Span.of(
                    text,
                    start,
                    end,
                    side=side,
                    kind=NUMBER,
                    score=1.0,
                    severity="major",
                    evidence=evidence,
                )
            )
    return spans


def _numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """The numbers of a text, with their digits alone, in Arabic numerals."""
    for match in NUMBERS.finditer(text):
        digits = "".join(str(unicodedata.digit(char)) for char in match[0] if char.isdigit())
        yield match.start(), match.end(), digits


def missing_names(a: Text, b: Text) -> list[Span]:
    """Find names of one side that no word of the other resembles; both in an alphabet with case.

    Names are words with a capital letter inside a sentence, except in languages that capitalize
    all nouns. Nothing is reported if the other side has a name that nothing resembles either: it
    may be the translation.

    >>> pair = Text("Tom sah John Miller.", "de"), Text("Tom saw John Smith.", "en")
    >>> [span.text for span in missing_names(*pair)]
    ['Smith']
    """
    spans = []
    for side, text, other in ((A, a, b), (B, b, a)):
        own, others = (
            [word.text.casefold() for word in split_words(each.text)] for each in (text, other)
        )
        if text.lang in NOUNS_CAPITALIZED or not _same_script(text.text, other.text):
            continue
        if other.lang not in NOUNS_CAPITALIZED and any(
            not any(_resemble(word.text.casefold(), each) for each in own)
            for word in _names(other.text)
        ):
            continue  # it may be the translation of the name
        for word in _names(text.text):
            name = word.text.casefold()
            if not any(_resemble(name, each) for each in others):
                evidence = "no word of the other text resembles this name"
                spans.append(
                    Span.of(
                        text.text,
                        word.start,
                        word.end,
                        side=side,
                        kind=NAME,
                        score=1.0,
                        evidence=evidence,
                    )
                )
    return spans


def _names(text: str) -> Iterator[Word]:
    """Capitalized words after a word in lower case, and those that follow them."""
    inside = False
    for word in split_words(text):
        if word.is_punctuation:
            inside = False
        elif word.text[0].isupper() and word.text[:MIN_NAME_LETTERS].isalpha():
            stem = word.text.casefold().removesuffix("'s").removesuffix("’s")
            if inside and len(stem) >= MIN_NAME_LETTERS and stem not in NOT_NAMES:
                yield word
        else:
            inside = word.text[0].islower() or inside


def _same_script(a: str, b: str) -> bool:
    """Whether the letters of both texts are of the same script, by their Unicode names."""
    scripts = [
        Counter(unicodedata.name(char, "?").split()[0] for char in text if char.isalpha())
        for text in (a, b)
    ]
    first, second = (counts.most_common(1) for counts in scripts)
    return bool(first and second) and first[0][0] == second[0][0]


def _resemble(name: str, word: str) -> bool:
    if name[:3] == word[:3]:
        return True
    return SequenceMatcher(None, name, word, autojunk=False).ratio() >= SIMILAR_NAMES
