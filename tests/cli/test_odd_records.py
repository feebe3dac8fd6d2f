"""Fields that are hard to write are written, or refused before anything is scored."""

from __future__ import annotations

from pathlib import Path

from tertium.data.records import open_table

from .conftest import Run


def test_a_half_character_that_is_replaced_can_be_written(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"hyp": "a", "ref": "b", "\\udc80": "\\udc80"}\n')
    for out in ("o.tsv", "o.csv", "o.jsonl", "o.parquet"):
        command = ("score", file, "-m", "chrf", "-q", "-o", tmp_path / out)
        assert "lone surrogate" in tertium(*command).stderr
        assert tertium(*command, "--replace-invalid").returncode == 0
        assert next(iter(open_table(tmp_path / out)))["\ufffd"] == "\ufffd"


def test_whole_numbers_that_are_too_large_for_parquet(tertium: Run, tmp_path: Path) -> None:
    file, out = tmp_path / "a.jsonl", tmp_path / "o.parquet"
    large = 10**30
    file.write_text(
        f'{{"hyp": "a", "ref": "b", "n": {large}}}\n{{"hyp": "a", "ref": "b", "n": 1}}\n'
    )
    assert tertium("score", file, "-m", "chrf", "-q", "-o", out).returncode == 0
    assert [record["n"] for record in open_table(out)] == [str(large), "1"]
