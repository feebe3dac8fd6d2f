"""The folder that a filtering run works in: what it is, how far it has come, and its verdicts.

It stands beside the output as ``OUT.part`` and goes when the output is whole.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tertium.errors import ResumeError
from tertium.storage.atomic import write_text
from tertium.storage.resume import check_same_job

VERDICT = np.dtype([("filter", "u1"), ("reason", "u1"), ("value", "<f4")])
"""Of each row, the filter that removed it and its reason, counted from 1; 0 if none did."""
Verdicts = NDArray[Any]


@dataclass(frozen=True)
class WorkFolder:
    """Verdicts are on disk before the state says so: a killed run goes on from its state."""

    path: Path

    def begin(self, job: Mapping[str, Any], *, resume: bool, overwrite: bool) -> dict[str, Any]:
        """Start, or take up what is there; returns the state."""
        if self._job_file.exists() and not (resume or overwrite):
            raise ResumeError(
                f"{self.path} is an unfinished run; "
                "take it up again with --resume, or begin anew with --overwrite"
            )
        if self._job_file.exists() and resume:
            check_same_job(self.path, json.loads(self._job_file.read_text("utf-8")), job)
            state: dict[str, Any] = json.loads(self._state_file.read_text("utf-8"))
            return state
        self._refuse_what_is_not_ours()
        self.remove()
        self.path.mkdir()
        self.verdict_file.touch()
        self.save({"stage": 0, "rows": 0, "digest": ""})
        write_text(self._job_file, json.dumps(job))  # last: from now on there is a run
        return {"stage": 0, "rows": 0, "digest": ""}

    def save(self, state: Mapping[str, Any]) -> None:
        write_text(self._state_file, json.dumps(state))

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def verdict_file(self) -> Path:
        return self.path / "verdicts"

    def put(self, start: int, verdicts: Verdicts) -> None:
        """Write the verdicts on some rows."""
        with self.verdict_file.open("r+b") as stream:
            stream.seek(start * VERDICT.itemsize)
            stream.write(verdicts.tobytes())
            stream.flush()
            os.fsync(stream.fileno())

    def get(self, start: int, count: int) -> Verdicts:
        """Read the verdicts on some rows."""
        with self.verdict_file.open("rb") as stream:
            stream.seek(start * VERDICT.itemsize)
            found = np.frombuffer(stream.read(count * VERDICT.itemsize), dtype=VERDICT)
        if len(found) < count:
            raise ResumeError(
                f"{self.path}: there are fewer verdicts than rows; has the input grown since? "
                "begin anew with --overwrite"
            )
        return found.copy()

    def append(self, name: str, values: NDArray[Any], before: int) -> None:
        """Add to a file of numbers that is good up to the entry ``before``."""
        file = self.path / name
        file.touch()
        with file.open("r+b") as stream:
            size = before * values[:1].nbytes
            stream.truncate(size)
            stream.seek(size)
            stream.write(np.ascontiguousarray(values).tobytes())
            stream.flush()
            os.fsync(stream.fileno())

    def _refuse_what_is_not_ours(self) -> None:
        """A folder is ours if it tells of a job, or holds only what is there before that."""
        if not os.path.lexists(self.path) or self._job_file.exists():
            return
        early = {file.name for file in (self.verdict_file, self._state_file, self._job_file)}
        early |= {f"{name}.new" for name in early}
        if not self.path.is_dir() or {file.name for file in self.path.iterdir()} - early:
            raise ResumeError(
                f"{self.path} is there, and no unfinished run; move it away, or name another output"
            )

    @property
    def _job_file(self) -> Path:
        return self.path / "job.json"

    @property
    def _state_file(self) -> Path:
        return self.path / "state.json"
