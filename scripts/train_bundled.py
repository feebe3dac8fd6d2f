"""Train the bundled model from public parallel text.

    python scripts/train_bundled.py data runs/bundled --steps 20000 --precision bf16 --threads 2

``data`` has one TSV file (plain or compressed) per corpus and language pair, with two columns
named by language: ``tatoeba/de-en.tsv.xz`` or ``europarl.de-en.tsv.xz``, in any folder. Only the
corpora in ``WEIGHTS`` are used, so sets for evaluation may be in the same folder; ``distilled`` is
optional, and made by ``scripts/distill.py``. Sentences that are held out (by their checksum) make
the development set of each corpus; if a corpus was published without them, they are in the file
``dev.tsv`` of its folder.

The run resumes if it was interrupted; with ``--decay 0``, it can be continued for more steps and
decayed later. When it is complete, the mean of its last checkpoints is in
``runs/bundled-export``, a Hugging Face folder for ``scripts/bundle.py``.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

from tertium.storage.atomic import replacing_text
from tertium.training.loop import Pace
from tertium.training.model.bitext import held_out, read_bitext
from tertium.training.model.export import export
from tertium.training.model.plan import Mixture, Plan, get_recipe
from tertium.training.model.run import train

LANGUAGES = ("en", "de", "fr", "es")
WEIGHTS = {
    "tatoeba": 0.6,
    "libreoffice": 0.5,
    "europarl": 1.0,
    "newstest": 2.5,
    "newsdiscuss": 2.0,
    "mt-geneval": 1.5,
    "distilled": 1.5,
}
OPTIONAL = ("distilled",)
DEVELOPMENT = ("tatoeba", "libreoffice", "europarl", "newstest")
DEVELOPMENT_PAIRS = 200
"""Pairs of each two languages in a development set."""
MIXTURE = Mixture(paraphrases=0.2, copies=0.06, joined=0.3, joined_tokens=128, names=0.25)
DEVELOPMENT_STEPS = 2_000
"""Steps between evaluations, which take a minute."""
FILE = re.compile(r"(?:(?P<corpus>[\w-]+)\.)?(?P<a>[a-z]{2})-(?P<b>[a-z]{2})\.tsv(?:\.gz|\.xz)?")


def corpus_files(data: Path) -> dict[str, list[Path]]:
    """Return all files of pairs in our languages, by corpus."""
    files: defaultdict[str, list[Path]] = defaultdict(list)
    for path in sorted(data.rglob("*.tsv*")):
        about = FILE.fullmatch(path.name)
        if about and {about["a"], about["b"]} <= set(LANGUAGES):
            files[about["corpus"] or path.parent.name].append(path)
    return files


def find_files(data: Path) -> dict[str, list[Path]]:
    """Find the files of each corpus to train on."""
    files = corpus_files(data)
    missing = [corpus for corpus in WEIGHTS if corpus not in files and corpus not in OPTIONAL]
    if missing:
        raise SystemExit(f"{data} has no files of {', '.join(missing)}")
    return {corpus: files[corpus] for corpus in WEIGHTS if corpus in files}


def write_development_set(files: list[Path], out: Path) -> None:
    """Write the first pairs of each two languages that are held out."""
    counts: Counter[tuple[str, str]] = Counter()
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing_text(out) as stream:
        stream.write("lang_a\tlang_b\tsentence_a\tsentence_b\n")
        for file in files:
            for pair in read_bitext(file, LANGUAGES):
                langs = (pair.lang_a, pair.lang_b)
                if counts[langs] < DEVELOPMENT_PAIRS and (held_out(pair.a) or held_out(pair.b)):
                    counts[langs] += 1
                    stream.write("\t".join(pair) + "\n")


def make_plan(data: Path, run: Path, arguments: argparse.Namespace) -> Plan:
    files = find_files(data)
    dev = []
    for corpus in DEVELOPMENT:
        path = run.with_name(f"{run.name}-dev") / f"{corpus}.tsv"
        if not path.is_file():
            separate = list(files[corpus][0].parent.glob("dev.tsv*"))
            write_development_set([*files[corpus], *separate], path)
        dev.append((corpus, str(path)))
    return Plan(
        languages=LANGUAGES,
        bitext=tuple(
            (str(path), WEIGHTS[corpus]) for corpus, paths in files.items() for path in paths
        ),
        dev=tuple(dev),
        init=None if arguments.init is None else str(arguments.init.absolute()),
        recipe=replace(
            get_recipe("mini"),
            peak_rate=arguments.rate,
            batch_tokens=4000,
            ranking=arguments.ranking,
        ),
        mixture=replace(MIXTURE, names=arguments.names),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument(
        "--decay", type=int, help="steps at the end that lower the rate (default: a fifth; 0: none)"
    )
    parser.add_argument("--rate", type=float, default=0.001, help="the highest learning rate")
    parser.add_argument("--init", type=Path, help="a Hugging Face folder to start from")
    parser.add_argument("--names", type=float, default=MIXTURE.names)
    parser.add_argument("--ranking", type=float, default=0.1)
    parser.add_argument("--precision", default="float32", help="float32 or bf16")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--average", type=int, default=5, help="checkpoints to average")
    arguments = parser.parse_args()
    run: Path = arguments.run.absolute()
    decay = arguments.steps // 5 if arguments.decay is None else arguments.decay
    pace = Pace(
        steps=arguments.steps,
        decay_steps=decay or None,
        save_steps=max(1, arguments.steps // 50),
        dev_steps=DEVELOPMENT_STEPS,
        threads=arguments.threads,
        precision=arguments.precision,
    )
    trained = train(run, make_plan(arguments.data.absolute(), run, arguments), pace)
    print(f"{run}: {trained.step} of {trained.steps} steps")
    if not trained.finished:
        sys.exit(1)
    print(export(run, run.with_name(f"{run.name}-export"), average=arguments.average))


if __name__ == "__main__":
    main()
