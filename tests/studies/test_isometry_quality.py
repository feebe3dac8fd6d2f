"""Isometry against the quality of the model: by hand, and from the command line."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu

from tertium.data.datasets.isometry import Judged, Predictions
from tertium.errors import InputError
from tertium.stats.association import permutation_test
from tertium.studies.isometry import quality as module
from tertium.studies.isometry.classes import BEHAVIOURS
from tertium.studies.isometry.frequencies import MEAN, frequencies
from tertium.studies.isometry.quality import QualityStudy, quality_study

from ..cli.conftest import Run, tertium  # noqa: F401

ORIGINALS = ["The cat sleeps on the roof.", "We like green tea.", "It rained all day.", "He left."]
SOURCES = [("a", "b")] * 4
ISOMETRIC = BEHAVIOURS[0]


def model(name: str, targets: Sequence[tuple[str, str]], isometric: int) -> Predictions:
    """All pairs are paraphrases before, and the first ``isometric`` after translation."""
    after = [1.0] * isometric + [0.0] * (4 - isometric)
    return Predictions(name, "news", SOURCES, targets, {"d": Judged([1.0] * 4, after)})


@pytest.fixture
def predictions() -> list[Predictions]:
    good = [(text, text) for text in ORIGINALS]
    fair = [(text, " ".join(text.split()[:-1])) for text in ORIGINALS]
    poor = [("Tea.", text) for text in reversed(ORIGINALS)]
    return [model("good", good, 4), model("fair", fair, 3), model("poor", poor, 1)]


@pytest.fixture
def study(predictions: list[Predictions]) -> QualityStudy:
    return quality_study(predictions, frequencies(predictions), ORIGINALS, samples=50)


def test_quality_is_that_of_both_translations(
    predictions: list[Predictions], study: QualityStudy
) -> None:
    """As sacrebleu has it, for a corpus of eight segments."""
    references = [text for text in ORIGINALS for _ in range(2)]
    for each in predictions:
        hypotheses = [text for pair in each.targets for text in pair]
        bleu = sacrebleu.corpus_bleu(hypotheses, [references]).score
        chrf = sacrebleu.corpus_chrf(hypotheses, [references]).score
        for name in ("news", MEAN):
            assert study.qualities["bleu", each.model, name].value == pytest.approx(bleu)
            assert study.qualities["chrf", each.model, name].value == pytest.approx(chrf)
    assert study.qualities["bleu", "good", "news"].replicates.tolist() == [pytest.approx(100)] * 50


def test_the_correlation_over_models(study: QualityStudy) -> None:
    """Shares 1, 3/4 and 1/4 rise with quality; of six orders, one more has as large an r."""
    quality = [study.qualities["chrf", name, "news"].value for name in ("good", "fair", "poor")]
    found = study.hypotheses["chrf", "news", ISOMETRIC]
    assert found.r == pytest.approx(np.corrcoef(quality, [1, 0.75, 0.25])[0, 1])
    assert (found.rho, found.models) == (1.0, 3)
    assert found.p == permutation_test(quality, [1, 0.75, 0.25])
    assert found.interval is not None
    lost = study.hypotheses["chrf", "news", BEHAVIOURS[3]]
    assert lost.r == pytest.approx(-found.r)
    assert "rises with bleu" in study.finding()
    assert "over 3 models, not significant" in study.finding()


def test_permutations_are_exact_for_few_items() -> None:
    """24 orders; r of (1, 2, 4, 3) is 0.8: -1, 1, and three each with 0.8 and -0.8."""
    assert permutation_test([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(8 / 24)
    assert permutation_test([1, 2, 3, 4], [1, 2, 3, 4]) == pytest.approx(2 / 24)
    assert np.isnan(permutation_test([1, 2, 3], [1, 1, 1]))
    sampled = permutation_test([1, 2, 3, 4], [1, 2, 4, 3], samples=20, seed=1)
    assert sampled == pytest.approx(8 / 24, abs=0.3)


def test_two_models_have_no_correlation(predictions: list[Predictions]) -> None:
    two = predictions[:2]
    study = quality_study(two, frequencies(two), ORIGINALS, samples=5)
    assert not study.hypotheses
    assert study.finding() == ""
    with pytest.raises(InputError, match="news has 4 pairs, but there are 3 originals"):
        quality_study(two, frequencies(two), ORIGINALS[:3], samples=5)


def test_the_figure_names_every_model(
    study: QualityStudy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(module, "save_figure", lambda figure, out: drawn.append(figure))
    study.draw(tmp_path / "quality.svg")
    [figure] = drawn
    assert [axes.get_xlabel() for axes in figure.axes] == ["bleu", "chrf"]
    for axes in figure.axes:
        assert {text.get_text() for text in axes.texts} == {"good", "fair", "poor"}


def test_from_the_command_line(tertium: Run, tmp_path: Path) -> None:  # noqa: F811
    lines = ["sentence1\tsentence2\ten"]
    lines += [f"Satz {n}.\tDer Satz {n}.\t{text}" for n, text in enumerate(ORIGINALS)]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    (tmp_path / "en.txt").write_text("\n".join(ORIGINALS) + "\n", "utf-8")
    for name, change in (("a", str), ("b", str.upper), ("c", lambda text: text[:5])):
        rows = "".join(f"{change(text)}\t{text}\n" for text in ORIGINALS)
        (tmp_path / f"{name}.tsv").write_text(f"sentence1\tsentence2\n{rows}", "utf-8")
    (tmp_path / "dev.tsv").write_text(
        "sentence1\tsentence2\tlabel\na b c\ta b c\t1\na b c\tx y z\t0\n", "utf-8"
    )
    command = (
        *("study", "isometry", tmp_path / "pairs.tsv", "--samples", 10, "-m", "chrf", "-q"),
        *(x for n in "abc" for x in ("--translations", f"{n}={tmp_path / n}.tsv")),
        *("--measure-detector", "chrf", "--validation", f"de={tmp_path / 'dev.tsv'}"),
        *("--validation", f"en={tmp_path / 'dev.tsv'}", "-o", tmp_path / "out", "--examples", 0),
    )
    done = tertium(*command, "--originals", "en")
    assert done.returncode == 0, done.stderr
    assert "Does isometry rise with the quality of the model?" in done.stdout
    with (tmp_path / "out" / "quality.csv").open(encoding="utf-8", newline="") as stream:
        found = [row for row in csv.DictReader(stream) if row["what"] == "bleu"]
    assert {row["model"]: float(row["value"]) for row in found}["a"] == pytest.approx(100)
    by_file = tertium(*command, "--originals", tmp_path / "en.txt")
    assert by_file.stdout == done.stdout
    missing = tertium(*command, "--originals", "gone")
    assert "'gone' are neither a column (sentence1, sentence2, en) nor a file" in missing.stderr
