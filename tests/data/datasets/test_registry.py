"""Datasets are found by name, describe themselves, and are written as plain tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tertium.data.datasets.base import (
    DATASETS,
    DatasetRecord,
    JudgedSegment,
    LabelledPair,
    ParaphraseSet,
    RankedPair,
)
from tertium.data.datasets.plain import read_judged, read_pairs, read_sets, write_records
from tertium.errors import InputError, SettingError
from tertium.text import Text

from ...cli.conftest import (
    Run,
    tertium,  # noqa: F401 (a fixture)
)
from .test_pairs import write


def test_every_dataset_describes_itself() -> None:
    names = [name for name, _ in DATASETS.items()]
    assert {"mrpc", "pawsx", "turku", "webnlg", "amr", "wmt-da", "mqm", "stsb"} <= set(names)
    for name, dataset in DATASETS.items():
        assert dataset.name == name
        described = (dataset.description, dataset.origin, dataset.licence, dataset.layout)
        assert all(described), name


def test_arguments_are_checked(tmp_path: Path) -> None:
    mrpc = DATASETS.get("MRPC")
    assert mrpc.splits == ("dev", "test")
    with pytest.raises(SettingError, match=r"needs a split: dev, test; give split="):
        mrpc.read(tmp_path)
    with pytest.raises(SettingError, match="no split 'train'; it has dev, test"):
        mrpc.read(tmp_path, split="train")
    with pytest.raises(SettingError, match="dataset 'mrpc' has no lang"):
        mrpc.read(tmp_path, split="dev", lang="de")
    with pytest.raises(SettingError, match="no setting 'kind'; its settings: none"):
        mrpc.read(tmp_path, split="dev", kind="mqm")
    with pytest.raises(SettingError, match=r"needs a folder with webnlg2020\.LANG"):
        DATASETS.get("webnlg").read(lang="en")
    with pytest.raises(SettingError, match="did you mean 'pawsx'"):
        DATASETS.get("paws-x")


RECORDS: dict[str, list[DatasetRecord]] = {
    "pairs": [LabelledPair("7", Text('A "dog".', "en"), Text("A hound.", "en"), True)],
    "judged": [
        JudgedSegment("1", Text("h", "de"), (Text("r", "de"),), Text("s", "en"), "A", 0.5),
        JudgedSegment("2", Text("h", "de"), (), Text("s", "en"), "B", None),
    ],
    "sets": [ParaphraseSet("x", "de", ("a", "b")), ParaphraseSet("y", "de", ("c",))],
}


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl"])
def test_what_is_written_can_be_read(tmp_path: Path, suffix: str) -> None:
    for name, records in RECORDS.items():
        write_records(tmp_path / f"{name}{suffix}", records)
    assert read_pairs(tmp_path / f"pairs{suffix}", lang="en") == RECORDS["pairs"]
    assert read_sets(tmp_path / f"sets{suffix}") == RECORDS["sets"]
    if suffix == ".jsonl":  # every row of a plain table has all columns
        with pytest.raises(InputError, match="no text in 'reference1'"):
            read_judged(tmp_path / f"judged{suffix}")
    else:
        judged = read_judged(tmp_path / f"judged{suffix}", lang="de", source_lang="en")
        assert judged == RECORDS["judged"]


def test_what_cannot_be_written(tmp_path: Path) -> None:
    tab = [LabelledPair("1", Text("a\tb"), Text("c"), True)]
    with pytest.raises(InputError, match="row 1: a field contains a tab"):
        write_records(tmp_path / "a.tsv", tab)
    with pytest.raises(InputError, match=r"must end in one of \.tsv, \.csv, \.jsonl"):
        write_records(tmp_path / "a.xlsx", tab)
    write_records(tmp_path / "a.tsv", [RankedPair("de-en", "2", "B", "A")])
    assert (tmp_path / "a.tsv").read_text() == "pair\tsegment\tbetter\tworse\nde-en\t2\tB\tA\n"


def test_the_command_line(tertium: Run, tmp_path: Path) -> None:  # noqa: F811
    table = write(
        tmp_path / "wmt.csv",
        "lp,src,mt,ref,score,year\nen-de,s,m,r,-0.5,2020\nen-de,s,n,r,1,2021\n",
    )
    out = tmp_path / "out.tsv"
    settings = ("--lang", "en-de", "--set", "kind=da", "--set", "year=2020")
    done = tertium("data", "export", "wmt-table", table, *settings, "-o", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{out}: 1 record (judged outputs)\n"
    [segment] = read_judged(out)
    assert (segment.hypothesis.text, segment.score) == ("m", -0.5)
    wrong = tertium("data", "export", "wmt-table", table, "-o", out, "--lang", "en-de")
    assert (
        "dataset 'wmt-table' needs the setting kind; give it with --set kind=VALUE" in wrong.stderr
    )


def test_statistics(tertium: Run, tmp_path: Path) -> None:  # noqa: F811
    """By hand: two systems, two inputs with one reference of 2 and 4 characters."""
    rows = [
        "en-de,s,m,rr,-0.5,2020,A",
        "en-de,s,n,rr,1,2020,B",
        "en-de,t,m,rrrr,0,2020,A",
        "en-de,t,n,rrrr,0,2020,B",
    ]
    table = write(
        tmp_path / "wmt.csv", "lp,src,mt,ref,score,year,system\n" + "\n".join(rows) + "\n"
    )
    settings = ("--langs", "en-de", "--set", "kind=da", "--set", "year=2020")
    done = tertium("data", "describe", "wmt-table", table, *settings)
    assert done.returncode == 0, done.stderr
    head, row = (
        line.split() for line in done.stdout.splitlines() if "ystems" in line or "en-de" in line
    )
    assert dict(zip(head, row[1:], strict=True)) == {
        "inputs": "2",
        "systems": "2",
        "outputs": "4",
        "judged": "4",
        "references": "1.0",
        "characters": "3.0",
    }


def test_ratings_of_errors_as_one_score_per_output(tertium: Run, tmp_path: Path) -> None:  # noqa: F811
    header = "system\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    ratings = write(tmp_path / "mqm.tsv", header + "A\t1\tr\ts\tt\tAccuracy\tMajor\n")
    out = tmp_path / "out.tsv"
    done = tertium("data", "export", "mqm", ratings, "--lang", "en-de", "-o", out)
    assert done.returncode == 0, done.stderr
    assert read_judged(out)[0].score == -5


def test_a_plugin_cannot_replace_a_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "mine-1.0.dist-info"
    write(info / "METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    write(info / "entry_points.txt", "[tertium.datasets]\nMRPC = mine:read\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert DATASETS.get("mrpc").reader.__module__ == "tertium.data.datasets.mrpc"
    with pytest.raises(SettingError, match="the plug-in mine cannot register dataset 'MRPC'"):
        DATASETS.names()
