"""A real cluster of two nodes on this machine: the numbers of a local run, whatever is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from pyarrow import parquet

from tertium.data.pairs import Languages, TablePairs, choose_columns
from tertium.data.records import open_table
from tertium.errors import ClusterError
from tertium.jobs.local import run_here
from tertium.jobs.output import FileOutput
from tertium.jobs.ray.cluster import ClusterSettings, import_ray
from tertium.jobs.ray.run import run_on_cluster
from tertium.jobs.ray.shards import ShardFolder
from tertium.jobs.task import Input, Job, JobProgress, one_job
from tertium.jobs.tasks.score import Scorer, ScoreTask, score_table
from tertium.measures.loading import MeasureLoader, ModelSettings, read_specs
from tertium.models.results import examine

from ...cli.conftest import Run, tertium

try:
    ray = import_ray()
except ClusterError:
    pytest.skip("RAY IS NOT INSTALLED: nothing distributed is tested", allow_module_level=True)
pytestmark = [  # Ray warns of its own code
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

__all__ = ["tertium"]

WHO = ("My brother", "The old man", "She", "Our teacher", "The dog")
DOES = ("reads", "sees", "wants", "finds", "has")
WHAT = ("a book.", "the sea.", "a new car.", "the red house.", "three letters today.")
SIZES = (50, 46)
ROWS_AT_A_TIME = 8
SOON = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 120_000,
    "health_check_failure_threshold": 3,
}
"""Notice a lost node at once, instead of after half a minute: a connection to it is refused.
A node that is only slow, on a busy machine, has two minutes to answer."""
FREE_SHARDS = 7
"""So many shards of 13 are scored before the workers wait: more than the driver must have seen."""
HOLD, HELD = "hold", "*.held"
PATIENCE = 300
ENGLISH = Languages("en", "en")
MEASURES = ["direct", "chrf"]
CLOSE = 1e-6
"""In float32 a score depends on the size of its batch in the seventh digit."""


class HeldLoader(MeasureLoader):
    """After some shards, its workers wait inside a shard for as long as the file HOLD exists.

    One that waits says so with a file that is named after its process.
    """

    def load(self, *, threads: int | None = None) -> Any:
        score = Scorer.__call__
        folder = Path(os.environ["TERTIUM_CACHE"])
        held = folder / HELD.replace("*", str(os.getpid()))

        def hold(*arguments: Any) -> Any:
            if len(list(folder.glob("*.scored"))) >= FREE_SHARDS and (folder / HOLD).exists():
                held.touch()
                wait_until(lambda: not (folder / HOLD).exists())
            scored = score(*arguments)
            (folder / f"{uuid4()}.scored").touch()
            return scored

        Scorer.__call__ = hold  # type: ignore[method-assign, assignment]
        return super().load(threads=threads)


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two nodes with a core each."""
    from ray.cluster_utils import Cluster

    size = {"num_cpus": 1, "object_store_memory": 80 << 20}
    cache = tmp_path_factory.mktemp("cluster") / "cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("TERTIUM_CACHE", str(cache))
        head = {**size, "include_dashboard": False, "_system_config": SOON}
        nodes = Cluster(initialize_head=True, head_node_args=head)
        nodes.add_node(**size)
        nodes.cache = cache
        yield nodes
        nodes.shutdown()


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two Parquet files, the first of them in several row groups."""
    draw = random.Random(7)
    folder = tmp_path_factory.mktemp("pairs")
    for number, size in enumerate(SIZES):
        rows = [
            {
                "id": f"{number}-{row}",
                "year": 2000 + row if row % 7 else None,
                **{
                    side: f"{draw.choice(WHO)} {draw.choice(DOES)} {draw.choice(WHAT)}"
                    for side in ("hyp", "ref")
                },
            }
            for row in range(size)
        ]
        file = folder / f"{number}.parquet"
        parquet.write_table(pa.Table.from_pylist(rows), file, row_group_size=20 if number else 50)
    return folder


def pairs_of(path: Path) -> TablePairs:
    table = open_table(path)
    return TablePairs(table, choose_columns(table), ENGLISH)


def loader(kind: type[MeasureLoader] = MeasureLoader, *, cache: bool = False) -> MeasureLoader:
    return kind(read_specs(MEASURES), ModelSettings(cache=cache))


def same_rows(found: list[Any], expected: list[Any]) -> bool:
    return (
        len(found) == len(expected)
        and all(
            one == pytest.approx(other, abs=CLOSE) if isinstance(one, float) else one == other
            for row, known in zip(found, expected, strict=True)
            for one, other in zip(row.values(), known.values(), strict=True)
        )
        and all(row.keys() == known.keys() for row, known in zip(found, expected, strict=True))
    )


@pytest.fixture(scope="module")
def local(shards: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, list[Any]]:
    """What a local run finds in all the rows, as one file."""
    folder = tmp_path_factory.mktemp("local")
    whole = pa.concat_tables([parquet.read_table(file) for file in sorted(shards.iterdir())])
    parquet.write_table(whole, folder / "pairs.parquet")
    out = folder / "scored.parquet"
    job = job_of([folder / "pairs.parquet"], loader())
    found = run_here(one_job(job, partial(score_table, job)), FileOutput(out))
    return {name: found[name] for name in found.measures}, parquet.read_table(out).to_pylist()


def job_of(files: list[Path], load: MeasureLoader) -> Job:
    inputs = [Input(pairs_of(file)) for file in files]
    return Job(ScoreTask.requested(load), inputs, ROWS_AT_A_TIME)


@pytest.mark.filterwarnings("always::tertium.errors.ResumeWarning")
def test_the_same_numbers_as_a_local_run(
    tertium: Run, cluster: Any, shards: Path, local: tuple[Any, list[Any]], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = ("score", shards, "-m", "direct", "-m", "chrf", "--lang", "en", "--json", "-o", out)
    engine = ("--engine", "ray", "--address", cluster.address, "--rows-at-a-time", "8")
    done = tertium(*command, *engine)
    assert done.returncode == 0, done.stderr
    results, rows = local
    document = json.loads(done.stdout)
    for name, result in results.items():
        assert document["measures"][name]["system"] == pytest.approx(result.system, abs=CLOSE)
        assert document["measures"][name]["signature"] == result.signature.long
    assert document["rows"] == sum(SIZES)
    assert document["queries"]["total"] == 4 * sum(SIZES)
    assert len(list(out.glob("*.parquet"))) == 7 + 6
    assert same_rows(parquet.read_table(out).to_pylist(), rows)
    assert examine(cluster.cache / "answers-2.sqlite").results  # the workers' own cache

    refused = tertium(*command, *engine)
    assert "already exists" in refused.stderr
    os.rename(out, tmp_path / "out.part")
    for number in (3, 12):
        (tmp_path / "out.part" / f"part-{number:06}.parquet").unlink()
    damaged = tmp_path / "out.part" / "part-000001.parquet"
    os.truncate(damaged, 3000)
    resumed = tertium(*command[:-3], "-o", out, *engine, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert "96 rows in" in resumed.stderr
    assert "74 of them scored before" in resumed.stderr
    assert f"{damaged} is damaged (" in resumed.stderr
    assert same_rows(parquet.read_table(out).to_pylist(), rows)


def kill_worker(cluster: Any) -> None:
    """Kill a process that is at a shard."""
    [first, *_] = cluster.cache.glob(HELD)
    os.kill(int(first.stem), signal.SIGKILL)


def kill_node(cluster: Any) -> None:
    """Kill the second node with everything on it."""
    [node] = cluster.worker_nodes
    cluster.remove_node(node, allow_graceful=False)


@pytest.mark.parametrize("kill", [kill_worker, kill_node])  # in this order: no node comes back
def test_what_is_lost_is_done_again(
    kill: Any,
    cluster: Any,
    shards: Path,
    local: tuple[Any, list[Any]],
    tmp_path: Path,
) -> None:
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    job = job_of(sorted(shards.iterdir()), loader(HeldLoader))
    cluster.cache.mkdir(parents=True, exist_ok=True)
    for left in (*cluster.cache.glob("*.scored"), *cluster.cache.glob(HELD)):
        left.unlink()
    hold = cluster.cache / HOLD
    hold.touch()
    killed: list[int] = []

    def advance(rows: int) -> None:
        if rows >= 4 * ROWS_AT_A_TIME and not killed:
            killed.append(rows)
            wait_until(lambda: len(list(cluster.cache.glob(HELD))) == 2)  # both are at a shard
            kill(cluster)
            hold.unlink()

    results, rows = local
    scored = run_on_cluster(
        one_job(job, partial(score_table, job)),
        ShardFolder(tmp_path / "out"),
        ClusterSettings(cluster.address),
        JobProgress(advance),
    )
    for name, result in results.items():
        assert scored[name].system == pytest.approx(result.system, abs=CLOSE)
        assert scored[name].signature == result.signature
    assert list(scored.measures) == list(results)
    assert killed
    assert killed[0] < sum(SIZES) / 2
    assert scored.rows == sum(SIZES)
    assert scored.resumed == 0
    # Before its processes end, a node may finish its shard.
    assert kill is kill_node or scored.messages
    assert same_rows(parquet.read_table(tmp_path / "out").to_pylist(), rows)


def test_a_row_that_cannot_be_scored_is_named(tertium: Run, cluster: Any, tmp_path: Path) -> None:
    good = {"hyp": "a", "ref": "a"}
    lines = [json.dumps({**good, "hyp": 3} if row == 20 else good) for row in range(1, 30)]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(lines))
    engine = ("--engine", "ray", "--address", cluster.address, "--rows-at-a-time", "8")
    done = tertium("score", file, "-m", "chrf", "-o", tmp_path / "out", *engine)
    assert done.returncode == 2
    assert f"tertium: {file}, row 20: the hypothesis is int, not text" in done.stderr
    assert not (tmp_path / "out").exists()


def test_all_that_a_local_run_can_do(tertium: Run, cluster: Any, tmp_path: Path) -> None:
    """Several systems, tables, bad rows, parts and files give what a local run gives."""
    systems = {"a": ["A dog.", "It rains today."], "b": ["A cat.", "It rained."]}
    for name, lines in {**systems, "ref": ["A dog.", "It rained."]}.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    table = tmp_path / "pairs.jsonl"
    table.write_text('{"hyp": "a", "ref": "a"}\n{"hyp": 3, "ref": "a"}\n')
    files = ("-t", tmp_path / "a.txt", tmp_path / "b.txt", "-r", tmp_path / "ref.txt")
    commands: list[tuple[Any, ...]] = [
        ("score", *files, "-m", "chrf", "ter", "-f", "markdown", "--confidence"),
        ("score", *files, "-m", "chrf", "-f", "json", "--rows-at-a-time", "1"),
        ("score", *files, "-m", "nist", "-b"),
        ("score", table, "-m", "chrf", "--on-error", "mark"),
        ("score", table, "-m", "chrf", "--on-error", "skip", "--json"),
        ("score", *files[:2], *files[3:], "-m", "chrf", "--parts"),
    ]
    engine = ("--engine", "ray", "--address", cluster.address)
    for command in commands:
        local, remote = tertium(*command), tertium(*command, *engine)
        assert remote.returncode == local.returncode == 0, remote.stderr
        assert remote.stdout == local.stdout
    for suffix in (".tsv", ".csv", ".jsonl"):
        outs = [tmp_path / f"{place}{suffix}" for place in ("here", "there")]
        command = ("score", *files, "-m", "chrf", "--parts", "-q", "-o")
        assert tertium(*command, outs[0]).returncode == 0
        done = tertium(*command, outs[1], *engine)
        assert done.returncode == 0, done.stderr
        assert outs[1].read_bytes() == outs[0].read_bytes()
        assert "is complete" in tertium(*command, outs[1], *engine, "--resume").stderr
    assert not list(tmp_path.glob("*.part"))


def test_nothing_connects_by_itself(cluster: Any) -> None:
    """As what Ray cleans up after a failed run does otherwise, whenever it is collected."""
    with pytest.raises(ray.exceptions.RaySystemError, match="not been started"):
        ray.put("something")
    assert not ray.is_initialized()
