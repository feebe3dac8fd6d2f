"""What the bundled model is good for: paraphrase identification on PAWS-X, beside chrF and BLEU.

    python benchmarks/bundled_model.py ../shared/data/pawsx --pairs 500

For each language the first pairs of ``LANG.dev.tsv`` give the threshold, and those of
``LANG.test.tsv`` the accuracy and the area under the ROC curve (columns: id, sentence1, sentence2,
label). Prints what it ran, and a table in Markdown.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from paraphrases import identify, read_pairs

import tertium

MEASURES = ("direct", "cross", "pivot", "prism-ref", "chrf", "bleu")
LANGUAGES = ("en", "de", "es")


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
        results = [
            identify(
                measure,
                read_pairs(arguments.folder / f"{lang}.dev.tsv", arguments.pairs),
                read_pairs(arguments.folder / f"{lang}.test.tsv", arguments.pairs),
                lang,
            )
            for lang in arguments.languages
        ]
        milliseconds = 1000 * sum(result.seconds_per_pair for result in results) / len(results)
        print(f"| {name} | {' | '.join(map(str, results))} | {milliseconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
