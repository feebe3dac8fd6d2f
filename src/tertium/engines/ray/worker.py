"""A worker of a cluster: loads the models of a task once, and makes one shard after another."""

from __future__ import annotations

import json
import os
import re
import socket
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tertium.data.pairs import Item, StoredPairs
from tertium.engines.ray.shards import Shard, ShardError
from tertium.engines.scoring import chain_digest
from tertium.errors import (
    CacheWarning,
    ClusterError,
    InputError,
    LanguageError,
    ResumeError,
    TertiumError,
    first_line,
)
from tertium.models.cache.memo import Tally
from tertium.storage.resume import RECORD, input_changed

DIGEST = re.compile("[0-9a-f]{64}")
TRIES = 5
"""The number of lost workers after which a shard is taken to be the cause."""


class LoadedTask(NamedTuple):
    """A task with its models."""

    description: Mapping[str, Any]
    """Everything that must be the same on all nodes and when a run is resumed."""
    process: Callable[[StoredPairs, Sequence[Item]], tuple[list[dict[str, Any]], dict[str, Any]]]
    """From rows of an input to rows of the output, and what they add to the result: the note."""
    tally: Tally


class Task(Protocol):
    """What is done with rows. It is sent to the workers, which load its models."""

    def load(self, threads: int) -> LoadedTask: ...

    def check_note(self, note: Mapping[str, Any]) -> None:
        """Raise a KeyError, TypeError or ValueError if a note lacks some of its fields."""
        ...


@dataclass(frozen=True)
class Part:
    """A range of rows of an input, which becomes one shard."""

    number: int
    input: int
    start: int
    stop: int


@dataclass(frozen=True)
class Work:
    """Everything that a worker needs to know to make any shard."""

    inputs: Sequence[StoredPairs]
    task: Task
    threads: int
    job: Mapping[str, Any]
    schema: Any
    folder: Path
    home: Path
    """The folder that relative paths start from."""
    finished: bool = False
    """Whether the folder was complete before; it is then only checked."""


class ShardWorker:
    """Makes one shard at a time; returns the outcome as JSON."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._loaded: LoadedTask | None = None

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[str]]:
        """Process the part in a batch of one; errors are returned, for the run to raise."""
        part = Part(**{name: int(values[0]) for name, values in batch.items()})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", CacheWarning)
            try:
                outcome = self._outcome(part)
            except TertiumError as error:
                outcome = {"error": type(error).__name__, "message": str(error)}
            except OSError as error:
                message = f"on {_host()}, {_where(error)}{error.strerror or first_line(error)}"
                outcome = {"error": ClusterError.__name__, "message": message}
        messages = [str(warning.message) for warning in caught if warning.category is CacheWarning]
        outcome["warnings"] = [f"on {_host()}, {message}" for message in messages]
        return {"outcome": [json.dumps(outcome)]}

    def _outcome(self, part: Part) -> dict[str, Any]:
        """Process a part, unless its shard exists."""
        self._check_files(part)
        pairs, shard = self._work.inputs[part.input], Shard(self._work.folder, part.number)
        items = list(pairs.between(part.start, part.stop))
        if len(items) != part.stop - part.start:
            raise InputError(f"{pairs.name} has become shorter since the run was started")
        digest = chain_digest("", items)
        note, damage = self._note(shard)
        if note is not None:
            if note["digest"] != digest:
                raise input_changed(
                    pairs.name, f"some of the rows {part.start + 1} to {part.stop} differ"
                )
            nothing = {"lost": 0, "damage": None, "queries": asdict(Tally())}
            return {**note, "number": part.number, **nothing}
        lost = shard.start()
        if lost >= TRIES:
            raise ClusterError(
                f"{TRIES} workers were lost over the rows {part.start + 1} to {part.stop} of "
                f"{pairs.name}, perhaps for lack of memory; continue with --resume, with fewer "
                "--rows-at-a-time or --threads"
            )
        note, queries = self._make(pairs, items, shard, digest)
        done = {"lost": lost, "damage": damage, "queries": queries}
        return {**note, "number": part.number, **done}

    def _note(self, shard: Shard) -> tuple[dict[str, Any] | None, str | None]:
        """The note of a shard that exists and is valid, or how it is damaged."""
        try:
            note = shard.note()
            if note is not None:
                check_note(note, self._work.task)
        except ShardError as error:
            damage = f"{shard.path} is damaged ({error})"
            if self._work.finished:
                raise ResumeError(f"{damage}; start over with --overwrite") from None
            return None, damage
        return note, None

    def _make(
        self, pairs: StoredPairs, items: Sequence[Item], shard: Shard, digest: str
    ) -> tuple[dict[str, Any], dict[str, int]]:
        """Process rows and write a shard; returns its note, and the number of model queries."""
        task = self._task()
        before = asdict(task.tally)
        try:
            rows, note = task.process(pairs, items)
        except (InputError, LanguageError) as error:
            if str(error).startswith("row "):  # of which file, if there are several
                raise type(error)(f"{pairs.name}, {error}") from None
            raise
        note = {**note, "digest": digest}
        shard.write(rows, self._work.schema, note)
        queries = {name: count - before[name] for name, count in asdict(task.tally).items()}
        return note, queries

    def _task(self) -> LoadedTask:
        """The task, loaded when first needed; it must be the one that the run started with.

        A different model of the same name, a different precision or a different version of the
        engine would produce other results under the same signature.
        """
        if self._loaded is None:
            task = self._work.task.load(self._work.threads)
            for name, value in task.description.items():
                if value != self._work.job[name]:
                    raise ClusterError(
                        f"on {_host()}, {name} = {value!r}, but where the run was started, "
                        f"{self._work.job[name]!r}; install the same versions and models on all "
                        "nodes"
                    )
            self._loaded = task
        return self._loaded

    def _check_files(self, part: Part) -> None:
        """Check that this node sees the files that the run was started with."""
        if Path.cwd() != self._work.home and self._work.home.is_dir():
            os.chdir(self._work.home)
        for path in [self._work.folder / RECORD, *self._work.inputs[part.input].paths]:
            if not (self._work.home / path).exists():
                raise ClusterError(
                    f"{_host()} does not see {self._work.home / path}; input and output must be in "
                    "a folder that all nodes share"
                )


def check_note(note: Mapping[str, Any], task: Task) -> None:
    """Check that a note has the expected fields."""
    try:
        good = bool(DIGEST.fullmatch(note["digest"]))
        task.check_note(note)
    except (AttributeError, KeyError, TypeError, ValueError):
        good = False
    if not good:
        raise ShardError("its note lacks some of its fields")


def _host() -> str:
    return socket.gethostname()


def _where(error: OSError) -> str:
    return "" if error.filename is None else f"{error.filename}: "
