"""A small package brings a measure, a filter and a dataset, which the command line uses."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from .conftest import TERTIUM

SYSTEMS = Path(__file__).parents[2] / "examples" / "systems.tsv"
METADATA = "Metadata-Version: 2.1\nName: tertium-example\nVersion: 1.0\n"
ENTRY_POINTS = """
[tertium.measures]
length-ratio = tertium_example:LengthRatio
broken-measure = tertium_example:NoSuchMeasure

[tertium.filters]
question = tertium_example:QuestionFilter
broken = tertium_example:NoSuchFilter

[tertium.datasets]
greetings = tertium_example:read_greetings
undecorated = tertium_example:QuestionFilter
"""
CODE = '''
from dataclasses import dataclass

from tertium.data.datasets.base import LabelledPair, dataset
from tertium.filters.base import KEPT, Filter, Verdict
from tertium.measures.base import Measure, Segments
from tertium.text import Text


@dataclass(frozen=True)
class LengthRatio(Measure):
    """The ratio of two lengths in characters."""

    name = "length-ratio"
    summary = "Ratio of the lengths of two texts."
    bounds = (0.0, 1.0)
    power: float = 1.0

    def segments(self, rows, progress=None):
        scores = []
        for row in rows:
            lengths = [len(row.hypothesis.text), len(self.compared(row)[0].text)]
            scores.append((min(lengths) / max(lengths)) ** self.power)
        return Segments(scores, [(score, 1.0) for score in scores], [False] * len(rows))

    def choices(self):
        return {"power": self.power}


@dataclass(frozen=True)
class QuestionFilter(Filter):
    """Keeps pairs where both texts are questions, or neither is."""

    mark: str = "?"

    name = "question"
    reasons = ("only one is a question",)

    def judge(self, rows, progress=None):
        return [
            KEPT
            if row.source.text.endswith(self.mark) == row.hypothesis.text.endswith(self.mark)
            else Verdict("only one is a question")
            for row in rows
        ]


@dataset(
    "greetings",
    LabelledPair,
    "Greetings",
    origin="nowhere",
    licence="CC0 1.0",
    layout="greetings.txt",
    languages=["en"],
)
def read_greetings(lang, *, folder):
    lines = (folder / "greetings.txt").read_text().splitlines()
    return [
        LabelledPair(str(row), Text(line, lang), Text(line.lower(), lang), True)
        for row, line in enumerate(lines, start=1)
    ]
'''


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Install the package, with pip and from a wheel, into a folder of its own."""
    scratch = tmp_path_factory.mktemp("plugin")
    site = scratch / "site"
    wheel = scratch / "tertium_example-1.0-py3-none-any.whl"
    info = "tertium_example-1.0.dist-info"
    files = {
        "tertium_example.py": CODE,
        f"{info}/METADATA": METADATA,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": ENTRY_POINTS,
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target"]
    subprocess.run([*pip, site, wheel], check=True, capture_output=True)
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


def run(environment: dict[str, str], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TERTIUM, *map(str, arguments)], env=environment, capture_output=True, encoding="utf-8"
    )


def test_a_filter_of_a_plugin(environment: dict[str, str], tmp_path: Path) -> None:
    bitext, out = tmp_path / "a.tsv", tmp_path / "out.tsv"
    bitext.write_text("de\ten\nJa?\tYes?\nNein.\tNo?\n")
    langs = ("--src-lang", "de", "--tgt-lang", "en")
    done = run(environment, "filter", bitext, *langs, "--filters", "length,Question", "-o", out)
    assert done.returncode == 0, done.stderr
    assert out.read_text() == "de\ten\nJa?\tYes?\n"
    assert "only one is a question 1" in done.stderr
    settings = ("--set", "question.mark=.", "--overwrite")
    done = run(environment, "filter", bitext, *langs, "--filters", "question", "-o", out, *settings)
    assert done.returncode == 0, done.stderr
    assert "1 of 2 rows kept" in done.stderr


def test_a_filter_that_cannot_be_loaded(environment: dict[str, str], tmp_path: Path) -> None:
    bitext = tmp_path / "a.tsv"
    bitext.write_text("src\ttgt\na\tb\n")
    done = run(environment, "filter", bitext, "--filters", "broken")
    assert done.returncode == 2
    assert "filter 'broken' of the plug-in tertium-example cannot be loaded" in done.stderr
    done = run(environment, "filter", bitext, "--filters", "questions")
    assert done.returncode == 2
    assert "no filter 'questions'; did you mean 'question'?" in done.stderr


def test_the_list_of_datasets_includes_plugins(environment: dict[str, str]) -> None:
    listed = run(environment, "data", "list")
    assert listed.returncode == 2  # one of the plug-in's entry points is wrong
    assert "QuestionFilter of the plug-in tertium-example is not a dataset" in listed.stderr
    assert "pawsx: " in listed.stdout
    assert "greetings: Greetings" in listed.stdout


def test_a_dataset_of_a_plugin(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "greetings.txt").write_text("Hello\nGood morning\n")
    out = tmp_path / "greetings.tsv"
    done = run(environment, "data", "export", "greetings", tmp_path, "--lang", "en", "-o", out)
    assert done.returncode == 0, done.stderr
    assert out.read_text() == (
        "id\tsentence1\tsentence2\tlabel\n1\tHello\thello\t1\n2\tGood morning\tgood morning\t1\n"
    )
    wrong = run(environment, "data", "export", "undecorated", tmp_path, "-o", out)
    assert wrong.returncode == 2
    assert "QuestionFilter of the plug-in tertium-example is not a dataset" in wrong.stderr
    missing = run(environment, "data", "export", "greetings", tmp_path, "-o", out)
    assert missing.returncode == 2
    assert "dataset 'greetings' needs a language, such as en; give --lang" in missing.stderr


def test_a_measure_of_a_plugin(environment: dict[str, str]) -> None:
    measures = ("-m", "Length-Ratio:power=2", "-m", "chrf")
    done = run(environment, "score", "abcd", "abcdefgh", *measures, "--rows")
    assert done.returncode == 0, done.stderr
    header, row = done.stdout.splitlines()
    assert header.split("\t")[2:] == ["length-ratio:power=2.0", "chrf", "cut", "marks"]
    assert row.split("\t")[2] == "0.250000"
    assert "length-ratio:power=2.0 0.2500" in done.stderr
    assert "power:2.0" in done.stderr
    compared = run(environment, "compare", SYSTEMS, "-m", "length-ratio", "--json")
    assert compared.returncode == 0, compared.stderr
    assert "length-ratio" in compared.stdout


def test_a_broken_measure_is_named_and_left_out(environment: dict[str, str]) -> None:
    done = run(environment, "measures")
    assert done.returncode == 0, done.stderr
    assert "length-ratio" in done.stdout
    assert "broken-measure" not in done.stdout
    assert "measure 'broken-measure' of the plug-in tertium-example cannot be loaded" in done.stderr
    assert "it is left out" in done.stderr


def test_a_broken_measure_does_not_stop_the_page(environment: dict[str, str]) -> None:
    code = "from tertium.web.lists import available_measures; print(*available_measures())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, encoding="utf-8"
    )
    assert "length-ratio" in done.stdout.split(), done.stderr
    assert "broken-measure" not in done.stdout
    assert "cannot be loaded" in done.stderr
