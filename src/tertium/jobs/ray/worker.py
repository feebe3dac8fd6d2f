"""A worker of a cluster: loads the models of a task once, and makes one shard after another."""

from __future__ import annotations

import json
import os
import re
import socket
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from tertium.errors import (
    CacheWarning,
    ClusterError,
    InputError,
    Message,
    ResumeError,
    TertiumError,
    first_line,
)
from tertium.jobs.ray.shards import Shard, ShardError
from tertium.jobs.task import Job, Loaded, Outcome, Part, Task, digest_of
from tertium.models.cached import Tally
from tertium.storage.resume import RECORD, START_OVER, input_changed

DIGEST = re.compile("[0-9a-f]{64}")
TRIES = 5
"""The number of lost workers after which a shard is taken to be the cause."""


@dataclass(frozen=True)
class Span:
    """A range of rows of an input, which becomes one shard."""

    number: int
    input: int
    start: int
    stop: int


@dataclass(frozen=True)
class Work:
    """Everything that a worker needs to know to make any shard."""

    job: Job
    threads: int
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
        self._loaded: Loaded | None = None

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[str]]:
        """Process the span in a batch of one; errors are returned, for the run to raise."""
        span = Span(**{name: int(values[0]) for name, values in batch.items()})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", CacheWarning)
            try:
                outcome = self._outcome(span)
            except TertiumError as error:
                outcome = {"error": type(error).__name__, "message": asdict(error.message)}
            except OSError as error:
                message = f"on {_host()}, {_where(error)}{error.strerror or first_line(error)}"
                outcome = {"error": ClusterError.__name__, "message": asdict(Message(message))}
        messages = [str(warning.message) for warning in caught if warning.category is CacheWarning]
        outcome["warnings"] = [f"on {_host()}, {message}" for message in messages]
        return {"outcome": [json.dumps(outcome)]}

    def _outcome(self, span: Span) -> dict[str, Any]:
        """Process a span, unless its shard exists."""
        self._check_files(span)
        source = self._work.job.inputs[span.input].source
        shard = Shard(self._work.folder, span.number)
        rows = list(source.between(span.start, span.stop))
        if len(rows) != span.stop - span.start:
            raise InputError(f"{source.name} has become shorter since the run was started")
        digest = digest_of(rows)
        note, damage = self._note(shard)
        if note is not None:
            if note["digest"] != digest:
                raise input_changed(
                    source.name, f"some of the rows {span.start + 1} to {span.stop} differ"
                )
            nothing = {"lost": 0, "damage": None, "queries": None, "host": _host()}
            return {**note, "number": span.number, **nothing}
        lost = shard.start()
        if lost >= TRIES:
            raise ClusterError(
                f"{TRIES} workers were lost over the rows {span.start + 1} to {span.stop} of "
                f"{source.name}, perhaps for lack of memory",
                cure="continue with {resume:True} and smaller {rows_at_a_time} or {threads}",
            )
        loaded = self._task()
        before = asdict(loaded.tally or Tally())
        written, outcome = self._work.job.process(loaded, Part(span.input, rows))
        note = {
            **vars(outcome),
            "size": len(written),
            "digest": digest,
            "description": dict(loaded.description),
        }
        shard.write(written, self._work.schema, note)
        queries = None
        if loaded.tally is not None:
            now = asdict(loaded.tally)
            queries = {name: count - before[name] for name, count in now.items()}
        about = {"lost": lost, "damage": damage, "queries": queries, "host": _host()}
        return {**note, "number": span.number, **about}

    def _note(self, shard: Shard) -> tuple[dict[str, Any] | None, str | None]:
        """The note of a shard that exists and is valid, or how it is damaged."""
        try:
            note = shard.note()
            if note is not None:
                check_note(note, self._work.job.task)
        except ShardError as error:
            damage = f"{shard.path} is damaged ({error})"
            if self._work.finished:
                raise ResumeError(damage, cure=START_OVER) from None
            return None, damage
        return note, None

    def _task(self) -> Loaded:
        """The task, loaded when first needed."""
        if self._loaded is None:
            self._loaded = self._work.job.task.load(self._work.threads)
        return self._loaded

    def _check_files(self, span: Span) -> None:
        """Check that this node sees the files that the run was started with."""
        if Path.cwd() != self._work.home and self._work.home.is_dir():
            os.chdir(self._work.home)
        source = self._work.job.inputs[span.input].source
        for path in [self._work.folder / RECORD, *source.paths]:
            if not (self._work.home / path).exists():
                raise ClusterError(
                    f"{_host()} does not see {self._work.home / path}; input and output must be in "
                    "a folder that all nodes share"
                )


def outcome_of(note: Mapping[str, Any]) -> Outcome:
    """The outcome in a note, which holds more."""
    return Outcome(**{each.name: note[each.name] for each in fields(Outcome)})


def check_note(note: Mapping[str, Any], task: Task) -> None:
    """Check that a note has the expected fields."""
    try:
        good = bool(DIGEST.fullmatch(note["digest"])) and isinstance(note["description"], dict)
        outcome_of(note).check(task)
    except (AttributeError, KeyError, TypeError, ValueError):
        good = False
    if not good:
        raise ShardError("its note lacks some of its fields")


def _host() -> str:
    return socket.gethostname()


def _where(error: OSError) -> str:
    return "" if error.filename is None else f"{error.filename}: "
