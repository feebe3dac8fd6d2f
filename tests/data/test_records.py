"""Files of records are read as they are, and what is wrong with them is named."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from tertium.data.datasets.reading import hub_records
from tertium.data.pairs import FilePairs, Languages, TablePairs, choose_columns
from tertium.data.records import open_table
from tertium.errors import InputError, SettingError
from tertium.jobs.output import FileOutput, TableSink
from tertium.jobs.parquet import schema_of, write_parquet

RECORDS = [
    {"hyp": 'He said "hi".', "ref": "Il a dit « salut »."},
    {"hyp": "a line\u2028separator and\x0cform feed", "ref": "שלום\u200f"},
    {"hyp": "", "ref": "🙂"},
]
TSV = "hyp\tref\n" + "".join(f"{r['hyp']}\t{r['ref']}\n" for r in RECORDS)


def write(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_tsv_has_no_quoting(tmp_path: Path, ending: str, mark: str) -> None:
    file = write(tmp_path / "a.tsv", mark + TSV.replace("\n", ending))
    assert list(open_table(file)) == RECORDS


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)]
)
def test_packed_files(tmp_path: Path, suffix: str, pack: object) -> None:
    assert callable(pack)
    file = write(tmp_path / f"a.tsv{suffix}", pack(TSV.encode()))
    assert list(open_table(file)) == RECORDS
    damaged = write(tmp_path / f"b.tsv{suffix}", pack(TSV.encode())[:-15])
    with pytest.raises(InputError, match=r"cannot be decompressed|is not valid"):
        list(open_table(damaged))


def test_csv_has_quoting(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", 'hyp,ref\n"one, ""two""","line\nbreak"\n')
    assert list(open_table(file)) == [{"hyp": 'one, "two"', "ref": "line\nbreak"}]
    with pytest.raises(InputError, match="after row 0"):
        list(open_table(write(tmp_path / "b.csv", 'hyp,ref\n"never closed,x\n')))


def test_jsonl(tmp_path: Path) -> None:
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS) + "\n"
    assert list(open_table(write(tmp_path / "a.jsonl", lines))) == RECORDS
    with pytest.raises(InputError, match="row 2: not JSON"):
        list(open_table(write(tmp_path / "b.jsonl", '{"hyp": "a"}\n{"hyp"\n')))
    with pytest.raises(InputError, match="row 1: not a JSON object"):
        list(open_table(write(tmp_path / "c.jsonl", '["a"]\n')))


def test_parquet(tmp_path: Path) -> None:
    parquet.write_table(pa.Table.from_pylist(RECORDS), tmp_path / "a.parquet")
    table = open_table(tmp_path / "a.parquet")
    assert list(table) == RECORDS
    assert table.count() == 3
    assert table.columns() == ["hyp", "ref"]
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        list(open_table(write(tmp_path / "b.parquet", "no parquet")))


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet.write_table(pa.Table.from_pylist(RECORDS), tmp_path / "a.parquet")
    table = open_table(tmp_path / "a.parquet")
    monkeypatch.setattr("tertium.registry.find_spec", lambda _: None)
    cure = r"Parquet needs pyarrow: pip install 'tertium\[parquet\]'"
    for read in (table.columns, table.count, lambda: list(table)):
        with pytest.raises(SettingError, match=f"reading {cure}"):
            read()
    with pytest.raises(SettingError, match=f"reading {cure}"):
        open_table(tmp_path / "a.parquet")
    with pytest.raises(SettingError, match=f"reading {cure}"):
        list(hub_records("nobody/nothing", "*.parquet"))
    with pytest.raises(SettingError, match=f"writing {cure}"):
        FileOutput(tmp_path / "b.parquet")
    with pytest.raises(SettingError, match=f"writing {cure}"):
        TableSink(tmp_path / "b.parquet", ["hyp", "ref"])
    with pytest.raises(SettingError, match=f"writing {cure}"):
        schema_of({"hyp": {str}})
    with pytest.raises(SettingError, match=f"writing {cure}"):
        write_parquet([], None, tmp_path / "b.parquet")
    assert [file.name for file in tmp_path.iterdir()] == ["a.parquet"]


def test_no_header(tmp_path: Path) -> None:
    file = write(tmp_path / "a.tsv", "a\tb\nc\td\n")
    assert list(open_table(file, header=False)) == [{"1": "a", "2": "b"}, {"1": "c", "2": "d"}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"hyp\tref\na\tb\na\tb\tc\n",
            r"row 2 \(line 3\): 3 fields, where the first line has 2; a tab",
        ),
        (b"hyp\thyp\n", "names hyp twice"),
        (b"hyp\tref\na\tb\xff\n", r"line 2: byte 4 \(0xFF\) is not valid UTF-8"),
    ],
)
def test_faults_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(open_table(write(tmp_path / "a.tsv", content)))


def test_invalid_bytes_can_be_replaced(tmp_path: Path) -> None:
    file = write(tmp_path / "a.tsv", b"hyp\tref\na\tb\xff\n")
    assert list(open_table(file, replace_invalid=True)) == [{"hyp": "a", "ref": "b\ufffd"}]


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        open_table(tmp_path / "a.tsv")
    with pytest.raises(InputError, match="cannot infer the format"):
        open_table(write(tmp_path / "a.xyz", ""))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TSV.encode())))
    table = open_table(Path("-"))
    assert table.columns() == ["hyp", "ref"]
    assert list(table) == RECORDS
    with pytest.raises(InputError, match="Parquet cannot"):
        open_table(Path("-"), format="parquet")


def test_columns_are_found_by_their_usual_names(tmp_path: Path) -> None:
    file = write(tmp_path / "a.tsv", "id\tsentence1\tsentence2\tlang\n1\ta\tb\tde\n")
    table = open_table(file)
    [item] = TablePairs(table, choose_columns(table))
    assert item.hypothesis == ("a", "de")
    assert item.references == (("b", "de"),)
    assert item.source is None


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    table = open_table(write(tmp_path / "a.tsv", "x\ty\n1\t2\n"))
    with pytest.raises(InputError, match=r"which column is the hypothesis\? .* x, y"):
        choose_columns(table)
    with pytest.raises(InputError, match=r"reference, or the source\?"):
        choose_columns(table, hyp="x")
    with pytest.raises(InputError, match=r"no column 'z': .* x, y"):
        choose_columns(table, hyp="x", refs=["z"])
    with pytest.raises(InputError, match="is empty"):
        choose_columns(open_table(write(tmp_path / "b.tsv", "hyp\tref\n")))


def test_several_references_and_languages(tmp_path: Path) -> None:
    lines = (
        '{"hyp": "a", "ref": ["b", "c"], "r2": "d", "src": "s", "lang": "de"}\n'
        '{"hyp": "a", "ref": ["b"], "r2": "d", "src": "s"}\n'
    )
    table = open_table(write(tmp_path / "a.jsonl", lines))
    columns = choose_columns(table, refs=["ref", "r2"])
    first, second = TablePairs(table, columns, Languages(hyp="de", ref="de", src="fr"))
    assert first.references == (("b", "de"), ("c", "de"), ("d", "de"))
    assert second.references == (("b", "de"), ("d", "de"))
    assert second.source == ("s", "fr")
    with pytest.raises(InputError, match="row 1: the language in 'lang' is 'de', but 'en' was"):
        list(TablePairs(table, columns, Languages(hyp="en", ref="en")))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"ref": "b"}', "row 2: the field 'hyp' is missing"),
        ('{"hyp": 5, "ref": "b"}', "row 2: the hypothesis is int"),
        ('{"hyp": null, "ref": "b"}', "row 2: the field 'hyp' is null"),
        ('{"hyp": "a", "ref": []}', "row 2: its list of references is empty"),
        ('{"hyp": "a\\ud83d", "ref": "b"}', "row 2: the hypothesis holds a lone surrogate"),
    ],
)
def test_faults_in_a_record_name_the_row(tmp_path: Path, line: str, message: str) -> None:
    file = write(tmp_path / "a.jsonl", '{"hyp": "a", "ref": "b"}\n' + line + "\n")
    table = open_table(file)
    with pytest.raises(InputError, match=message):
        list(TablePairs(table, choose_columns(table)))


def test_surrogates_can_be_replaced(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", '{"hyp": "a\\ud83d", "ref": "b"}\n')
    table = open_table(file, replace_invalid=True)
    [item] = TablePairs(table, choose_columns(table))
    assert item.hypothesis.text == "a\ufffd"


def test_plain_files_side_by_side(tmp_path: Path) -> None:
    hyp = write(tmp_path / "hyp.txt", "a\n\nc")
    ref = write(tmp_path / "ref.txt", "d\ne\nf\n")
    src = write(tmp_path / "src.txt", "g\nh\ni\n")
    pairs = FilePairs(hyp, (ref, src), src, Languages(hyp="en"))
    assert pairs.count() == 3
    items = list(pairs)
    assert [item.hypothesis.text for item in items] == ["a", "", "c"]
    assert items[2].record == {"hyp": "c", "ref": "f", "ref2": "i", "src": "i"}
    assert items[2].source == ("i", None)


def test_plain_files_of_unequal_length(tmp_path: Path) -> None:
    hyp = write(tmp_path / "hyp.txt", "a\nb\n")
    ref = write(tmp_path / "ref.txt", "a\n")
    with pytest.raises(InputError, match=r"hyp\.txt has 2, .*ref\.txt has 1"):
        FilePairs(hyp, (ref,))
    with pytest.raises(InputError, match="is needed"):
        FilePairs(hyp, ())
    with pytest.raises(InputError, match="no such file"):
        FilePairs(hyp, (tmp_path / "none.txt",))


def test_a_plain_file_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ref = write(tmp_path / "ref.txt", "a\nb\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n")))
    with pytest.raises(InputError, match="standard input ends before line 2"):
        list(FilePairs(Path("-"), (ref,)))
    with pytest.raises(InputError, match="only one"):
        FilePairs(Path("-"), (Path("-"),))


@pytest.mark.parametrize("suffix", ["tsv", "csv", "jsonl", "parquet"])
def test_a_part_is_what_it_is_in_the_whole(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"pairs.{suffix}"
    rows = [{"hyp": f"h{n}", "ref": f"r{n}"} for n in range(25)]
    if suffix == "parquet":
        parquet.write_table(pa.Table.from_pylist(rows), file, row_group_size=7)
    elif suffix == "jsonl":
        write(file, "".join(json.dumps(row) + "\n" for row in rows))
    else:
        mark = "\t" if suffix == "tsv" else ","
        write(
            file,
            "".join(mark.join(row) + "\n" for row in [["hyp", "ref"], *map(dict.values, rows)]),
        )
    table = open_table(file)
    pairs = TablePairs(table, choose_columns(table))
    whole = list(pairs)
    for start, stop in [(0, 25), (0, 7), (7, 14), (6, 15), (13, 14), (24, 25), (25, 30)]:
        assert list(pairs.between(start, stop)) == whole[start:stop]


def test_kinds_of_values(tmp_path: Path) -> None:
    rows = [{"hyp": "a", "ref": "b", "n": 1, "x": 1.5, "ok": True, "tags": ["t"], "none": None}]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    found = open_table(tmp_path / "a.parquet").kinds()
    same = {"hyp": {str}, "ref": {str}, "n": {int}, "x": {float}, "ok": {bool}}
    assert found == {**same, "tags": {str}, "none": set()}
    table = open_table(write(tmp_path / "a.jsonl", json.dumps(rows[0])))
    assert table.kinds() == {**same, "tags": {list}, "none": {type(None)}}
    assert open_table(write(tmp_path / "a.tsv", TSV)).kinds() == {"hyp": {str}, "ref": {str}}
