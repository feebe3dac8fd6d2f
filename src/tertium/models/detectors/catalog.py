"""Detectors by the names that users know, or by their folders."""

from __future__ import annotations

from pathlib import Path

from tertium.errors import ModelError
from tertium.models.base import ParaphraseDetector
from tertium.models.catalog import look_up
from tertium.models.detectors.folder import read_detector_folder
from tertium.models.engine import ComputeType


def load_detector(
    detector: str | Path,
    *,
    both_orders: bool = False,
    compute_type: ComputeType = "auto",
    threads: int | None = None,
) -> ParaphraseDetector:
    """Load a detector by name or folder; ``both_orders`` makes the order of texts irrelevant.

    ``detect`` gives P(paraphrase) of each pair. See ``docs/detectors.md`` for how to get one.
    """
    from tertium.models.detectors.model import Commutative, detector_of

    path = look_up(detector)
    if path is None:
        raise ModelError(
            f"no detector {str(detector)!r}: neither a folder nor a cached name; train one with "
            "`tertium train detector`, or convert one with `tertium models convert --detector`"
        )
    folder = read_detector_folder(path)
    loaded = detector_of(folder.path, folder.fingerprint, compute_type, threads)
    return Commutative(loaded) if both_orders else loaded
