"""What the page shows of an explanation: the HTML that ``tertium explain --html`` writes."""

from __future__ import annotations

from html import escape

from tertium.explanation.matrices import cosines, moves
from tertium.explanation.page import KEY, directions, translations
from tertium.web.explaining import Explained


def fragment(found: Explained) -> str:
    """The parts that were found, each under its heading."""
    parts = []
    if found.tokens is not None:
        parts.append(
            "<h2>How probable is each text, given the other?</h2>\n"
            f'<p class="key">{KEY} What is underlined shows, when pointed at, what '
            f"{escape(found.model)} would rather have said.</p>\n"
            f"{directions(found.tokens, heading='h3')}"
        )
    if found.translations:
        parts.append(
            "<h2>By way of which translations?</h2>\n"
            '<p class="key">cross and pivot compare the texts by way of these.</p>\n'
            f"{translations(found.translations)}"
        )
    if found.alignment is not None:
        parts.append(f"<h2>Which pieces are alike? (bertscore)</h2>\n{cosines(found.alignment)}")
    if found.transport is not None:
        parts.append(f"<h2>What moves where? (wmd)</h2>\n{moves(found.transport)}")
    return "\n".join(parts)
