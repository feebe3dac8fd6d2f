"""Errors in the words of the page."""

from __future__ import annotations

from tertium.errors import TertiumError

LABELS = {
    "lang": "Language of the first text",
    "reference_lang": "Language of the second text",
    "source_lang": "Language of the source",
    "hyp": "First text",
    "references": "Second text",
    "ref": "Second text",
    "sources": "Source",
    "src": "Source",
    "hyp_column": "Column of the first text",
    "ref_column": "Column of the second text",
    "src_column": "Column of the source",
    "quoting": "Fields of TSV are quoted",
    "replace_invalid": "Replace bytes that are not UTF-8",
}
"""What parameters are called on the page; nobody can change others there."""
VALUES = {"True": "yes", "False": "no"}


def label(name: str, value: str) -> str | None:
    """A parameter with its value, as the page names it; None if the page has no such field.

    >>> label("hyp_column", ""), label("quoting", "False"), label("overwrite", "True")
    ('"Column of the first text"', '"Fields of TSV are quoted": no', None)
    """
    if name not in LABELS:
        return None
    field = f'"{LABELS[name]}"'
    return f"{field}: {VALUES.get(value, value)}" if value else field


def said(error: Exception) -> str:
    """What is wrong, and what can be done about it on the page."""
    return error.said(label) if isinstance(error, TertiumError) else str(error)
