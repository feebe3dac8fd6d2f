"""Long texts: does a document with one wrong sentence score below the right one?

    python benchmarks/long_texts.py data/news/newstest.de-en.tsv.xz --documents 40

Documents are consecutive rows of a table (one column per language), joined by spaces. In a copy of
the translation, one sentence, at a random place, is exchanged for one from elsewhere in the table.
Each measure scores both against the original: with long=cut (only the beginning is read), with
long=split (the default: a text that is too long is split), and with long=always (every text is
split). The number is how often the changed document scores below the unchanged one, in percent;
equal scores count as half.
"""

from __future__ import annotations

import argparse
import random
import time
import warnings
from pathlib import Path

import tertium
from mining import processor
from tertium.data.records import open_table
from tertium.measures.references import LONG
from tertium.text import Row, Text


def documents(
    pairs: list[tuple[str, str]], length: int, count: int, draw: random.Random
) -> list[tuple[str, str, str]]:
    """Originals, translations, and translations with one sentence exchanged."""
    found = []
    for _ in range(count):
        start = draw.randrange(len(pairs) - length)
        source, target = ([pair[side] for pair in pairs[start : start + length]] for side in (0, 1))
        changed = list(target)
        changed[draw.randrange(length)] = draw.choice(pairs)[1]
        found.append((" ".join(source), " ".join(target), " ".join(changed)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--documents", type=int, default=40, help="of each length")
    parser.add_argument("--lengths", default="5,10,20,50", help="sentences per document")
    parser.add_argument("--measures", default="direct cross:beam_size=1 sss bertscore")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    lengths = [int(length) for length in arguments.lengths.split(",")]
    table = open_table(arguments.table)
    langs = table.columns()[:2]
    pairs = [(row[langs[0]], row[langs[1]]) for row in table]
    print(f"tertium {tertium.__version__}, {processor()}, {arguments.table.name}")
    print(f"{arguments.documents} documents of each length")
    print(f"\n| measure | long | {' | '.join(map(str, lengths))} | CPU seconds |")
    print(f"|---|---|{'---:|' * (len(lengths) + 1)}", flush=True)
    for name in arguments.measures.split():
        for long in LONG:
            measure = tertium.load(name, long=long)
            started, cells = time.process_time(), []
            for length in lengths:
                draw = random.Random(f"{arguments.seed} {length}")
                rows = [
                    Row(number, Text(text, langs[1]), (Text(source, langs[0]),))
                    for number, (source, *both) in enumerate(
                        documents(pairs, length, arguments.documents, draw), start=1
                    )
                    for text in both
                ]
                scores = measure.segments(rows).scores
                below = sum(
                    1.0 if changed < right else 0.5 if changed == right else 0.0
                    for right, changed in zip(scores[::2], scores[1::2], strict=True)
                )
                cells.append(f"{100 * below / arguments.documents:.0f}")
            seconds = time.process_time() - started
            print(f"| `{name}` | {long} | {' | '.join(cells)} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
