"""How well translations are found, by vectors alone and with rescoring by a measure.

    python benchmarks/mining.py retrieval data/tatoeba/dev.tsv.xz --encoder tertium-mini
    python benchmarks/mining.py haystack data/tatoeba/de-en.tsv.xz --encoder tertium-mini \\
        --true 2000 --side 20000 --rescore cross:beam_size=1

``retrieval``: the pairs of each two languages in a table (lang_a, lang_b, sentence_a,
sentence_b); for each sentence, the best one of the other language is looked up. The error is the
proportion that is not the translation, in each direction: by cosine, by ratio margin, and by
``--rescore`` among the ``--nearest`` candidates.

``haystack``: a table with one column per language. ``--true`` pairs are hidden among other
sentences, ``--side`` on each side. Sentences that are linked by any pair, directly or not, are
never on different sides, so the pairs are the only translations that Tatoeba knows. Pairs are
mined one to one; the threshold is the one with the best F1 on half of the sentences, and precision,
recall and F1 are those of the other half (the mean of both halves).

    python benchmarks/mining.py index data/tatoeba/de-en.tsv.xz --side 1000000 --encoded 20000

``index``: CPU time and memory of a search of ``--side`` vectors in as many others by the inverted
file index, and its recall against exact search for 200 of them. The vectors are those of
``--encoded`` sentences, each repeated with Gaussian noise of the given length (``--noise``). The
speed beside sentence-transformers is in ``benchmarks/peers.py``.
"""

from __future__ import annotations

import argparse
import platform
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import tertium
from tertium.data.pairs import RowList
from tertium.data.records import open_table
from tertium.jobs.tasks.score import score_rows
from tertium.measures.base import Measure
from tertium.mining.candidates import Candidates, NeighbourSettings, between, select
from tertium.mining.thresholds import curve
from tertium.stats.neighbours import Vectors, nearest
from tertium.text import Row, Text

Pairs = list[tuple[str, str]]
Scores = NDArray[np.float64]


def processor() -> str:
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return f"{len(names)} x {names[0]}" if names else platform.processor()


def peak_memory() -> float:
    """The highest memory of this process so far, in GB (Linux).

    Not ``ru_maxrss``: a new process starts with that of its parent.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 2**20


def encode(encoder: str, texts: Sequence[str], lang: str) -> Vectors:
    return tertium.load_encoder(encoder).sentence_vectors(texts, lang=lang).vectors


def scores_by_measure(
    measure: Measure, candidates: Candidates, sides: Sequence[Sequence[Text]]
) -> Scores:
    pairs = [
        Row(number, sides[1][j], (sides[0][i],), sides[0][i])
        for number, (i, j) in enumerate(
            zip(candidates.first.tolist(), candidates.second.tolist(), strict=True), start=1
        )
    ]
    source = RowList(pairs, "the candidates", has_source=True)
    return np.array(score_rows({"": source}, [measure])[measure.column].segments)


def read_dev(path: Path, languages: Sequence[str], count: int) -> dict[tuple[str, str], Pairs]:
    found: defaultdict[tuple[str, str], Pairs] = defaultdict(list)
    for row in open_table(path):
        langs = row["lang_a"], row["lang_b"]
        if set(langs) <= set(languages) and len(found[langs]) < count:
            found[langs].append((row["sentence_a"], row["sentence_b"]))
    return found


def errors(candidates: Candidates, scores: Scores, pairs: Pairs) -> tuple[float, float]:
    """The proportion of texts whose best candidate is not the translation, in both directions."""
    wrong = []
    for side, own in ((1, candidates.first), (0, candidates.second)):
        best: dict[int, int] = {}
        for place in np.lexsort((candidates.second, candidates.first, -scores)).tolist():
            best.setdefault(int(own[place]), place)
        other = candidates.second if side == 1 else candidates.first
        right = sum(
            place in best and pairs[int(other[best[place]])][side] == pair[side]
            for place, pair in enumerate(pairs)
        )
        wrong.append(1 - right / len(pairs))
    return wrong[0], wrong[1]


def retrieval(arguments: argparse.Namespace, measure: Measure | None) -> None:
    methods = ["cosine", "margin", *([f"margin + {arguments.rescore}"] if measure else [])]
    print(f"\n| {arguments.encoder} | pairs | {' | '.join(methods)} |")
    print(f"|---|---:|{'---:|' * len(methods)}", flush=True)
    total = np.zeros((len(methods), 2))
    read = read_dev(arguments.tables[0], arguments.languages.split(","), arguments.count)
    for langs, pairs in read.items():
        sides = [[pair[side] for pair in pairs] for side in (0, 1)]
        vectors = [
            encode(arguments.encoder, texts, lang) for texts, lang in zip(sides, langs, strict=True)
        ]
        found = []
        for kind in ("absolute", "ratio"):
            chosen = NeighbourSettings(arguments.nearest, kind)
            candidates = between(vectors[0], vectors[1], chosen)
            found.append(errors(candidates, candidates.margin.astype(np.float64), pairs))
        if measure is not None:
            texts = [
                [Text(text, lang) for text in side] for side, lang in zip(sides, langs, strict=True)
            ]
            found.append(errors(candidates, scores_by_measure(measure, candidates, texts), pairs))
        cells = " | ".join(f"{100 * a:.1f} / {100 * b:.1f}" for a, b in found)
        print(f"| {'-'.join(langs)} | {len(pairs)} | {cells} |", flush=True)
        total += found
    means = (100 * total / len(read)).tolist()
    print(f"| mean | | {' | '.join(f'{a:.1f} / {b:.1f}' for a, b in means)} |", flush=True)


def groups(pairs: Pairs) -> list[Pairs]:
    """Pairs that share a sentence, directly or through others, in groups."""
    parent: dict[tuple[int, str], tuple[int, str]] = {}

    def root(text: tuple[int, str]) -> tuple[int, str]:
        parent.setdefault(text, text)
        while parent[text] != text:
            parent[text] = parent[parent[text]]
            text = parent[text]
        return text

    for a, b in pairs:
        parent[root((0, a))] = root((1, b))
    members: defaultdict[tuple[int, str], Pairs] = defaultdict(list)
    for a, b in pairs:
        members[root((0, a))].append((a, b))
    return list(members.values())


def hide(pairs: Pairs, true: int, side: int, seed: int) -> tuple[Pairs, list[str], list[str]]:
    """True pairs, and the two lists that they are hidden in, shuffled."""
    found = groups(pairs)
    draw = random.Random(seed)
    draw.shuffle(found)
    needed = true + 2 * (side - true)
    if len(found) < needed:
        raise SystemExit(f"{len(found)} groups of sentences; {needed} are needed")
    chosen = [draw.choice(group) for group in found[:needed]]
    gold, rest = chosen[:true], chosen[true:]
    first = [a for a, _ in gold] + [a for a, _ in rest[: side - true]]
    second = [b for _, b in gold] + [b for _, b in rest[side - true :]]
    draw.shuffle(first)
    draw.shuffle(second)
    return gold, first, second


def evaluate(
    candidates: Candidates, scores: Scores, gold: Pairs, first: list[str], second: list[str]
) -> tuple[float, float, float]:
    """Precision, recall and F1 on one half, by the best threshold of the other; then the mean."""
    order = select(candidates.first, candidates.second, scores, "one-to-one").tolist()
    place_of = {text: place for place, text in enumerate(first)}
    results = []
    for half in (0, 1):
        parts = []
        for one in (half, 1 - half):
            labels = {pair: True for pair in gold if place_of[pair[0]] % 2 == one}
            own = [place for place in order if int(candidates.first[place]) % 2 == one]
            pairs = [
                (first[int(candidates.first[at])], second[int(candidates.second[at])]) for at in own
            ]
            parts.append((pairs, [float(scores[at]) for at in own], labels))
        tuned = curve(parts[0][0], parts[0][1], parts[0][2], complete=True)
        pairs, values, labels = parts[1]
        kept = {p for p, v in zip(pairs, values, strict=True) if v >= tuned.best.threshold}
        right = len(kept & set(labels))
        precision, recall = right / max(1, len(kept)), right / len(labels)
        results.append((precision, recall, 2 * right / (len(kept) + len(labels))))
    precision, recall, f1 = np.mean(results, axis=0).tolist()
    return precision, recall, f1


def haystack(arguments: argparse.Namespace, measure: Measure | None) -> None:
    langs = open_table(arguments.tables[0]).columns()[:2]
    pairs = list(
        dict.fromkeys(
            (row[langs[0]], row[langs[1]])
            for table in arguments.tables
            for row in open_table(table)
        )
    )
    gold, first, second = hide(pairs, arguments.true, arguments.side, arguments.seed)
    print(f"\n{'-'.join(langs)}: {len(gold)} true pairs, {len(first)} sentences on each side")
    started = time.process_time()
    vectors = [
        encode(arguments.encoder, texts, lang)
        for texts, lang in zip((first, second), langs, strict=True)
    ]
    encoded = time.process_time()
    print(f"encoding {encoded - started:.0f} CPU seconds", flush=True)
    print(f"\n| {arguments.encoder} | precision | recall | F1 | candidates have |")
    print("|---|---:|---:|---:|---:|", flush=True)

    def show(name: str, candidates: Candidates, scores: Scores) -> None:
        at = zip(candidates.first.tolist(), candidates.second.tolist(), strict=True)
        there = {(first[i], second[j]) for i, j in at} & set(gold)
        precision, recall, f1 = evaluate(candidates, scores, gold, first, second)
        cells = [f"{100 * value:.1f}" for value in (precision, recall, f1, len(there) / len(gold))]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)

    for name, kind in (("cosine", "absolute"), ("margin", "ratio")):
        chosen = NeighbourSettings(arguments.nearest, kind)  # type: ignore[arg-type]
        candidates = between(vectors[0], vectors[1], chosen)
        show(name, candidates, candidates.margin.astype(np.float64))
    searched = time.process_time()
    if measure is not None:
        texts = [
            [Text(text, lang) for text in side]
            for side, lang in zip((first, second), langs, strict=True)
        ]
        scores = scores_by_measure(measure, candidates, texts)
        show(f"margin + {arguments.rescore}", candidates, scores)
        show("product of both", candidates, scores * candidates.margin)
    seconds = time.process_time() - searched
    print(
        f"\n{len(candidates)} candidates; CPU seconds: two searches {searched - encoded:.0f}, "
        f"rescoring {seconds:.0f}; peak memory {peak_memory():.1f} GB"
    )


def sentence_list(table: Path, count: int) -> tuple[list[str], str]:
    """Distinct sentences of the second column, and their language."""
    opened = open_table(table)
    lang = opened.columns()[1]
    found = dict.fromkeys(row[lang] for row in opened)
    return list(found)[:count], lang


def index(arguments: argparse.Namespace, measure: Measure | None) -> None:
    texts, lang = sentence_list(arguments.tables[0], arguments.encoded)
    real = encode(arguments.encoder, texts, lang)
    draw = np.random.default_rng(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        sides = []
        for name in ("queries", "base"):
            side = np.lib.format.open_memmap(
                Path(folder) / f"{name}.npy", "w+", np.float32, (arguments.side, real.shape[1])
            )
            for start in range(0, arguments.side, 10_000):
                places = np.arange(start, min(start + 10_000, arguments.side)) % len(real)
                noise = draw.normal(size=(len(places), real.shape[1])) / np.sqrt(real.shape[1])
                rows = real[places] + arguments.noise * noise
                rows /= np.linalg.norm(rows, axis=1, keepdims=True)
                side[start : start + len(rows)] = rows
            side.flush()
            sides.append(np.load(Path(folder) / f"{name}.npy", mmap_mode="r"))
        before, started = peak_memory(), time.process_time()
        found = nearest(sides[0], sides[1], arguments.nearest, "index")
        seconds, memory = time.process_time() - started, peak_memory() - before
        sample = np.sort(draw.choice(arguments.side, 200, replace=False))
        exact = nearest(np.array(sides[0][sample]), sides[1], arguments.nearest, "exact")
    shares = [
        len({*one.tolist()} & {*other.tolist()}) / arguments.nearest
        for one, other in zip(found.indices[sample], exact.indices, strict=True)
    ]
    first = np.mean(found.indices[sample, 0] == exact.indices[:, 0])
    print(
        f"\n{arguments.side} vectors in {arguments.side} (of {len(real)} sentences, noise "
        f"{arguments.noise}), {arguments.nearest} neighbours: {seconds:.0f} CPU seconds, "
        f"{memory:.1f} GB more memory; of 200 queries: recall {100 * np.mean(shares):.1f} %, "
        f"of the nearest {100 * first:.1f} %"
    )


TASKS = {
    "retrieval": retrieval,
    "haystack": haystack,
    "index": index,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=TASKS)
    parser.add_argument("tables", type=Path, nargs="+", metavar="TABLE")
    parser.add_argument("--encoder", default="tertium-mini")
    parser.add_argument("--model", default="tertium-mini")
    parser.add_argument("--rescore", help="a measure, such as cross:beam_size=1")
    parser.add_argument("--nearest", type=int, default=10)
    parser.add_argument("--languages", default="de,en,es,fr")
    parser.add_argument("--count", type=int, default=1000, help="pairs per two languages")
    parser.add_argument("--true", type=int, default=2000)
    parser.add_argument("--side", type=int, default=20_000)
    parser.add_argument("--encoded", type=int, default=20_000, help="sentences for index")
    parser.add_argument("--noise", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"tertium {tertium.__version__}, {processor()}")
    measure = None
    if arguments.rescore:
        measure = tertium.load(arguments.rescore, model=arguments.model)
    TASKS[arguments.what](arguments, measure)


if __name__ == "__main__":
    main()
