"""Finds the spans of the rows of files on a Ray cluster."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tertium.data.pairs import Item, StoredPairs
from tertium.data.records import open_table
from tertium.engines.local.reviewing import (
    FLAGS,
    ROWS_AT_A_TIME,
    SEVERITY,
    SPANS,
    ReviewJob,
    ReviewResult,
)
from tertium.engines.output import StreamOutput, TsvLayout
from tertium.engines.progress import NO_PROGRESS, JobProgress
from tertium.engines.ray.cluster import ClusterSettings
from tertium.engines.ray.job import Gathered, ShardedRun, merged_columns
from tertium.engines.ray.shards import ShardFolder
from tertium.engines.ray.worker import LoadedTask
from tertium.explanation.review import DIRECTION, NEED_ENCODER, NEED_MODEL, Reviewer
from tertium.measures.loading import ModelPool, ModelSettings
from tertium.models.cache.memo import Tally


@dataclass(frozen=True)
class ReviewerLoader:
    """A reviewer that was requested, to be loaded in this process or another."""

    methods: tuple[str, ...]
    models: ModelSettings = field(default_factory=ModelSettings)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Further settings of :class:`~tertium.explanation.review.Reviewer`."""

    def load(self, *, threads: int | None = None) -> tuple[Reviewer, ModelPool]:
        """Make the reviewer, and return it with its models."""
        models = self.models if threads is None else replace(self.models, threads=threads)
        pool = ModelPool(models)
        reviewer = Reviewer(
            self.methods,
            pool("translation") if NEED_MODEL.intersection(self.methods) else None,
            pool("tokens") if NEED_ENCODER.intersection(self.methods) else None,
            **self.settings,
        )
        return reviewer, pool


@dataclass(frozen=True)
class ReviewTask:
    """Reviews rows."""

    load_reviewer: ReviewerLoader
    inputs: Sequence[StoredPairs]
    against_source: bool
    rows_at_a_time: int
    columns: Sequence[str]

    def load(self, threads: int) -> LoadedTask:
        reviewer, models = self.load_reviewer.load(threads=threads)

        def process(
            pairs: StoredPairs, items: Sequence[Item]
        ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
            rows, result = self.job(pairs, reviewer).rows_of(items, self.columns)
            return rows, result.document()

        return LoadedTask(self.description(reviewer), process, models.tally or Tally())

    def job(self, pairs: StoredPairs, reviewer: Reviewer) -> ReviewJob:
        """The job that would review one of the files in this process."""
        unused = StreamOutput(io.StringIO(), TsvLayout())
        return ReviewJob(pairs, reviewer, unused, self.against_source, self.rows_at_a_time)

    def description(self, reviewer: Reviewer) -> dict[str, Any]:
        """Everything that must be the same on all nodes and when a run is resumed."""
        described = self.job(self.inputs[0], reviewer).description()
        return {**described, "columns": list(self.columns)}

    def check_note(self, note: Mapping[str, Any]) -> None:
        ReviewResult().merge(note)


@dataclass(frozen=True)
class DistributedReview:
    """Any number of methods over the rows of any number of files, one shard at a time."""

    inputs: Sequence[StoredPairs]
    load: ReviewerLoader
    output: ShardFolder
    against_source: bool
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    rows_at_a_time: int = ROWS_AT_A_TIME

    def count(self) -> int | None:
        """The number of rows."""
        return sum(pairs.count() or 0 for pairs in self.inputs)

    def run(self, progress: JobProgress = NO_PROGRESS) -> tuple[ReviewResult, Gathered]:
        """Review and write everything."""
        reviewer, _ = self.load.load()
        new: dict[str, type] = {SPANS: list, FLAGS: list, SEVERITY: str}
        if DIRECTION in reviewer.methods:
            new[DIRECTION] = float
        task = ReviewTask(self.load, self.inputs, self.against_source, self.rows_at_a_time, ())
        found = [task.job(pairs, reviewer).description()["columns"] for pairs in self.inputs]
        task = replace(task, columns=merged_columns(found, list(new)))
        run = ShardedRun(
            self.inputs,
            task,
            self.output,
            self.cluster,
            self.rows_at_a_time,
            task.description(reviewer),
            new,
            task.columns,
            "explain",
        )
        result = ReviewResult()
        gathered = run(result.merge, progress)
        result.resumed = gathered.resumed
        return result, gathered

    def directions(self) -> list[float]:
        """The scores of directions of all rows of a finished run, if they were requested."""
        if DIRECTION not in self.load.methods:
            return []
        shards = sorted(self.output.path.glob("*.parquet"))
        return [float(record[DIRECTION]) for shard in shards for record in open_table(shard)]
