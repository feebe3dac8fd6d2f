"""Which words two texts do not share."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

# Scripts that put no space between words are compared character by character.
WORDS = re.compile(
    r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_]+|\s+|[\W_]", re.UNICODE
)

Part = tuple[str, bool]
"""A stretch of text, and whether the other text has something else there."""


def differences(a: str, b: str) -> tuple[list[Part], list[Part]]:
    """Cut both texts into what they share and what they do not.

    >>> differences("the cat sat", "the dog sat")[0]
    [('the ', False), ('cat', True), (' sat', False)]
    """
    first, second = WORDS.findall(a), WORDS.findall(b)
    ours: list[Part] = []
    theirs: list[Part] = []
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        for parts, words in ((ours, first[start:end]), (theirs, second[other_start:other_end])):
            if words:
                parts.append(("".join(words), tag != "equal"))
    return ours, theirs
