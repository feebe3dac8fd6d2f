"""Multilingual AMR-to-text: one system in 15 languages (Fan and Gardent, 2020).

Read as the NMTScore repository has it, ``experiments/data/multilingual_amr``.
"""

from __future__ import annotations

from pathlib import Path

from tertium.data.datasets.base import JudgedSegment, check_count
from tertium.data.datasets.sacrerouge import read_sacrerouge

LANGUAGES = (
    *("da", "el", "es", "fi", "it", "nl", "pt", "sv"),
    *("bg", "cs", "et", "hu", "lv", "pl", "ro"),
)
SAMPLES = 50


def read_amr(
    lang: str, *, folder: Path, criterion: str = "semantic_accuracy"
) -> list[JudgedSegment]:
    """Read the outputs in a language with the mean rating of a criterion."""
    segments = read_sacrerouge(folder, f"amr.{lang}", lang, (criterion,))
    check_count(f"AMR {lang}: outputs", len(segments), SAMPLES)
    return segments
