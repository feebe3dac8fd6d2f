"""Names, numbers and terms of a pair, replaced alike on both sides.

A model that has met few names cannot copy a name. So a share of the pairs gets other names and
numbers, drawn at random: the same on both sides, or in the spelling of each language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium.training.model.bitext import Pair, held_out
from tertium.training.model.lexicon import (
    COUNTRY,
    WORD,
    Lexicon,
    NumberFormat,
    find_terms,
    word_before,
)
from tertium.training.model.tokenizer import Tokenizer

NAME, NUMBER = "name", "number"
TRIES = 20
"""Draws for one name, until one fits both sides."""
FULL_NAMES = 0.45
"""How often a first name is replaced by a first name and a surname."""
YEARS = (1500, 2030)
DAYS = (2, 28)
SPACES = " \u00a0\u202f"
VOWELS = frozenset("aeiouyhàâäáéèêëíîïóôöúùûüœæ")
ELIDED = {"fr": frozenset(("de", "que", "lorsque", "puisque", "jusque", "le", "la"))}
"""Words that lose their vowel before another."""
GENITIVE = {"de": ("s", "’")}
"""The ending of a name's genitive, and the one of names that end in a sibilant."""
AFTER = re.compile(r" ([^\W\d_a-zà-ÿ]\w+)")
BEFORE = re.compile(r"\b([^\W\d_a-zà-ÿ]\w+) $")
SIBILANTS = ("s", "ß", "x", "z")

Key = tuple[str, str]
"""The kind of a mention, and what is mentioned: a name, a number, or the number of a term."""


class Mention(NamedTuple):
    """A place in a text."""

    start: int
    end: int
    group: str = ""
    """The group separator of a number."""
    ending: bool = False
    """Whether a name has the ending of the genitive."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Something that both sides mention, and where."""

    kind: str
    value: str
    a: tuple[Mention, ...]
    b: tuple[Mention, ...]


class NameReplacer:
    """Replaces names and numbers of tokenized pairs."""

    def __init__(self, lexicon: Lexicon, tokenizer: Tokenizer, *, max_tokens: int) -> None:
        self._lexicon = lexicon
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens

    def replace(
        self,
        source_lang: str,
        target_lang: str,
        pairs: Iterable[tuple[Sequence[int], Sequence[int]]],
        generator: np.random.Generator,
    ) -> dict[int, tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """Return the new tokens of source and target, by the place of the pair.

        Pairs that cannot be changed, or would be too long, are left out.
        """
        places, texts = [], []
        decode = self._tokenizer.decode
        for place, (source, target) in enumerate(pairs):
            pair = Pair(source_lang, target_lang, decode(source), decode(target))
            slots = find_slots(pair, self._lexicon)
            changed = replace_names(pair, slots, self._lexicon, generator)
            if changed is not None:
                places.append(place)
                texts += [changed.a, changed.b]
        tokens = [np.array(ids, np.int32) for ids in self._tokenizer.encode(texts)]
        return {
            place: (a, b)
            for place, a, b in zip(places, tokens[::2], tokens[1::2], strict=True)
            if max(len(a), len(b)) <= self._max_tokens
        }


def find_slots(pair: Pair, lexicon: Lexicon) -> list[Slot]:
    """Find what both sides mention and can be replaced, in the order of the first side."""
    left = mentions(pair.a, pair.lang_a, lexicon)
    right = mentions(pair.b, pair.lang_b, lexicon)
    return [
        Slot(*key, tuple(places), tuple(right[key])) for key, places in left.items() if key in right
    ]


def replace_names(
    pair: Pair, slots: Sequence[Slot], lexicon: Lexicon, generator: np.random.Generator
) -> Pair | None:
    """Return the pair with other names and numbers; None if nothing could be replaced.

    All new ones are different from each other and from the old ones. A sentence that would be
    held out is not made.
    """
    edits_a: dict[Mention, str] = {}
    edits_b: dict[Mention, str] = {}
    used = {pair.a[slot.a[0].start : slot.a[0].end] for slot in slots}
    for slot in slots:
        for _ in range(TRIES):
            new = _draw(slot, pair, slots, lexicon, generator)
            if new is not None and new[0] not in used and _fits(slot, pair, new, lexicon):
                used.add(new[0])
                edits_a |= {place: _spell(new[0], place, pair.lang_a, lexicon) for place in slot.a}
                edits_b |= {place: _spell(new[1], place, pair.lang_b, lexicon) for place in slot.b}
                break
    if not edits_a:
        return None
    a, b = edited(pair.a, edits_a), edited(pair.b, edits_b)
    return None if held_out(a) or held_out(b) else pair._replace(a=a, b=b)


def contrasting(
    pair: Pair, slots: Sequence[Slot], lexicon: Lexicon, generator: np.random.Generator
) -> tuple[str, Pair] | None:
    """Return ``names`` or ``numbers``, and the pair with a wrong second side.

    Two names, numbers or terms of one kind are exchanged there if it has them; otherwise one is
    replaced by another.
    """
    for place, slot in enumerate(slots):
        for other in slots[place + 1 :]:
            if other.kind == slot.kind:
                texts = [pair.b[mention.start : mention.end] for mention in (slot.b[0], other.b[0])]
                edits = {mention: texts[1] for mention in slot.b if not mention.ending}
                edits |= {mention: texts[0] for mention in other.b if not mention.ending}
                wrong = pair._replace(b=edited(pair.b, edits))
                if wrong != pair:
                    return _group(slot), wrong
    for slot in slots:
        changed = replace_names(pair, [slot], lexicon, generator)
        if changed is not None and changed.b != pair.b:
            return _group(slot), pair._replace(b=changed.b)
    return None


def mentions(text: str, lang: str, lexicon: Lexicon) -> dict[Key, list[Mention]]:
    """Find the names, terms and numbers of a text, in their order."""
    words = list(WORD.finditer(text))
    found: list[tuple[Key, Mention]] = []
    for _, kind, number, start, end in find_terms(text, lang, words, lexicon):
        found.append(((kind, str(number)), Mention(start, end)))
    taken = {place for _, mention in found for place in range(mention.start, mention.end)}
    ending = GENITIVE.get(lang, ("", ""))[0]
    for word in words:
        name = word.group()
        if word.start() in taken or not name[0].isupper():
            continue
        if name in lexicon.names:
            found.append(((NAME, name), Mention(*word.span())))
        elif ending and name.endswith(ending) and name[: -len(ending)] in lexicon.names:
            found.append(((NAME, name[: -len(ending)]), Mention(*word.span(), ending=True)))
    if lang in lexicon.formats:
        found += _numbers(text, lexicon.formats[lang])
    places: dict[Key, list[Mention]] = {}
    for key, mention in sorted(found, key=lambda entry: entry[1]):
        places.setdefault(key, []).append(mention)
    return places


def edited(text: str, edits: Mapping[Mention, str]) -> str:
    """Return a text with some places replaced.

    >>> edited("Tom is 7.", {Mention(0, 3): "Ada", Mention(7, 8): "31"})
    'Ada is 31.'
    """
    for place, new in sorted(edits.items(), reverse=True):
        text = text[: place.start] + new + text[place.end :]
    return text


def _numbers(text: str, style: NumberFormat) -> list[tuple[Key, Mention]]:
    """Find the numbers of a text, with their value in the notation of Python."""
    found = []
    for number in _number_pattern(style.group, style.decimal).finditer(text):
        whole, group, fraction = number.group("whole"), number.group("group"), number["fraction"]
        digits = re.sub(r"\D", "", whole)
        if len(digits) > 6 or (len(digits) > 1 and digits[0] == "0") or int(digits) < 2:
            continue  # millions and 1 need other words around them
        value = digits + (f".{fraction}" if fraction else "")
        found.append(((NUMBER, value), Mention(*number.span(), group=group or "")))
    return found


@lru_cache
def _number_pattern(group: str, decimal: str) -> re.Pattern[str]:
    groups = f"[{SPACES}]" if group.isspace() else re.escape(group)
    return re.compile(
        rf"(?<![\w.,:/+-])(?<!\d[{SPACES}])"
        rf"(?P<whole>\d{{1,3}}(?:(?P<group>{groups})\d{{3}})+|\d+)"
        rf"(?:{re.escape(decimal)}(?P<fraction>\d+))?"
        rf"(?!\w|[.,:/-]\d|[{SPACES}]\d)"
    )


def _draw(
    slot: Slot,
    pair: Pair,
    slots: Sequence[Slot],
    lexicon: Lexicon,
    generator: np.random.Generator,
) -> tuple[str, str] | None:
    """Draw something of the same kind: its spelling on either side."""
    if slot.kind == NUMBER:
        new = _draw_number(slot, slots, generator)
        return new, new
    if slot.kind == NAME:
        name = _draw_name(slot, pair, lexicon, generator)
        return name, name
    concepts = lexicon.terms[slot.kind]
    spellings = concepts[int(generator.integers(len(concepts)))]
    if pair.lang_a not in spellings or pair.lang_b not in spellings:
        return None
    return spellings[pair.lang_a], spellings[pair.lang_b]


def _draw_name(slot: Slot, pair: Pair, lexicon: Lexicon, generator: np.random.Generator) -> str:
    role = lexicon.names[slot.value]
    if role == "first":
        role = ("male", "female")[int(generator.integers(2))]
    name = _choice(lexicon.drawn[role], generator)
    full = generator.random() < FULL_NAMES
    if role in ("male", "female") and full and not _beside_name(slot, pair):
        name = f"{name} {_choice(lexicon.drawn['surname'], generator)}"
    return name


def _beside_name(slot: Slot, pair: Pair) -> bool:
    """Whether both sides have the same capitalised word before or after, as in Tom Jackson."""
    beside = [
        {
            word.group(1)
            for place in places
            for word in (AFTER.match(text, place.end), BEFORE.search(text, 0, place.start))
            if word is not None
        }
        for text, places in ((pair.a, slot.a), (pair.b, slot.b))
    ]
    return bool(beside[0] & beside[1])


def _draw_number(slot: Slot, slots: Sequence[Slot], generator: np.random.Generator) -> str:
    """Draw a number with as many digits; a year for a year, and a day beside a month."""
    whole, _, fraction = slot.value.partition(".")
    number = int(whole)
    grouped = any(mention.group for mention in (*slot.a, *slot.b))
    if not fraction and 1000 <= number <= 2100 and not grouped:
        return str(generator.integers(YEARS[0], YEARS[1] + 1))
    if not fraction and number <= 31 and _beside_month(slot, slots):
        return str(generator.integers(DAYS[0], DAYS[1] + 1))
    low = max(2, 10 ** (len(whole) - 1))
    new = str(generator.integers(low, 10 ** len(whole)))
    return (
        f"{new}.{''.join(map(str, generator.integers(0, 10, len(fraction))))}" if fraction else new
    )


def _beside_month(slot: Slot, slots: Sequence[Slot]) -> bool:
    """Whether a month is at most a short word away, as in 3 May, May 3 and 3 de mayo."""
    return any(
        -6 <= month.start - day.end <= 6 or -6 <= day.start - month.end <= 6
        for other in slots
        if other.kind == "month"
        for month in other.a
        for day in slot.a
    )


def _fits(slot: Slot, pair: Pair, new: tuple[str, str], lexicon: Lexicon) -> bool:
    """Whether the words around allow the new spelling on both sides."""
    sides = ((pair.lang_a, pair.a, slot.a, new[0]), (pair.lang_b, pair.b, slot.b, new[1]))
    for lang, text, places, spelling in sides:
        if slot.kind == NUMBER:
            if "." not in slot.value:
                plural = lexicon.formats[lang].plural
                if plural(int(spelling)) != plural(int(slot.value)):
                    return False
            continue
        if slot.kind == "city" and " " in spelling:  # some have an article
            return False
        vowel = spelling[0].lower() in VOWELS
        for place in places:
            before = word_before(text, place.start)
            if slot.kind == COUNTRY:
                if before not in lexicon.before.get(lang, {}).get(spelling, ()):
                    return False
            elif (before.endswith("'") and not vowel) or (before in ELIDED.get(lang, ()) and vowel):
                return False
    return True


def _spell(new: str, place: Mention, lang: str, lexicon: Lexicon) -> str:
    """Write a drawn name, term or number as the language does at this place."""
    if place.ending:
        ending, after_sibilant = GENITIVE[lang]
        return new + (after_sibilant if new.endswith(SIBILANTS) else ending)
    if not new[0].isdigit():
        return new
    whole, _, fraction = new.partition(".")
    if place.group:
        whole = f"{int(whole):,}".replace(",", place.group)
    return whole + (lexicon.formats[lang].decimal + fraction if fraction else "")


def _group(slot: Slot) -> str:
    return "numbers" if slot.kind == NUMBER else "names"


def _choice(names: Sequence[str], generator: np.random.Generator) -> str:
    return names[int(generator.integers(len(names)))]
