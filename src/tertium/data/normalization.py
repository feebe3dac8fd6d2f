"""Normalized forms of texts, by which near-duplicates are recognised; the script of a text."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"  # points and accents
    "\u0900-\u0dff"  # the scripts of India, with their vowel signs
)
IGNORED = re.compile(rf"[^\w{MARKS}]|_")
DIGIT = re.compile(r"\d")
KEPT_CATEGORIES = ("L", "M", "N")
"""Unicode categories (by their first letter) of letters, marks and numbers."""
ONE_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "BOPOMOFO": "CJK"}
"""Scripts that are used together."""


def duplicate_key(text: str) -> str:
    """The text without case, spaces, punctuation, compatibility forms and the value of digits.

    Texts with the same key are near-duplicates. A text of nothing but punctuation is its own key.

    >>> duplicate_key("It’s  42, OK?"), duplicate_key("it's 17 ok"), duplicate_key("?!")
    ('its00ok', 'its00ok', '?!')
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return IGNORED.sub("", DIGIT.sub("0", folded)) or text


def sentence_key(text: str) -> str:
    """The sentence without case, punctuation, symbols and spaces; it keeps the digits.

    >>> sentence_key("Tom's here!") == sentence_key("toms here")
    True
    >>> sentence_key("?!")
    '?!'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(filter(_is_kept, folded)) or text


def script_of(text: str) -> str:
    """The script of most letters, by the Unicode names of characters; CJK for kana and Han.

    >>> script_of("Tom пришёл домой."), script_of("トムは来た。"), script_of("123")
    ('CYRILLIC', 'CJK', '')
    """
    scripts = Counter(filter(None, map(_script, text)))
    return scripts.most_common(1)[0][0] if scripts else ""


@cache
def _is_kept(character: str) -> bool:
    return unicodedata.category(character)[0] in KEPT_CATEGORIES


@cache
def _script(character: str) -> str:
    if not character.isalpha():
        return ""
    name = unicodedata.name(character, "").split(" ")[0].split("-")[0]
    return ONE_SCRIPT.get(name, name)
