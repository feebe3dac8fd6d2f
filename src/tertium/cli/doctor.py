"""``tertium doctor``."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib.metadata import version

import typer

from tertium._version import __version__
from tertium.cli import doctor_disk
from tertium.models import golden
from tertium.models.catalog import DEFAULT_MODEL, find, load_model
from tertium.models.threads import available_cores

PACKAGES = ("ctranslate2", "sentencepiece", "tokenizers", "numpy", "sacrebleu", "pyarrow")
FLOAT32_TOLERANCE = 1e-3
INT8_TOLERANCE = 1.0
"""int8 rounds differently from processor to processor; a broken model is off by many units."""


def doctor() -> None:
    """Check that Tertium works here: one line each; exit code 1 if anything is wrong.

    What is wrong is said with its cure; a note is about what can be tidied up.
    """
    sound = True
    for name, check in CHECKS.items():
        try:
            found = check()
            verdict = "note" if isinstance(found, doctor_disk.Note) else "ok"
            typer.echo(f"{verdict:5} {name}: {found}")
        except Exception as error:
            sound = False
            typer.echo(f"FAIL  {name}: {error}")
    raise typer.Exit(0 if sound else 1)


def _versions() -> str:
    packages = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return f"tertium {__version__}, Python {platform.python_version()}, {packages}"


def _threads() -> str:
    return f"{available_cores()} of {platform.machine()}"


def _weights() -> str:
    folder = find(DEFAULT_MODEL)
    folder.check()
    return f"{folder.name} is whole, fingerprint {folder.fingerprint[:12]}"


def _golden(compute_type: str, tolerance: float) -> str:
    model = load_model(DEFAULT_MODEL, compute_type=compute_type, cache=False)  # type: ignore[arg-type]
    known = golden.read_golden(find(DEFAULT_MODEL).path)
    off = golden.largest_difference(model, known)
    if not off <= tolerance:
        raise ValueError(f"log-probabilities are off by {off:.2g} (allowed: {tolerance:g})")
    return f"{len(known)} known sentences, at most {off:.2g} off per token"


def _batching() -> str:
    """Whether a number here is the same to the bit, whatever it is computed together with."""
    known = golden.read_golden(find(DEFAULT_MODEL).path)
    pairs = [(one.target, two.source, one.target_lang) for one in known for two in known]
    model = load_model(DEFAULT_MODEL, cache=False).model
    targets, sources, langs = (list(column) for column in zip(*pairs, strict=True))
    together = model.log_probs(targets, sources, target_lang=langs)
    alone = [model.log_probs([t], [s], target_lang=lang)[0] for t, s, lang in pairs]
    if together != alone:
        raise ValueError("numbers depend on the batch they are computed in")
    return "the same number in any batch"


CHECKS: dict[str, Callable[[], str]] = {
    "versions": _versions,
    "threads": _threads,
    "model": _weights,
    "golden numbers, float32": lambda: _golden("float32", FLOAT32_TOLERANCE),
    "golden numbers, int8": lambda: _golden("int8", INT8_TOLERANCE),
    "batching": _batching,
    "disk": doctor_disk.disk,
    "cache": doctor_disk.cache,
    "cached models": doctor_disk.cached_models,
    "encoders": doctor_disk.cut_encoders,
    "left over": doctor_disk.unfinished,
    "downloads": doctor_disk.downloads,
}
