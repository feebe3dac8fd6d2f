"""What ``tertium score --engine`` refuses before any cluster is reached."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tertium.cli.inputs import files_of
from tertium.errors import InputError

from .conftest import Run


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    file = tmp_path / "pairs.tsv"
    file.write_text("hyp\tref\na\ta\n")
    return file


def test_without_the_extra(
    tertium: Run, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    done = tertium("score", pairs, "-m", "chrf", "--engine", "ray", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "pip install 'tertium[ray]'" in done.stderr
    assert tertium("score", pairs, "-m", "chrf").returncode == 0


def test_what_a_cluster_cannot_do(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    if find_spec("ray") is None:
        pytest.skip("RAY IS NOT INSTALLED: nothing distributed is tested")
    out = ("-o", tmp_path / "out")
    cases: dict[tuple[str | Path, ...], str] = {
        out: "give a file of pairs",
        (pairs, "-o", pairs): "is the input",
        (pairs, "--address", "ray://head:10001", *out): "run the command on one of its nodes",
        (tmp_path / "*.parquet", *out): "no file matches this pattern",
    }
    for arguments, reason in cases.items():
        done = tertium("score", *arguments, "-m", "chrf", "--engine", "ray")
        assert done.returncode == 2, arguments
        assert reason in done.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["pairs.tsv"]


def test_what_is_for_a_cluster_alone(tertium: Run, pairs: Path) -> None:
    assert "need --engine ray" in tertium("score", pairs, "--workers", "2").stderr


def test_several_files_are_read_one_after_the_other(tertium: Run, pairs: Path) -> None:
    (pairs.parent / "more.tsv").write_text("hyp\tref\nb\tb\n")
    for arguments in (
        (pairs.parent,),
        (pairs.parent / "*.tsv",),
        (pairs.parent / "more.tsv", pairs),
    ):
        done = tertium("score", *arguments, "-m", "chrf", "--rows")
        assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["hyp", "b", "a"]


def test_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.parquet", "a.tsv.gz", "_tertium.json", ".c.tsv", "notes.md", "_d.parquet"):
        (tmp_path / name).touch()
    assert [file.name for file in files_of(tmp_path)] == ["a.tsv.gz", "b.parquet"]
    assert files_of(tmp_path / "*.parquet") == [tmp_path / "_d.parquet", tmp_path / "b.parquet"]
    assert files_of(tmp_path / "none.tsv") == [tmp_path / "none.tsv"]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="no file of pairs in this folder"):
        files_of(empty)
