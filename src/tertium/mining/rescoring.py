"""A second opinion on candidate pairs: any measure scores them, and the run can be resumed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium._version import __version__
from tertium.errors import ResumeError
from tertium.measures.base import Measure, check_readable
from tertium.models.base import Progress
from tertium.storage.atomic import write_at
from tertium.storage.resume import UnfinishedRun, chain_digest
from tertium.text import Row, Text

RESCORED = "rescored"
PAIRS_AT_A_TIME = 1024
RECORD = np.dtype([("score", "<f8"), ("cut", "?")])
TextPair = tuple[Text, Text]


class Rescored(NamedTuple):
    """The score of each pair, and which pairs have a text that was truncated."""

    scores: NDArray[np.float64]
    cut: NDArray[np.bool_]


def rescoring_run(out: Path, *, resume: bool = False, overwrite: bool = False) -> UnfinishedRun:
    """The unfinished run of an output file; its scores are in ``OUT.part`` until it is complete."""
    return UnfinishedRun(out, files=RESCORED, results=RESCORED, resume=resume, overwrite=overwrite)


def rescore(
    measure: Measure,
    pairs: Sequence[TextPair],
    *,
    run: UnfinishedRun | None = None,
    progress: Progress | None = None,
    pairs_at_a_time: int = PAIRS_AT_A_TIME,
) -> Rescored:
    """Score pairs by a measure; the second text is the hypothesis, the first is what it reads.

    The first text is both the reference and the source, so that every measure has what it needs.
    With ``run``, scores are saved after every block, and a resumed run continues after the last.
    """
    check_readable(measure, "the list of pairs", has_references=True, has_source=True)
    size = max(1, len(pairs)) if measure.needs_all_rows else pairs_at_a_time
    found = np.empty(len(pairs), RECORD)
    done = 0
    if run is not None:
        state = run.start(
            {
                "measure": measure.description(),
                "pairs": chain_digest("", pairs),
                "pairs_at_a_time": size,
                "version": __version__,
            }
        )
        done = 0 if state is None else state["done"]
        found[:done] = _read(run, done)
    while done < len(pairs):
        some = pairs[done : done + size]
        rows = [
            Row(done + number, second, (first,), first)
            for number, (first, second) in enumerate(some, start=1)
        ]
        segments = measure.segments(rows)
        block = found[done : done + len(some)]
        block["score"], block["cut"] = segments.scores, segments.cut
        if run is not None:
            with run.explaining():
                write_at(run.part / RESCORED, done * RECORD.itemsize, block.tobytes())
            run.save({"done": done + len(some)})
        done += len(some)
        if progress is not None:
            progress("rescoring", done, len(pairs))
    return Rescored(found["score"].copy(), found["cut"].copy())


def _read(run: UnfinishedRun, count: int) -> NDArray[np.void]:
    if not count:
        return np.empty(0, RECORD)
    saved = np.fromfile(run.part / RESCORED, RECORD, count)
    if len(saved) < count:
        raise ResumeError(
            f"{run.part / RESCORED} is shorter than it was; start over with --overwrite"
        )
    return saved
