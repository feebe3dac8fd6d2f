"""Parts of a translation that were left in the language of the source.

Words count if they stand in the source in the same sequence, and are foreign if they are words of
its language and not of the translation's own. Names, numbers, links, code and placeholders are not
words, and what is in quotation marks may be a title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tertium.data.identify import same_language
from tertium.explanation.lexicon import language, words_of
from tertium.explanation.names import NOUNS_CAPITALIZED
from tertium.explanation.numbers import PROTECTED
from tertium.explanation.placeholders import find_placeholders
from tertium.explanation.spans import A, Span
from tertium.text import Text

UNTRANSLATED = "untranslated"
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
CODE = re.compile(
    r"(?::[\w:+.-]+:)?`+[^`]*`+_*|\b\w*[^\W_]_\w*|\b[\w.]+\([^()\s]*\)|\w\.\w+\("
    r"|\b\w+(?:[-/]\w+){2,}|\b\w+\(\w+ [^()]*(?=\()|(?<![\w-])--?[A-Za-z][\w-]*"
)
"""Code is kept as it is: between backticks, names with an underscore, calls, and options."""
LEAST_WORDS = 4
"""A stretch of this many words of the source is reported, if two of them are foreign."""
LEAST_FOREIGN = 3
"""This many foreign words are reported."""
QUOTES = '"„“”«»'
LONGEST_QUOTATION = 8
"""This many words between quotation marks may be left as they are."""


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    key: str
    is_small: bool


def _words(text: str) -> list[_Word]:
    taken = [match.span() for pattern in (PROTECTED, CODE) for match in pattern.finditer(text)]
    taken += [(each.start, each.end) for each in find_placeholders(text)]
    return [
        _Word(match.start(), match.end(), match[0].lower(), match[0].islower())
        for match in WORD.finditer(text)
        if not any(start < match.end() and match.start() < end for start, end in taken)
    ]


def untranslated_spans(a: Text, b: Text) -> list[Span]:
    """Find words of the other language in ``a``, most of them as they stand in ``b``.

    >>> pair = Text("Ich ging gestern to the old market.", "de"), Text(
    ...     "Yesterday I went to the old market.", "en")
    >>> [span.text for span in untranslated_spans(*pair)]
    ['to the old market']
    """
    langs = language(a.lang), language(b.lang)
    if not all(langs) or same_language(*langs):
        return []
    first, second = _words(a.text), _words(b.text)
    own, foreign = words_of(langs[0]), words_of(langs[1])
    spans = []
    for start, end in _shared_runs(first, second):
        shared = first[start:end]
        if not _is_foreign(shared, own, foreign):
            continue
        inside = [place for place, word in enumerate(shared) if word.key not in own]
        run = shared[inside[0] : inside[-1] + 1]
        if not _is_quotation(a.text, run, shared) and not _is_title(run, langs[1]):
            spans.append(_span(a.text, run))
    return spans


def _shared_runs(first: list[_Word], second: list[_Word]) -> Iterator[tuple[int, int]]:
    """Words of ``first`` that stand in ``second`` in the same sequence."""
    places: dict[tuple[str, str], list[int]] = {}
    for place in range(len(second) - 1):
        places.setdefault((second[place].key, second[place + 1].key), []).append(place)
    index = 0
    while index < len(first) - 1:
        starts = places.get((first[index].key, first[index + 1].key))
        if not starts:
            index += 1
            continue
        length = max(_run(first, second, index, start) for start in starts)
        yield index, index + length
        index += length


def _run(first: list[_Word], second: list[_Word], i: int, j: int) -> int:
    length = 0
    while (
        i + length < len(first)
        and j + length < len(second)
        and first[i + length].key == second[j + length].key
    ):
        length += 1
    return length


def _is_foreign(run: list[_Word], own: frozenset[str], foreign: frozenset[str]) -> bool:
    """Whether enough words are of the other language alone."""
    if not own or not foreign:
        return len(run) >= LEAST_WORDS and sum(word.is_small for word in run) >= LEAST_FOREIGN
    strange = [word for word in run if word.key in foreign and word.key not in own]
    small = sum(word.is_small for word in strange)
    if len(run) >= LEAST_WORDS:
        return len(strange) >= 2 and small >= 1
    return len(strange) >= LEAST_FOREIGN and small >= 2


def _is_quotation(text: str, run: list[_Word], shared: list[_Word]) -> bool:
    """Whether a part is between quotation marks, with nothing that the source does not have."""
    start = max(text.rfind(mark, 0, run[0].start) for mark in QUOTES) + 1
    ends = [place for mark in QUOTES if (place := text.find(mark, run[-1].end)) >= 0]
    if not start or not ends:
        return False
    quoted = list(WORD.finditer(text, start, min(ends)))
    return (
        len(quoted) <= LONGEST_QUOTATION
        and quoted[0].start() >= shared[0].start
        and quoted[-1].end() <= shared[-1].end
    )


def _is_title(run: list[_Word], source_lang: str) -> bool:
    """Whether all longer words have capital letters, in languages where nouns have none."""
    if source_lang in NOUNS_CAPITALIZED:
        return False
    long = [word.is_small for word in run if len(word.key) > 3]
    return bool(long) and not any(long)


def _span(text: str, run: list[_Word]) -> Span:
    return Span.of(
        text,
        run[0].start,
        run[-1].end,
        side=A,
        kind=UNTRANSLATED,
        score=float(len(run)),
        severity="major",
        evidence=f"{len(run)} words in sequence are those of the other text, not translated",
    )
