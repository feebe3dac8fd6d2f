"""``tertium explain``, ``models``, ``doctor``, and what all commands have in common."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import tertium as library
from tertium.models import golden
from tertium.models.base import make_queries
from tertium.storage.paths import models_folder, results_file

from .conftest import TERTIUM, Run

HEAVY = (
    *("ctranslate2", "sentencepiece", "tokenizers", "numpy", "sacrebleu", "pyarrow"),
    *("huggingface_hub", "torch", "transformers", "matplotlib", "fastapi", "uvicorn"),
)


def test_explain_shows_both_directions(tertium: Run) -> None:
    done = tertium("explain", "I see a dog.", "I see a cat.", "--lang", "en")
    assert done.returncode == 0
    assert "en given en: I see a cat." in done.stdout
    assert "en given en: I see a dog." in done.stdout
    assert "instead of dog: cat" in done.stdout
    [scores] = library.load_model(cache=False).log_probs(
        make_queries(["I see a dog."], ["I see a cat."], target_lang="en")
    )
    for log_prob in scores.log_probs:
        assert f"{log_prob:.2f}" in done.stdout
    assert f"H = {scores.H:.4f}" in done.stdout
    direct = library.score("I see a dog.", "I see a cat.", measure="direct", lang="en")
    assert f"direct {direct:.4f}" in done.stdout


def test_explain_needs_languages(tertium: Run) -> None:
    done = tertium("explain", "a", "b")
    assert done.returncode == 2
    assert "use --lang" in done.stderr


class Page(HTMLParser):
    """Collects the text of a page, and what it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_explain_writes_a_page_that_needs_nothing_else(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "why.html"
    text = '<script>alert("x")</script> & שלום'
    done = tertium("explain", text, "Hallo!", "-l", "en", "--ref-lang", "de", "--html", file)
    assert done.returncode == 0
    page = Page(file.read_text("utf-8"))
    assert page.links == []
    assert "script" not in page.tags
    assert text in page.text
    assert page.tags.count("section") == 2


def test_explain_takes_empty_text(tertium: Run) -> None:
    for texts in (("", "a b"), ("a b", ""), (" ", "")):
        assert tertium("explain", *texts, "--lang", "en").returncode == 0


def test_a_page_that_cannot_be_written_is_reported(tertium: Run, tmp_path: Path) -> None:
    done = tertium("explain", "a", "b", "--lang", "en", "--html", tmp_path / "none" / "a.html")
    assert done.returncode == 2
    assert done.stderr.startswith("tertium: ")


def test_explain_without_suggestions(tertium: Run) -> None:
    done = tertium("explain", "I see a dog.", "I see a cat.", "--lang", "en", "--worst", "0")
    assert "instead of" not in done.stdout


def test_explain_marks_truncated_texts(tertium: Run) -> None:
    done = tertium("explain", "word " * 2000, "word", "--lang", "en")
    assert done.returncode == 0
    assert "only the beginning was scored" in done.stdout


def test_models_lists_the_models(tertium: Run) -> None:
    broken = models_folder() / "broken"
    broken.mkdir(parents=True)
    (broken / "tertium.json").write_text("{")
    done = tertium("models")
    assert done.returncode == 0
    assert "tertium-mini" in done.stdout
    assert "bundled" in done.stdout
    assert "not readable" in " ".join(done.stdout.split())


def test_doctor_finds_nothing_wrong(tertium: Run) -> None:
    done = tertium("doctor")
    assert done.returncode == 0, done.stdout
    assert "FAIL" not in done.stdout
    assert len(done.stdout.splitlines()) == 13


def test_doctor_finds_wrong_numbers_and_a_bad_cache(
    tertium: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(folder: Path) -> list[golden.GoldenExample]:
        return [golden.GoldenExample("Hi.", "Hi.", "en", "en", (-20.0,) * 3, (-20.0,) * 3)]

    monkeypatch.setattr(golden, "read_golden", wrong)
    results_file().parent.mkdir(parents=True)
    results_file().mkdir()
    done = tertium("doctor")
    assert done.returncode == 1
    assert "FAIL  golden numbers, float32: log-probabilities are off" in done.stdout
    assert "FAIL  cache" in done.stdout


def test_version_and_help(tertium: Run) -> None:
    assert tertium("--version").stdout == f"tertium {library.__version__}\n"
    for command in ("score", "compare", "explain", "serve", "models", "doctor"):
        assert tertium(command, "--help").returncode == 0


def test_nothing_heavy_is_loaded_before_it_is_needed() -> None:
    look = f"import sys, json; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    bare = subprocess.run(
        [sys.executable, "-c", f"import tertium; {look}"], capture_output=True, check=True
    )
    assert json.loads(bare.stdout) == []
    helped = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, atexit; sys.argv = ['tertium', '--help']\n"
            f"def check():\n    {look}\n"
            "atexit.register(check)\nfrom tertium.cli import main; main()",
        ],
        capture_output=True,
        check=True,
    )
    assert json.loads(helped.stdout.splitlines()[-1]) == []


def test_a_closed_pipe_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*TERTIUM, "score", "a", "b", "-m", "chrf", "-q"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    assert done.stderr == ""
