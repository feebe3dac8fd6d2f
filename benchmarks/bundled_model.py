"""Evaluate a translation model next to chrF and BLEU: the numbers of the model card.

    python benchmarks/bundled_model.py --tatoeba data/tatoeba/dev.tsv.xz --pawsx data/pawsx \\
        --mrpc data/mrpc --stsb data/stsb --model tertium-mini

- ``--tatoeba`` (lang_a, lang_b, sentence_a, sentence_b): chrF of the translations, for each
  direction; how often a translation scores above a random sentence, and above a near miss, which
  is the most similar other sentence of the same language (by chrF).
- ``--pawsx`` (``LANG.dev.tsv``, ``LANG.test.tsv``) and ``--mrpc`` (``train.tsv``, the rows with
  ``glue_split`` dev, and ``test.tsv``): accuracy, with the best threshold of the development set,
  and the area under the ROC curve.
- ``--stsb`` (``LANG.test.tsv``, with ``score``): Spearman's correlation.

Prints versions and settings, and tables in Markdown.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from paraphrases import Pairs, identify, read_pairs

import tertium
from tertium.data.records import open_table
from tertium.measures.base import Measure
from tertium.models.cache.memo import Memo
from tertium.stats.correlation import spearman

MEASURES = ("direct", "cross", "pivot", "prism-ref", "chrf", "bleu")
ACROSS = ("direct", "cross", "pivot", "prism-ref")
"""The measures that compare texts in different languages."""
LANGUAGES = ("en", "de", "fr", "es")
PARAPHRASES = ("en", "de", "es")


@dataclass(frozen=True)
class Bitext:
    source_lang: str
    target_lang: str
    sources: list[str]
    targets: list[str]

    def __str__(self) -> str:
        return f"{self.source_lang}-{self.target_lang}"


def read_bitext(file: Path, languages: tuple[str, ...], count: int) -> list[Bitext]:
    """The first pairs of each pair of languages, in both directions."""
    rows: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for row in open_table(file):
        rows[row["lang_a"], row["lang_b"]].append((row["sentence_a"], row["sentence_b"]))
    bitexts = []
    for (a, b), pairs in rows.items():
        if a in languages and b in languages:
            first, second = (list(side) for side in zip(*pairs[:count], strict=True))
            bitexts += [Bitext(a, b, first, second), Bitext(b, a, second, first)]
    return bitexts


def report_translations(model: Memo, bitexts: list[Bitext]) -> None:
    chrf = tertium.load("chrf")
    print("\n| direction | sentences | chrF |\n|---|---|---|", flush=True)
    for bitext in bitexts:
        translations = model.translate(
            bitext.sources, target_lang=bitext.target_lang, source_lang=bitext.source_lang
        )
        score = chrf.score([each.text for each in translations], bitext.targets).system
        print(f"| {bitext} | {len(translations)} | {score:.1f} |", flush=True)


def near_miss(target: str, others: list[str], chrf: Measure) -> str:
    """The most similar one of the other sentences."""
    others = [other for other in set(others) if other != target]
    words = set(target.split())
    similar = sorted(others, key=lambda other: (-len(words & set(other.split())), other))[:50]
    scores = chrf(similar, [target] * len(similar))
    return similar[scores.index(max(scores))]


def report_choices(model: Memo, bitexts: list[Bitext]) -> None:
    """Report how often a translation scores above another sentence."""
    chrf = tertium.load("chrf")
    pools: defaultdict[str, list[str]] = defaultdict(list)
    for bitext in bitexts:
        pools[bitext.target_lang] += bitext.targets
    wins = {name: [0.0, 0.0] for name in ACROSS}
    total = 0
    for bitext in bitexts:
        draw = random.Random(str(bitext))
        pool = pools[bitext.target_lang]
        rivals = [
            [
                draw.choice([other for other in pool if other != target])
                for target in bitext.targets
            ],
            [near_miss(target, pool, chrf) for target in bitext.targets],
        ]
        total += len(bitext.targets)
        for name, won in wins.items():
            measure = tertium.load(name, model=model)
            right, *wrong = (
                measure(
                    texts,
                    bitext.sources,
                    lang=bitext.target_lang,
                    reference_lang=bitext.source_lang,
                )
                for texts in (bitext.targets, *rivals)
            )
            for place, scores in enumerate(wrong):
                won[place] += sum(
                    (a > b) + 0.5 * (a == b) for a, b in zip(right, scores, strict=True)
                )
    print(f"\nHow often a translation scores above another sentence, {total} choices:\n")
    print("| measure | random | near miss |\n|---|---|---|")
    for name, (one, near) in wins.items():
        print(f"| {name} | {100 * one / total:.1f} | {100 * near / total:.1f} |", flush=True)


def paraphrase_sets(
    arguments: argparse.Namespace,
) -> Iterator[tuple[str, str, Pairs, Pairs]]:
    """Name, language, development and test set."""
    if arguments.pawsx is not None:
        for lang in PARAPHRASES:
            dev, test = (
                read_pairs(arguments.pawsx / f"{lang}.{part}.tsv", arguments.pairs)
                for part in ("dev", "test")
            )
            yield f"PAWS-X {lang}", lang, dev, test
    if arguments.mrpc is not None:
        dev = read_pairs(arguments.mrpc / "train.tsv", arguments.pairs, glue_split="dev")
        yield "MRPC", "en", dev, read_pairs(arguments.mrpc / "test.tsv", arguments.pairs)


def report_paraphrases(model: Memo, arguments: argparse.Namespace) -> None:
    sets = list(paraphrase_sets(arguments))
    graded = {
        lang: list(islice(open_table(arguments.stsb / f"{lang}.test.tsv"), arguments.pairs))
        for lang in ("en", "de")
        if arguments.stsb is not None
    }
    heads = [f"{name} acc | {name} AUC" for name, *_ in sets]
    heads += [f"STS-B {lang}" for lang in graded]
    print(f"\n| measure | {' | '.join(heads)} |\n|{'---|' * (1 + 2 * len(sets) + len(graded))}")
    for name in MEASURES:
        measure = tertium.load(name, model=None if name in ("chrf", "bleu") else model)
        cells = [str(identify(measure, dev, test, lang)) for _, lang, dev, test in sets]
        for lang, rows in graded.items():
            first, second = ([row[f"sentence{n}"] for row in rows] for n in (1, 2))
            rho = spearman(measure(first, second, lang=lang), [float(row["score"]) for row in rows])
            cells.append(f"{rho:.3f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="tertium-mini")
    parser.add_argument("--tatoeba", type=Path)
    parser.add_argument("--sentences", type=int, default=100, help="sentences per direction")
    parser.add_argument("--pawsx", type=Path)
    parser.add_argument("--mrpc", type=Path)
    parser.add_argument("--stsb", type=Path)
    parser.add_argument("--pairs", type=int, default=500, help="pairs per data set")
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    model = tertium.load_model(arguments.model, cache=False, threads=arguments.threads)
    print(f"tertium {tertium.__version__}, {model.name} {model.fingerprint[:12]},", end=" ")
    print(f"{dict(model.settings)}; the first {arguments.pairs} pairs of each set", flush=True)
    if arguments.tatoeba is not None:
        bitexts = read_bitext(arguments.tatoeba, LANGUAGES, arguments.sentences)
        report_translations(model, bitexts)
        report_choices(model, bitexts)
    if arguments.pawsx or arguments.mrpc or arguments.stsb:
        report_paraphrases(model, arguments)


if __name__ == "__main__":
    main()
