"""Load paraphrase detectors by name or folder."""

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
    """Load a detector by name or folder; ``both_orders`` averages over both orders of the texts.

    ``detect`` returns P(paraphrase) of each pair. To get a detector, see ``docs/detectors.md``.
    """
    from tertium.models.detectors.model import Commutative, detector_of

    path = look_up(detector)
    if path is None:
        raise ModelError(
            f"no detector {str(detector)!r}: neither a folder nor in the cache; train one with "
            "`tertium train detector`, or convert one with `tertium models convert --detector`"
        )
    folder = read_detector_folder(path)
    loaded = detector_of(folder.path, folder.fingerprint, compute_type, threads)
    return Commutative(loaded) if both_orders else loaded
