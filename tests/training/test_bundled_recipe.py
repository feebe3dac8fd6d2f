"""``scripts/train_bundled.py``: what it trains on, and on what it evaluates."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "train_bundled.py"
pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="the source distribution lacks it")
EVALUATED = "A sentence that is kept for evaluation."
# zlib.crc32(b"Sentence 654.") is a multiple of 400
ROWS = f"de\ten\nSatz 654.\tSentence 654.\nSatz 655.\tSentence 655.\nSatz 1.\t{EVALUATED}\n"
FILES = {
    "tatoeba/de-en.tsv": ROWS,
    "tatoeba/de-it.tsv": ROWS.replace("en", "it", 1),
    "libreoffice/de-en.tsv": ROWS,
    "parallel/europarl.tsv": "de\ten\tfr\nEins.\tOne.\tUn.\nZwei.\tSentence 654.\tDeux.\n",
    "parallel/msdocs.tsv": ROWS,
    "news/newstest.de-en.tsv": "de\ten\nGut.\tGood.\n",
    "news/newsdiscuss.en-fr.tsv": "en\tfr\nGood.\tBien.\n",
    "news/teacher-news.en-de.tsv": "en\tde\nGood.\tSehr gut.\n",
    "news/teacher-news.en-fr.tsv": "en\tfr\nGood.\tBon.\n",
    "news/mt-geneval.de-en.tsv": "de\ten\nSie.\tShe.\n",
    "news/flores.de-en.tsv": f"de\ten\nEgal.\t{EVALUATED.upper()}\n",
}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("train_bundled", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "train_bundled", module)  # for its dataclasses
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "data"


def rows(path: Path) -> list[str]:
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    assert header == "lang_a\tlang_b\tsentence_a\tsentence_b"
    return sorted(lines)


def test_held_out_and_evaluated_sentences_are_not_trained_on(
    script: ModuleType, data: Path, tmp_path: Path
) -> None:
    script.prepare(data, tmp_path / "out")
    plan = script.make_plan(
        tmp_path / "out",
        argparse.Namespace(init=None, grow=False, rate=0.0008, contrast=0.5, optimizer="muon"),
    )
    names = ["everyday", "parliament", "news", "software", "documentation"]
    assert [Path(file).stem for file, _ in plan.bitext] == names
    assert [name for name, _ in plan.dev] == [*names, "encyclopaedia"]
    assert (plan.recipe.peak_rate, plan.recipe.contrast) == (0.0008, 0.5)
    assert plan.recipe.optimizer == "muon"
    for name in ("everyday", "software", "documentation"):
        assert rows(tmp_path / f"out/{name}.tsv") == ["de\ten\tSatz 655.\tSentence 655."]
        assert rows(tmp_path / f"out/dev/{name}.tsv") == ["de\ten\tSatz 654.\tSentence 654."]
    assert rows(tmp_path / "out/parliament.tsv") == [
        "de\ten\tEins.\tOne.",
        "de\tfr\tEins.\tUn.",
        "en\tfr\tOne.\tUn.",
    ]
    # a row with a held-out sentence is held out in all its languages
    assert "de\tfr\tZwei.\tDeux." in rows(tmp_path / "out/dev/parliament.tsv")
    assert rows(tmp_path / "out/dev/encyclopaedia.tsv") == ["de\ten\tSie.\tShe."]


def test_news_are_joined_by_common_translations(
    script: ModuleType, data: Path, tmp_path: Path
) -> None:
    script.prepare(data, tmp_path / "out")
    assert rows(tmp_path / "out/news.tsv") == [
        "de\ten\tGut.\tGood.",
        "de\ten\tSehr gut.\tGood.",
        "de\tfr\tGut.\tBien.",
        "de\tfr\tGut.\tBon.",
        "de\tfr\tSehr gut.\tBien.",  # but not "Sehr gut." with "Bon.": both are by a machine
        "en\tfr\tGood.\tBien.",
        "en\tfr\tGood.\tBon.",
    ]


def test_a_missing_corpus_is_named(script: ModuleType, data: Path, tmp_path: Path) -> None:
    (data / "parallel/europarl.tsv").unlink()
    with pytest.raises(SystemExit, match="no files of europarl"):
        script.prepare(data, tmp_path / "out")


def test_a_part_of_the_rows_is_taken_evenly(script: ModuleType) -> None:
    rows = [{"de": str(n), "en": str(n)} for n in range(10)]
    assert script.evenly(rows, None) == rows
    assert [row["de"] for row in script.evenly(rows, 5)] == ["0", "2", "4", "6", "8"]
    in_four = [dict.fromkeys(("de", "en", "es", "fr"), str(n)) for n in range(4)]
    assert len(script.evenly(in_four, 12)) == 2, "six pairs each"
