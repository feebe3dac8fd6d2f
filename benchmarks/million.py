"""Time and memory per row for files of up to a million pairs.

    python benchmarks/million.py --rows 1000 10000 100000 1000000

Writes files of distinct pairs of short English sentences, scores each file with ``tertium score``
in a separate process, and prints seconds, milliseconds per row, the peak memory of the process, and
the size of its cache, which is empty at the start. ``direct`` is computed one way and not
normalized: one query to the bundled model per row, which is the minimum.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import tertium
from tertium.storage.paths import CACHE_VARIABLE

WHO = ("The cat", "My sister", "A tall man", "The old dog", "Our teacher", "His friend", "The boy")
DOES = ("sees", "wants", "buys", "finds", "likes", "sells", "counts", "draws", "loses")
WHAT = ("houses", "apples", "books", "birds", "letters", "stones", "cars", "trees")
ONE_QUERY = ("--measure", "direct", "--one-way", "--not-normalized", "--lang", "en")
MEASURES = {"chrf": ("--measure", "chrf"), "direct, one query": ONE_QUERY}


@dataclass(frozen=True)
class Run:
    seconds: float
    memory: int
    """The peak memory of the process, in bytes."""
    cache: int


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


def score(file: Path, options: Sequence[str], folder: Path) -> Run:
    cache = folder / "cache"
    out = folder / f"out{file.suffix}"
    command = [sys.executable, "-m", "tertium", "score", str(file), "--output", str(out), "-q"]
    started = time.perf_counter()
    process = subprocess.Popen([*command, *options], env={**os.environ, CACHE_VARIABLE: str(cache)})
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        raise SystemExit(f"tertium score failed on {file.name}")
    size = sum(entry.stat().st_size for entry in cache.rglob("*") if entry.is_file())
    return Run(seconds, usage.ru_maxrss * 1024, size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--formats", nargs="*", default=["tsv", "parquet"])
    parser.add_argument("--measures", nargs="*", default=list(MEASURES), choices=list(MEASURES))
    arguments = parser.parse_args()
    print(f"tertium {tertium.__version__}, load before {os.getloadavg()[0]:.1f}\n")
    print("| measure | format | rows | seconds | ms per row | memory, MB | cache, MB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for measure in arguments.measures:
        for format_ in arguments.formats:
            for count in arguments.rows:
                with tempfile.TemporaryDirectory() as scratch:
                    file = Path(scratch) / f"pairs.{format_}"
                    write(file, count)
                    run = score(file, MEASURES[measure], Path(scratch))
                print(
                    f"| {measure} | {format_} | {count:_} | {run.seconds:.1f} "
                    f"| {1000 * run.seconds / count:.2f} | {run.memory / 1e6:.0f} "
                    f"| {run.cache / 1e6:.1f} |".replace("_", " "),
                    flush=True,
                )


if __name__ == "__main__":
    main()
