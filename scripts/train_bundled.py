"""Train the bundled translation model from public parallel text.

    python scripts/train_bundled.py data runs/bundled --steps 60000 --threads 2

``data`` has the corpora of ``CORPORA`` as TSV files (plain or compressed) with columns named by
language, in any folder: two languages (``tatoeba/de-en.tsv.xz``, ``newstest.de-en.tsv.xz``) or more
(``europarl.tsv.xz``). Files of other corpora are not trained on; sentences that also stand in one
of them (the sets for evaluation, letters and digits compared, in lower case) are left out.

What is trained on is written to ``runs/bundled-data`` first: one file a corpus, without held-out
sentences (by their checksum), which make the development sets in ``runs/bundled-data/dev``. News
that were translated by people and by machine are joined there: two sentences with a common
translation are translations or paraphrases of each other.

The run resumes if it was interrupted; with ``--decay 0``, it can be continued for more steps and
decayed later. When it is complete, the mean of its last checkpoints is in ``runs/bundled-export``,
a Hugging Face folder for ``scripts/bundle.py``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from tertium.data.lines import read_lines
from tertium.storage.atomic import replacing_text
from tertium.training.corpora import corpus_files, evaluation_texts, normalized
from tertium.training.loop import Pace
from tertium.training.model.bitext import held_out
from tertium.training.model.export import export
from tertium.training.model.plan import MUON, OPTIMIZERS, Mixture, Plan, get_recipe
from tertium.training.model.run import train

LANGUAGES = ("de", "en", "es", "fr")


@dataclass(frozen=True)
class Corpus:
    """The names of a corpus in files, and the weight of its pairs; without, it is evaluated on."""

    files: tuple[str, ...]
    weight: float | None
    linked: bool = False
    """Whether sentences of several files with a common translation are paired."""


CORPORA = {
    "everyday": Corpus(("tatoeba",), 1.2),
    "parliament": Corpus(("europarl",), 0.8),
    "news": Corpus(("newstest", "newsdiscuss", "teacher-news"), 1.6, linked=True),
    "software": Corpus(("libreoffice",), 1.2),
    "documentation": Corpus(("msdocs",), 0.6),
    "encyclopaedia": Corpus(("mt-geneval",), None),
}
MACHINE = ("teacher-news",)
"""Corpora whose second column was written by a machine."""
MIXTURE = Mixture(paraphrases=0.2, copies=0.04, joined=0.15, joined_tokens=128, names=0.15)
DEVELOPMENT_PAIRS = 60
"""Pairs of each two languages in a development set."""
DEVELOPMENT_STEPS = 2_000
"""Steps between evaluations, which take some minutes on one core."""
MAX_RENDERINGS = 6
"""Linked news have at most so many sentences of one language; others are too unspecific."""
Row = dict[str, str]
"""A sentence by language."""
Node = tuple[str, str]
"""A language and a sentence."""


def read_rows(path: Path) -> Iterator[Row]:
    """Read a table whose columns are named by language; other columns are ignored."""
    lines = read_lines(path)
    header = next(lines, "").split("\t")
    if set(header) >= {"lang_a", "lang_b", "sentence_a", "sentence_b"}:
        for line in lines:
            row = dict(zip(header, line.split("\t"), strict=True))
            if {row["lang_a"], row["lang_b"]} <= set(LANGUAGES):
                yield {row["lang_a"]: row["sentence_a"], row["lang_b"]: row["sentence_b"]}
        return
    places = [(place, lang) for place, lang in enumerate(header) if lang in LANGUAGES]
    if len(places) >= 2:
        for line in lines:
            fields = line.split("\t")
            yield {lang: fields[place].strip() for place, lang in places}


def linked_rows(files: dict[str, list[Path]], names: Iterable[str]) -> Iterator[Row]:
    """Pair all sentences that are linked by translations, unless both are by a machine."""
    leaders: dict[Node, Node] = {}
    people: set[Node] = set()
    direct: dict[tuple[Node, Node], None] = {}

    def leader(node: Node) -> Node:
        path = []
        while leaders.setdefault(node, node) != node:
            path.append(node)
            node = leaders[node]
        for passed in path:
            leaders[passed] = node
        return node

    for name in names:
        for path in files[name]:
            for row in read_rows(path):
                first, second = row.items()
                people.add(first)
                if name not in MACHINE:
                    people.add(second)
                direct[first, second] = None
                leaders[leader(second)] = leader(first)
    groups: defaultdict[Node, list[Node]] = defaultdict(list)
    for node in list(leaders):
        groups[leader(node)].append(node)
    common = set()
    for group in groups.values():
        if max(Counter(lang for lang, _ in group).values()) > MAX_RENDERINGS:
            common.update(group)
            continue
        for a, b in combinations(sorted(group), 2):
            if a[0] != b[0] and (a in people or b in people):
                yield dict((a, b))
    for a, b in direct:
        if a in common:
            yield dict((a, b))


def corpus_rows(files: dict[str, list[Path]], corpus: Corpus) -> Iterator[Row]:
    if corpus.linked:
        yield from linked_rows(files, corpus.files)
        return
    for name in corpus.files:
        for path in files[name]:
            yield from read_rows(path)


def evenly(rows: list[Row], pairs: int | None) -> list[Row]:
    """Take every n-th row, so that about so many pairs are left; all of them if it is None."""
    total = sum(len(row) * (len(row) - 1) // 2 for row in rows)
    return rows if pairs is None else rows[:: max(1, round(total / pairs))]


def prepare(data: Path, out: Path, pairs: int | None = None) -> None:
    """Write a file for each corpus to train on, and one for each development set."""
    files = corpus_files(data)
    trained_on = {name for corpus in CORPORA.values() for name in corpus.files}
    missing = trained_on - set(files)
    if missing:
        raise SystemExit(f"{data} has no files of {', '.join(sorted(missing))}")
    excluded = evaluation_texts(files, trained_on)
    for folder in (out, out / "dev"):
        folder.mkdir(parents=True, exist_ok=True)
    for name, corpus in CORPORA.items():
        trained = out / f"{name}.tsv"
        development = out / "dev" / f"{name}.tsv"
        if development.is_file():
            continue
        counts: Counter[str] = Counter()
        written: Counter[tuple[str, str]] = Counter()
        header = "lang_a\tlang_b\tsentence_a\tsentence_b\n"
        with replacing_text(trained) as stream, replacing_text(development) as dev:
            stream.write(header)
            dev.write(header)
            for row in evenly(list(corpus_rows(files, corpus)), pairs):
                if any(normalized(text) in excluded for text in row.values()):
                    counts["in an evaluation set"] += 1
                    continue
                reserved = corpus.weight is None or any(map(held_out, row.values()))
                counts["held out" if reserved else "to train on"] += 1
                for a, b in combinations(sorted(row.items()), 2):
                    line = f"{a[0]}\t{b[0]}\t{a[1]}\t{b[1]}\n"
                    if not reserved:
                        stream.write(line)
                    elif written[a[0], b[0]] < DEVELOPMENT_PAIRS:
                        written[a[0], b[0]] += 1
                        dev.write(line)
        print(f"{name}: {', '.join(f'{count} rows {what}' for what, count in counts.items())}")


def make_plan(prepared: Path, arguments: argparse.Namespace) -> Plan:
    return Plan(
        languages=LANGUAGES,
        bitext=tuple(
            (str(prepared / f"{name}.tsv"), corpus.weight)
            for name, corpus in CORPORA.items()
            if corpus.weight is not None
        ),
        dev=tuple((name, str(prepared / "dev" / f"{name}.tsv")) for name in CORPORA),
        init=None if arguments.init is None else str(arguments.init.absolute()),
        grow=arguments.grow,
        recipe=replace(
            get_recipe("mini"),
            peak_rate=arguments.rate,
            contrast=arguments.contrast,
            optimizer=arguments.optimizer,
        ),
        mixture=MIXTURE,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument(
        "--decay", type=int, help="steps at the end that lower the rate (default: a fifth; 0: none)"
    )
    parser.add_argument("--rate", type=float, default=0.001, help="the highest learning rate")
    parser.add_argument(
        "--pairs", type=int, help="about so many pairs of each corpus (default: all)"
    )
    parser.add_argument("--contrast", type=float, default=1.0, help="weight of wrong targets")
    parser.add_argument("--optimizer", default=MUON, choices=OPTIMIZERS)
    parser.add_argument("--init", type=Path, help="a Hugging Face folder to start from")
    parser.add_argument(
        "--grow", action="store_true", help="add the layers and the inner width it lacks to it"
    )
    parser.add_argument("--precision", default="float32", help="float32 or bf16")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--average", type=int, default=5, help="checkpoints to average")
    arguments = parser.parse_args()
    run: Path = arguments.run.absolute()
    prepared = run.with_name(f"{run.name}-data")
    prepare(arguments.data.absolute(), prepared, arguments.pairs)
    decay = arguments.steps // 5 if arguments.decay is None else arguments.decay
    pace = Pace(
        steps=arguments.steps,
        decay_steps=decay or None,
        save_steps=max(1, arguments.steps // 60),
        dev_steps=DEVELOPMENT_STEPS,
        threads=arguments.threads,
        precision=arguments.precision,
    )
    trained = train(run, make_plan(prepared, arguments), pace)
    print(f"{run}: {trained.step} of {trained.steps} steps")
    if not trained.finished:
        sys.exit(1)
    print(export(run, run.with_name(f"{run.name}-export"), average=arguments.average))


if __name__ == "__main__":
    main()
