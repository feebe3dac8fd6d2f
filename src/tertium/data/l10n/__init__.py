"""Localisation files: translations with the file, line and key that each stands at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tertium.data.lines import suffix_of

if TYPE_CHECKING:
    from tertium.data.pairs import Languages, Source

TMX = ".tmx"
BILINGUAL = frozenset({".po", ".xlf", ".xliff", TMX, ".xcstrings"})
"""Formats whose files hold the source and its translation."""
KEYED = frozenset({".ftl", ".json", ".arb", ".yml", ".yaml", ".properties", ".strings", ".xml"})
"""Formats with one language per file, whose texts have keys."""
SUBTITLES = frozenset({".srt", ".vtt"})
DOCUMENTS = frozenset({".md", ".markdown"})
SUFFIXES = BILINGUAL | KEYED | SUBTITLES | DOCUMENTS


def open_translations(path: Path, languages: Languages) -> Source:
    """Open a localisation file; one of a single language with that of the source beside it."""
    from tertium.data.l10n.source import LocalizedPairs
    from tertium.data.tmx import TmxPairs

    if suffix_of(path) not in SUFFIXES or suffix_of(path) == TMX:
        return TmxPairs(path, languages)
    return LocalizedPairs(path, languages)
