"""What a million pairs cost: core-hours and money, from the rates that were measured.

    python benchmarks/cost.py docs/performance.json --usd-per-core-hour 0.05

Reads the output of ``benchmarks/peers.py`` and prints a table in Markdown, one row per measure,
model and precision: the seconds per pair of Tertium times the threads that were busy. The price is
an assumption; give that of your provider. Nothing is read from a cache, so texts that occur more
than once cost less.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MILLION = 1_000_000
MEASURES = ("direct", "pivot", "cross", "bertscore", "wmd", "bleu", "chrf")
"""The tasks of ``benchmarks/peers.py`` that are one measure over pairs."""
NODE_CORES = 8


@dataclass(frozen=True)
class Cost:
    """The cost of a million pairs.

    >>> cost = Cost("direct", "tertium-mini", "float32", 0.02, 2)  # 0.02 s per pair on two cores
    >>> round(cost.core_hours, 1), round(cost.usd(0.05), 2)
    (11.1, 0.56)
    """

    measure: str
    model: str
    precision: str
    seconds_per_pair: float
    threads: int

    @property
    def core_hours(self) -> float:
        """Seconds per pair x cores x 1 000 000 / 3 600."""
        return self.seconds_per_pair * self.threads * MILLION / 3600

    def usd(self, per_core_hour: float) -> float:
        return self.core_hours * per_core_hour

    def hours(self, nodes: int, efficiency: float) -> float:
        """The time on a cluster whose cores do this share of the work of one machine's."""
        return self.core_hours / (nodes * NODE_CORES * efficiency)


def costs(document: Mapping[str, Any]) -> Iterator[Cost]:
    """The cost of every measure, from the output of ``benchmarks/peers.py``."""
    for result in document["results"]:
        if result["contest"] in MEASURES and result.get("isa", "native") == "native":
            pairs = int(result["size"].split()[0])
            seconds = statistics.median(result["our_seconds"]) / pairs
            threads = 1 if result["model"] == "-" else document["threads"]  # surface measures: one
            yield Cost(result["contest"], result["model"], result["precision"], seconds, threads)


def shown(number: float) -> str:
    """Two or three digits.

    >>> shown(1607.2), shown(21.03), shown(0.5827)
    ('1607', '21.0', '0.58')
    """
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}" if number >= 1 else f"{number:.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, help="the JSON file of benchmarks/peers.py")
    parser.add_argument("--usd-per-core-hour", type=float, default=0.05)
    parser.add_argument("--nodes", type=int, default=10, help=f"nodes of {NODE_CORES} cores")
    parser.add_argument(
        "--efficiency",
        type=float,
        default=0.91,
        help="core-seconds of one process / of Ray workers (benchmarks/ray_cluster.py)",
    )
    arguments = parser.parse_args()
    document = json.loads(arguments.results.read_text())
    print(
        f"| measure | model | precision | ms per pair | core-hours per million pairs | USD at "
        f"{arguments.usd_per_core_hour:g} per core-hour | hours on {arguments.nodes} nodes of "
        f"{NODE_CORES} cores |\n|---|---|---|---|---|---|---|"
    )
    for cost in costs(document):
        cells = [
            cost.measure,
            cost.model,
            cost.precision,
            shown(1000 * cost.seconds_per_pair),
            shown(cost.core_hours),
            shown(cost.usd(arguments.usd_per_core_hour)),
            shown(cost.hours(arguments.nodes, arguments.efficiency)),
        ]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
