"""The quality of reranking: minimum Bayes risk beside beam search.

    python benchmarks/reranking.py data/wmt19-sys/en-de.tsv.gz opus --out rerank.json

Translates the first ``--sources`` English sources of newstest2019 to French with OPUS-MT (folders
as ``benchmarks/opus.py`` makes them): by beam search, and by sampling ``--count`` candidates
(nucleus sampling, ``--top-p``). Then it chooses among the samples by several utilities. There are
no French references. The judges are none of the utilities, use no model that the utilities use,
and do not see the French model's probabilities:

- ``use``: the cosine of source and output by the multilingual Universal Sentence Encoder (``sss``,
  extra: ``use``);
- ``back``: chrF of the output's translation to English (OPUS-MT, beam size 1) against the source.

Intervals are 95 % percentile intervals of the bootstrap over sources, of the difference to beam
search. Results of models are cached, so an interrupted run resumes. The speed beside mbrs is in
``benchmarks/peers.py``.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tertium
from tertium.data.nbest import CandidateList
from tertium.measures.loading import MeasureSpec, ModelPool, make_measure
from tertium.models.cached import CachedModel
from tertium.reranking.rerank import Reranker
from tertium.stats.resampling import bootstrap_counts, percentile_interval
from tertium.storage.atomic import write_text
from tertium.text import Text

SOURCE = 1
"""The column of the source, after its number."""
CHOICES = {
    "MBR chrf": "chrf",
    "MBR cross": "cross@tertium-mini:beam_size=1",
    "QE prism-src": "prism-src@tertium-mini",
}
TEXTS_AT_A_TIME = 5
SAMPLES = 1000


def read_rows(path: Path, count: int) -> list[list[str]]:
    """The first rows of a table of system outputs."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        next(stream)
        return [
            line.rstrip("\n").split("\t") for _, line in zip(range(count), stream, strict=False)
        ]


def quality(args: argparse.Namespace) -> dict[str, Any]:
    """Beam search, the best sample, and choices among the samples, by the judges."""
    sources = [row[SOURCE] for row in read_rows(args.data, args.sources)]
    forward, backward = (
        tertium.load_model(args.opus / "converted" / f"opus-mt-{pair}", threads=args.threads)
        for pair in ("en-fr", "fr-en")
    )
    beam = tertium.translate(sources, "fr", source_lang="en", model=forward)
    samples = []
    for start in range(0, len(sources), TEXTS_AT_A_TIME):
        samples += tertium.translate(
            sources[start : start + TEXTS_AT_A_TIME],
            "fr",
            source_lang="en",
            model=forward,
            count=args.count,
            sampling=True,
            top_p=args.top_p,
        )
        print(f"sampled {len(samples)}", flush=True)
    lists = [
        CandidateList(
            number,
            group=str(number),
            candidates=tuple(Text(candidate.text, "fr") for candidate in candidates),
            scores=tuple(candidate.H for candidate in candidates),
            source=Text(source, "en"),
        )
        for number, (source, candidates) in enumerate(zip(sources, samples, strict=True), start=1)
    ]
    systems = {"beam search": beam, "most probable sample": [each[0].text for each in samples]}
    pairs = {}
    for name, spec in CHOICES.items():
        measure = make_measure(MeasureSpec.parse(spec), ModelPool())
        rankings = []
        for start in range(0, len(lists), TEXTS_AT_A_TIME):
            rankings += Reranker([measure]).rank(lists[start : start + TEXTS_AT_A_TIME])
            print(f"{name} {len(rankings)}", flush=True)
        systems[name] = [ranking.text for ranking in rankings]
        pairs[name] = sum(ranking.pairs for ranking in rankings)
    judges = judged(systems, sources, backward)
    return {
        "sources": len(sources),
        "candidates": args.count,
        "top_p": args.top_p,
        "distinct": sum(len({each.text for each in some}) for some in samples),
        "pairs": pairs,
        "as beam search": {
            name: sum(a == b for a, b in zip(outputs, beam, strict=True))
            for name, outputs in systems.items()
        },
        "judges": judges,
    }


def judged(
    systems: dict[str, list[str]], sources: Sequence[str], backward: CachedModel
) -> dict[str, dict[str, Any]]:
    """The mean of each judge for each system, and the difference to beam search."""
    sss = tertium.load("sss", encoder="use-multilingual")
    chrf = tertium.load("chrf")

    def back(outputs: list[str]) -> list[float]:
        english = tertium.translate(outputs, "en", source_lang="fr", model=backward, beam_size=1)
        return chrf(english, list(sources))

    scores: dict[str, Callable[[list[str]], list[float]]] = {
        "use": lambda outputs: sss(outputs, list(sources), lang="fr", reference_lang="en"),
        "back": back,
    }
    result: dict[str, dict[str, Any]] = {}
    for judge, score in scores.items():
        numbers = {name: np.array(score(outputs)) for name, outputs in systems.items()}
        result[judge] = {}
        for name, values in numbers.items():
            differences = values - numbers["beam search"]
            counts = bootstrap_counts(len(values), samples=SAMPLES)
            interval = percentile_interval(counts @ differences / len(values))
            result[judge][name] = [float(values.mean()), interval.low, interval.high]
        print(judge, result[judge], flush=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("data", type=Path, help="wmt19-sys/en-de.tsv.gz")
    parser.add_argument("opus", type=Path, help="folder with OPUS-MT models")
    parser.add_argument("--sources", type=int, default=100)
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--top-p", type=float, default=0.9)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    text = json.dumps(quality(args), indent=1)
    print(text)
    if args.out is not None:
        write_text(args.out, text + "\n")


if __name__ == "__main__":
    main()
