"""CTranslate2's models, opened for inference in one place."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from tertium.errors import ModelError, SettingError

ComputeType = Literal["auto", "float32", "int8"]
Device = Literal["cpu", "cuda", "auto"]

COMPUTE_TYPES = ("auto", "float32", "int8")
IN_FLIGHT = 4
"""Batches queued for each worker: none waits for work, and memory stays bounded."""


def check_engine_settings(compute_type: str, threads: int | None, batch_tokens: int) -> None:
    """Refuse settings that the engine cannot run with."""
    if compute_type not in COMPUTE_TYPES:
        raise SettingError(f"compute_type {compute_type!r} is none of {', '.join(COMPUTE_TYPES)}")
    if threads is not None and threads < 1:
        raise SettingError(f"threads is {threads}; it must be at least 1")
    if batch_tokens < 1:
        raise SettingError(f"batch_tokens is {batch_tokens}; it must be at least 1")


def open_engine(
    kind: Literal["Translator", "Encoder"],
    path: Path,
    *,
    compute_type: ComputeType,
    device: Device = "cpu",
    threads: int,
) -> tuple[Any, dict[str, str]]:
    """Open a model in float32 (``auto`` is float32), or in int8 with 7-bit weights.

    Returns CTranslate2's object, and what a signature has to say of it. Weights that were saved in
    another precision, or with 8 bits, are converted in memory. On a CPU every worker runs a batch
    of its own with one thread: small multiplications gain nothing from being split.
    """
    import ctranslate2

    from tertium.models.arithmetic import int8_arithmetic

    int8 = compute_type == "int8"
    arithmetic = int8_arithmetic() if int8 and device == "cpu" else None
    try:
        engine = getattr(ctranslate2, kind)(
            str(path),
            device=device,
            compute_type="int8" if int8 else "float32",
            inter_threads=threads,
            intra_threads=1,
            files=_seven_bit_files(path) if int8 else None,
        )
    except (IndexError, RuntimeError, ValueError) as error:
        raise ModelError(f"{path}: the engine cannot load the model: {error}") from error
    return engine, {
        "precision": f"int8-{arithmetic or engine.device}" if int8 else engine.compute_type,
        "engine": f"ctranslate2-{ctranslate2.__version__}",
    }


def _seven_bit_files(path: Path) -> dict[str, bytes] | None:
    """The engine's files with 7-bit weights; None if that is what the folder has."""
    from tertium.models.engine_file import read_engine_file

    engine_file = read_engine_file(path / "model.bin")
    if engine_file.has_seven_bit_weights():
        return None
    files = {file.name: file.read_bytes() for file in path.glob("*vocabulary.json")}
    files["config.json"] = (path / "config.json").read_bytes()
    files["model.bin"] = b"".join(engine_file.seven_bit_parts())
    return files
