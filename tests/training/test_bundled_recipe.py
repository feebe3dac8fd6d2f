"""``scripts/train_bundled.py``: which files it trains on, and on what it evaluates."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "train_bundled.py"
pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="the source distribution lacks it")
# zlib.crc32(b"Sentence 654.") is a multiple of 400
ROWS = "de\ten\nSatz 654.\tSentence 654.\nSatz 655.\tSentence 655.\n"


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("train_bundled", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_only_training_corpora_are_used_and_held_out_pairs_make_the_development_sets(
    script: ModuleType, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    files = ["tatoeba/de-en.tsv", "tatoeba/de-it.tsv", "libreoffice/de-en.tsv"]
    files += [f"news/{name}.de-en.tsv" for name in ("europarl", "newstest", "newsdiscuss")]
    files += ["news/flores.de-en.tsv", "news/mt-geneval.de-en.tsv"]
    for name in files:
        path = data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ROWS, encoding="utf-8")
    settings = argparse.Namespace(init=None, names=0.2, ranking=0.1, rate=0.0008)
    plan = script.make_plan(data, tmp_path / "run", settings)
    used = {Path(file).relative_to(data).as_posix(): weight for file, weight in plan.bitext}
    assert used == {
        "tatoeba/de-en.tsv": 0.6,
        "libreoffice/de-en.tsv": 0.5,
        "news/europarl.de-en.tsv": 1.0,
        "news/newstest.de-en.tsv": 2.5,
        "news/newsdiscuss.de-en.tsv": 2.0,
        "news/mt-geneval.de-en.tsv": 1.5,
    }
    assert [name for name, _ in plan.dev] == ["tatoeba", "libreoffice", "europarl", "newstest"]
    for _, file in plan.dev:
        assert Path(file).read_text(encoding="utf-8").splitlines()[1:] == [
            "de\ten\tSatz 654.\tSentence 654."
        ]
    assert (plan.mixture.names, plan.recipe.ranking, plan.recipe.peak_rate) == (0.2, 0.1, 0.0008)
    distilled = data / "distilled/fr-en/distilled.de-en.tsv"
    distilled.parent.mkdir(parents=True)
    distilled.write_text(ROWS, encoding="utf-8")
    with_distilled = script.make_plan(data, tmp_path / "run", settings)
    assert with_distilled.bitext == (*plan.bitext, (str(distilled), 1.5))
    assert with_distilled.dev == plan.dev
    (data / "news/europarl.de-en.tsv").unlink()
    with pytest.raises(SystemExit, match="no files of europarl"):
        script.make_plan(data, tmp_path / "run", settings)
