"""mt-metrics-eval: what it reads of our files, and the numbers of its statistics.

The expected numbers are those of mt-metrics-eval (68a481aea1a787392d55af8f76ac8ef40c5f4664): its
``EvalSet``, strict, read the test set below with the score files of ``tertium score --mtme``.
"""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tertium.data.datasets.base import JudgedSegment
from tertium.data.datasets.mtme import read_mtme
from tertium.errors import InputError
from tertium.stats.correlation import kendall, pearson, spearman, williams_test
from tertium.stats.groups import global_correlation, input_correlation
from tertium.stats.ranking import (
    calibrate_ties,
    kendall_like,
    pairwise_accuracy,
    pairwise_accuracy_with_ties,
    relative_rankings,
    soft_pairwise_accuracy,
)

from ..cli.conftest import TERTIUM
from .tools import ROOT

Matrix = NDArray[np.float64]
SYSTEMS = ("alpha", "beta", "gamma", "delta")


def write(path: Path, lines: Sequence[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


@pytest.fixture
def test_set(tmp_path: Path) -> Path:
    """``examples/judged/de-en.tsv`` in the layout of mt-metrics-eval."""
    with (ROOT / "examples" / "judged" / "de-en.tsv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    by_system = {name: [row for row in rows if row["system"] == name] for name in SYSTEMS}
    first = by_system["alpha"]
    write(tmp_path / "sources" / "de-en.txt", [row["source"] for row in first])
    write(tmp_path / "references" / "de-en.refA.txt", [row["reference"] for row in first])
    write(tmp_path / "documents" / "de-en.docs", ["news a"] * 2 + ["talk b"] * 3)
    for name, outputs in by_system.items():
        path = tmp_path / "system-outputs" / "de-en" / f"{name}.txt"
        write(path, [row["hypothesis"] for row in outputs])
    scores = [f"{name}\t{row['score']}" for name in SYSTEMS for row in by_system[name]]
    write(tmp_path / "human-scores" / "de-en.esa.seg.score", scores)
    return tmp_path


def matrix(lines: Sequence[tuple[str, float]]) -> Matrix:
    return np.array([[score for name, score in lines if name == each] for each in SYSTEMS])


def read_scores(path: Path) -> list[tuple[str, float]]:
    fields = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    return [(name, float(score)) for name, score in fields]


def test_its_statistics_of_our_files(test_set: Path) -> None:
    outputs = [str(test_set / "system-outputs" / "de-en" / f"{name}.txt") for name in SYSTEMS]
    folder = test_set / "metric-scores" / "de-en"
    command = ["score", "-t", *outputs, "-r", str(test_set / "references" / "de-en.refA.txt")]
    command += ["-l", "de-en", "-m", "chrf", "--mtme", str(folder)]
    subprocess.run([*TERTIUM, *command], check=True, capture_output=True)
    judged = read_mtme(test_set, "de-en", scores="esa")
    human = matrix([(each.system, each.score or 0.0) for each in judged])
    chrf = matrix(read_scores(folder / "chrf-refA.seg.score"))
    systems = matrix(read_scores(folder / "chrf-refA.sys.score"))[:, 0]
    gold = human.mean(axis=1)
    like = relative_rankings(human)
    found = {
        "pearson sys": pearson(systems, gold),
        "kendall sys": kendall(systems, gold),
        "agreement": pairwise_accuracy(systems, gold),
        "pearson seg": global_correlation(pearson, chrf, human),
        "spearman seg": global_correlation(spearman, chrf, human),
        "kendall seg": global_correlation(kendall, chrf, human),
        "pearson by item": input_correlation(pearson, chrf, human),
        "kendall by item": input_correlation(kendall, chrf, human),
        "acc23": pairwise_accuracy_with_ties(chrf.reshape(-1, 1), human.reshape(-1, 1)),
        "acc23 by item": pairwise_accuracy_with_ties(chrf, human),
        "acc23, optimised": calibrate_ties(chrf, human).accuracy,
        "KendallLike": kendall_like(*like.scores(chrf)),
    }
    assert found == pytest.approx(
        {
            "pearson sys": 0.8395124501699263,
            "kendall sys": 0.3333333333333334,
            "agreement": 4 / 6,
            "pearson seg": 0.7843011007589644,
            "spearman seg": 0.8527229247856015,
            "kendall seg": 0.6720818650302192,
            "pearson by item": 0.7387356370767562,
            "kendall by item": 0.6984817050034443,
            "acc23": 0.8157894736842105,
            "acc23 by item": 0.8,
            "acc23, optimised": 0.8,
            "KendallLike": 0.7142857142857143,
        }
    )


def test_ties_and_soft_accuracy() -> None:
    human = [[3, 3, 1, 2], [3, 2, 2, 2], [1, 1, 1, 3], [2, 2, 4, 4]]
    measure = [[90, 85, 20, 50], [80, 60, 55, 45], [30, 25, 35, 95], [50, 60, 90, 88]]
    assert pairwise_accuracy_with_ties(measure, human) == pytest.approx(0.8333333333333334)
    wide = pairwise_accuracy_with_ties(measure, human, epsilon=10)
    assert wide == pytest.approx(0.9166666666666667)
    assert calibrate_ties(measure, human).accuracy == pytest.approx(0.9583333333333334)
    # Theirs, with a million permutations. It sums in float32: of whole numbers, which it can add
    # without rounding, because with decimals it misses differences that equal the observed one.
    soft = soft_pairwise_accuracy(measure, human, samples=50_000)
    assert soft == pytest.approx(0.8957495, abs=0.006)
    assert williams_test(0.8, 0.6, 0.5, 30).p_value == pytest.approx(0.04400051128474865)


def test_documents_and_domains(test_set: Path) -> None:
    judged = read_mtme(test_set, "de-en", scores="esa")
    assert [each.document for each in judged[:5]] == ["a", "a", "b", "b", "b"]
    assert [each.domain for each in judged[:5]] == ["news", "news", "talk", "talk", "talk"]
    write(test_set / "documents" / "de-en.docs", ["news a"] * 4 + ["talk"])
    with pytest.raises(InputError, match=r"de-en\.docs, row 5: 1 fields?, not 2"):
        read_mtme(test_set, "de-en", scores="esa")


def test_json_lines_and_missing_texts(test_set: Path) -> None:
    def first_outputs() -> list[JudgedSegment]:
        return [each for each in read_mtme(test_set, "de-en", scores="esa") if each.id == "1"]

    plain = first_outputs()
    for path in [*test_set.glob("sources/*"), *test_set.glob("references/*")]:
        field = "source" if path.parent.name == "sources" else "target"
        lines = path.read_text("utf-8").splitlines()
        write(path.with_suffix(".jsonl"), [f'{{"{field}": "{line}"}}' for line in lines])
        path.unlink()
    assert first_outputs() == plain
    reference = test_set / "references" / "de-en.refB.txt"
    write(reference, ["[No translation supplied]", *"2345"])
    output = test_set / "system-outputs" / "de-en" / "beta.txt"
    write(output, ["[No translation supplied]", *"2345"])
    changed = first_outputs()
    assert [each.references for each in changed] == [each.references for each in plain]
    assert [each.hypothesis.text for each in changed if each.system == "beta"] == [""]
    write(test_set / "sources" / "de-en.jsonl", ['{"text": "?"}'] * 5)
    with pytest.raises(InputError, match="row 1: no field 'source'"):
        first_outputs()


def test_human_scores_that_are_not_there(test_set: Path) -> None:
    with pytest.raises(
        InputError, match="no human scores 'mqm' of segments for de-en; there are esa"
    ):
        read_mtme(test_set, "de-en")
