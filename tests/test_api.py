"""The public interface: what may not change without an announcement."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import tertium

ROOT = Path(__file__).parents[1]
PUBLIC = {
    "AlignedUnits",
    "MinedPairs",
    "align",
    "mine",
    "score_documents",
    "Comparison",
    "Measure",
    "Ranking",
    "ScoreTable",
    "Scores",
    "Signature",
    "Text",
    "__version__",
    "compare",
    "explain",
    "filter_pairs",
    "load",
    "load_detector",
    "load_encoder",
    "load_language_model",
    "load_model",
    "paraphrase",
    "rerank",
    "score",
    "translate",
}
PARAMETERS = {
    "load": ["measure", "model", "encoder", "sentence_encoder", "layer", "lang", "settings"],
    "score": [
        "hypotheses",
        "references",
        "measure",
        "model",
        "sources",
        "lang",
        "reference_lang",
        "source_lang",
        "progress",
        "settings",
    ],
    "load_model": ["model", "compute_type", "device", "threads", "batch_tokens", "cache"],
}


def test_public_names() -> None:
    assert set(tertium.__all__) == PUBLIC
    for name in PUBLIC:
        assert hasattr(tertium, name)


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_of_public_functions(name: str) -> None:
    assert list(inspect.signature(getattr(tertium, name)).parameters) == PARAMETERS[name]


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_paths_in_the_guides_exist(page: str) -> None:
    missing = []
    for path in re.findall(r"`([\w./-]+/[\w./-]*|[\w/]+\.py)`", (ROOT / page).read_text("utf-8")):
        if "NAME" not in path and not any(
            (folder / path).exists() for folder in (ROOT, ROOT / "src" / "tertium")
        ):
            missing.append(path)
    assert not missing


def script(name: str) -> Any:
    """A module of scripts/."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_settings_is_current() -> None:
    text = (ROOT / "docs" / "settings.md").read_text("utf-8")
    assert text == script("settings_page").page(), "run python scripts/settings_page.py"


def test_the_reference_is_readable_in_a_clone() -> None:
    """Every public name has its signature, a sentence and an example in docs/api.md."""
    text = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert text == script("api_page").page(text), "run python scripts/api_page.py"
    assert set(re.findall(r"^::: tertium\.(\w+)", text, re.MULTILINE)) == PUBLIC - {"__version__"}
