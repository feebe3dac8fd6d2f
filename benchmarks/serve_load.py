"""Load test of ``tertium serve`` with 1 and 32 concurrent clients on the loopback interface.

    python benchmarks/serve_load.py --seconds 20

Every request is one new pair of sentences, so that no result comes from a cache; every client sends
its next request as soon as it has a response. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

SUBJECTS = ("My brother", "The old woman", "Nobody", "A young doctor", "Her teacher", "The child")
VERBS = ("sees", "likes", "has found", "is looking for", "sold", "wants to paint")
OBJECTS = ("a red car", "the small house", "two black cats", "some bread", "this letter", "a tree")
ENDS = ("in the morning", "near the river", "behind the church", "on Sunday", "without a word")
SERVER = [sys.executable, "-c", "from tertium.cli import main; main()", "serve", "--port", "0"]


def sentences(seed: int) -> Iterator[str]:
    """Distinct sentences."""
    whole = [" ".join(parts) for parts in itertools.product(SUBJECTS, VERBS, OBJECTS, ENDS)]
    random.Random(seed).shuffle(whole)
    for count in itertools.count(1):
        for sentence in whole:
            yield f"{sentence}, {count} times."


async def load(
    address: str, clients: int, seconds: float, measure: str, texts: Iterator[str]
) -> list[float]:
    """The response times."""
    end = time.monotonic() + seconds
    times: list[float] = []

    async def client(session: httpx.AsyncClient) -> None:
        while time.monotonic() < end:
            pair = {"hypothesis": next(texts), "reference": next(texts)}
            body = {"pairs": [pair], "measures": [measure], "lang": "en"}
            started = time.monotonic()
            response = await session.post("/api/score", json=body)
            response.raise_for_status()
            times.append(time.monotonic() - started)

    async with httpx.AsyncClient(base_url=address, timeout=120) as session:
        await asyncio.gather(*(client(session) for _ in range(clients)))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--measures", nargs="+", default=["direct", "cross"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "TERTIUM_CACHE": str(Path(scratch))}
        with subprocess.Popen(
            [*SERVER, "--no-cache"], stdout=subprocess.PIPE, text=True, env=environment
        ) as server:
            try:
                assert server.stdout is not None
                address = server.stdout.readline().split()[-1]
                texts = sentences(seed=0)
                load_before = os.getloadavg()[0]
                print(f"{os.cpu_count()} cores, load average {load_before:.1f} before the run\n")
                print("| measure | clients | requests per second | median | 95th percentile |")
                print("|---|---|---|---|---|")
                for measure in options.measures:
                    asyncio.run(load(address, 1, 2.0, measure, texts))
                    for clients in options.clients:
                        started = time.monotonic()
                        times = sorted(
                            asyncio.run(load(address, clients, options.seconds, measure, texts))
                        )
                        rate = len(times) / (time.monotonic() - started)
                        median, late = (times[int(len(times) * q)] for q in (0.5, 0.95))
                        print(
                            f"| {measure} | {clients} | {rate:.1f} | {1000 * median:.0f} ms "
                            f"| {1000 * late:.0f} ms |",
                            flush=True,
                        )
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
