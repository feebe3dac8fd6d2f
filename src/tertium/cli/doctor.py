"""``tertium doctor``."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib.metadata import version
from typing import Literal

import typer

from tertium._version import __version__
from tertium.cli import doctor_disk
from tertium.models import golden
from tertium.models.catalog import DEFAULT_MODEL, find, load_model
from tertium.models.threads import available_cores

PACKAGES = ("ctranslate2", "sentencepiece", "tokenizers", "numpy", "sacrebleu")
FLOAT32_TOLERANCE = 2e-5
"""The golden numbers have six decimals, and processors differ in the sixth."""
BATCH_TOLERANCE = 1e-4
"""For float32, with log-probabilities down to -20, whose last digit is worth 2e-6."""
INT8_TOLERANCE = 1e-4
OTHER_INT8_TOLERANCE = 0.5
"""For int8 arithmetic that is not the usual one, against float32: rounding, but nothing broken."""


def doctor() -> None:
    """Check that Tertium works on this machine; exit code 1 if anything is wrong.

    One line per check. A line that begins with FAIL says how to repair it; a note is about files
    that can be deleted.
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
    return f"{folder.name} matches its fingerprint {folder.fingerprint[:12]}"


def _int8() -> str:
    """Whether sums of int8 products are exact, and which arithmetic int8 has here."""
    from tertium.models.arithmetic import int8_arithmetic, saturates
    from tertium.models.engine_file import LIMIT

    name = int8_arithmetic()
    if saturates(LIMIT):
        raise ValueError(
            f"int8 products saturate with weights of {LIMIT}, so int8 numbers are wrong here; "
            "use float32"
        )
    found = f"int8-{name}, no saturation with 7-bit weights"
    if saturates(127):
        found += " (8-bit weights would saturate: no VNNI)"
    return found


def _golden(compute_type: Literal["float32", "int8"]) -> str:
    model = load_model(DEFAULT_MODEL, compute_type=compute_type, cache=False)
    known = golden.read_golden(find(DEFAULT_MODEL).path)
    expected = [answer.float32 for answer in known]
    against, tolerance = "", FLOAT32_TOLERANCE
    if compute_type == "int8":
        precision = model.settings["precision"]
        if precision == golden.INT8:
            expected, tolerance = [answer.int8 for answer in known], INT8_TOLERANCE
        else:
            against, tolerance = f" from float32 ({precision})", OTHER_INT8_TOLERANCE
    off = golden.largest_difference(golden.golden_scores(model, known), expected)
    if not off <= tolerance:
        raise ValueError(
            f"log-probabilities are off by {off:.2g}{against} (allowed: {tolerance:g})"
        )
    return (
        f"{len(known)} sentences, at most {off:.2g} off per token{against}; {tolerance:g} allowed"
    )


def _batching() -> str:
    """Whether a number depends on what it is computed together with."""
    known = golden.read_golden(find(DEFAULT_MODEL).path)
    pairs = [(one.target, two.source, one.target_lang) for one in known for two in known]
    targets, sources, langs = (list(column) for column in zip(*pairs, strict=True))
    off = {}
    for compute_type in ("int8", "float32"):
        model = load_model(DEFAULT_MODEL, compute_type=compute_type, cache=False).model
        together = model.log_probs(targets, sources, target_lang=langs)
        alone = [model.log_probs([t], [s], target_lang=lang)[0].log_probs for t, s, lang in pairs]
        off[compute_type] = golden.largest_difference(together, alone)
    if off["int8"] or off["float32"] > BATCH_TOLERANCE:
        raise ValueError(f"numbers depend on the batch they are computed in: {off}")
    return f"the same number in any batch (int8 to the bit, float32 to {off['float32']:.2g})"


CHECKS: dict[str, Callable[[], str]] = {
    "versions": _versions,
    "threads": _threads,
    "model": _weights,
    "int8": _int8,  # before any float32 model, or its instruction set could not be chosen
    "golden numbers, int8": lambda: _golden("int8"),
    "golden numbers, float32": lambda: _golden("float32"),
    "batching": _batching,
    "disk": doctor_disk.disk,
    "cache": doctor_disk.cache,
    "cached models": doctor_disk.cached_models,
    "encoders": doctor_disk.cut_encoders,
    "left over": doctor_disk.unfinished,
    "downloads": doctor_disk.downloads,
}
