"""Tell the name of a file from a text."""

from __future__ import annotations

import os
from pathlib import Path

from tertium.data.codes import SCRIPTS
from tertium.data.lines import OPENERS
from tertium.data.records import SUFFIXES

TEXT_SUFFIXES = {*SUFFIXES, ".json", ".tmx", ".hyp", ".ref", ".src", ".tgt", ".mt", ".out"}
"""Suffixes of files with texts, besides those of compressed files and language codes."""


def exists(text: str) -> bool:
    """Whether a text is the name of a file or a folder."""
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a name, or with a null character
        return False


def has_file_suffix(text: str) -> bool:
    """Whether a text without spaces ends like the name of a file.

    >>> [has_file_suffix(text) for text in ("hyp.txt", "newstest.de", "and/or", "Hi.", "a.b c")]
    [True, True, False, False, False]
    """
    if not text or any(map(str.isspace, text)):
        return False
    suffix = Path(text).suffix.lower()
    named = suffix in TEXT_SUFFIXES or suffix in OPENERS or suffix[1:] in SCRIPTS
    return named and suffix != text.lower()


def looks_like_path(text: str) -> bool:
    """Whether an argument is probably meant as the name of a file.

    It has no spaces, and a path separator or a suffix that files of text have.

    >>> [looks_like_path(text) for text in ("hyp.txt", "out/hyp", "newstest.de", "Hi.", "a.b c")]
    [True, True, True, False, False]
    """
    if any(map(str.isspace, text)):
        return False
    return "/" in text or os.sep in text or has_file_suffix(text)
