"""Evaluate real models of 75 million parameters: OPUS-MT, English to French and back.

    python benchmarks/real_opus.py --sentences en-de.tsv.gz --column source --count 200
    python benchmarks/real_opus.py --mrpc data/mrpc --pawsx data/pawsx --pairs 1000

The first command compares both models with transformers, on sentences of a table: tokens,
log-probabilities, translations, and the effect of int8. The second identifies paraphrases with
``cross`` (via French) and ``pivot`` (to French and back), and with chrF and BLEU: the threshold is
chosen on the development sets of MRPC (``train.tsv`` where ``glue_split`` is ``dev``) and of PAWS-X
(``en.dev.tsv``). The models come from PyPI (670 MB, once).
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

import ctranslate2
from agreement import Original, compare
from opus import original_folder, prepare
from paraphrases import Pairs, identify, read_pairs

import tertium
from tertium.data.records import open_table
from tertium.measures.base import Measure
from tertium.models.card import TranslationCard
from tertium.models.translation.pair import PairOfModels
from tertium.storage.paths import cache_folder

FORWARD, BACKWARD = "opus-mt-en-fr", "opus-mt-fr-en"


def report_agreement(
    folder: Path, models: dict[str, TranslationCard], sentences: list[str], threads: int
) -> None:
    """The sentences are English; for the opposite direction, their translations are used."""
    for name in (FORWARD, BACKWARD):
        path = models[name].path
        int8 = tertium.load_model(path, compute_type="int8", threads=threads, cache=False)
        exact = tertium.load_model(path, compute_type="float32", threads=threads, cache=False)
        original = Original(original_folder(folder, name))
        print(f"\n{name} {exact.fingerprint[:12]}:\n", flush=True)
        print(compare(original, models[name], exact, int8, sentences), flush=True)
        if name == FORWARD:
            french = exact.translate(sentences, source_lang="en", target_lang="fr")
            sentences = [translation.text for translation in french]


def report_paraphrases(
    models: dict[str, TranslationCard], sets: dict[str, tuple[Pairs, Pairs]], threads: int
) -> None:
    forward, backward = (
        tertium.load_model(models[name].path, compute_type="float32", threads=threads, cache=False)
        for name in (FORWARD, BACKWARD)
    )
    pair = PairOfModels(forward, backward)
    measures: dict[str, Measure] = {
        "cross": tertium.load("cross", model=forward, target_lang="fr"),
        "pivot": tertium.load("pivot", model=pair, pivot_lang="fr"),
        "chrf": tertium.load("chrf"),
        "bleu": tertium.load("bleu"),
    }
    for name, (dev, test) in sets.items():
        print(f"\n{name}: threshold from {len(dev.labels)} pairs; {len(test.labels)} test pairs,")
        print(f"of which {test.labels.sum()} are paraphrases")
    heads = [f"{name} acc | {name} AUC | ms per pair" for name in sets]
    print(f"\n| measure | {' | '.join(heads)} |\n|{'---|' * (1 + 3 * len(sets))}", flush=True)
    for name, measure in measures.items():
        cells = []
        for dev, test in sets.values():
            result = identify(measure, dev, test, "en")
            cells.append(f"{result} | {1000 * result.seconds_per_pair:.1f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=cache_folder() / "benchmarks" / "opus")
    parser.add_argument("--sentences", type=Path, help="a table with English sentences")
    parser.add_argument("--column", default="source")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--mrpc", type=Path, help="a folder with train.tsv and test.tsv")
    parser.add_argument("--pawsx", type=Path, help="a folder with en.dev.tsv and en.test.tsv")
    parser.add_argument("--pairs", type=int, default=1000, help="pairs of each set of PAWS-X")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    models = prepare(arguments.folder)
    print(f"tertium {tertium.__version__}, ctranslate2 {ctranslate2.__version__},", end=" ")
    print(f"{arguments.threads} thread(s)", flush=True)
    if arguments.sentences is not None:
        records = islice(open_table(arguments.sentences), arguments.count)
        sentences = [record[arguments.column] for record in records]
        report_agreement(arguments.folder, models, sentences, arguments.threads)
    sets = {}
    if arguments.mrpc is not None:
        dev = read_pairs(arguments.mrpc / "train.tsv", glue_split="dev")
        sets["MRPC"] = dev, read_pairs(arguments.mrpc / "test.tsv")
    if arguments.pawsx is not None:
        dev = read_pairs(arguments.pawsx / "en.dev.tsv", arguments.pairs)
        sets["PAWS-X"] = dev, read_pairs(arguments.pawsx / "en.test.tsv", arguments.pairs)
    if sets:
        report_paraphrases(models, sets, arguments.threads)


if __name__ == "__main__":
    main()
