"""Time and memory per row for files of up to a million pairs.

    python benchmarks/million.py --rows 1000 10000 100000 1000000
    python benchmarks/million.py --rows 1000000 --measures "direct, one query" --formats parquet \\
        --engines local ray --kill-after 300 --plot memory.svg

Writes files of distinct pairs of short English sentences, scores each file with ``tertium score``
in a separate process, and prints seconds, rows per second, the peak memory, and the size of the
cache, which has no results at the start. ``direct`` is computed one way and not normalized: one
query to the bundled model per row, which is the minimum. The memory is that of the process and all
its children (with ``--engines ray``: of the whole cluster, two workers), read every two seconds, at
the start more often; on Linux, memory that processes share counts once. ``--kill-after`` kills each
run once after so many seconds, and resumes it: the seconds are those of both parts. If a file is
scored by several engines, their scores must be the same. ``--plot`` draws memory over time.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import psutil

import tertium
from tertium.data.records import open_table
from tertium.storage.paths import CACHE_VARIABLE, results_file

WHO = ("The cat", "My sister", "A tall man", "The old dog", "Our teacher", "His friend", "The boy")
DOES = ("sees", "wants", "buys", "finds", "likes", "sells", "counts", "draws", "loses")
WHAT = ("houses", "apples", "books", "birds", "letters", "stones", "cars", "trees")
ONE_QUERY = ("--measure", "direct", "--one-way", "--not-normalized", "--lang", "en")
MEASURES = {"chrf": ("--measure", "chrf"), "direct, one query": ONE_QUERY}
ENGINES = {"local": (), "ray": ("--engine", "ray", "--workers", "2", "--rows-at-a-time", "5000")}
SAMPLE_SECONDS = 2.0
CLOSE = 1e-5
"""What the size of a batch may change in float32."""


@dataclass
class Run:
    seconds: float = 0.0
    cache: int = 0
    memory: list[tuple[float, int]] = field(default_factory=list)
    """Seconds since the start, and bytes of all processes."""

    @property
    def peak(self) -> int:
        return max(size for _, size in self.memory)


def pairs(count: int) -> Iterator[tuple[str, str]]:
    """Pairs of sentences; each pair has a different number in it."""
    for number in range(count):
        who, does = WHO[number % len(WHO)], DOES[number % len(DOES)]
        what, others = WHAT[number % len(WHAT)], WHAT[(number + 3) % len(WHAT)]
        yield f"{who} {does} {number} {what}.", f"{who} {does} {number} {others}."


def write(file: Path, count: int) -> None:
    if file.suffix == ".tsv":
        with file.open("w", encoding="utf-8") as stream:
            stream.write("hyp\tref\n")
            stream.writelines(f"{hyp}\t{ref}\n" for hyp, ref in pairs(count))
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    hyp, ref = zip(*pairs(count), strict=True)
    pq.write_table(pa.table({"hyp": hyp, "ref": ref}), file, row_group_size=50_000)


def memory_of(process: psutil.Process) -> int:
    """The memory of a process and all its children."""
    total = 0
    for one in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            memory = one.memory_full_info()
            total += getattr(memory, "pss", memory.rss)
    return total


def follow(command: Sequence[str], run: Run, cache: Path, kill_after: float | None) -> bool:
    """Run a command and sample its memory; kill it in time. Returns whether it was killed."""
    started = time.perf_counter()
    child = subprocess.Popen(
        command, env={**os.environ, CACHE_VARIABLE: str(cache)}, start_new_session=True
    )
    process = psutil.Process(child.pid)
    while child.poll() is None:
        passed = time.perf_counter() - started
        with suppress(psutil.NoSuchProcess):
            run.memory.append((run.seconds + passed, memory_of(process)))
        if kill_after is not None and passed >= kill_after:
            family = process.children(recursive=True)
            os.killpg(child.pid, signal.SIGKILL)
            for one in family:
                with suppress(psutil.NoSuchProcess):
                    one.kill()
            child.wait()
            run.seconds += time.perf_counter() - started
            return True
        with suppress(subprocess.TimeoutExpired):
            child.wait(min(SAMPLE_SECONDS, 0.1 + passed / 10))
    run.seconds += time.perf_counter() - started
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return False


def score(
    file: Path, out: Path, options: Sequence[str], folder: Path, kill_after: float | None
) -> Run:
    run, cache = Run(), folder / f"cache-{out.stem}"
    command = [sys.executable, "-m", "tertium", "score", str(file), "--output", str(out), "-q"]
    if follow([*command, *options], run, cache, kill_after):
        print(f"killed after {run.seconds:.0f} s, resumed", file=sys.stderr)
        follow([*command, *options, "--resume"], run, cache, None)
    run.cache = sum(entry.stat().st_size for entry in cache.glob(f"{results_file().stem}*"))
    return run


def read_scores(out: Path, measure: str) -> list[float]:
    """The scores in a file, or in all shards of a folder."""
    files = [out] if out.is_file() else sorted(out.glob("*.parquet"))
    column = measure.partition(",")[0]
    return [float(record[column]) for file in files for record in open_table(file)]


def draw(runs: dict[str, Run], file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.5), layout="constrained")
    axes = figure.subplots()
    for name, run in runs.items():
        minutes = [at / 60 for at, _ in run.memory]
        axes.plot(minutes, [size / 1e6 for _, size in run.memory], label=name)
    axes.set_xlabel("minutes")
    axes.set_ylabel("memory of all processes, MB")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(loc="center right")
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--formats", nargs="*", default=["tsv", "parquet"])
    parser.add_argument("--measures", nargs="*", default=list(MEASURES), choices=list(MEASURES))
    parser.add_argument("--engines", nargs="*", default=["local"], choices=list(ENGINES))
    parser.add_argument("--kill-after", type=float, help="seconds after which each run is killed")
    parser.add_argument("--plot", type=Path, help="draw memory over time")
    arguments = parser.parse_args()
    print(f"tertium {tertium.__version__}, load before {os.getloadavg()[0]:.1f}\n")
    print(
        "| measure | engine | format | rows | seconds | rows per second | memory, MB | cache, MB |"
    )
    print("|---|---|---|---|---|---|---|---|", flush=True)
    runs: dict[str, Run] = {}
    for measure, format_, count in product(arguments.measures, arguments.formats, arguments.rows):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            file = folder / f"pairs.{format_}"
            write(file, count)
            expected: list[float] = []
            for engine in arguments.engines:
                out = folder / (f"local.{format_}" if engine == "local" else "shards")
                options = (*MEASURES[measure], *ENGINES[engine])
                run = score(file, out, options, folder, arguments.kill_after)
                runs[f"{measure}, {engine}, {count:_} rows".replace("_", " ")] = run
                scores = read_scores(out, measure)
                assert len(scores) == count
                if expected:
                    assert all(abs(a - b) <= CLOSE for a, b in zip(expected, scores, strict=True))
                expected = scores
                print(
                    f"| {measure} | {engine} | {format_} | {count:_} | {run.seconds:.1f} "
                    f"| {count / run.seconds:.0f} | {run.peak / 1e6:.0f} "
                    f"| {run.cache / 1e6:.1f} |".replace("_", " "),
                    flush=True,
                )
    if arguments.plot is not None:
        draw(runs, arguments.plot)


if __name__ == "__main__":
    main()
