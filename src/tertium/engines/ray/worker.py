"""A worker of a cluster: loads the models once, and scores one shard after another."""

from __future__ import annotations

import json
import os
import re
import socket
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tertium.data.pairs import Item, StoredPairs
from tertium.engines.ray.shards import Shard, ShardError
from tertium.engines.scoring import Scorer, Sums, chain_digest, describe
from tertium.errors import (
    CacheWarning,
    ClusterError,
    InputError,
    LanguageError,
    ResumeError,
    TertiumError,
    first_line,
)
from tertium.measures.base import Measure
from tertium.measures.loading import MeasureLoader
from tertium.measures.totals import Totals
from tertium.models.cache.memo import Tally
from tertium.storage.resume import RECORD, input_changed

DIGEST = re.compile("[0-9a-f]{64}")
TRIES = 5
"""The number of lost workers after which a shard is taken to be the cause."""


@dataclass(frozen=True)
class Part:
    """A range of rows of an input, which becomes one shard."""

    number: int
    input: int
    start: int
    stop: int


@dataclass(frozen=True)
class Work:
    """Everything that a worker needs to know to score any shard."""

    inputs: Sequence[StoredPairs]
    load: MeasureLoader
    threads: int
    job: Mapping[str, Any]
    columns: Sequence[str]
    schema: Any
    scores_only: bool
    folder: Path
    home: Path
    """The folder that relative paths start from."""
    finished: bool = False
    """Whether the folder was complete before; it is then only checked."""


class ShardWorker:
    """Scores one part at a time; returns the outcome as JSON."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._loaded: tuple[Sequence[Measure], Tally] | None = None

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[str]]:
        """Score the part in a batch of one; errors are returned, for the run to raise."""
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
        """Score a part, unless its shard exists."""
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
        note, queries = self._score(pairs, items, shard, digest)
        done = {"lost": lost, "damage": damage, "queries": queries}
        return {**note, "number": part.number, **done}

    def _note(self, shard: Shard) -> tuple[dict[str, Any] | None, str | None]:
        """The note of a shard that exists and is valid, or how it is damaged."""
        try:
            note = shard.note()
            if note is not None:
                check_note(note, [name for name, _ in self._work.job["measures"]])
        except ShardError as error:
            damage = f"{shard.path} is damaged ({error})"
            if self._work.finished:
                raise ResumeError(f"{damage}; start over with --overwrite") from None
            return None, damage
        return note, None

    def _score(
        self, pairs: StoredPairs, items: Sequence[Item], shard: Shard, digest: str
    ) -> tuple[dict[str, Any], dict[str, int]]:
        """Score and write a shard; returns its note, and the number of model queries."""
        measures, tally = self._measures()
        before = asdict(tally)
        try:
            scorer = Scorer(pairs, measures, self._work.scores_only)
            scored = scorer.score(items, self._work.columns)
        except (InputError, LanguageError) as error:
            if str(error).startswith("row "):  # of which file, if there are several
                raise type(error)(f"{pairs.name}, {error}") from None
            raise
        note = {**scored.sums.state(), "digest": digest}
        shard.write(scored.rows, self._work.schema, note)
        queries = {name: count - before[name] for name, count in asdict(tally).items()}
        return note, queries

    def _measures(self) -> tuple[Sequence[Measure], Tally]:
        """The measures, loaded when first needed; they must be those that the run started with.

        A different model of the same name, a different precision or a different version of the
        engine would produce other scores under the same signature.
        """
        if self._loaded is None:
            measures, models = self._work.load.load(threads=self._work.threads)
            self._loaded = measures, models.tally or Tally()
            size = self._work.job["rows_at_a_time"]
            mine = describe(self._loaded[0], self._work.columns, size)
            for name, value in mine.items():
                if value != self._work.job[name]:
                    raise ClusterError(
                        f"on {_host()}, {name} = {value!r}, but where the run was started, "
                        f"{self._work.job[name]!r}; install the same versions and models on all "
                        "nodes"
                    )
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


def check_note(note: Mapping[str, Any], measures: Sequence[str]) -> None:
    """Check that a note has the expected fields."""
    try:
        good = DIGEST.fullmatch(note["digest"]) and isinstance(note["cut"], int)
        good = good and set(note["totals"]) == set(measures)
        for totals in Sums.from_state(note).totals.values():
            Totals().merge(totals)
    except (AttributeError, KeyError, TypeError, ValueError):
        good = False
    if not good:
        raise ShardError("its note lacks some of its fields")


def _host() -> str:
    return socket.gethostname()


def _where(error: OSError) -> str:
    return "" if error.filename is None else f"{error.filename}: "
