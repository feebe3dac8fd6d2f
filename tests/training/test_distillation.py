"""``scripts/distill.py``: what a teacher's translations are paired with, and what is left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "distill.py"
pytestmark = [
    pytest.mark.skipif(not SCRIPT.is_file(), reason="the source distribution lacks it"),
    pytest.mark.slow,
]


def test_translations_are_paired_with_their_sources_and_with_other_languages(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    # zlib.crc32(b"Sentence 654.") is a multiple of 400, so the pair is held out.
    (data / "talks.de-en.tsv").write_text(
        "de\ten\nDas ist gut.\tThis is good.\nSatz 654.\tSentence 654.\n", encoding="utf-8"
    )
    (data / "talks.en-fr.tsv").write_text(
        "en\tfr\nThis is good.\tC'est bien.\nI am here.\tJe suis là.\n", encoding="utf-8"
    )
    (data / "other.de-en.tsv").write_text("de\ten\nNein.\tNo.\n", encoding="utf-8")

    def distill(name: str, *options: str) -> dict[str, list[str]]:
        command = [sys.executable, str(SCRIPT), str(data), str(tmp_path / name)]
        command += ["--teacher", "tertium-mini", "--langs", "en", "fr", "--corpora", "talks"]
        subprocess.run([*command, *options], check=True, capture_output=True)
        return {
            path.name: path.read_text("utf-8").splitlines()
            for path in (tmp_path / name / "en-fr").iterdir()
        }

    found = distill("all")
    assert sorted(found) == ["distilled.de-fr.tsv", "distilled.en-fr.tsv"]
    assert found["distilled.en-fr.tsv"][0] == "en\tfr"
    pairs = dict(line.split("\t") for line in found["distilled.en-fr.tsv"][1:])
    assert list(pairs) == ["This is good.", "I am here."]
    assert found["distilled.de-fr.tsv"] == ["de\tfr", f"Das ist gut.\t{pairs['This is good.']}"]

    excluded = tmp_path / "test.tsv"
    excluded.write_text(f"id\ttext\n1\t{pairs['I am here.'].upper()}\n", encoding="utf-8")
    fewer = distill("fewer", "--exclude", str(excluded))
    assert fewer["distilled.en-fr.tsv"][1:] == found["distilled.en-fr.tsv"][1:2]
