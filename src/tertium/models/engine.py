"""Opening of CTranslate2 models for inference."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from tertium.errors import ModelError, SettingError
from tertium.models.base import Progress

if TYPE_CHECKING:
    from tertium.models.engine_file import EngineFile

ComputeType = Literal["auto", "float32", "int8"]
Device = Literal["cpu", "cuda", "auto"]
Result = TypeVar("Result")

COMPUTE_TYPES = ("auto", "float32", "int8")
IN_FLIGHT = 4
"""Batches queued per worker: enough to keep every worker busy, with bounded memory."""


def check_engine_settings(compute_type: str, threads: int | None, batch_tokens: int) -> None:
    """Raise an error for unsupported settings of the engine."""
    if compute_type not in COMPUTE_TYPES:
        raise SettingError(
            f"compute_type {compute_type!r} is unsupported; choose from {', '.join(COMPUTE_TYPES)}"
        )
    if threads is not None and threads < 1:
        raise SettingError(f"threads is {threads}; it must be at least 1")
    if batch_tokens < 1:
        raise SettingError(f"batch_tokens is {batch_tokens}; it must be at least 1")


def open_engine(
    kind: Literal["Translator", "Encoder", "Generator"],
    path: Path,
    *,
    compute_type: ComputeType,
    device: Device = "cpu",
    threads: int,
    encoder: EngineFile | None = None,
    vocabulary: Path | None = None,
) -> tuple[Any, dict[str, str]]:
    """Open a model in float32 (``auto`` is float32), or in int8 with 7-bit weights.

    ``encoder`` is a part of the model in the folder, which is opened alone, with this vocabulary.

    Returns the CTranslate2 object, and the settings that belong into a signature. Weights that were
    saved in another precision, or with 8 bits, are converted in memory. On a CPU every worker runs
    one batch with one thread: small multiplications do not benefit from several threads.
    """
    import ctranslate2

    int8 = compute_type == "int8"
    arithmetic = None
    if int8 and device == "cpu":
        from tertium.models.arithmetic import int8_arithmetic

        arithmetic = int8_arithmetic()
    try:
        engine = getattr(ctranslate2, kind)(
            str(path),
            device=device,
            compute_type="int8" if int8 else "float32",
            inter_threads=threads,
            intra_threads=1,
            files=_files(path, encoder, vocabulary, seven_bit=int8),
        )
    except (IndexError, MemoryError, RuntimeError, ValueError) as error:
        raise ModelError(f"{path}: the engine cannot load the model: {error}") from error
    return engine, {
        "precision": f"int8-{arithmetic or engine.device}" if int8 else engine.compute_type,
        "engine": f"ctranslate2-{ctranslate2.__version__}",
    }


def run_batches(
    batches: Iterable[list[int]],
    count: int,
    submit: Callable[[list[int]], list[Any]],
    read: Callable[[int, Any], Result],
    *,
    task: str,
    progress: Progress | None,
    threads: int,
    model: str,
    process: int,
) -> list[Result]:
    """Queue the batches of a model, and return the results in the order of the input.

    ``process`` is where the model was loaded: its threads are lost in a forked process.
    """
    if os.getpid() != process:
        raise ModelError(
            f"{model} was loaded before this process was forked and has lost its threads; "
            "load it in the new process, or start processes with 'spawn'"
        )
    results: dict[int, Result] = {}
    pending: deque[tuple[list[int], list[Any]]] = deque()

    def collect() -> None:
        batch, futures = pending.popleft()
        for index, future in zip(batch, futures, strict=True):
            results[index] = read(index, future.result())
        if progress is not None:
            progress(task, len(results), count)

    for batch in batches:
        pending.append((batch, submit(batch)))
        if len(pending) > IN_FLIGHT * threads:
            collect()
    while pending:
        collect()
    return [results[index] for index in range(count)]


def _files(
    path: Path, encoder: EngineFile | None, vocabulary: Path | None, *, seven_bit: bool
) -> dict[str, bytes] | None:
    """What is opened instead of the files in a folder; None if these are right as they are."""
    if encoder is None and not seven_bit:
        return None
    from tertium.models.engine_file import read_engine_file  # with numpy

    weights = encoder or read_engine_file(path / "model.bin")
    convert = seven_bit and not weights.has_seven_bit_weights()
    if encoder is None and not convert:
        return None
    files = {file.name: file.read_bytes() for file in path.glob("*vocabulary.json")}
    if vocabulary is not None:
        files = {"vocabulary.json": vocabulary.read_bytes()}
    files["config.json"] = (path / "config.json").read_bytes()
    files["model.bin"] = b"".join(weights.seven_bit_parts() if convert else weights.parts())
    return files
