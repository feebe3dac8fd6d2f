"""Fuzz every measure with hostile texts, and every reader with hostile bytes.

    python benchmarks/fuzz.py --inputs 10000 --seed 1

Prints a table in Markdown: inputs, seconds, errors by kind, and the slowest input. Exits with 1 if
there was an error that is not a ``TertiumError``, a score that is not finite or outside the bounds
of its measure, or an input that took longer than ``--limit`` seconds. Translations use a beam of 1,
which is faster.
"""

from __future__ import annotations

import argparse
import faulthandler
import math
import os
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.hostile import READERS, hostile_bytes, hostile_text, read

from tertium.measures.base import Measure
from tertium.measures.registry import kinds_of, measure_names, settings_of

BATCH = 100
SLACK = 1e-6
DEADLOCK_SECONDS = 900


@dataclass
class Report:
    """The results of the inputs of one measure or reader."""

    name: str
    inputs: int = 0
    seconds: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")

    def timed(self, run: Callable[[], object], label: str) -> None:
        """Run and time a call, and record the error."""
        from tertium.errors import TertiumError

        started = time.monotonic()
        try:
            run()
        except TertiumError as error:
            self.errors[type(error).__name__] += 1
        except Exception as error:
            self.errors[f"**{type(error).__name__}**"] += 1
            self.bad.append(f"{label}: {error!r}")
        took = time.monotonic() - started
        self.seconds += took
        self.slowest = max(self.slowest, (took, label))

    def row(self) -> str:
        errors = ", ".join(f"{name} {count}" for name, count in sorted(self.errors.items()))
        took, label = self.slowest
        return (
            f"| {self.name} | {self.inputs} | {self.seconds:.0f} | {errors or 'none'} "
            f"| {took:.2f} s: {label} |"
        )


def label(*texts: str) -> str:
    """Describe texts by length and beginning."""
    return " / ".join(f"{len(text)} characters {text[:12]!a}" for text in texts)


def fuzz_measure(name: str, pairs: Sequence[tuple[str, str]]) -> Report:
    """Score pairs with a measure: in batches, and the slowest batch again, one by one."""
    import tertium

    settings = {"beam_size": 1} if "beam_size" in settings_of(name) else {}
    measure = tertium.load(name, **settings)  # type: ignore[arg-type]
    measure("warm", "up", lang="en")
    report = Report(name, inputs=len(pairs))
    low, high = measure.bounds
    # the documented exceptions to the bounds
    may_exceed = measure.model_kind == "translation" or name == "sss"

    def run(batch: Sequence[tuple[str, str]]) -> None:
        scores = measure([a for a, _ in batch], [b for _, b in batch], lang="en")
        for (a, b), score in zip(batch, scores, strict=True):
            inside = may_exceed or low - SLACK <= score <= high + SLACK
            if not math.isfinite(score) or not inside:
                report.bad.append(f"{label(a, b)}: {score}")

    batches = [pairs[start : start + BATCH] for start in range(0, len(pairs), BATCH)]
    for number, batch in enumerate(batches):
        faulthandler.dump_traceback_later(DEADLOCK_SECONDS, exit=True)
        report.timed(lambda batch=batch: run(batch), str(number))  # type: ignore[misc]
    _, slowest = report.slowest
    alone = Report(name)
    measure = fresh(name, settings)
    for pair in batches[int(slowest)]:
        alone.timed(lambda pair=pair: run([pair]), label(*pair))  # type: ignore[misc]
    report.slowest = alone.slowest
    return report


def fresh(name: str, settings: dict[str, int]) -> Measure:
    """The same measure with a model that has no cached results."""
    import tertium

    if kinds_of(name) == {"translation"}:
        return tertium.load(name, model=tertium.load_model(cache=False), **settings)  # type: ignore[arg-type]
    measure = tertium.load(name, **settings)  # type: ignore[arg-type]
    for part in getattr(measure, "parts", [measure]):
        if hasattr(getattr(part, "model", None), "forget"):
            part.model.forget()
    return measure


def fuzz_reader(name: str, draw: random.Random, inputs: int, folder: Path) -> Report:
    """Read files of hostile bytes."""
    report = Report(name, inputs=inputs)
    for _ in range(inputs):
        content = hostile_bytes(name, draw)
        faulthandler.dump_traceback_later(DEADLOCK_SECONDS, exit=True)
        report.timed(
            lambda content=content: read(name, content, folder),  # type: ignore[misc]
            f"{len(content)} bytes {content[:12].decode('latin-1')!a}",
        )
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--inputs", type=int, default=10_000, help="inputs per measure and reader")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one input")
    parser.add_argument("--only", nargs="*", default=[], help="names of measures and readers")
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.inputs} inputs each, {os.cpu_count()} cores", flush=True)
    warnings.simplefilter("ignore")
    draw = random.Random(options.seed)
    pairs = [(hostile_text(draw), hostile_text(draw)) for _ in range(options.inputs)]
    wrong = []
    print(
        "| measure or reader | inputs | seconds | errors | slowest input |\n|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TERTIUM_CACHE"] = f"{scratch}/cache"
        for name in [*READERS, *measure_names()]:
            if options.only and name not in options.only:
                continue
            if name in READERS:
                reader_draw = random.Random(f"{options.seed}-{name}")
                report = fuzz_reader(name, reader_draw, options.inputs, Path(scratch))
            else:
                report = fuzz_measure(name, pairs)
            print(report.row(), flush=True)
            wrong += [f"{name}: {each}" for each in report.bad[:5]]
            if report.slowest[0] > options.limit:
                wrong.append(f"{name}: {report.slowest}")
    for each in wrong:
        print(each)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
