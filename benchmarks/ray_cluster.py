"""Compare a Ray cluster of two one-core workers with one process with two threads.

    python benchmarks/ray_cluster.py --rows 8000 --measure direct --measure cross

The same distinct pairs are scored without a cache in this process, by a Ray cluster of two worker
nodes on this machine, and by such a cluster that loses one node half-way. All numbers must be the
same, to what the size of a batch may change in float32. Prints a table in Markdown: wall-clock time
(of a cluster, from the first shard to the last, since it takes some seconds to start), and CPU time
of the scoring processes.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from tertium.data.pairs import Languages, TablePairs, choose_columns
from tertium.data.records import open_table
from tertium.jobs.local import run_here
from tertium.jobs.output import FileOutput
from tertium.jobs.progress import JobProgress
from tertium.jobs.ray.cluster import ClusterSettings, import_ray
from tertium.jobs.ray.run import run_on_cluster
from tertium.jobs.ray.shards import ShardFolder
from tertium.jobs.task import Input, Job, one_job
from tertium.jobs.tasks.score import ROWS_AT_A_TIME, ScoreTask, score_table
from tertium.measures.loading import MeasureLoader, ModelSettings, read_specs

SUBJECTS = ("My brother", "The old woman", "Nobody", "A young doctor", "Her teacher", "The child")
VERBS = ("sees", "likes", "has found", "is looking for", "sold", "wants to paint")
OBJECTS = ("a red car", "the small house", "two black cats", "some bread", "this letter", "a tree")
ENDS = ("in the morning", "near the river", "behind the church", "on Sunday", "without a word")
ENGLISH = Languages("en", "en")
NODE = {"num_cpus": 1, "object_store_memory": 80 << 20}
CLOSE = 1e-5
TICKS = os.sysconf("SC_CLK_TCK")


class RecordingLoader(MeasureLoader):
    """Records the id of its process."""

    def load(self, *, threads: int | None = None) -> Any:
        (Path(os.environ["BENCHMARK_PIDS"]) / str(os.getpid())).touch()
        return super().load(threads=threads)


def make_pairs(file: Path, rows: int) -> None:
    """Write pairs of distinct sentences."""
    whole = [" ".join(parts) for parts in itertools.product(SUBJECTS, VERBS, OBJECTS, ENDS)]
    random.Random(3).shuffle(whole)
    texts = (f"{text}, {count} times." for count in itertools.count(1) for text in whole)
    pairs = [{"hyp": next(texts), "ref": next(texts)} for _ in range(rows)]
    parquet.write_table(pa.Table.from_pylist(pairs), file, row_group_size=1000)


def core_seconds(pid: Path) -> float:
    """The CPU time of a process; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid.name}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


class Clock:
    """Records when shards were finished, and the CPU time of the workers until then."""

    def __init__(self, pids: Path, kill_at: int | None, kill: Any) -> None:
        self.marks: list[tuple[float, int]] = []
        self.used: dict[Path, float] = {}
        self._pids, self._kill_at, self._kill = pids, kill_at, kill

    def __call__(self, rows: int) -> None:
        self.marks.append((time.monotonic(), rows))
        for pid in self._pids.iterdir():
            self.used[pid] = max(self.used.get(pid, 0.0), core_seconds(pid))
        if self._kill_at is not None and rows >= self._kill_at:
            self._kill_at = None
            self._kill()


def run_local(pairs: TablePairs, names: list[str], out: Path) -> tuple[Any, str]:
    load = MeasureLoader(read_specs(names), ModelSettings(threads=2, cache=False))
    job = Job(ScoreTask.requested(load), [Input(pairs)], ROWS_AT_A_TIME)
    loaded = job.task.load()
    started, used = time.monotonic(), time.process_time()
    result = run_here(one_job(job, partial(score_table, job), loaded), FileOutput(out))
    seconds, used = time.monotonic() - started, time.process_time() - used
    return result, line("this process, 2 threads", result.rows, seconds, used)


def run_cluster(
    pairs: TablePairs, names: list[str], out: Path, rows_at_a_time: int, *, lose_one: bool
) -> tuple[Any, str]:
    from ray.cluster_utils import Cluster

    os.environ["BENCHMARK_PIDS"] = str(out) + ".pids"
    pids = Path(os.environ["BENCHMARK_PIDS"])
    pids.mkdir()
    head = {**NODE, "num_cpus": 0, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(**NODE) for _ in range(2)]
    load = RecordingLoader(read_specs(names), ModelSettings(cache=False))
    job = Job(ScoreTask.requested(load), [Input(pairs)], rows_at_a_time)
    half = (pairs.count() or 0) // 2
    clock = Clock(
        pids,
        half if lose_one else None,
        lambda: cluster.remove_node(nodes[1], allow_graceful=False),
    )
    address = ClusterSettings(cluster.address)
    plan = one_job(job, partial(score_table, job))
    results = run_on_cluster(plan, ShardFolder(out), address, JobProgress(clock))
    cluster.shutdown()
    (first, before), (last, after) = clock.marks[0], clock.marks[-1]
    name = "two workers, one killed half-way" if lose_one else "two workers, 1 core each"
    return results, line(name, after - before, last - first, sum(clock.used.values()), after)


def line(name: str, rows: int, seconds: float, used: float, in_all: int | None = None) -> str:
    each = 1000 * used / (in_all or rows)
    return f"| {name} | {rows / seconds:.1f} | {each:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--rows-at-a-time", type=int, default=100)
    parser.add_argument("--measure", action="append", default=[])
    options = parser.parse_args()
    import_ray()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_pairs(folder / "pairs.parquet", options.rows)
        table = open_table(folder / "pairs.parquet")
        pairs = TablePairs(table, choose_columns(table), ENGLISH)
        for measure in options.measure or ["direct"]:
            print(f"\n{measure}, {options.rows} pairs; load {os.getloadavg()[0]:.1f} at the start")
            print("\n| where | pairs per second | core-seconds per 1 000 pairs |\n|---|---|---|")
            local = folder / f"{measure}.parquet"
            expected, shown = run_local(pairs, [measure], local)
            print(shown, flush=True)
            rows = parquet.read_table(local).to_pylist()
            for lose_one in (False, True):
                out = folder / f"{measure}-{lose_one}"
                results, shown = run_cluster(
                    pairs, [measure], out, options.rows_at_a_time, lose_one=lose_one
                )
                assert abs(results[measure].system - expected[measure].system) <= CLOSE
                for row, other in zip(parquet.read_table(out).to_pylist(), rows, strict=True):
                    assert abs(row.pop(measure) - other[measure]) <= CLOSE
                    assert row.items() <= other.items()
                print(shown, flush=True)
        print(f"\nload {os.getloadavg()[0]:.1f} at the end; all numbers are the same to {CLOSE}")


if __name__ == "__main__":
    main()
