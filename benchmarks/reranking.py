"""Reranking: minimum Bayes risk beside beam search, and its speed beside mbrs.

    python benchmarks/reranking.py quality data/wmt19-sys/en-de.tsv.gz opus --out rerank.json
    python benchmarks/reranking.py speed data/wmt19-sys/en-de.tsv.gz  # needs mbrs and fastchrf

``quality`` translates the first ``--sources`` English sources of newstest2019 to French with
OPUS-MT (folders as ``benchmarks/opus.py`` makes them): by beam search, and by sampling ``--count``
candidates (nucleus sampling, ``--top-p``). Then it chooses among the samples by several utilities.
There are no French references. The judges are none of the utilities, use no model that the
utilities use, and do not see the French model's probabilities:

- ``use``: the cosine of source and output by the multilingual Universal Sentence Encoder (``sss``,
  extra: ``use``);
- ``back``: chrF of the output's translation to English (OPUS-MT, beam size 1) against the source.

Intervals are 95 % percentile intervals of the bootstrap over sources, of the difference to beam
search. Results of models are cached, so an interrupted run resumes.

``speed`` chooses among the outputs of all systems for ``--sources`` sources by chrF, with Tertium
and with mbrs in the same run, and compares the numbers.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tertium
from tertium.data.nbest import CandidateList
from tertium.measures.loading import MeasureSpec, ModelPool, make_measure
from tertium.models.cache.memo import Memo
from tertium.reranking.rerank import Reranker
from tertium.reranking.utilities import UtilitySettings
from tertium.stats.resampling import bootstrap_counts, percentile_interval
from tertium.storage.atomic import write_text
from tertium.text import Text

SOURCE, FIRST_SYSTEM = 1, 3
"""Columns of the file: its number, source, reference, then one per system."""
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
            str(number),
            tuple(Text(candidate.text, "fr") for candidate in candidates),
            tuple(candidate.H for candidate in candidates),
            Text(source, "en"),
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
    systems: dict[str, list[str]], sources: Sequence[str], backward: Memo
) -> dict[str, dict[str, Any]]:
    """The mean of each judge for each system, and the difference to beam search."""
    sss = tertium.load("sss", encoder="use-multilingual")
    chrf = tertium.load("chrf")

    def back(outputs: list[str]) -> list[float]:
        english = tertium.translate(outputs, "en", source_lang="fr", model=backward, beam_size=1)
        return chrf(english, list(sources))

    scores: dict[str, Callable[[list[str]], list[float]]] = {
        "use": lambda outputs: sss(outputs, list(sources)),
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


def speed(args: argparse.Namespace) -> dict[str, Any]:
    """Seconds per list of Tertium and of mbrs for chrF, and the largest difference of scores."""
    from mbrs.decoders import DecoderAggregateMBR, DecoderMBR
    from mbrs.metrics import MetricChrF

    rows = read_rows(args.data, args.sources)
    lists = [list(dict.fromkeys(row[FIRST_SYSTEM:])) for row in rows]
    numbered = [
        CandidateList(number, str(number), tuple(map(Text, texts)))
        for number, texts in enumerate(lists, start=1)
    ]
    chrf = make_measure(MeasureSpec.parse("chrf"), ModelPool())
    result: dict[str, Any] = {"lists": len(lists), "candidates": sum(map(len, lists))}
    found: dict[str, list[list[float]]] = {}
    choices: list[list[int]] = []

    def timed(name: str, run: Callable[[], list[list[float]]]) -> None:
        started = time.perf_counter()
        found[name] = run()
        result[name] = (time.perf_counter() - started) / len(lists)
        print(name, result[name], flush=True)

    def ours(settings: UtilitySettings) -> Callable[[], list[list[float]]]:
        reranker = Reranker([chrf], utility=settings)

        def run() -> list[list[float]]:
            rankings = reranker.rank(numbered)
            choices.append([ranking.place for ranking in rankings])
            return [list(ranking.scores) for ranking in rankings]

        return run

    def theirs(aggregate: bool, fast: bool) -> Callable[[], list[list[float]]]:
        metric = MetricChrF(MetricChrF.Config(fastchrf=fast, num_workers=1))
        decoder = (DecoderAggregateMBR if aggregate else DecoderMBR)(
            (DecoderAggregateMBR if aggregate else DecoderMBR).Config(), metric
        )

        def run() -> list[list[float]]:
            scores = []
            for texts in lists:
                output = decoder.decode(texts, texts, nbest=len(texts))
                places = np.argsort(output.idx)
                scores.append(np.array(output.score)[places].tolist())
            return scores

        return run

    timed("tertium", ours(UtilitySettings()))
    timed("tertium, aggregated", ours(UtilitySettings(aggregate=True)))
    timed("tertium, pruned", ours(UtilitySettings(prune=0.99)))
    for fast in (False, True):
        timed(f"mbrs{', fastchrf' if fast else ''}", theirs(False, fast))
        timed(f"mbrs{', fastchrf' if fast else ''}, aggregated", theirs(True, fast))
    for ours_, theirs_ in (("tertium", "mbrs"), ("tertium, aggregated", "mbrs, aggregated")):
        pairs = zip(found[ours_], found[theirs_], strict=True)
        gap = max(float(np.abs(np.subtract(a, b)).max()) for a, b in pairs)
        result[f"{ours_} against {theirs_}"] = gap
    for name, places in zip(("tertium, aggregated", "tertium, pruned"), choices[1:], strict=True):
        same = sum(a == b for a, b in zip(places, choices[0], strict=True))
        result[f"{name}: same choice"] = same
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("task", choices=["quality", "speed"])
    parser.add_argument("data", type=Path, help="wmt19-sys/en-de.tsv.gz")
    parser.add_argument("opus", type=Path, nargs="?", help="folder with OPUS-MT models")
    parser.add_argument("--sources", type=int, default=100)
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--top-p", type=float, default=0.9)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.task == "quality" and args.opus is None:
        parser.error("quality needs the folder with OPUS-MT models")
    result = quality(args) if args.task == "quality" else speed(args)
    text = json.dumps(result, indent=1)
    print(text)
    if args.out is not None:
        write_text(args.out, text + "\n")


if __name__ == "__main__":
    main()
