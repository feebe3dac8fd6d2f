"""Numbers that are spelt out: "twenty-five", "dreihundert", "quatre-vingts", "dos mil".

English, German, French and Spanish up to billions; Italian, Dutch, Portuguese and Russian up to
twelve.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

TOKEN = re.compile(r"[^\W\d_]+")
ONE = {
    "en": "one a an",
    "de": "ein eine einen einem einer eines eins",
    "fr": "un une",
    "es": "un una uno",
    "it": "un uno una",
    "nl": "een één",
    "pt": "um uma",
    "ru": "один одна одно",
}
"""Words that are articles as well: numbers only before a hundred, a thousand and so on."""
SMALL = {
    "en": "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn "
    "sechzehn siebzehn achtzehn neunzehn",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
    "dieciséis diecisiete dieciocho diecinueve",
    "it": "due tre quattro cinque sei sette otto nove dieci undici dodici",
    "nl": "twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "pt": "dois três quatro cinco seis sete oito nove dez onze doze",
    "ru": "два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать",
}
"""From two on."""
TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "vingt trente quarante cinquante soixante septante octante nonante",
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
}
MORE = {
    "en": {"zero": 0, "dozen": 12, "dozens": 12, "twice": 2, "both": 2},
    "de": {"null": 0, "dreissig": 30, "dutzend": 12, "zwo": 2, "beide": 2, "beiden": 2},
    "fr": {
        **{"zéro": 0, "vingts": 20, "huitante": 80, "dizaine": 10, "douzaine": 12},
        **{"quinzaine": 15, "vingtaine": 20, "trentaine": 30, "quarantaine": 40},
        **{"cinquantaine": 50, "soixantaine": 60},
    },
    "es": {
        **{"cero": 0, "veintiún": 21, "veintiuno": 21, "veintiuna": 21, "veintidós": 22},
        **{"veintitrés": 23, "veinticuatro": 24, "veinticinco": 25, "veintiséis": 26},
        **{"veintisiete": 27, "veintiocho": 28, "veintinueve": 29, "docena": 12, "ambos": 2},
        **{"decena": 10, "veintena": 20, "treintena": 30},
        **{"doscientos": 200, "doscientas": 200, "trescientos": 300, "trescientas": 300},
        **{"cuatrocientos": 400, "cuatrocientas": 400, "quinientos": 500, "quinientas": 500},
        **{"seiscientos": 600, "seiscientas": 600, "setecientos": 700, "setecientas": 700},
        **{"ochocientos": 800, "ochocientas": 800, "novecientos": 900, "novecientas": 900},
        **{"ambas": 2},
    },
    "pt": {"duas": 2},
    "ru": {"две": 2, "двух": 2, "трёх": 3, "трех": 3, "четырёх": 4, "четырех": 4, "пяти": 5},
}
SCALES = {
    "en": {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9},
    "de": {
        **{"hundert": 100, "tausend": 10**3, "million": 10**6, "millionen": 10**6},
        **{"milliarde": 10**9, "milliarden": 10**9, "billionen": 10**12},
    },
    "fr": {
        **{"cent": 100, "cents": 100, "mille": 10**3, "million": 10**6, "millions": 10**6},
        **{"milliard": 10**9, "milliards": 10**9},
    },
    "es": {
        **{"cien": 100, "ciento": 100, "mil": 10**3, "millón": 10**6, "millones": 10**6},
        **{"billones": 10**12},
    },
}
ORDINALS = {
    "en": "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
    "de": "erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft",
    "fr": "premi deuxième troisième quatrième cinquième sixième septième huitième neuvième "
    "dixième onzième douzième",
    "es": "primer segund tercer cuart quint sext séptim octav noven décim undécim duodécim",
}
"""Beginnings of words."""
JOINTS = {"en": {"and"}, "fr": {"et"}, "es": {"y"}, "de": {"und"}}
GERMAN = re.compile(
    r"(?:(?P<thousands>[a-zäöüß]*?)tausend)?(?:und)?(?:(?P<hundreds>[a-zäöüß]*?)hundert)?(?:und)?"
    r"(?P<rest>[a-zäöüß]*)"
)


class SpeltNumber(NamedTuple):
    """A number in words, and where it is."""

    start: int
    end: int
    value: int
    is_weak: bool
    """Whether it may be an article or mean many: one, a, hundreds."""


@cache
def small_numbers(lang: str) -> dict[str, int]:
    """Words for numbers below a hundred, and some others."""
    numbers = {word: number for number, word in enumerate(SMALL.get(lang, "").split(), 2)}
    numbers |= {word: 10 * ten for ten, word in enumerate(TENS.get(lang, "").split(), 2)}
    numbers |= MORE.get(lang, {})
    if lang == "en":
        numbers |= {
            f"{word[:-1]}ies": number for word, number in numbers.items() if word[-1] == "y"
        }
    if lang == "de":
        numbers |= {
            f"{word}{end}": number
            for word, number in list(numbers.items())
            if word.endswith("zig") or word == "dreißig"
            for end in ("er", "ern")
        }
    return numbers


@cache
def german_number(word: str) -> int | None:
    """The value of a German number in one word.

    >>> german_number("dreiundzwanzig"), german_number("zweitausendfünfhundert")
    (23, 2500)
    """
    numbers = small_numbers("de")
    if word in numbers:
        return numbers[word]
    if word in ("ein", "eins"):
        return 1
    match = GERMAN.fullmatch(word)
    if match is None:
        return None
    value, rest = 0, match["rest"]
    for part, scale in (("thousands", 1000), ("hundreds", 100)):
        if match[part] is not None:
            factor = german_number(match[part]) if match[part] else 1
            if factor is None:
                return None
            value += factor * scale
    if not rest:
        return value or None
    if rest != word:
        last = german_number(rest)
        return None if last is None else value + last
    unit, joint, ten = word.rpartition("und")
    tens = numbers.get(ten)
    if not joint or tens is None or not 20 <= tens < 100:
        return None
    units = german_number(unit)
    return tens + units if units is not None and units < 10 else None


def spelt_numbers(text: str, lang: str) -> Iterator[SpeltNumber]:
    """Find the numbers of a text that are written in words.

    >>> [each.value for each in spelt_numbers("Two hundred and five of twenty-one", "en")]
    [205, 21]
    >>> [each.value for each in spelt_numbers("quatre-vingt-dix-sept et deux mille", "fr")]
    [97, 2000]
    """
    if lang not in SMALL:
        return
    words = [
        (match.start(), match.end(), "" if _is_acronym(match[0], text) else match[0].casefold())
        for match in TOKEN.finditer(text)
    ]
    ones, scales, joints = set(ONE[lang].split()), SCALES.get(lang, {}), JOINTS.get(lang, set())
    place = 0
    while place < len(words):
        total, current, last, started = 0, 0, place, False
        is_weak = words[place][2] in ones or words[place][2] in scales
        previous = 0
        for index in range(place, len(words)):
            word = words[index][2]
            if started and text[words[index - 1][1] : words[index][0]].strip("-‐‑ \u00a0"):
                break
            value = _value(word, lang)
            if word in scales:
                scale = scales[word]
                if scale == 100:
                    current = (current or 1) * 100
                else:
                    before = total if scale > 1000 and total < scale else 0
                    total += (before + current or 1) * scale - before
                    current = 0
                previous = scale
            elif value is not None and _fits(previous, value, lang):
                if lang == "fr" and value == 20 and previous == 4:
                    current += 76
                    previous = 80
                else:
                    current += value
                    previous = value
            elif (
                word in joints
                and started
                and previous >= 20
                and index + 1 < len(words)
                and (
                    _value(following := words[index + 1][2], lang) is not None or following in ones
                )
            ):
                continue
            elif word in ones and (not started or 20 <= previous < 100):
                current += 1
                previous = 1
            else:
                break
            started = True
            last = index
        if started:
            start, end = words[place][0], words[last][1]
            yield SpeltNumber(start, end, total + current, is_weak and last == place)
        place = last + 1


def _is_acronym(word: str, text: str) -> bool:
    """Whether a word is in capitals, and the text is not: the attacks called DOS are not two.

    >>> [each.value for each in spelt_numbers("dos ataques DOS", "es")]
    [2]
    """
    return len(word) > 1 and word.isupper() and not text.isupper()


def _value(word: str, lang: str) -> int | None:
    if lang == "de":
        if word in SCALES["de"] or word in ("ein", "eins"):
            return None
        return german_number(word)
    return small_numbers(lang).get(word)


def _fits(previous: int, value: int, lang: str) -> bool:
    """Whether a word continues a number after the previous word."""
    if not previous or previous >= 100:
        return True
    if lang == "fr":
        return (
            (previous == 4 and value == 20)
            or (previous in (60, 80) and value < 20)
            or (previous >= 20 and value < 10)
            or (previous == 10 and 7 <= value <= 9)
        )
    return previous >= 20 and value < 10


@cache
def beginnings(lang: str, value: int) -> tuple[str, ...]:
    """How words begin that have a number in them, such as third, dreimal or zweijährig.

    >>> beginnings("de", 3)
    ('drei', 'dritt')
    """
    words = small_numbers(lang)
    found = [word for word, number in words.items() if number == value]
    if lang == "de" and 20 < value < 100:
        found += [
            f"{'ein' if value % 10 == 1 else unit}und{ten}"
            for unit, number in (*words.items(), ("ein", 1))
            if number == value % 10
            for ten, tens in words.items()
            if tens == value - value % 10
        ]
    ordinals = ORDINALS.get(lang, "").split()
    if 1 <= value <= len(ordinals):
        found.append(ordinals[value - 1])
    return tuple(found)
