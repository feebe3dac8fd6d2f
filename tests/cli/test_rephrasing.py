"""``tertium study rephrasing`` and ``tertium data paraphrase-sets`` on the command line."""

from __future__ import annotations

import csv
import inspect
from dataclasses import asdict
from pathlib import Path

import pytest

from tertium.cli.data import paraphrase_sets
from tertium.data.paraphrase_sets import SetRules

from .conftest import Run

EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = EXAMPLES / "rephrasing"


def test_tables_and_figures_are_kept(tertium: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("study", "rephrasing", DATA, "--samples", 50, "-o", out, "--plots")
    done = tertium(*command, "--measures", "bleu-nltk:smooth=method1,order=2,chrf-nltk,nist")
    assert done.returncode == 0, done.stderr
    assert "Mean scores by family" in done.stdout
    assert "Pearson's r with typological features" in done.stdout
    with (out / "languages.csv").open(encoding="utf-8", newline="") as stream:
        rows = {row["language"]: row for row in csv.DictReader(stream)}
    assert len(rows) == 17
    assert rows["eus Basque"]["family"] == "(none)"
    assert float(rows["jpn Japanese"]["nist:tokenize=split"]) == 0
    for name in ("syntax_average", "geo", "inventory_average", "phonology_average", "learned"):
        assert (out / f"features-{name}.svg").exists(), name
    assert (out / "scores.svg").exists()
    assert "nist:tokenize=split / 1.9" in (out / "scores-scaled.svg").read_text("utf-8")
    signatures = (out / "signatures.tsv").read_text("utf-8")
    assert "mteval-v13a" in signatures
    again = tertium(*command, "--measures", "chrf-nltk,nist", "--tokenize", "segment")
    assert "17 of 51 cells were reused" in again.stderr
    assert "nist:tokenize=segment" in again.stdout


def test_bertscore_is_a_default_where_an_encoder_is(tertium: Run) -> None:
    done = tertium(
        *("study", "rephrasing", DATA, "--langs", "deu,eng", "--pairs", 2, "--no-typology", "-q"),
        *("--encoder", "tertium-mini", "--no-cache"),
    )
    assert done.returncode == 0, done.stderr
    [header] = [line for line in done.stdout.splitlines() if line.startswith("language ")]
    assert header.split()[-4:] == ["bleu-nltk", "chrf-nltk", "nist:tokenize=split", "bertscore"]


def test_a_draw_of_the_papers_languages(tertium: Run) -> None:
    done = tertium(
        *("study", "rephrasing", DATA, "--langs", "paper", "--pairs", 1, "--min-sets", 3),
        *("-m", "chrf", "--no-typology", "-q"),
    )
    assert done.returncode == 0, done.stderr
    assert "left out for fewer than 3 sets: ara (2), cmn (2)" in done.stderr
    assert "1/5" in done.stdout
    assert "Pearson" not in done.stdout


def test_sets_from_tatoeba(tertium: Run, tmp_path: Path) -> None:
    out = tmp_path / "sets.tsv"
    command = ("data", "paraphrase-sets", EXAMPLES / "tatoeba", "-o", out)
    done = tertium(*command)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2].split() == ["eng", "2", "2", "5"]
    first = out.read_bytes()
    assert first.startswith(b"lang\tset_id\tsentence\ndeu\tdeu-1\tGuten Morgen!\n")
    tertium(*command)
    assert out.read_bytes() == first
    study = tertium("study", "rephrasing", out, "-m", "chrf", "--no-typology")
    assert "eng English" in study.stdout
    few = tertium(*command, "--langs", "fra,eng", "--min-sets", 2)
    assert few.stdout.splitlines()[2].split() == ["fra", "1", "0", "0"]


def test_the_rules_of_the_command_are_those_of_the_library() -> None:
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(paraphrase_sets).parameters.items()
        if name in asdict(SetRules())
    }
    assert defaults == asdict(SetRules())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("study", "rephrasing", "nowhere"), "nowhere does not exist"),
        (("study", "rephrasing", DATA, "--plots"), "use --plots with --output"),
        (("study", "rephrasing", DATA, "--langs", "vie"), "has no vie"),
        (("study", "rephrasing", DATA, "--min-sets", 9), "no language has 9 sets"),
        (
            ("study", "rephrasing", DATA, "-m", "nist", "-m", "nist:tokenize=split"),
            "given twice",
        ),
        (
            ("study", "rephrasing", DATA, "-m", "chrf", "--features", "taste"),
            "no feature set 'taste'",
        ),
        (("data", "paraphrase-sets", "nowhere", "-o", "x"), "nowhere: there is no such folder"),
    ],
)
def test_what_is_wrong_is_named(tertium: Run, arguments: tuple[object, ...], message: str) -> None:
    done = tertium(*map(str, arguments))
    assert done.returncode == 2
    assert message in done.stderr
