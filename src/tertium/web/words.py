"""Errors in the words of the page."""

from __future__ import annotations

from tertium.errors import TertiumError

LABELS = {
    "lang": "the language of the first text",
    "reference_lang": "the language of the second text",
    "source_lang": "the language of the source",
    "references": "the second text",
    "ref": "the second text",
    "sources": "the source",
    "src": "the source",
    "hyp": "the first text",
    "hyp_column": "the column of the first text",
    "ref_column": "the column of the second text",
    "src_column": "the column of the source",
    "against": "the setting against",
    "measure": "the measure",
    "method": "the methods",
    "quoting": "the field that says whether fields of TSV are quoted",
    "replace_invalid": "the field that replaces bytes that are not UTF-8",
}
"""What parameters are called on the page; nobody can change others there."""


def label(name: str, value: str) -> str | None:
    """A parameter with its value, as the page names it; None if the page has no such field.

    >>> label("hyp_column", ""), label("measure", "prism-src"), label("overwrite", "True")
    ('the column of the first text', 'the measure prism-src', None)
    """
    name = LABELS.get(name, "")
    if not name:
        return None
    return name if value in ("", "True") else f"{name} {'no' if value == 'False' else value}"


def said(error: Exception) -> str:
    """What is wrong, and what can be done about it on the page."""
    return error.said(label) if isinstance(error, TertiumError) else str(error)
