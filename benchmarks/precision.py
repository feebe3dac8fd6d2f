"""Accuracy and speed by precision: float32, int8 with 8-bit weights, int8 with 7-bit weights.

    python benchmarks/precision.py opus-mt-en-fr --bitext newstest.en-fr.tsv.xz --pawsx pawsx
    python benchmarks/precision.py tertium-mini --measure direct --pawsx pawsx

The model is a folder in float32 that translates from English to French. The bitext has the columns
``en`` and ``fr``. Each setting runs in a separate process with one thread, because the
instruction set is chosen once per process. Reported are

- the difference of H (mean log-probability of a token) from float32, over the bitext;
- the largest difference of a token from the same weights with other instructions;
- CPU time per sentence pair, relative to float32 in the same round (the rounds alternate; median);
- accuracy and area under the ROC curve on PAWS-X, of ``cross`` (one way, beam size 1) or ``direct``
  (one way); only these without ``--bitext``, with any model.

8-bit weights are those of CTranslate2. Tertium does not use them; they are for comparison.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import platform
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tertium.models.base import make_queries

FLAGS = ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "amx_int8")


class Setting(NamedTuple):
    """The arithmetic of a process."""

    name: str
    compute_type: str
    bits: int
    instruction_set: str = "ALL"
    native: bool = True


FLOAT32 = Setting("float32", "float32", 32)
SETTINGS = (
    FLOAT32,
    Setting("float32, AVX2", "float32", 32, "AVX2"),
    Setting("int8, 8-bit weights, AVX-512 with VNNI", "int8", 8),
    Setting("int8, 8-bit weights, AVX-512 without VNNI", "int8", 8, "AVX512_CORE"),
    Setting("int8, 8-bit weights, AVX2", "int8", 8, "AVX2"),
    Setting("int8, 7-bit weights, AVX-512 with VNNI", "int8", 7),
    Setting("int8, 7-bit weights, AVX-512 without VNNI", "int8", 7, "AVX512_CORE"),
    Setting("int8 as Tertium runs it, AVX2 with VNNI", "int8", 7, "ALL", native=False),
    Setting("int8 as Tertium runs it, AVX2 without VNNI", "int8", 7, "AVX2", native=False),
)
IDENTIFIED = (SETTINGS[0], SETTINGS[2], SETTINGS[4], SETTINGS[7])
"""The settings for paraphrase identification: the others give the same numbers as one of these."""


def run(setting: Setting, task: str, options: argparse.Namespace) -> Any:
    """Run this script as a worker; returns its output."""
    environment = {
        **os.environ,
        "ONEDNN_MAX_CPU_ISA": setting.instruction_set,
        "TERTIUM_NATIVE_INT8": str(int(setting.native)),
    }
    command = [sys.executable, __file__, options.model, "--worker", task]
    command += ["--count", str(options.count), "--measure", options.measure]
    command += ["--bitext", str(options.bitext)] if options.bitext else []
    command += ["--timed", str(options.timed), "--pairs", str(options.pairs)]
    command += ["--compute-type", setting.compute_type, "--bits", str(setting.bits)]
    command += ["--pawsx", str(options.pawsx)] if options.pawsx else []
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{setting.name}: {done.stderr}")
    return json.loads(done.stdout)


def work(options: argparse.Namespace) -> None:
    """Compute the results of one setting."""
    import tertium
    from tertium.models import engine

    if options.bits == 8:
        engine._files = lambda *_, **__: None
    model: Any = tertium.load_model(
        options.model, compute_type=options.compute_type, threads=1, cache=False
    )
    if options.worker == "paraphrases":
        cross = options.measure == "cross"
        into: Any = {"target_lang": "fr", "beam_size": 1} if cross else {}
        measure = tertium.load(options.measure, model=model, both_directions=False, **into)
        print(json.dumps(paraphrases(measure, options)))
        return
    rows = bitext(options.bitext, options.timed if options.worker == "time" else options.count)
    start = time.process_time()
    scores = model.log_probs(
        make_queries(
            [target for _, target in rows],
            [source for source, _ in rows],
            target_lang="fr",
            source_lang="en",
        )
    )
    seconds = time.process_time() - start
    result = {"precision": model.settings["precision"], "seconds": seconds}
    if options.worker == "score":
        result["log_probs"] = [one.log_probs for one in scores]
    print(json.dumps(result))


def bitext(file: Path, count: int) -> list[tuple[str, str]]:
    with lzma.open(file, "rt", encoding="utf-8") as stream:
        header = next(stream).rstrip("\n").split("\t")
        rows = [line.rstrip("\n").split("\t") for line in islice(stream, count)]
    return [(row[header.index("en")], row[header.index("fr")]) for row in rows]


def paraphrases(measure: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Accuracy, with the threshold of half as many pairs of the development set, and AUC."""
    from paraphrases import read_pairs

    from tertium.stats.classification import accuracy, auc, best_threshold, decide

    scored = {}
    for part, count in (("dev", options.pairs // 2), ("test", options.pairs)):
        pairs = read_pairs(options.pawsx / f"en.{part}.tsv", count)
        scores = measure(pairs.first, pairs.second, lang="en")
        scored[part] = pairs.labels, np.array(list(scores))
    threshold = best_threshold(*scored["dev"]).value
    labels, values = scored["test"]
    return {
        "accuracy": float(accuracy(labels, decide(values, threshold))),
        "auc": float(auc(labels, values)),
        "scores": values.tolist(),
    }


def processor() -> str:
    """The processor, and which of the relevant instructions it has."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    facts = {name.strip(): text.strip() for name, text in facts.items()}
    flags = facts.get("flags", "").split()
    family = ", ".join(f"{name} {facts.get(name)}" for name in ("cpu family", "model"))
    has = ", ".join(flag for flag in FLAGS if flag in flags)
    return f"{facts.get('model name')} ({family}): {has}"


def report(options: argparse.Namespace) -> None:
    from importlib.metadata import version

    print(f"processor: {processor()}; ctranslate2 {version('ctranslate2')}", flush=True)
    print(f"model: {options.model}", flush=True)
    if options.bitext:
        report_scores(options)
    if options.pawsx:
        report_paraphrases(options)


def report_scores(options: argparse.Namespace) -> None:
    print(f"\n{options.count} sentence pairs of {options.bitext.name}")
    scored = {}
    for setting in SETTINGS:
        scored[setting] = run(setting, "score", options)
    seconds: dict[Setting, list[float]] = {setting: [] for setting in SETTINGS}
    for _ in range(options.rounds):
        for setting in SETTINGS:
            seconds[setting].append(run(setting, "time", options)["seconds"])
    exact = scored[FLOAT32]["log_probs"]
    print(
        "\n| setting | precision | difference of H from float32: mean | largest "
        "| largest difference of a token from the same weights above | speed |\n"
        "|---|---|---|---|---|---|"
    )
    first: dict[int, Any] = {}
    for setting in SETTINGS:
        log_probs = scored[setting]["log_probs"]
        off = [
            abs(statistics.fmean(a) - statistics.fmean(b))
            for a, b in zip(log_probs, exact, strict=True)
        ]
        flat = np.concatenate([np.array(one) for one in log_probs])
        other = np.abs(flat - first.setdefault(setting.bits, flat)).max()
        ratios = [a / b for a, b in zip(seconds[FLOAT32], seconds[setting], strict=True)]
        precision = scored[setting]["precision"] if setting.bits != 8 else "int8_float32"
        print(
            f"| {setting.name} | {precision} | {statistics.fmean(off):.6f} | {max(off):.6f} "
            f"| {other:.2g} | {statistics.median(ratios):.2f} |",
            flush=True,
        )


def report_paraphrases(options: argparse.Namespace) -> None:
    dev = options.pairs // 2
    print(f"\n{options.measure} on PAWS-X en: {options.pairs} test, {dev} dev pairs")
    print("\n| setting | accuracy | AUC | difference from float32: mean | largest |")
    print("|---|---|---|---|---|")
    with ThreadPoolExecutor(len(IDENTIFIED)) as pool:
        results = list(pool.map(lambda setting: run(setting, "paraphrases", options), IDENTIFIED))
    base = np.array(results[0]["scores"])
    for setting, result in zip(IDENTIFIED, results, strict=True):
        gap = np.abs(np.array(result["scores"]) - base)
        print(
            f"| {setting.name} | {100 * result['accuracy']:.1f} | {100 * result['auc']:.2f} "
            f"| {gap.mean():.4f} | {gap.max():.4f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--bitext", type=Path)
    parser.add_argument("--pawsx", type=Path)
    parser.add_argument("--measure", choices=("cross", "direct"), default="cross")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--timed", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument(
        "--worker", choices=("score", "time", "paraphrases"), help=argparse.SUPPRESS
    )
    parser.add_argument("--compute-type", default="float32", help=argparse.SUPPRESS)
    parser.add_argument("--bits", type=int, default=32, help=argparse.SUPPRESS)
    options = parser.parse_args()
    work(options) if options.worker else report(options)


if __name__ == "__main__":
    main()
