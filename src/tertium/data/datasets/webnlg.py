"""WebNLG 2020, RDF to text: system outputs in English and Russian, judged by people.

Read as the NMTScore repository has it, ``experiments/data/webnlg2020``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tertium.data.datasets.base import JudgedSegment, check_count
from tertium.data.datasets.sacrerouge import read_sacrerouge

ADEQUACY = ("correctness", "data_coverage", "relevance")
"""The criteria of which adequacy is the mean (NMTScore, section 5.1)."""
FLUENCY = ("fluency", "text_structure")
SAMPLES = {"en": 2848, "ru": 770}


def read_webnlg(
    lang: str, *, folder: Path, criteria: Sequence[str] = ADEQUACY
) -> list[JudgedSegment]:
    """Read the outputs of all systems with their adequacy, or the mean of other criteria."""
    segments = read_sacrerouge(folder, f"webnlg2020.{lang}", lang, criteria)
    check_count(f"WebNLG {lang}: outputs", len(segments), SAMPLES.get(lang))
    return segments
