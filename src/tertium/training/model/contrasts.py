"""Wrong translations that look right: what a model must find less probable than the right one.

A model that has only seen right translations still gives a copied source, a sentence whose second
half is not translated, a wrong name, a lost negation or a lost phrase almost the probability of the
right text.
Training and evaluation make such texts from right pairs, with the same rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from tertium.data.negation import with_negation, without_negation
from tertium.data.opposites import BARE, cased, opposed
from tertium.training.model.bitext import Pair
from tertium.training.model.lexicon import Lexicon
from tertium.training.model.names import contrasting, find_slots

MIN_WORDS = 4
"""A text needs this many words for two to be exchanged, or for half of it to be left."""
MIN_LETTERS = 4
"""Words that are exchanged have this many letters: mostly, the others are function words."""
MAX_PHRASE = 4
"""A phrase that is left out or added has at most this many words."""


def wrong_target(
    pair: Pair,
    lexicon: Lexicon | None,
    generator: np.random.Generator,
    *,
    other: str | None = None,
) -> tuple[str, str] | None:
    """Return the kind of an error, and the second side of the pair with that error.

    The kinds that the pair allows are tried in random order; None if it allows none. A phrase is
    added from ``other``, another text in the language of the second side.
    """
    errors: list[Callable[[], tuple[str, str] | None]] = [
        lambda: _labeled("negation", without_negation(pair.b, pair.lang_b)),
        lambda: _labeled("negation", with_negation(pair.b, pair.lang_b)),
        lambda: _labeled("words", exchanged(pair.b, generator)),
        lambda: _labeled("opposite", with_opposite(pair.b, pair.lang_b, generator)),
        lambda: _labeled("omission", shortened(pair.b, generator)),
    ]
    if other is not None:
        errors.append(lambda: _labeled("addition", lengthened(pair.b, other, generator)))
    if lexicon is not None:
        errors.append(lambda: wrong_name(pair, lexicon, generator))
    if pair.lang_a != pair.lang_b:
        errors.append(lambda: ("copy", pair.a))
        errors.append(lambda: _labeled("half", half_translated(pair.a, pair.b)))
    for place in generator.permutation(len(errors)).tolist():
        result = errors[int(place)]()
        if result is not None and result[1] != pair.b:
            return result
    return None


def wrong_name(
    pair: Pair, lexicon: Lexicon, generator: np.random.Generator
) -> tuple[str, str] | None:
    """Exchange or replace a name or a number: ``names`` or ``numbers``, and the text."""
    result = contrasting(pair, find_slots(pair, lexicon), lexicon, generator)
    if result is None:
        return None
    kind, wrong = result
    return kind, wrong.b


def with_opposite(text: str, lang: str, generator: np.random.Generator) -> str | None:
    """Replace a word by its opposite; None if no word has one.

    >>> with_opposite("The shop opens at nine.", "en", np.random.default_rng(0))
    'The shop closes at nine.'
    """
    words: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for each in opposed(text, lang):
        words[each.start, each.end].append(each.opposite)
    if not words:
        return None
    places = list(words)
    start, end = places[int(generator.integers(len(places)))]
    others = words[start, end]
    return text[:start] + others[int(generator.integers(len(others)))] + text[end:]


def exchanged(text: str, generator: np.random.Generator) -> str | None:
    """Exchange two longer words of a text; None if it is short.

    >>> exchanged("dogs often bite postmen", np.random.default_rng(0))
    'dogs often postmen bite'
    """
    words = [word for word in BARE.finditer(text) if len(word.group()) >= MIN_LETTERS]
    if len(words) < 2 or len(text.split()) < MIN_WORDS:
        return None
    chosen = generator.choice(len(words), 2, replace=False).tolist()
    first, second = (words[place] for place in sorted(chosen))
    if first.group().lower() == second.group().lower():
        return None
    return (
        text[: first.start()]
        + cased(second.group(), first.group())
        + text[first.end() : second.start()]
        + cased(first.group(), second.group())
        + text[second.end() :]
    )


def shortened(text: str, generator: np.random.Generator) -> str | None:
    """Leave out a phrase; None if the text is short.

    >>> shortened("The shop in the old town is open today.", np.random.default_rng(0))
    'The shop in open today.'
    """
    words = text.split()
    phrase = _phrase(words, generator)
    if phrase is None:
        return None
    return " ".join([*words[: phrase.start], *words[phrase.stop :]])


def lengthened(text: str, other: str, generator: np.random.Generator) -> str | None:
    """Add a phrase of another text before one of the words; None if a text is short.

    >>> other = "We met her behind the station."
    >>> lengthened("The shop is open today.", other, np.random.default_rng(0))
    'The shop is her behind the open today.'
    """
    words, others = text.split(), other.split()[:-1]  # the last word has the full stop
    phrase = _phrase(others, generator)
    if phrase is None or len(words) < MIN_WORDS:
        return None
    place = int(generator.integers(1, len(words)))
    return " ".join([*words[:place], *others[phrase.start : phrase.stop], *words[place:]])


def _phrase(words: list[str], generator: np.random.Generator) -> range | None:
    """Choose some consecutive words, of which one is longer; None if there are too few words."""
    if len(words) <= MIN_WORDS:
        return None
    size = int(generator.integers(1, min(MAX_PHRASE, len(words) - 2) + 1))
    starts = [
        start
        for start in range(len(words) - size + 1)
        if any(
            len(found.group()) >= MIN_LETTERS
            for word in words[start : start + size]
            if (found := BARE.search(word))
        )
    ]
    if not starts:
        return None
    start = starts[int(generator.integers(len(starts)))]
    return range(start, start + size)


def half_translated(source: str, target: str) -> str | None:
    """Return the first half of the target and the second half of the source, in words.

    >>> half_translated("Der Laden ist heute offen.", "The shop is open today.")
    'The shop ist heute offen.'
    """
    first, second = target.split(), source.split()
    if min(len(first), len(second)) < MIN_WORDS:
        return None
    return " ".join([*first[: len(first) // 2], *second[len(second) // 2 :]])


def _labeled(kind: str, text: str | None) -> tuple[str, str] | None:
    return None if text is None else (kind, text)
