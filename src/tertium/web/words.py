"""Error messages for people who see no command line."""

from __future__ import annotations

import re

PHRASES = (
    (r"; use --hyp-column", "; choose the column of the first text"),
    (r"; use --ref-column or --src-column", "; choose the column of the second text"),
    (r"; read it with --quoting, or with --no-quoting if .*", "; choose whether fields are quoted"),
    (r"; use --lang, and --ref-lang or --src-lang for the second text", "; choose the languages"),
    (r"; if that is wrong, use --lang", ""),
    (r"; use --systems", ""),
    (r"; use --format with one of (.*)", r"; it must be one of \1"),
    (r"give --hyp at least twice, once for each system", "give the outputs of two systems"),
    (r"(, or compare with the source) \(--against source[^)]*\)", r"\1 (setting: against)"),
    (r"--lang, --ref-lang", "the languages"),
    (r"use --(src|ref)-lang", "choose the language of the second text"),
    (r"use --lang", "choose the language"),
    (r" \(--[a-z-]+(, --[a-z-]+)*\)", ""),
    (r"--([a-z]+)-([a-z]+)", r"\1 \2"),
    (r"--([a-z]+)", r"\1"),
)
"""What is said with the options of the command line, and what instead."""


def plain(message: str) -> str:
    """Say an error without options of the command line.

    >>> plain("x.tsv, line 2: byte 1 is not valid UTF-8; or replace invalid bytes "
    ...     "(--replace-invalid)")
    'x.tsv, line 2: byte 1 is not valid UTF-8; or replace invalid bytes'
    >>> plain("which column is the hypothesis? a.csv has x, y; use --hyp-column")
    'which column is the hypothesis? a.csv has x, y; choose the column of the first text'
    """
    for pattern, words in PHRASES:
        message = re.sub(pattern, words, message)
    return message
