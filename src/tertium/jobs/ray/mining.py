"""Encodes and rescores on a Ray cluster: stand-ins for an encoder and a measure.

What they compute is saved where it always is (vectors in their store, scores in the unfinished
run), so that mining is resumed in the same way as in one process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tertium.errors import ClusterError, SettingError, TertiumError
from tertium.jobs.ray.cluster import (
    ClusterSettings,
    connected,
    error_line,
    workers_and_threads,
)
from tertium.measures.base import Measure, Segments
from tertium.measures.loading import MeasureSpec, ModelPool, ModelSettings, make_measure
from tertium.mining.mine import MinedPair, Miner, Task, TextList
from tertium.mining.vectors import VectorStore
from tertium.models.base import Languages, Progress, SentenceEncoder, SentenceVectors
from tertium.storage.resume import UnfinishedRun
from tertium.text import Row

CHUNKS_AT_A_TIME = 16
"""Chunks that are computed before they are saved: enough to keep several workers busy."""
MANY_PARTS = 1 << 20
"""The number of chunks is not known when workers are started."""


@dataclass(frozen=True)
class MiningLoader:
    """An encoder and a measure that were requested, to be loaded in this process or another."""

    models: ModelSettings = field(default_factory=ModelSettings)
    spec: MeasureSpec | None = None
    lang: str | None = None

    def load(self, *, threads: int | None = None) -> tuple[SentenceEncoder, Measure | None]:
        """Load the models; the measure is None if there is none."""
        models = self.models if threads is None else replace(self.models, threads=threads)
        pool = ModelPool(models)
        measure = None if self.spec is None else make_measure(self.spec, pool, lang=self.lang)
        return pool("sentences"), measure


class MiningWorker:
    """Encodes texts, or scores rows; its models must be those that the run was started with."""

    def __init__(self, load: MiningLoader, threads: int, expected: str) -> None:
        self._load, self._threads, self._expected = load, threads, expected
        self._loaded: tuple[SentenceEncoder, Measure | None] | None = None

    def encode(self, texts: Sequence[str], lang: Languages) -> SentenceVectors:
        encoder, _ = self._models()
        return encoder.sentence_vectors(texts, lang=lang)

    def score(self, rows: Sequence[Row]) -> Segments:
        _, measure = self._models()
        assert measure is not None
        return measure.segments(rows)

    def _models(self) -> tuple[SentenceEncoder, Measure | None]:
        if self._loaded is None:
            found = self._load.load(threads=self._threads)
            if (here := describe(*found)) != self._expected:
                raise ClusterError(
                    f"on a worker: {here}, but where the run was started: {self._expected}; "
                    "install the same versions and models on all nodes"
                )
            self._loaded = found
        return self._loaded


def describe(encoder: SentenceEncoder, measure: Measure | None) -> str:
    """Everything of the models that can change a number."""
    described = f"encoder {encoder.fingerprint} {dict(encoder.settings)}"
    return described if measure is None else f"{described}, measure {measure.description()}"


class Workers:
    """Actors that are given one chunk at a time; one that is lost is restarted, and repeats it."""

    def __init__(self, ray: Any, load: MiningLoader, count: int, threads: int, expected: str):
        self._ray = ray
        kind = ray.remote(num_cpus=threads, max_restarts=-1, max_task_retries=-1)(MiningWorker)
        self._actors = [kind.remote(load, threads, expected) for _ in range(count)]

    def map(self, call: Callable[[Any, Any], Any], chunks: Sequence[Any]) -> list[Any]:
        """Call a method with each chunk; the results are in the order of the chunks."""
        from ray.util import ActorPool

        try:
            return list(ActorPool(self._actors).map(call, chunks))
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, TertiumError):
                raise error.cause from None
            raise ClusterError(f"a worker has failed: {error_line(error)}") from error
        except self._ray.exceptions.RayError as error:
            raise ClusterError(
                f"the cluster has failed: {error_line(error)}; continue with --resume"
            ) from error


@dataclass(frozen=True)
class RemoteEncoder:
    """An encoder whose texts are encoded by workers."""

    encoder: SentenceEncoder
    workers: Workers
    texts_at_a_time: int

    @property
    def name(self) -> str:
        return self.encoder.name

    @property
    def fingerprint(self) -> str:
        return self.encoder.fingerprint

    @property
    def settings(self) -> Mapping[str, str]:
        return self.encoder.settings

    def sentence_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> SentenceVectors:
        import numpy as np

        found = self.workers.map(
            lambda worker, chunk: worker.encode.remote(chunk, lang),
            chunked(texts, self.texts_at_a_time),
        )
        cut = tuple(each for vectors in found for each in vectors.cut)
        return SentenceVectors(np.concatenate([vectors.vectors for vectors in found]), cut)


class RemoteMeasure:
    """A measure whose rows are scored by workers; everything else is that of the measure."""

    def __init__(self, measure: Measure, workers: Workers, rows_at_a_time: int) -> None:
        if measure.needs_all_rows:
            raise SettingError(
                f"{measure.name} with these settings scores all rows at once, and a worker sees "
                "only some of them; use --engine local"
            )
        self._measure, self._workers, self._rows_at_a_time = measure, workers, rows_at_a_time

    def __getattr__(self, name: str) -> Any:
        return getattr(self._measure, name)

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        found = self._workers.map(
            lambda worker, chunk: worker.score.remote(chunk), chunked(rows, self._rows_at_a_time)
        )
        return Segments(
            [score for each in found for score in each.scores],
            [statistics for each in found for statistics in each.statistics],
            [cut for each in found for cut in each.cut],
        )


def mine_on_cluster(
    miner: Miner,
    load: MiningLoader,
    cluster: ClusterSettings,
    lists: Sequence[TextList],
    *,
    task: Task,
    run: UnfinishedRun | None = None,
    progress: Progress | None = None,
) -> list[MinedPair]:
    """Mine with workers that encode and rescore; neighbours are searched in this process.

    ``load`` loads the encoder and the measure of the miner. Chunks have the size of what one
    process computes at a time, so that results are the same.
    """
    encoder, measure = miner.encoder, miner.measure
    rows = miner.pairs_at_a_time
    with connected(cluster) as ray, tempfile.TemporaryDirectory() as scratch:
        nodes = [node for node in ray.nodes() if node["Alive"]]
        cores = [int(node["Resources"].get("CPU", 0)) for node in nodes]
        count, threads = workers_and_threads(cluster, cores, MANY_PARTS)
        workers = Workers(ray, load, count, threads, describe(encoder, measure))
        store = miner.store or VectorStore(Path(scratch))
        texts = store.texts_at_a_time
        remote: Any = None if measure is None else RemoteMeasure(measure, workers, rows)
        distributed = replace(
            miner,
            encoder=RemoteEncoder(encoder, workers, texts),
            measure=remote,
            store=replace(store, texts_at_a_time=CHUNKS_AT_A_TIME * texts),
            pairs_at_a_time=CHUNKS_AT_A_TIME * rows,
        )
        return distributed.mine(*lists, task=task, run=run, progress=progress)


def chunked(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Cut a sequence into parts of one size; the last may be shorter.

    >>> chunked("abcde", 2)
    ['ab', 'cd', 'e']
    """
    return [items[start : start + size] for start in range(0, len(items), size)]
