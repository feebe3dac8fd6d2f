"""The numbers of a translation model's card, in float32, beside those of chrF and BLEU.

    python benchmarks/bundled_model.py --model tertium-mini --out card \\
        --tatoeba data/tatoeba/dev.tsv.xz --flores data/flores --pawsx data/pawsx \\
        --mrpc data/mrpc --stsb data/stsb

- ``--tatoeba`` (lang_a, lang_b, sentence_a, sentence_b) and ``--flores`` (a folder with files
  ``flores.PAIR.tsv.xz``, whose columns are named by language; never train on it): chrF of
  translations, and the number that did not end; how often a translation scores above a random
  sentence, a near miss (the most similar other sentence by chrF), itself with wrong names or
  numbers (exchanged, or replaced), with another negation, an opposite or two exchanged words, a
  copy of the source, and itself with the second half untranslated, for the first ``--choices`` of
  each direction; mutual nearest neighbours among the sentence vectors of 300 pairs of each two
  languages.
- ``--pawsx`` (``LANG.dev.tsv``, ``LANG.test.tsv``) and ``--mrpc`` (``train.tsv``, the rows with
  ``glue_split`` dev, and ``test.tsv``): the area under the ROC curve, and accuracy at the threshold
  that is best on the development set. On PAWS-X also the share of translations that did not end.
- ``--stsb`` (``LANG.test.tsv``, with ``score``): Spearman's correlation.

All pairs are used unless ``--pairs`` limits them. Intervals are 95 % percentile intervals of the
bootstrap over pairs. Each result is saved in the folder ``--out`` as soon as it is computed, so
that an interrupted run resumes; then tables are printed in Markdown.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from paraphrases import Pairs, read_pairs, symmetric

import tertium
from tertium.data.negation import toggled
from tertium.data.records import open_table
from tertium.measures.base import Measure
from tertium.models.base import make_queries
from tertium.models.cached import CachedModel
from tertium.stats.arrays import Counts, Floats
from tertium.stats.classification import accuracy, auc, best_threshold, decide
from tertium.stats.correlation import spearman
from tertium.stats.resampling import bootstrap_counts, percentile_interval
from tertium.storage.atomic import write_text
from tertium.training.model.bitext import Pair, read_bitext
from tertium.training.model.contrasts import exchanged, half_translated, with_opposite
from tertium.training.model.lexicon import Lexicon, build_lexicon
from tertium.training.model.names import contrasting, find_slots

MEASURES = ("direct", "cross", "pivot", "prism-ref", "sss", "chrf", "bleu")
ACROSS = ("direct", "cross", "pivot", "prism-ref")
"""The measures that can compare two languages, beside H(target|source)."""
LANGUAGES = ("en", "de", "fr", "es")
PARAPHRASES = ("en", "de", "es")
RETRIEVED = 300
"""Pairs of each two languages among which nearest neighbours are sought."""
ALIKE = 50
"""Sentences with the most common words, of which the near miss is chosen."""
Cell = dict[str, Any]


@dataclass(frozen=True)
class Bitext:
    """Sentence pairs of one direction."""

    name: str
    source_lang: str
    target_lang: str
    sources: list[str]
    targets: list[str]

    @property
    def pairs(self) -> list[Pair]:
        sides = zip(self.sources, self.targets, strict=True)
        return [Pair(self.source_lang, self.target_lang, a, b) for a, b in sides]

    def __str__(self) -> str:
        return f"{self.name} {self.source_lang}-{self.target_lang}"


class Cells:
    """Results by name, saved one by one."""

    def __init__(self, folder: Path, settings: Cell) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "cells.json"
        self._content: dict[str, Cell] = {"settings": settings}
        if self._path.is_file():
            saved = json.loads(self._path.read_text(encoding="utf-8"))
            if saved["settings"] != settings:
                raise SystemExit(f"{self._path} is of {saved['settings']}; use another --out")
            self._content = saved

    def get(self, name: str, compute: Callable[[], Cell]) -> Cell:
        if name not in self._content:
            self._content[name] = compute()
            write_text(self._path, json.dumps(self._content, indent=1, ensure_ascii=False) + "\n")
        return self._content[name]


def read_bitexts(arguments: argparse.Namespace) -> list[Bitext]:
    """Read the first pairs of each two languages, in both directions."""
    files: list[tuple[str, Path]] = []
    if arguments.tatoeba is not None:
        files.append(("Tatoeba", arguments.tatoeba))
    if arguments.flores is not None:
        files += [("FLORES", file) for file in sorted(arguments.flores.glob("flores.*.tsv*"))]
    found = []
    for name, file in files:
        rows: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        for lang_a, lang_b, a, b in read_bitext(file, LANGUAGES):
            rows[lang_a, lang_b].append((a, b))
        for (lang_a, lang_b), pairs in rows.items():
            first, second = (list(side) for side in zip(*pairs[: arguments.sentences], strict=True))
            found.append(Bitext(name, lang_a, lang_b, first, second))
            found.append(Bitext(name, lang_b, lang_a, second, first))
    return found


def interval(value: float, replicates: Floats) -> Cell:
    found = percentile_interval(replicates)
    return {"value": value, "low": found.low, "high": found.high}


def share(flags: Sequence[bool] | Sequence[float]) -> Cell:
    """The mean of flags, with its interval."""
    values = np.asarray(flags, np.float64)
    if not len(values):
        return {"value": float("nan"), "low": float("nan"), "high": float("nan"), "count": 0}
    counts = bootstrap_counts(len(values))
    return interval(float(values.mean()), counts @ values / len(values)) | {"count": len(values)}


def show(cell: Cell, *, percent: bool = True, digits: int = 1) -> str:
    """A value and its interval: ``71.5 (69.2–73.8)``."""
    factor = 100 if percent else 1
    value, low, high = (f"{factor * cell[name]:.{digits}f}" for name in ("value", "low", "high"))
    return f"{value} ({low}–{high})"


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def translation_cell(model: CachedModel, bitext: Bitext) -> Cell:
    made = model.translate(
        bitext.sources, target_lang=bitext.target_lang, source_lang=bitext.source_lang
    )
    score = tertium.load("chrf").score([one.text for one in made], bitext.targets).system
    return {"chrf": score, "cut": sum(one.cut for one in made), "count": len(made)}


def report_translations(cells: Cells, model: CachedModel, bitexts: Sequence[Bitext]) -> None:
    rows = []
    for bitext in bitexts:

        def compute(bitext: Bitext = bitext) -> Cell:
            return translation_cell(model, bitext)

        cell = cells.get(f"translation {bitext}", compute)
        rows.append([str(bitext), f"{cell['count']}", f"{cell['chrf']:.1f}", f"{cell['cut']}"])
    print_table(["direction", "sentences", "chrF", "cut"], rows)


def near_miss(target: str, others: Iterable[str], chrf: Measure) -> str:
    """Of the other sentences, the one most similar to the target."""
    words = set(target.split())
    different = [other for other in set(others) if other != target]
    alike = sorted(different, key=lambda other: (-len(words & set(other.split())), other))[:ALIKE]
    scores = chrf(alike, [target] * len(alike))
    return alike[scores.index(max(scores))]


def scores(
    measure: Measure | None,
    model: CachedModel,
    bitext: Bitext,
    targets: Sequence[str],
    sources: Sequence[str],
) -> Floats:
    """The scores of targets by a measure, or H(target|source) without one."""
    if measure is not None:
        return np.array(
            measure(
                list(targets),
                list(sources),
                lang=bitext.target_lang,
                reference_lang=bitext.source_lang,
            )
        )
    found = model.log_probs(
        make_queries(
            list(targets),
            list(sources),
            target_lang=bitext.target_lang,
            source_lang=bitext.source_lang,
        )
    )
    return np.array([np.mean(one.log_probs) for one in found])


def choice_cell(model: CachedModel, bitext: Bitext, pool: Sequence[str], lexicon: Lexicon) -> Cell:
    """How often a target scores above another one, by kind and measure; ties count half."""
    chrf = tertium.load("chrf")
    draw = random.Random(str(bitext))
    generator = np.random.default_rng(0)
    wrong: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for place, pair in enumerate(bitext.pairs):
        others = [other for other in pool if other != pair.b]
        wrong["random"].append((place, draw.choice(others)))
        wrong["near miss"].append((place, near_miss(pair.b, others, chrf)))
        if found := contrasting(pair, find_slots(pair, lexicon), lexicon, generator):
            wrong[found[0]].append((place, found[1].b))
        errors = {
            "copy": pair.a,
            "half": half_translated(pair.a, pair.b),
            "negation": toggled(pair.b, pair.lang_b),
            "opposite": with_opposite(pair.b, pair.lang_b, generator),
            "words": exchanged(pair.b, generator),
        }
        for kind, text in errors.items():
            if text is not None and text != pair.b:
                wrong[kind].append((place, text))
    cell: Cell = {}
    for name in ("H", *ACROSS):
        measure = None if name == "H" else tertium.load(name, model=model)
        right = scores(measure, model, bitext, bitext.targets, bitext.sources)
        for kind, entries in wrong.items():
            places = [place for place, _ in entries]
            texts = [text for _, text in entries]
            other = scores(
                measure, model, bitext, texts, [bitext.sources[place] for place in places]
            )
            wins = (right[places] > other) + 0.5 * (right[places] == other)
            cell.setdefault(kind, {})[name] = wins.tolist()
    return cell


def report_choices(cells: Cells, model: CachedModel, bitexts: Sequence[Bitext], count: int) -> None:
    pools: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for bitext in bitexts:
        pools[bitext.name, bitext.target_lang] += bitext.targets
    pairs = [pair for bitext in bitexts for pair in bitext.pairs]
    lexicon = build_lexicon(pairs, LANGUAGES, min_shared=1)
    wins: defaultdict[tuple[str, str], dict[str, list[float]]] = defaultdict(dict)
    for bitext in bitexts:
        first = replace(bitext, sources=bitext.sources[:count], targets=bitext.targets[:count])

        def compute(bitext: Bitext = first) -> Cell:
            pool = pools[bitext.name, bitext.target_lang]
            return choice_cell(model, bitext, pool, lexicon)

        for kind, by_measure in cells.get(f"choices {bitext}", compute).items():
            for name, flags in by_measure.items():
                wins[bitext.name, kind].setdefault(name, []).extend(flags)
    names = ["H", *ACROSS]
    rows = [
        [name, kind, str(len(flags["H"])), *(show(share(flags[measure])) for measure in names)]
        for (name, kind), flags in wins.items()
    ]
    print_table(["set", "a translation against", "choices", *names], rows)


def retrieval_cell(encoder: Any, bitext: Bitext) -> Cell:
    """The share of pairs whose vectors are nearest neighbours of each other."""
    a, b = (
        encoder.sentence_vectors(texts, lang=lang).vectors
        for texts, lang in (
            (bitext.sources[:RETRIEVED], bitext.source_lang),
            (bitext.targets[:RETRIEVED], bitext.target_lang),
        )
    )
    similarities = a @ b.T
    places = np.arange(len(a))
    mutual = (similarities.argmax(axis=1) == places) & (similarities.argmax(axis=0) == places)
    return share(mutual.tolist())


def report_retrieval(cells: Cells, encoder: Any, bitexts: Sequence[Bitext]) -> None:
    rows = []
    for bitext in bitexts:
        if bitext.source_lang < bitext.target_lang:

            def compute(bitext: Bitext = bitext) -> Cell:
                return retrieval_cell(encoder, bitext)

            cell = cells.get(f"retrieval {bitext}", compute)
            rows.append([str(bitext), f"{cell['count']}", show(cell)])
    print_table(["set", "pairs", "% mutual nearest neighbours"], rows)


def paraphrase_sets(arguments: argparse.Namespace) -> Iterator[tuple[str, str, Pairs, Pairs]]:
    """Yield name, language, development and test set."""
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


def identification_cell(measure: Measure, lang: str, dev: Pairs, test: Pairs) -> Cell:
    threshold = best_threshold(dev.labels, symmetric(measure, dev, lang)).value
    scores = symmetric(measure, test, lang)
    decisions = decide(scores, threshold)
    counts: Counts = bootstrap_counts(len(test.labels))
    return {
        "auc": interval(auc(test.labels, scores), auc(test.labels, scores, counts=counts)),
        "accuracy": interval(
            accuracy(test.labels, decisions), accuracy(test.labels, decisions, counts=counts)
        ),
    }


def correlation_cell(measure: Measure, lang: str, rows: Sequence[dict[str, str]]) -> Cell:
    first, second = ([row[f"sentence{side}"] for row in rows] for side in (1, 2))
    scores = measure(first, second, lang=lang)
    people = [float(row["score"]) for row in rows]
    replicates = spearman(scores, people, counts=bootstrap_counts(len(rows)))
    return interval(spearman(scores, people), replicates)


def load_measure(name: str, model: CachedModel, encoder: Any) -> Measure:
    if name in ACROSS:
        return tertium.load(name, model=model)
    return tertium.load(name, encoder=encoder) if name == "sss" else tertium.load(name)


def report_paraphrases(
    cells: Cells, model: CachedModel, encoder: Any, arguments: argparse.Namespace
) -> None:
    sets = list(paraphrase_sets(arguments))
    graded = {
        lang: list(islice(open_table(arguments.stsb / f"{lang}.test.tsv"), arguments.pairs))
        for lang in ("en", "de")
        if arguments.stsb is not None
    }
    measures = {name: load_measure(name, model, encoder) for name in MEASURES}
    tables: dict[str, list[list[str]]] = {"auc": [], "accuracy": [], "spearman": []}
    for name, measure in measures.items():
        aucs, accuracies = [name], [name]
        for label, lang, dev, test in sets:

            def identify(
                measure: Measure = measure, lang: str = lang, dev: Pairs = dev, test: Pairs = test
            ) -> Cell:
                return identification_cell(measure, lang, dev, test)

            cell = cells.get(f"{name} {label}", identify)
            aucs.append(show(cell["auc"]))
            accuracies.append(show(cell["accuracy"]))
        tables["auc"].append(aucs)
        tables["accuracy"].append(accuracies)
        correlations = [name]
        for lang, rows in graded.items():

            def correlate(
                measure: Measure = measure, lang: str = lang, rows: Sequence[Any] = rows
            ) -> Cell:
                return correlation_cell(measure, lang, rows)

            found = cells.get(f"{name} STS-B {lang}", correlate)
            correlations.append(show(found, percent=False, digits=3))
        tables["spearman"].append(correlations)
    if sets:
        labels = [f"{label}, {len(test.labels)} pairs" for label, _, _, test in sets]
        print_table(["AUC", *labels], tables["auc"])
        print_table(["accuracy", *labels], tables["accuracy"])
    if graded:
        heads = [f"STS-B {lang}, {len(rows)} pairs" for lang, rows in graded.items()]
        print_table(["Spearman", *heads], tables["spearman"])


def report_repetition(cells: Cells, model: CachedModel, arguments: argparse.Namespace) -> None:
    """The share of translations of PAWS-X that do not end."""
    rows = []
    for lang in PARAPHRASES:
        pairs = read_pairs(arguments.pawsx / f"{lang}.test.tsv", arguments.pairs)
        target_lang = "de" if lang == "en" else "en"
        sentences = list(dict.fromkeys([*pairs.first, *pairs.second]))

        def compute(
            sentences: list[str] = sentences, lang: str = lang, target_lang: str = target_lang
        ) -> Cell:
            made = model.translate(sentences, target_lang=target_lang, source_lang=lang)
            return share([one.cut for one in made])

        cell = cells.get(f"repetition {lang}-{target_lang}", compute)
        rows.append([f"PAWS-X {lang}-{target_lang}", f"{cell['count']}", show(cell, digits=2)])
    print_table(["direction", "sentences", "% cut"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="tertium-mini")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--tatoeba", type=Path)
    parser.add_argument("--flores", type=Path)
    parser.add_argument("--sentences", type=int, help="the first of each pair of languages")
    parser.add_argument("--choices", type=int, default=100, help="of each direction")
    parser.add_argument("--pawsx", type=Path)
    parser.add_argument("--mrpc", type=Path)
    parser.add_argument("--stsb", type=Path)
    parser.add_argument("--pairs", type=int, help="the first of each set")
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    model = tertium.load_model(
        arguments.model, compute_type="float32", cache=False, threads=arguments.threads
    )
    settings = {
        "tertium": tertium.__version__,
        "model": f"{model.name} {model.fingerprint[:12]}",
        "settings": {key: str(value) for key, value in model.settings.items()},
        "sentences": arguments.sentences,
        "choices": arguments.choices,
        "pairs": arguments.pairs,
    }
    cells = Cells(arguments.out, settings)
    print(", ".join(f"{name}: {value}" for name, value in settings.items()), flush=True)
    encoder = tertium.load_encoder(
        arguments.model, compute_type="float32", threads=arguments.threads
    )
    if bitexts := read_bitexts(arguments):
        report_retrieval(cells, encoder, bitexts)
        report_translations(cells, model, bitexts)
        report_choices(cells, model, bitexts, arguments.choices)
    if arguments.pawsx is not None:
        report_repetition(cells, model, arguments)
    if arguments.pawsx or arguments.mrpc or arguments.stsb:
        report_paraphrases(cells, model, encoder, arguments)


if __name__ == "__main__":
    main()
