"""Text cut into words, in any script: what filters count where no model's pieces are at hand."""

from __future__ import annotations

import re

WITHOUT_SPACES = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"  # points and accents
    "\u0900-\u0dff"  # the scripts of India, vowel signs and all
)
WORD = re.compile(rf"[{WITHOUT_SPACES}]|(?:(?![{WITHOUT_SPACES}])[\w{MARKS}])+|[^\s\w]")


def words(text: str) -> list[str]:
    """Cut into runs of letters and digits, single marks, and single characters of some scripts.

    Where a script has no spaces between words (Han, kana, Thai, Lao, Burmese, Khmer) every
    character counts for itself.

    >>> words("Don't go, 2 of you!"), words("我不去。")
    (['Don', "'", 't', 'go', ',', '2', 'of', 'you', '!'], ['我', '不', '去', '。'])
    """
    return WORD.findall(text)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Where each word begins and ends.

    >>> word_spans("Go on!")
    [(0, 2), (3, 5), (5, 6)]
    """
    return [found.span() for found in WORD.finditer(text)]
