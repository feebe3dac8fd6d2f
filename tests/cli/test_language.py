"""Causal language models on the command line: fetched, converted, and used by measures."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tertium.models.card import LanguageCard, LanguageSettings, read_card
from tertium.storage.paths import models_folder

from ..local_hub import COMMIT, local_hub
from ..tiny_language import TinyLanguageModel
from .conftest import TERTIUM, Run

REPO = "HuggingFaceTB/SmolLM2-135M"


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_convert_and_describe(
    tertium: Run, tiny_language: TinyLanguageModel, tmp_path: Path
) -> None:
    out = tmp_path / "made"
    done = tertium("models", "convert", tiny_language.folder, out, "--licence", "CC0-1.0")
    assert done.returncode == 0, done.stderr
    assert "language model, llama" in done.stdout
    info = tertium("models", "info", out).stdout
    assert "start, end   <|start|> <|end|>" in info
    assert "max length   64 tokens" in info
    for option, value in (("--dialect", "prism"), ("--layer", "2")):
        refused = tertium("models", "convert", tiny_language.folder, tmp_path / "x", option, value)
        assert refused.returncode == 2
        assert option in refused.stderr


def test_fetch(tiny_language: TinyLanguageModel, tmp_path: Path) -> None:
    with local_hub(REPO, tiny_language.folder) as hub:
        settings = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hf")}
        done = subprocess.run(
            [*TERTIUM, "models", "fetch", "smollm2-135m"],
            env={**os.environ, **settings, "HF_HUB_DISABLE_PROGRESS_BARS": "1"},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    folder = read_card(models_folder() / "SmolLM2-135M", LanguageSettings)
    assert (folder.origin, folder.licence) == (f"{REPO}@{COMMIT}", "Apache-2.0")
    folder.verified()


def test_the_catalog(tertium: Run) -> None:
    assert "SmolLM2-360M" in tertium("models", "list").stdout
    assert "causal language model" in tertium("models", "info", "gpt2").stdout


def test_hypotheses_alone(tertium: Run, language_folder: LanguageCard, tmp_path: Path) -> None:
    hypotheses = write(tmp_path / "h.txt", "The sea was calm.", "", "She reads.")
    measure = f"lm@{language_folder.path}"
    done = tertium("score", "-t", hypotheses, "-m", measure, "--rows")
    assert done.returncode == 0, done.stderr
    header, *rows = done.stdout.splitlines()
    assert header == "hyp\tlm\tcut\tmarks"
    assert len(rows) == 3
    assert rows[1].endswith("empty")
    table = write(tmp_path / "h.tsv", "id\thypothesis", "1\tThe sea was calm.")
    [_, row] = tertium("score", table, "-m", measure, "--rows").stdout.splitlines()
    assert row.split("\t")[2] == rows[0].split("\t")[1]


@pytest.mark.parametrize("more", [[], ["lm@{model}"]])
def test_other_measures_need_something_to_compare_with(
    tertium: Run, language_folder: LanguageCard, tmp_path: Path, more: list[str]
) -> None:
    hypotheses = write(tmp_path / "h.txt", "The sea was calm.")
    measures = ["chrf", *(each.format(model=language_folder.path) for each in more)]
    done = tertium("score", "-t", hypotheses, "-m", *measures)
    assert done.returncode == 2
    assert "references or sources" in done.stderr


def test_a_missing_model_is_explained(tertium: Run, tmp_path: Path) -> None:
    hypotheses = write(tmp_path / "h.txt", "The sea was calm.")
    done = tertium("score", "-t", hypotheses, "-m", "lm")
    assert done.returncode == 2
    assert "tertium-mini is a translation model, not a causal language model" in done.stderr
    assert "lm@MODEL" in done.stderr


def test_judging_with_prompts(tertium: Run, language_folder: LanguageCard, tmp_path: Path) -> None:
    hypotheses = write(tmp_path / "h.txt", "The sea was calm.")
    sources = write(tmp_path / "s.txt", "Das Meer war ruhig.")
    model = str(language_folder.path)
    with_names = tertium(
        *(
            "score",
            "-t",
            hypotheses,
            "-s",
            sources,
            "-l",
            "de-en",
            "-m",
            f"llm-src@{model}",
            "--rows",
        )
    )
    written = tertium(
        *("score", "-t", hypotheses, "-s", sources, "--rows"),
        *("-m", rf"llm-src@{model}:template=German: {{source}}\nEnglish: "),
    )
    rows = [done.stdout.splitlines()[1] for done in (with_names, written)]
    assert rows[0] == rows[1]  # the space at the end of a template counts
    missing = tertium("score", "-t", hypotheses, "-s", sources, "-m", f"llm-src@{model}")
    assert missing.returncode == 2
    assert "row 1: llm-src: the template has {source_lang}" in missing.stderr
