"""The numbers of a sentence encoder's card, and which encoder serves which measure best.

    python benchmarks/bundled_encoder.py tertium-mini-encoder tertium-mini --out card \\
        --tatoeba data/tatoeba/dev.tsv.xz --flores data/flores --stsb data/stsb --mrpc data/mrpc \\
        --pawsx data/pawsx

- ``--tatoeba`` and ``--flores``: mutual nearest neighbours among 300 pairs of each two languages.
- ``--stsb``: Spearman's correlation of each measure in ``MEASURES``.
- ``--mrpc`` and ``--pawsx``: the area under the ROC curve, and accuracy at the threshold that is
  best on the development set.

The formats of the files, the intervals and the folder of results are those of
``benchmarks/bundled_model.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from bundled_model import (
    Bitext,
    Cell,
    Cells,
    correlation_cell,
    identification_cell,
    paraphrase_sets,
    print_table,
    read_bitexts,
    retrieval_cell,
    show,
)
from paraphrases import Pairs

import tertium
from tertium.data.records import open_table
from tertium.measures.base import Measure

MEASURES = ("sss", "bertscore", "wmd")


def report_retrieval(
    cells: Cells, encoders: dict[str, Any], bitexts: Sequence[Bitext]
) -> list[list[str]]:
    """One row for each set and encoder, with a column for each two languages and their mean."""
    rows = []
    for set_name in dict.fromkeys(bitext.name for bitext in bitexts):
        for name, encoder in encoders.items():
            shown, values = [], []
            for bitext in bitexts:
                if bitext.name == set_name and bitext.source_lang < bitext.target_lang:

                    def compute(bitext: Bitext = bitext, encoder: Any = encoder) -> Cell:
                        return retrieval_cell(encoder, bitext)

                    cell = cells.get(f"{name} retrieval {bitext}", compute)
                    shown.append(f"{bitext.source_lang}-{bitext.target_lang} {show(cell)}")
                    values.append(cell["value"])
            rows.append([set_name, name, f"{100 * np.mean(values):.1f}", ", ".join(shown)])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("encoders", nargs="+", help="names or folders")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--measures", default=",".join(MEASURES))
    parser.add_argument("--tatoeba", type=Path)
    parser.add_argument("--flores", type=Path)
    parser.add_argument("--sentences", type=int, help="the first of each pair of languages")
    parser.add_argument("--stsb", type=Path)
    parser.add_argument("--mrpc", type=Path)
    parser.add_argument("--pawsx", type=Path)
    parser.add_argument("--pairs", type=int, help="the first of each set")
    arguments = parser.parse_args()
    loaded = [tertium.load_encoder(name) for name in arguments.encoders]
    encoders = {f"{encoder.name} {encoder.fingerprint[:12]}": encoder for encoder in loaded}
    settings = {"tertium": tertium.__version__, "pairs": arguments.pairs}
    cells = Cells(arguments.out, settings | {"sentences": arguments.sentences})
    if bitexts := read_bitexts(arguments):
        rows = report_retrieval(cells, encoders, bitexts)
        print_table(["set", "encoder", "mean", "% mutual nearest neighbours"], rows)
    graded = {}
    if arguments.stsb is not None:
        for file in sorted(arguments.stsb.glob("*.test.tsv")):
            lang = file.name.partition(".")[0]
            graded[lang] = list(islice(open_table(file), arguments.pairs))
    sets = list(paraphrase_sets(arguments))
    rows = []
    for measure_name in arguments.measures.split(","):
        for name, encoder in encoders.items():
            measure = tertium.load(measure_name, encoder=encoder)
            row = [measure_name, name]
            for lang, records in graded.items():

                def correlate(
                    measure: Measure = measure, lang: str = lang, records: Sequence[Any] = records
                ) -> Cell:
                    return correlation_cell(measure, lang, records)

                cell = cells.get(f"{measure_name} {name} STS-B {lang}", correlate)
                row.append(show(cell, percent=False, digits=3))
            for label, lang, dev, test in sets:

                def identify(
                    measure: Measure = measure,
                    lang: str = lang,
                    dev: Pairs = dev,
                    test: Pairs = test,
                ) -> Cell:
                    return identification_cell(measure, lang, dev, test)

                cell = cells.get(f"{measure_name} {name} {label}", identify)
                row.append(show(cell["auc"]))
            rows.append(row)
    heads = [f"STS-B {lang}, Spearman" for lang in graded]
    print_table(["measure", "encoder", *heads, *(f"{label}, AUC" for label, *_ in sets)], rows)


if __name__ == "__main__":
    main()
