"""The memory and time that it takes to prepare a large corpus for training.

    python benchmarks/corpus_memory.py DATA [--pairs 10000000]

DATA has tables whose columns are named by language, in folders ``tatoeba`` and ``parallel4``. Their
pairs are read again and again; from the second time on, each is joined with another one, so that
all are different. Then the corpus is prepared as `tertium train model` does, with paraphrases and
copies (recipe mini). Anonymous memory is what the process holds itself; pages of mapped files are
the cache of the operating system, which takes them back when it needs them.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

from tertium.training.model.bitext import Pair, read_bitext
from tertium.training.model.corpus import CORPUS, prepare_corpus
from tertium.training.model.plan import MINI, Plan
from tertium.training.model.tokenizer import prepare_tokenizer

LANGUAGES = ("de", "en", "es", "fr")
FOLDERS = ("tatoeba", "parallel4")
VOCABULARY_SENTENCES = 100_000
HEADER = "lang_a\tlang_b\tsentence_a\tsentence_b\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="keep pairs and vocabulary here, and use them")
    options = parser.parse_args()
    with TemporaryDirectory() as scratch:
        measure(options.data, options.pairs, options.folder or Path(scratch))


def measure(data: Path, pairs: int, run: Path) -> None:
    """Make the pairs and the vocabulary if the folder lacks them, then prepare the corpus."""
    file = run / "pairs.tsv"
    if not file.exists():
        clock = Clock()
        with file.open("w", encoding="utf-8") as stream:
            stream.write(HEADER)
            for pair in islice(make_pairs(data), pairs):
                stream.write("\t".join(pair) + "\n")
        print(f"{pairs} pairs made: {file.stat().st_size / 1e9:.2f} GB, {clock}", flush=True)
    recipe = replace(MINI, vocabulary_sentences=VOCABULARY_SENTENCES)
    plan = Plan(LANGUAGES, ((str(file), 1.0),), recipe=recipe)
    clock = Clock()
    with peak_memory() as peak:
        tokenizer = prepare_tokenizer(run, plan)
    print(f"vocabulary of {VOCABULARY_SENTENCES} sentences: {clock}, {peak}", flush=True)
    print(f"before the preparation: {status()['RssAnon']} MB anonymous", flush=True)
    rmtree(run / CORPUS, ignore_errors=True)
    clock = Clock()
    with peak_memory() as peak:
        corpus = prepare_corpus(run, plan, tokenizer)
    print(f"preparation: {clock}, {peak}")
    written = sum(path.stat().st_size for path in (run / CORPUS).iterdir())
    print(
        f"{len(corpus.offsets) - 1} sentences, {len(corpus.tokens)} tokens, "
        f"{len(corpus.pairs)} pairs of all kinds: {written / 1e9:.2f} GB"
    )


def make_pairs(data: Path) -> Iterator[Pair]:
    """The pairs of all files; then again and again, joined with the n-th pair before."""
    files = [path for folder in FOLDERS for path in sorted((data / folder).glob("*.tsv.xz"))]
    distance = 0
    while True:
        for path in files:
            if not two_languages(path):
                continue
            before: dict[tuple[str, str], list[Pair]] = {}
            for pair in read_bitext(path, LANGUAGES):
                if not distance:
                    yield pair
                    continue
                queue = before.setdefault((pair.lang_a, pair.lang_b), [])
                queue.append(pair)
                if len(queue) > distance:
                    other = queue.pop(0)
                    yield Pair(*pair[:2], f"{other.a} {pair.a}", f"{other.b} {pair.b}")
        distance += 1


def two_languages(path: Path) -> bool:
    """Whether a file has pairs of the languages."""
    langs = path.name.split(".")[-3].split("-") if "-" in path.name else LANGUAGES
    return set(langs[-2:]) <= set(LANGUAGES)


class Peak:
    """The largest values of a process in MB."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}

    def note(self) -> None:
        for name, value in status().items():
            self.values[name] = max(value, self.values.get(name, 0))

    def __str__(self) -> str:
        return (
            f"at most {self.values['RssAnon']} MB anonymous memory "
            f"({self.values['VmRSS']} MB with the pages of files)"
        )


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Look at the memory of this process ten times a second."""
    peak, done = Peak(), threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            peak.note()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        peak.note()
        done.set()
        thread.join()


def status() -> dict[str, int]:
    """Resident memory in MB: all, and without the pages of files."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return {name: int(fields[name].split()[0]) // 1000 for name in ("VmRSS", "RssAnon")}


class Clock:
    """The time since it was made."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def __str__(self) -> str:
        wall, cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu
        return f"{wall:.0f} s ({cpu:.0f} s of the processor)"


if __name__ == "__main__":
    main()
