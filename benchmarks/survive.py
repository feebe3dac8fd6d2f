"""Kill ``tertium score`` at random moments and resume it until it is finished, with a damaged cache
in between; kill conversions as well.

    python benchmarks/survive.py --runs 20 --rows 400 --conversions 10 --seed 1

The output of every interrupted run must equal that of an uninterrupted one, byte for byte; a killed
conversion must leave no incomplete model. Prints a summary, and exits with 1 on any difference.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.damage import DAMAGES, PAGE
from tests.hostile import WORDS
from tests.tiny import make_untaught

TERTIUM = [sys.executable, "-c", "from tertium.cli import main; main()"]
MEASURES = ("-m", "direct", "-m", "chrf", "--lang", "en", "--rows-at-a-time", "16", "-q")


def write_pairs(file: Path, rows: int, draw: random.Random) -> None:
    """Write pairs of sentences of common and uncommon words."""
    lines = ["hyp\tref"]
    for _ in range(rows):
        lines.append("\t".join(" ".join(draw.choices(WORDS, k=8)) for _ in range(2)))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def score(pairs: Path, out: Path, cache: Path) -> subprocess.Popen[bytes]:
    """Start or resume a run."""
    return subprocess.Popen(
        [*TERTIUM, "score", str(pairs), *MEASURES, "-o", str(out), "--resume"],
        env={**os.environ, "TERTIUM_CACHE": str(cache)},
        stderr=subprocess.PIPE,
    )


def interrupted_run(
    pairs: Path, out: Path, cache: Path, draw: random.Random, seconds: float, tally: Counter[str]
) -> None:
    """Kill a run at random moments until it is finished, and damage its cache in between."""
    kills = 0
    while True:
        process = score(pairs, out, cache)
        if kills < draw.randrange(2, 7):
            try:
                process.wait(draw.uniform(0.3, 0.95) * seconds)
            except subprocess.TimeoutExpired:
                process.kill()
        _, stderr = process.communicate()
        if process.returncode == 0:
            return
        if process.returncode > 0:
            raise SystemExit(f"a run ended with {process.returncode}: {stderr.decode()}")
        kills += 1
        tally["kills"] += 1
        if draw.random() < 0.7:
            damage(cache, draw, tally)


def damage(cache: Path, draw: random.Random, tally: Counter[str]) -> None:
    """Damage the file of cached results, if it has any."""
    for file in cache.glob("*.sqlite"):
        connection = sqlite3.connect(file)
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # write the log to the file
        except sqlite3.DatabaseError:  # already damaged
            return
        finally:
            connection.close()
        if file.stat().st_size > 4 * PAGE:
            name = draw.choice(sorted(DAMAGES))
            DAMAGES[name](file, draw)
            tally[f"damage: {name}"] += 1


def killed_conversion(source: Path, out: Path, seconds: float, tally: Counter[str]) -> None:
    """Kill a conversion after some seconds, if it has not ended by then."""
    command = [*TERTIUM, "models", "convert", str(source), str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        if out.exists() and not (out / "tertium.json").exists():
            raise SystemExit(f"{out} is incomplete") from None
        tally["conversions killed"] += 1
        tally["of these, with temporary files left"] += (
            any(out.parent.glob(".*")) and not out.exists()
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--conversions", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    print(f"seed {options.seed}: {options.runs} runs of {options.rows} rows", flush=True)
    draw, tally = random.Random(options.seed), Counter[str]()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        pairs, expected = folder / "pairs.tsv", folder / "expected.tsv"
        write_pairs(pairs, options.rows, draw)
        started = time.monotonic()
        if score(pairs, expected, folder / "uninterrupted").wait():
            raise SystemExit("the uninterrupted run failed")
        seconds = time.monotonic() - started
        print(f"an uninterrupted run takes {seconds:.1f} s", flush=True)
        wrong = 0
        for number in range(options.runs):
            out = folder / f"interrupted-{number}.tsv"
            interrupted_run(pairs, out, folder / f"cache-{number}", draw, seconds, tally)
            wrong += out.read_bytes() != expected.read_bytes()
            left = [file.name for file in folder.glob(f"{out.name}.*")]
            wrong += bool(left)
            damages = sum(n for name, n in tally.items() if name.startswith("damage"))
            so_far = f"{tally['kills']} kills and {damages} damages so far"
            print(f"run {number + 1}: {so_far}, {wrong} wrong", flush=True)
        if options.conversions:
            source = make_untaught("m2m100", folder / "m2m100")
            models = folder / "models"
            started = time.monotonic()
            killed_conversion(source, models / "first", 600, tally)
            seconds = time.monotonic() - started
            for _ in range(options.conversions):
                killed_conversion(source, models / "out", draw.uniform(0.5, 1) * seconds, tally)
                if (models / "out").exists():
                    break
            if not (models / "out").exists():
                killed_conversion(source, models / "out", 600, tally)
            subprocess.run([*TERTIUM, "models", "info", str(models / "out")], check=True)
            wrong += bool(list(models.glob(".*")))
    for name, count in sorted(tally.items()):
        print(f"{name}: {count}")
    print(f"{wrong} differences" if wrong else "no differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
