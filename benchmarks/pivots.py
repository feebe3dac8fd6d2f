"""What several pivot languages and several translations bring in paraphrase identification.

    python benchmarks/pivots.py --pawsx data/pawsx --mrpc data/mrpc --pairs 500
    python benchmarks/pivots.py --pawsx data/pawsx --mrpc data/mrpc --pairs 100 \\
        --model opus/converted/opus-mt-en-fr -m cross -m cross:pivots=5

The area under the ROC curve (percent) on the first English test pairs of PAWS-X and MRPC, and its
difference to the first measure of the same name, with the 95 % percentile interval of the paired
bootstrap over pairs. Results of models are cached, so an interrupted run resumes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from paraphrases import read_pairs

import tertium
from tertium.stats.classification import auc
from tertium.stats.resampling import bootstrap_counts, percentile_interval

MEASURES = [
    f"{name}{settings.format(name='pivot' if name == 'pivot' else 'target')}"
    for name in ("cross", "pivot")
    for settings in (
        ":{name}_lang=de",
        ":{name}_lang=fr",
        ":{name}_lang=es",
        ":{name}_lang=de,fr,es",
        ":{name}_lang=de,pivots=5",
        ":{name}_lang=de,pivots=5,pivot_search=sampling",
    )
]
SAMPLES = 500
PAIRS_AT_A_TIME = 25


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--pawsx", type=Path)
    parser.add_argument("--mrpc", type=Path)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--model", default="tertium-mini")
    parser.add_argument("--threads", type=int)
    parser.add_argument("-m", "--measure", action="append")
    args = parser.parse_args()
    files = {
        "PAWS-X en": args.pawsx and args.pawsx / "en.test.tsv",
        "MRPC": args.mrpc and args.mrpc / "test.tsv",
    }
    model = tertium.load_model(args.model, threads=args.threads)
    for name, file in files.items():
        if file is None:
            continue
        pairs = read_pairs(file, args.pairs)
        count = len(pairs.labels)
        draws = [
            np.repeat(np.arange(count), row) for row in bootstrap_counts(count, samples=SAMPLES)
        ]
        first: dict[str, np.ndarray] = {}
        print(f"{name}: {count} pairs, {int(pairs.labels.sum())} paraphrases", flush=True)
        for spec in args.measure or MEASURES:
            measure = tertium.load(spec, model=model)
            scores: list[float] = []
            for start in range(0, count, PAIRS_AT_A_TIME):
                some = slice(start, start + PAIRS_AT_A_TIME)
                scores += measure(pairs.first[some], pairs.second[some], lang="en")
            values = np.array(scores)
            before = first.setdefault(measure.name, values)
            area = 100 * auc(pairs.labels, values)
            gains = [
                100 * (auc(pairs.labels[d], values[d]) - auc(pairs.labels[d], before[d]))
                for d in draws
            ]
            interval = percentile_interval(gains)
            gain = area - 100 * auc(pairs.labels, before)
            print(
                f"{spec}: {area:.1f} ({gain:+.1f}; {interval.low:+.1f} to {interval.high:+.1f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
