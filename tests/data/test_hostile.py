"""Whatever the bytes are: rows, or an error that names the fault."""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from tertium.data.pairs import Languages, TablePairs, bitext_columns, choose_columns
from tertium.data.records import open_table
from tertium.data.tmx import TmxPairs
from tertium.errors import InputError

from ..hostile import READERS, hostile_bytes, read

SUITE = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def survives(reader: str, content: bytes, folder: Path) -> bool:
    """Read; returns whether there were rows to be had."""
    try:
        read(reader, content, folder)
    except InputError:
        return False
    return True


@pytest.mark.parametrize("reader", READERS)
@SUITE
@given(content=st.binary(max_size=300))
def test_any_bytes(reader: str, content: bytes, tmp_path: Path) -> None:
    survives(reader, content, tmp_path)


@pytest.mark.parametrize("reader", READERS)
def test_damaged_files(reader: str, tmp_path: Path) -> None:
    draw = random.Random(reader)
    read_well = [survives(reader, hostile_bytes(reader, draw), tmp_path) for _ in range(60)]
    assert 5 < sum(read_well) < 55  # some are as they should be, and some are not


@pytest.mark.parametrize("reader", ["tsv", "csv"])
def test_a_million_columns_do_not_take_for_ever(reader: str, tmp_path: Path) -> None:
    mark = {"tsv": b"\t", "csv": b","}[reader]
    started = time.monotonic()
    names = mark.join(b"%d" % number for number in range(100_000))
    for header in (names, mark * 100_000):
        assert not survives(reader, header + b"\n" + header + b"\n", tmp_path)
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("encoding", ["shift_jis", "nonsense", "hex", "utf-7"])
def test_encodings_that_no_tmx_has(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "a.tmx"
    file.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?><tmx/>'.encode())
    with pytest.raises(InputError, match=r"cannot be decoded: .*; save it as UTF-8"):
        list(TmxPairs(file, Languages("de", src="en")))


def test_json_that_is_nested_too_deep(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    good = '{"hyp": "a", "ref": "b"}\n'
    for depth, message in ((150, "row 2: nested more than 100"), (100_000, "row 2: not JSON")):
        file.write_text(good + '{"hyp": ' + "[" * depth + "]" * depth + "}\n")
        with pytest.raises(InputError, match=message):
            list(open_table(file))


def test_a_half_character_anywhere_in_a_record(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    for field, named in (
        ('"x": "\\ud83d"', "the field 'x' holds"),
        ('"x": ["a", {"y": "\\ud83d"}]', "the field 'x' holds"),
    ):
        file.write_text(f'{{"hyp": "a", "ref": "b", "src": "c", {field}}}\n')
        table = open_table(file)
        with pytest.raises(InputError, match=f"row 1: {named} a lone surrogate"):
            list(TablePairs(table, choose_columns(table)))
        with pytest.raises(InputError, match=f"row 1: {named} a lone surrogate"):
            list(TablePairs(table, bitext_columns(table)))
        table = open_table(file, replace_invalid=True)
        [item] = TablePairs(table, choose_columns(table))
        assert "\ufffd" in json.dumps(item.record, ensure_ascii=False)


def test_a_half_character_in_the_name_of_a_field(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"hyp": "a", "ref": "b", "\\ud83d": 1}\n')
    with pytest.raises(InputError, match=r"a.jsonl: the name of the field '\\ud83d' holds a lone"):
        choose_columns(open_table(file))


def test_parquet_that_is_damaged_behind_its_head(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    texts = [f"{number} " * 50 for number in range(2000)]
    parquet.write_table(pa.table({"hyp": texts, "ref": texts}), file, compression="snappy")
    content = bytearray(file.read_bytes())
    content[2000:12000] = random.Random(1).randbytes(10_000)
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"after row \d+: cannot be read as Parquet"):
        list(open_table(file))


def test_parquet_with_a_name_twice(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    column = pa.array(["a"])
    parquet.write_table(pa.Table.from_arrays([column, column], names=["hyp", "hyp"]), file)
    with pytest.raises(InputError, match="names hyp twice"):
        open_table(file).columns()


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: File name too long"):
        open_table(tmp_path / ("x" * 5000 + ".tsv"))


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed"):
        open_table(Path("-")).columns()
