"""Opening of CTranslate2 models, the cores that they may use, and batches of queries for them."""

from __future__ import annotations

import math
import os
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

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
BATCH_TOKENS = 512
"""Enough to keep a core busy; with more, the logits no longer fit into the processor's cache. Of a
language model with 150 000 tokens in its vocabulary, those of a batch take 300 MB per worker."""


class Pending(Protocol):
    """A result that is being computed."""

    def result(self) -> Any:
        """Wait for it."""
        ...


class Engine:
    """A model that CTranslate2 has opened, and how queries are put to it in batches.

    It is opened in float32 (``auto`` is float32), or in int8 with 7-bit weights. Weights that were
    saved in another precision, or with 8 bits, are converted in memory. On a CPU every worker runs
    one batch with one thread: small multiplications do not benefit from several threads.
    """

    def __init__(
        self,
        kind: Literal["Translator", "Encoder", "Generator"],
        path: Path,
        name: str,
        *,
        compute_type: ComputeType,
        device: Device = "cpu",
        threads: int | None = None,
        batch_tokens: int = BATCH_TOKENS,
        encoder: EngineFile | None = None,
        vocabulary: Path | None = None,
    ) -> None:
        """``encoder`` is a part of the model in the folder, opened alone, with a vocabulary."""
        _check(compute_type, threads, batch_tokens)
        import ctranslate2

        self.name = name
        self.threads = threads or available_cores()
        self.batch_tokens = batch_tokens
        int8 = compute_type == "int8"
        arithmetic = None
        if int8 and device == "cpu":
            from tertium.models.arithmetic import int8_arithmetic

            arithmetic = int8_arithmetic()
        try:
            self.backend = getattr(ctranslate2, kind)(
                str(path),
                device=device,
                compute_type="int8" if int8 else "float32",
                inter_threads=self.threads,
                intra_threads=1,
                files=_files(path, encoder, vocabulary, seven_bit=int8),
            )
        except (IndexError, MemoryError, RuntimeError, ValueError) as error:
            raise ModelError(f"{path}: the engine cannot load the model: {error}") from error
        where = self.backend.device
        self.settings = {
            "precision": f"int8-{arithmetic or where}" if int8 else self.backend.compute_type,
            "engine": f"ctranslate2-{ctranslate2.__version__}",
        }
        """What belongs into a signature."""
        if where != "cpu":
            self.settings["device"] = f"{where}-{batch_tokens}"
        self.batches: Batching = uniform_batches if int8 and where == "cpu" else padded_batches
        self.process = os.getpid()
        """Where it was opened: its threads are lost in a forked process."""

    def run(
        self,
        task: str,
        batches: Iterable[list[int]],
        count: int,
        submit: Callable[[list[int]], Sequence[Pending]],
        read: Callable[[int, Any], Result],
        progress: Progress | None,
    ) -> list[Result]:
        """Queue the batches, and return the results in the order of the input."""
        if os.getpid() != self.process:
            raise ModelError(
                f"{self.name} was loaded before this process was forked and has lost its threads; "
                "load it in the new process, or start processes with 'spawn'"
            )
        results: dict[int, Result] = {}
        pending: deque[tuple[list[int], Sequence[Pending]]] = deque()

        def collect() -> None:
            batch, futures = pending.popleft()
            for index, future in zip(batch, futures, strict=True):
                results[index] = read(index, future.result())
            if progress is not None:
                progress(task, len(results), count)

        for batch in batches:
            pending.append((batch, submit(batch)))
            if len(pending) > IN_FLIGHT * self.threads:
                collect()
        while pending:
            collect()
        return [results[index] for index in range(count)]


def _check(compute_type: str, threads: int | None, batch_tokens: int) -> None:
    """Raise an error for unsupported settings."""
    if compute_type not in COMPUTE_TYPES:
        raise SettingError(
            f"compute_type {compute_type!r} is unsupported; choose from {', '.join(COMPUTE_TYPES)}"
        )
    if threads is not None and threads < 1:
        raise SettingError(f"threads is {threads}; it must be at least 1")
    if batch_tokens < 1:
        raise SettingError(f"batch_tokens is {batch_tokens}; it must be at least 1")


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


CGROUP = Path("/sys/fs/cgroup")


def available_cores(cgroup: Path = CGROUP) -> int:
    """Count the cores allowed by CPU affinity and by the container's quota; at least one."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        cores = os.cpu_count() or 1
    quota = cgroup_quota(cgroup)
    return max(1, cores if quota is None else min(cores, math.ceil(quota)))


def cgroup_quota(cgroup: Path) -> float | None:
    """The CPU quota of a container in cores, or None if there is no limit."""
    try:  # version 2: "max 100000" or "150000 100000"
        quota, period = (cgroup / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:  # version 1: -1 means no limit
            quota = (cgroup / "cpu" / "cpu.cfs_quota_us").read_text().strip()
            period = (cgroup / "cpu" / "cpu.cfs_period_us").read_text().strip()
        except OSError:
            return None
    if quota == "max" or int(quota) <= 0:
        return None
    return int(quota) / int(period)


Shape = tuple[int, ...]
"""The lengths of the sequences of a query: source and target, or source only."""

Batching = Callable[[Sequence[Shape], int], Iterator[list[int]]]

PADDED = 1.2
"""The maximum size of a padded batch, relative to the number of tokens in its texts. With the
bundled model, 200 queries (news) took 11.1 ms each, 11.5 ms without a limit, and 13.1 ms in batches
of uniform shape."""


def uniform_batches(shapes: Sequence[Shape], max_tokens: int) -> Iterator[list[int]]:
    """Group queries of the same shape, longest first.

    Such a batch has no padding. This saves computation and, above all, makes the result of a query
    independent of the other queries in its batch: padding changes the last bit of a sum, which int8
    arithmetic amplifies (by up to 0.05 in a log-probability, measured). Without padding, int8
    results are the same to the bit in any batch; float32 results are not, with or without padding
    (a token differs by up to 6e-6).

    >>> list(uniform_batches([(3, 2), (5, 5), (3, 2), (3, 2)], max_tokens=8))
    [[1], [0, 2], [3]]
    """
    by_shape: defaultdict[Shape, list[int]] = defaultdict(list)
    for index, shape in enumerate(shapes):
        by_shape[shape].append(index)
    for shape in sorted(by_shape, key=lambda shape: (max(shape), shape), reverse=True):
        size = max(1, max_tokens // max(1, max(shape)))
        indices = by_shape[shape]
        for start in range(0, len(indices), size):
            yield indices[start : start + size]


def padded_batches(shapes: Sequence[Shape], max_tokens: int) -> Iterator[list[int]]:
    """Group queries of similar shape, longest first: more rows per batch, with little padding.

    >>> list(padded_batches([(3, 2), (5, 5), (4, 2), (3, 2)], max_tokens=8))
    [[1], [2, 0], [3]]
    """
    batch: list[int] = []
    filled = 0
    widest: Shape = ()
    for index in sorted(range(len(shapes)), key=lambda i: (-max(shapes[i]), shapes[i], i)):
        wider = tuple(map(max, widest or shapes[index], shapes[index]))
        rows, tokens = len(batch) + 1, filled + sum(shapes[index])
        if batch and (max(wider) * rows > max_tokens or sum(wider) * rows > PADDED * tokens):
            yield batch
            batch, tokens, wider = [], sum(shapes[index]), shapes[index]
        batch.append(index)
        filled, widest = tokens, wider
    if batch:
        yield batch


def batches_by_limit(
    limits: Sequence[int], shapes: Sequence[Shape], max_tokens: int, batching: Batching
) -> Iterator[list[int]]:
    """Group queries with the same limit, largest limit first.

    >>> list(batches_by_limit([9, 7, 9], [(5,), (4,), (4,)], 12, padded_batches))
    [[0, 2], [1]]
    """
    by_limit: defaultdict[int, list[int]] = defaultdict(list)
    for index, limit in enumerate(limits):
        by_limit[limit].append(index)
    for limit in sorted(by_limit, reverse=True):
        indices = by_limit[limit]
        for batch in batching([shapes[index] for index in indices], max_tokens):
            yield [indices[place] for place in batch]
