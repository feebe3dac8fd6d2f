"""Sentence alignment of documents with known merges, splits, deletions and insertions.

    python benchmarks/alignment.py data/tatoeba/de-en.tsv.xz --documents 20 --length 200

Documents are made of sentence pairs of a table (one column per language), in random order. With the
given probabilities, two neighbours are joined on one side, or a sentence is left out on one side.
A unit with both sides is found strictly if it is the same as a true unit, and laxly if it shares a
sentence of each side with one. Gale-Church is that of nltk, by the numbers of characters.

    python benchmarks/alignment.py --gold vecalign/bleualign_data --vecalign vecalign

aligns documents with a gold alignment: NAME.de, NAME.fr and NAME.defr with lines "[0]:[0, 1]". With
``--vecalign``, a clone of github.com/thompsonb/vecalign in which dp_core was built
(``python setup.py build_ext --inplace``), vecalign aligns with the same vectors.

    python benchmarks/alignment.py --times

prints the CPU seconds of the alignment of random vectors and of the same vectors with some noise.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from ast import literal_eval
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

import tertium
from mining import groups, processor
from tertium.data.records import open_table
from tertium.data.sentences import join
from tertium.models.base import SentenceEncoder
from tertium.models.encoders.alignment import Aligner
from tertium.stats.alignment import AlignmentSettings, align
from tertium.text import Text

Unit = tuple[tuple[int, ...], tuple[int, ...]]
Document = tuple[list[Text], list[Text], set[Unit]]
WIDTH, NOISE = 256, 0.3
ACTIONS = ("join source", "join target", "delete source", "delete target")


def make_document(
    pairs: Sequence[tuple[str, str]], langs: Sequence[str], rate: float, draw: random.Random
) -> Document:
    """A document, its translation, and the true units that have both sides."""
    source: list[Text] = []
    target: list[Text] = []
    gold: set[Unit] = set()
    place = 0
    while place < len(pairs):
        action = draw.choice(ACTIONS) if draw.random() < rate else ""
        first = [len(source)], [len(target)]
        a, b = pairs[place]
        if action.startswith("delete"):
            side, text, lang = (
                (target, b, langs[1]) if "source" in action else (source, a, langs[0])
            )
            side.append(Text(text, lang))
        elif action and place + 1 < len(pairs):
            c, d = pairs[place + 1]
            joined, apart = (source, target) if "source" in action else (target, source)
            both = ((a, c), (b, d)) if "source" in action else ((b, d), (a, c))
            own = langs if "source" in action else langs[::-1]
            joined.append(Text(" ".join(both[0]), own[0]))
            apart.extend(Text(text, own[1]) for text in both[1])
            place += 1
            gold.add(
                (tuple(range(first[0][0], len(source))), tuple(range(first[1][0], len(target))))
            )
        else:
            source.append(Text(a, langs[0]))
            target.append(Text(b, langs[1]))
            gold.add((tuple(first[0]), tuple(first[1])))
        place += 1
    return source, target, gold


def gale_church(source: Sequence[Text], target: Sequence[Text]) -> set[Unit]:
    from nltk.translate.gale_church import align_blocks

    links = align_blocks([len(one.text) for one in source], [len(one.text) for one in target])
    units: list[tuple[set[int], set[int]]] = []
    for i, j in links:
        if units and (i in units[-1][0] or j in units[-1][1]):
            units[-1][0].add(i)
            units[-1][1].add(j)
        else:
            units.append(({i}, {j}))
    return {(tuple(sorted(a)), tuple(sorted(b))) for a, b in units}


def by_vectors(aligner: Aligner) -> Callable[[Sequence[Text], Sequence[Text]], set[Unit]]:
    def run(source: Sequence[Text], target: Sequence[Text]) -> set[Unit]:
        return {
            (tuple(unit.source), tuple(unit.target))
            for unit in aligner(source, target)
            if unit.source and unit.target
        }

    return run


def by_vecalign(
    encoder: SentenceEncoder, size: int
) -> Callable[[Sequence[Text], Sequence[Text]], set[Unit]]:
    """Vecalign with its default settings (its layers are padded in front)."""
    from vecalign.dp_utils import make_alignment_types, vecalign

    def blocks(side: Sequence[Text]) -> np.ndarray:
        texts = [
            join(side[place - count + 1 : place + 1]).text if place - count + 1 >= 0 else "PAD"
            for count in range(1, size + 1)
            for place in range(len(side))
        ]
        vectors = encoder.sentence_vectors(texts, lang=side[0].lang).vectors
        return vectors.reshape(size, len(side), -1).copy()

    def run(source: Sequence[Text], target: Sequence[Text]) -> set[Unit]:
        np.random.seed(42)
        random.seed(42)
        stack = vecalign(
            blocks(source),
            blocks(target),
            final_alignment_types=make_alignment_types(size),
            del_percentile_frac=0.2,
            width_over2=size // 2 + 5,
            max_size_full_dp=300,
            costs_sample_size=20_000,
            num_samps_for_norm=100,
        )
        return {(tuple(a), tuple(b)) for a, b in stack[0]["final_alignments"] if a and b}

    return run


def read_gold(folder: Path) -> list[Document]:
    """German and French documents with a gold alignment."""
    found = []
    for file in sorted(folder.glob("test*.defr")):
        sides = [
            [Text(line, lang) for line in file.with_suffix(f".{lang}").read_text().splitlines()]
            for lang in ("de", "fr")
        ]
        units = [line.split(":")[:2] for line in file.read_text().splitlines() if line.strip()]
        gold = {(tuple(literal_eval(a)), tuple(literal_eval(b))) for a, b in units}
        found.append((sides[0], sides[1], {(a, b) for a, b in gold if a and b}))
    return found


def lax(units: set[Unit], others: set[Unit]) -> int:
    """How many units share a sentence of each side with one of the others."""
    links = {(i, j): other for other in others for i in other[0] for j in other[1]}
    return sum(any((i, j) in links for i in unit[0] for j in unit[1]) for unit in units)


def times() -> None:
    """The time by the number of sentences, vectors given; it should grow in proportion."""
    draw = np.random.default_rng(1)
    print("| sentences | CPU seconds |\n|---:|---:|")
    for count in (1000, 2000, 4000, 8000):
        meaning = draw.normal(size=(count, WIDTH))
        sides = []
        for _ in range(2):
            sentences = meaning + NOISE * draw.normal(size=meaning.shape)
            side = {}
            for size in (1, 2, 3):
                sums = sum(sentences[start : count - size + 1 + start] for start in range(size))
                lengths = np.linalg.norm(sums, axis=1, keepdims=True)
                side[size] = (sums / lengths).astype(np.float32)
            sides.append(side)
        started = time.process_time()
        align(sides[0], sides[1])
        print(f"| {count} | {time.process_time() - started:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path, nargs="?")
    parser.add_argument("--gold", type=Path, help="a folder of documents with gold alignments")
    parser.add_argument("--vecalign", type=Path, help="a clone of vecalign, built in place")
    parser.add_argument("--times", action="store_true", help="measure the time instead")
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--length", type=int, default=200, help="sentence pairs per document")
    parser.add_argument("--rates", default="0,0.1,0.3", help="proportions of changed places")
    parser.add_argument("--encoders", default="tertium-mini,use-multilingual")
    parser.add_argument("--quantile", type=float, default=AlignmentSettings.deletion_quantile)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"tertium {tertium.__version__}, nltk {version('nltk')}, {processor()}")
    if arguments.times:
        times()
        return
    aligners: dict[str, Callable[[Sequence[Text], Sequence[Text]], set[Unit]]] = {
        "Gale-Church (nltk)": gale_church
    }
    settings = AlignmentSettings(deletion_quantile=arguments.quantile)
    for name in arguments.encoders.split(","):
        encoder = tertium.load_encoder(name)
        aligners[name] = by_vectors(Aligner(encoder, settings))
        if arguments.vecalign is not None:
            sys.path.insert(0, str(arguments.vecalign))
            aligners[f"vecalign, {name}"] = by_vecalign(encoder, settings.max_size)
    sets: dict[str, list[Document]] = {}
    if arguments.gold is not None:
        sets["gold"] = read_gold(arguments.gold)
    if arguments.table is not None:
        table = open_table(arguments.table)
        langs = table.columns()[:2]
        found = groups([(row[langs[0]], row[langs[1]]) for row in table])
        draw = random.Random(arguments.seed)
        draw.shuffle(found)
        chosen = [draw.choice(one) for one in found[: arguments.documents * arguments.length]]
        for rate in map(float, arguments.rates.split(",")):
            sets[f"{100 * rate:.0f} %"] = [
                make_document(chosen[start : start + arguments.length], langs, rate, draw)
                for start in range(0, len(chosen), arguments.length)
            ]
        print(f"{arguments.documents} documents of {arguments.length} pairs, {'-'.join(langs)}")
    if not sets:
        parser.error("give a table of sentence pairs, --gold or --times")
    print(
        "\n| changed places | aligner | strict P | R | F1 | lax P | R | F1 | CPU s per document |"
    )
    print(f"|---|---|{'---:|' * 7}", flush=True)
    for changed, documents in sets.items():
        for name, run in aligners.items():
            counts = [0, 0, 0, 0, 0]  # found, true, right, right laxly, true found laxly
            started = time.process_time()
            for source, target, gold in documents:
                units = run(source, target)
                for place, value in enumerate(
                    (len(units), len(gold), len(units & gold), lax(units, gold), lax(gold, units))
                ):
                    counts[place] += value
            seconds = (time.process_time() - started) / len(documents)
            shares = [counts[2] / counts[0], counts[2] / counts[1]]
            laxly = [counts[3] / counts[0], counts[4] / counts[1]]
            cells = [
                f"{100 * value:.1f}"
                for p, r in (shares, laxly)
                for value in (p, r, 2 * p * r / (p + r) if p + r else 0.0)
            ]
            print(f"| {changed} | {name} | {' | '.join(cells)} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
