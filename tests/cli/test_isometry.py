"""``tertium study isometry`` and ``tertium train detector``, from the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tertium.models.catalog import BUNDLED_FOLDER

from .conftest import Run

EXAMPLES = Path(__file__).parents[2] / "examples"
PUBLISHED = (
    *("--predictions", f"careful,news={EXAMPLES / 'isometry' / 'careful.json'}"),
    *("--predictions", f"careless,news={EXAMPLES / 'isometry' / 'careless.json'}"),
)
VALIDATION = (
    *("--validation", f"de={EXAMPLES / 'paraphrases' / 'de.dev.tsv'}"),
    *("--validation", f"en={EXAMPLES / 'paraphrases' / 'en.dev.tsv'}"),
)


def test_published_predictions(tertium: Run, tmp_path: Path) -> None:
    out, html = tmp_path / "out", tmp_path / "page.html"
    done = tertium(
        *("study", "isometry", *PUBLISHED, "-m", "chrf", "--samples", 20),
        *("-o", out, "--plots", "--html", html),
    )
    assert done.returncode == 0, done.stderr
    assert "Relative frequency of each behaviour" in done.stdout
    assert "careful - careless" in done.stdout
    for name in ("behaviours", "detections", "sides-chrf", "equivalence-chrf-pooled"):
        assert (out / f"{name}.svg").exists()
    assert "0.625" in (out / "frequencies.csv").read_text("utf-8")
    assert "Does translation preserve" in html.read_text("utf-8")


def test_a_folder_of_predictions(tertium: Run, tmp_path: Path) -> None:
    for name in ("careful", "careless"):
        content = (EXAMPLES / "isometry" / f"{name}.json").read_text("utf-8")
        (tmp_path / name).mkdir()
        (tmp_path / name / "news.json").write_text(content, "utf-8")
    out = tmp_path / "out"
    done = tertium(
        *("study", "isometry", "--predictions-folder", tmp_path, "--pairs", "3,0", "--sweep"),
        *("-m", "chrf", "--samples", 20, "--examples", 0, "-o", out),
    )
    assert done.returncode == 0, done.stderr
    assert "careful - careless" in done.stdout
    assert "Pairs by number: careless, news" in done.stdout
    assert "Relative frequency of isometry, by threshold" in done.stdout
    assert (out / "careful.news.pairs.tsv").exists()
    wrong = tertium("study", "isometry", "--predictions-folder", tmp_path, "--pairs", "a")
    assert "--pairs a: write it as 22,307,527" in wrong.stderr


def test_the_whole_chain_with_the_bundled_model(tertium: Run, tmp_path: Path) -> None:
    command = (
        *("study", "isometry", EXAMPLES / "isometry" / "pairs.tsv", "--limit", 3),
        *("--measure-detector", "chrf", "--measure-detector", "bleu", *VALIDATION),
        *("--samples", 10, "-o", tmp_path, "-m", "chrf", "--protocol", "pooled", "--no-cache"),
    )
    done = tertium(*command)
    assert done.returncode == 0, done.stderr
    assert "tertium-mini, pairs" in done.stdout
    assert (tmp_path / "tertium-mini.pairs.json").exists()
    again = tertium(*command)
    assert again.stdout == done.stdout
    assert "7 of 7 cells were reused" in again.stderr


def test_a_model_in_a_folder_has_the_name_of_the_folder(
    tertium: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled, work = tmp_path / "mine", tmp_path / "work"
    shutil.copytree(BUNDLED_FOLDER / "tertium-mini", bundled)
    work.mkdir()
    monkeypatch.chdir(work)
    command = (
        *("study", "isometry", EXAMPLES / "isometry" / "pairs.tsv", "--limit", 2),
        *("--measure-detector", "chrf", *VALIDATION, "--samples", 10, "-m", "chrf", "-o", "out"),
        *("--model", "../mine"),
    )
    done = tertium(*command)
    assert done.returncode == 0, done.stderr
    assert (work / "out" / "mine.pairs.json").exists()
    assert not list(tmp_path.glob("*.json"))
    twice = tertium(*command, "--model", bundled)
    assert twice.returncode == 2
    assert "two models are called mine" in twice.stderr


def test_ready_translations(tertium: Run, tmp_path: Path) -> None:
    pairs = EXAMPLES / "isometry" / "pairs.tsv"
    done = tertium(
        *("study", "isometry", pairs, "--translations", f"copy={pairs}", "--samples", 10),
        *("--measure-detector", "chrf", *VALIDATION, "-m", "chrf", "--examples", 0),
        *("--columns", "mine=sentence1,sentence2"),
    )
    assert done.returncode == 0, done.stderr
    assert "copy, mine" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "which pairs?"),
        ((EXAMPLES / "isometry" / "pairs.tsv",), "which detector?"),
        ((*PUBLISHED, "--detector", "x"), "--predictions replaces PAIRS and detectors"),
        (("--predictions", "x"), "write it as MODEL,DATASET=FILE"),
        ((*PUBLISHED, "--protocol", "mean"), "unknown protocol 'mean'"),
        ((*PUBLISHED, "--plots"), "use --plots with --output"),
        ((EXAMPLES / "isometry" / "pairs.tsv", "--columns", "x"), "NAME=FIRST,SECOND"),
        (
            (EXAMPLES / "isometry" / "pairs.tsv", "--measure-detector", "chrf"),
            "needs validation pairs",
        ),
    ],
)
def test_what_is_wrong_is_named(tertium: Run, arguments: tuple[object, ...], message: str) -> None:
    done = tertium("study", "isometry", *map(str, arguments))
    assert done.returncode == 2
    assert message in done.stderr


def test_a_detector_is_trained_and_used(tertium: Run, tmp_path: Path) -> None:
    files = [f"{lang}={EXAMPLES / 'paraphrases' / lang}" for lang in ("en", "de")]
    run = tmp_path / "run"
    options = [
        part
        for name, split in (("--train", "test"), ("--dev", "dev"), ("--test", "dev"))
        for file in files
        for part in (name, f"{file}.{split}.tsv")
    ]
    small = ("--layers", 1, "--width", 16, "--vocabulary", 200, "--epochs", 1, "--batch-size", 4)
    done = tertium("train", "detector", run, *options, *small, "--dev-steps", 2, "--stop-at", 2)
    assert done.returncode == 0, done.stderr
    assert "2 of 4 steps" in done.stdout
    assert not (run / "detector").exists()
    wrong = tertium("train", "detector", run, "--rate", 1)
    assert "cannot be changed: --rate;" in wrong.stderr
    done = tertium("train", "detector", run)
    assert done.returncode == 0, done.stderr
    assert "macro-F1" in done.stdout
    assert (run / "curve.svg").exists()
    assert (run / "languages.csv").exists()
    pairs = EXAMPLES / "isometry" / "pairs.tsv"
    used = tertium(
        *("study", "isometry", pairs, "--translations", f"copy={pairs}", "--samples", 10),
        *("--detector", f"de={run / 'detector'},en={run / 'detector'}", "--both-orders"),
        *("-m", "chrf", "--examples", 0),
    )
    assert used.returncode == 0, used.stderr
    missing = tertium("train", "detector", tmp_path / "new", "--train", "x")
    assert "must have the form LANG=FILE" in missing.stderr
    assert "is not a training run yet" in tertium("train", "detector", tmp_path / "new").stderr
