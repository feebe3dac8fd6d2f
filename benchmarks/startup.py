"""How long commands take to start: CPU and wall-clock time of new processes.

    python benchmarks/startup.py --rounds 5

``import tertium``, ``tertium score`` of one pair with an empty cache, and ``tertium serve`` until
it has answered the first request. Python's own start is measured as well, for comparison. Texts of
25 letters or more are checked for their language, by a model that is unpacked into the cache once,
so short and longer pairs are measured. The rounds alternate; prints medians in Markdown. The first
round, in which files are read from disk and modules compiled, is not counted.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import psutil

import tertium
from tertium.storage.paths import CACHE_VARIABLE

TERTIUM = [sys.executable, "-m", "tertium"]
SHORT = ("She bought a car.", "She has bought a car.")
LONGER = ("She bought a new car yesterday.", "Yesterday she bought a new car.")
RUNS = {
    "chrf, a short pair": SHORT,
    "direct, a short pair": SHORT,
    "chrf, the first longer pair": LONGER,
    "chrf, a longer pair": LONGER,
    "direct, a longer pair": LONGER,
}
"""By measure and pair, in this order, all with the same cache."""
STARTS = {
    "Python alone": [sys.executable, "-c", "pass"],
    "import tertium": [sys.executable, "-c", "import tertium"],
    "tertium --version": [*TERTIUM, "--version"],
}
Times = tuple[float, float]
"""CPU and wall-clock seconds."""


def finished(command: Sequence[str], environment: dict[str, str]) -> Times:
    """Run a command to its end."""
    before, started = os.times(), time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    seconds, after = time.perf_counter() - started, os.times()
    used = after.children_user + after.children_system
    return used - before.children_user - before.children_system, seconds


def answered(command: Sequence[str], environment: dict[str, str]) -> Times:
    """Start a server, and stop it after its first answer."""
    started = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().split()[-1]
            with urllib.request.urlopen(f"{address.rstrip('/')}/api/models", timeout=60):
                seconds = time.perf_counter() - started
            times = psutil.Process(server.pid).cpu_times()
        finally:
            server.send_signal(signal.SIGTERM)
    return times.user + times.system, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(f"tertium {tertium.__version__}, load before {os.getloadavg()[0]:.1f}\n")
    measured: defaultdict[str, list[Times]] = defaultdict(list)
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    for number in range(rounds + 1):
        with tempfile.TemporaryDirectory() as scratch:
            environment[CACHE_VARIABLE] = f"{scratch}/cache"
            times = {name: finished(command, environment) for name, command in STARTS.items()}
            file = Path(scratch) / "pair.tsv"
            for name, pair in RUNS.items():
                file.write_text("hyp\tref\n" + "\t".join(pair) + "\n", encoding="utf-8")
                options = ["--lang", "en", "--measure", name.partition(",")[0]]
                times[f"tertium score: {name}"] = finished(
                    [*TERTIUM, "score", str(file), *options], environment
                )
            times["tertium serve"] = answered([*TERTIUM, "serve", "--port", "0"], environment)
        for name, seconds in times.items() if number else ():
            measured[name].append(seconds)
    print("| | CPU, s | wall clock, s |\n|---|---|---|")
    for name, every in measured.items():
        used, wall = map(statistics.median, zip(*every, strict=True))
        print(f"| {name} | {used:.2f} | {wall:.2f} |")


if __name__ == "__main__":
    main()
