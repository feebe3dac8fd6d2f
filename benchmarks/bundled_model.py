"""What the bundled model is good for: paraphrase identification on PAWS-X, beside chrF and BLEU.

    python benchmarks/bundled_model.py ../shared/data/pawsx --pairs 500

For each language the first pairs of ``LANG.dev.tsv`` give the threshold, and those of
``LANG.test.tsv`` the accuracy and the area under the ROC curve (columns: id, sentence1, sentence2,
label). Prints what it ran, and a table in Markdown.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np

import tertium
from tertium.data.records import open_table
from tertium.measures.base import Measure

MEASURES = ("direct", "cross", "pivot", "prism-ref", "chrf", "bleu")
LANGUAGES = ("en", "de", "es")


Pairs = list[tuple[str, str]]


def read(file: Path, count: int) -> tuple[Pairs, np.ndarray]:
    records = list(islice(open_table(file), count))
    labels = np.array([record["label"] == "1" for record in records])
    return [(record["sentence1"], record["sentence2"]) for record in records], labels


def area_under_curve(scores: Sequence[float], labels: np.ndarray) -> float:
    """How often a paraphrase scores above a pair that is none; ties count half."""
    values = np.array(scores)
    difference = values[labels][:, None] - values[~labels][None, :]
    return float(np.mean((difference > 0) + 0.5 * (difference == 0)))


def best_threshold(scores: Sequence[float], labels: np.ndarray) -> float:
    values = np.array(scores)
    candidates = np.unique(values)
    accuracies = [np.mean((values > candidate) == labels) for candidate in candidates]
    return float(candidates[int(np.argmax(accuracies))])


def symmetric(measure: Measure, pairs: Pairs, lang: str) -> list[float]:
    """The mean of both orders, as the NMTScore paper does for surface measures."""
    a, b = [first for first, _ in pairs], [second for _, second in pairs]
    forth, back = measure(a, b, lang=lang), measure(b, a, lang=lang)
    return [(x + y) / 2 for x, y in zip(forth, back, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--model", default="tertium-mini")
    parser.add_argument("--languages", nargs="*", default=LANGUAGES)
    arguments = parser.parse_args()
    model = tertium.load_model(arguments.model, cache=False)
    print(f"tertium {tertium.__version__}, {model.name} {model.fingerprint[:12]},", end=" ")
    print(f"{dict(model.settings)}, first {arguments.pairs} pairs of dev and test\n")
    print(
        "| measure | " + " | ".join(f"{lang} acc | {lang} AUC" for lang in arguments.languages),
        end="",
    )
    print(" | ms a pair |\n|" + "---|" * (2 + 2 * len(arguments.languages)))
    for name in MEASURES:
        measure = tertium.load(name, model=None if name in ("chrf", "bleu") else model)
        cells, seconds, count = [], 0.0, 0
        for lang in arguments.languages:
            dev, dev_labels = read(arguments.folder / f"{lang}.dev.tsv", arguments.pairs)
            test, labels = read(arguments.folder / f"{lang}.test.tsv", arguments.pairs)
            threshold = best_threshold(symmetric(measure, dev, lang), dev_labels)
            begun = time.monotonic()
            scores = symmetric(measure, test, lang)
            seconds += time.monotonic() - begun
            count += len(labels)
            accuracy = np.mean((np.array(scores) > threshold) == labels)
            cells.append(f"{100 * accuracy:.1f} | {100 * area_under_curve(scores, labels):.1f}")
        print(f"| {name} | {' | '.join(cells)} | {1000 * seconds / count:.1f} |", flush=True)


if __name__ == "__main__":
    main()
