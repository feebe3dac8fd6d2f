"""Labelled pairs, from tiny files written by hand in the layout of each release."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from tertium.data.datasets.base import LabelledPair
from tertium.data.datasets.mrpc import read_mrpc
from tertium.data.datasets.paraphraser import read_paraphraser
from tertium.data.datasets.pawsx import across, read_pawsx
from tertium.data.datasets.plain import read_pairs
from tertium.data.datasets.turku import read_turku
from tertium.errors import DataWarning, InputError
from tertium.text import Text

from ...local_hub import local_hub

FROM_HUB = """
import sys
from tertium.data.datasets.pawsx import read_pawsx
from tertium.errors import InputError
sys.stdout.reconfigure(encoding="utf-8")
[pair] = read_pawsx("es", "test")
print(pair.id, pair.a.text, pair.b.text, pair.label)
try:
    read_pawsx("fr", "test")
except InputError as error:
    print(error)
"""


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")
    return path


def brief(pairs: list[LabelledPair]) -> list[tuple[str, str, str, bool]]:
    return [(pair.id, pair.a.text, pair.b.text, pair.label) for pair in pairs]


def test_plain_pairs(tmp_path: Path) -> None:
    file = write(
        tmp_path / "a.tsv", 'sentence1\tsentence2\tlabel\nA "dog".\tA hound.\t1\nx\ty\t0\n'
    )
    pairs = read_pairs(file, lang="en", other_lang="de")
    assert brief(pairs) == [("1", 'A "dog".', "A hound.", True), ("2", "x", "y", False)]
    assert pairs[0].a.lang == "en"
    assert pairs[0].b.lang == "de"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("sentence1\tsentence2\tlabel\na\tb\t2\n", "row 1: the label is '2'; it must be 1"),
        ("sentence1\tlabel\na\t1\n", "no column 'ref' or 'reference'"),
        ("sentence1\tsentence2\tlabel\na\tb\n", r"row 1 \(line 2\): 2 fields"),
    ],
)
def test_faults_in_plain_pairs_are_named(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_pairs(write(tmp_path / "a.tsv", content))


def test_pawsx_as_released(tmp_path: Path) -> None:
    write(
        tmp_path / "de" / "test_2k.tsv",
        'id\tsentence1\tsentence2\tlabel\n1\t"Der ""Hund"" bellt."\tEs bellt.\t0\n'
        "2\tNS\tEs regnet.\t1\n3\tEs schneit.\tSchnee fällt.\t1\n",
    )
    with pytest.warns(DataWarning, match=r"1 positive and 1 negative .* has 895 and 1073"):
        pairs = read_pawsx("de", "test", folder=tmp_path)
    assert brief(pairs) == [
        ("1", 'Der "Hund" bellt.', "Es bellt.", False),
        ("3", "Es schneit.", "Schnee fällt.", True),
    ]
    write(tmp_path / "de" / "dev_2k.tsv", "id\tsentence1\tsentence2\tlabel\n1\ta\tb\n")
    with pytest.raises(InputError, match=r"dev_2k\.tsv, row 1: 3 fields, not 4; download"):
        read_pawsx("de", "dev", folder=tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_pawsx("fr", "dev", folder=tmp_path)


def test_pawsx_from_the_hub(tmp_path: Path) -> None:
    rows = [{"id": 5, "sentence1": "Sí.", "sentence2": "Claro.", "label": 1}]
    folder = tmp_path / "repo" / "es"
    folder.mkdir(parents=True)
    parquet.write_table(pa.Table.from_pylist(rows), folder / "test-00000-of-00001.parquet")
    with local_hub("google-research-datasets/paws-x", tmp_path / "repo", "datasets") as hub:
        settings = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hf")}
        done = subprocess.run(
            [sys.executable, "-c", FROM_HUB],
            env={**os.environ, **settings, "HF_HUB_DISABLE_PROGRESS_BARS": "1"},
            capture_output=True,
            encoding="utf-8",
        )
    assert done.returncode == 0, done.stderr
    pair, fault = done.stdout.splitlines()
    assert pair == "5 Sí. Claro. True"
    assert "paws-x has no fr/test-*.parquet; has its layout changed?" in fault
    assert "1 positive and 0 negative pairs were read" in done.stderr


def test_across_languages() -> None:
    def pair(id_: str, text: str, label: bool) -> LabelledPair:
        return LabelledPair(id_, Text(text + "1"), Text(text + "2"), label)

    first = [pair("1", "a", True), pair("2", "b", False), pair("3", "c", True)]
    second = [pair("3", "z", True), pair("1", "x", True), pair("2", "y", True)]
    assert brief(across(first, second)) == [
        ("1", "a1", "x2", True),
        ("3", "c1", "z2", True),
        ("1", "a2", "x1", True),
        ("3", "c2", "z1", True),
    ]


MSR = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"


def test_mrpc_as_microsoft_and_glue_publish_it(tmp_path: Path) -> None:
    write(
        tmp_path / "msr_paraphrase_train.txt",
        "\ufeff" + MSR + "1\t7\t8\tA b.\tB a.\n0\t1\t2\tx\ty\n",
    )
    write(tmp_path / "msr_paraphrase_test.txt", MSR + '1\t3\t4\tHe said "no".\tNo, he said.\n')
    with pytest.warns(DataWarning):
        assert brief(read_mrpc("test", folder=tmp_path)) == [
            ("3-4", 'He said "no".', "No, he said.", True)
        ]
    with pytest.raises(InputError, match="GLUE lists its pairs"):
        read_mrpc("dev", folder=tmp_path)
    write(tmp_path / "dev_ids.tsv", "7\t8\n")
    with pytest.warns(DataWarning, match="MRPC dev: 1 positive and 0"):
        assert brief(read_mrpc("dev", folder=tmp_path)) == [("7-8", "A b.", "B a.", True)]
    glue = tmp_path / "glue"
    write(glue / "dev.tsv", MSR + "0\t7\t8\ta\tb\textra\n")
    with pytest.raises(InputError, match=r"dev\.tsv, row 1: 6 fields, not 5"):
        read_mrpc("dev", folder=glue)


def test_mrpc_without_what_etpc_disputes(tmp_path: Path) -> None:
    write(
        tmp_path / "test.tsv",
        "id\tsentence1\tsentence2\tlabel\tglue_split\n"
        "1\tIt is n't .\tIt ai n't .\t1\ttest\n2\tYes .\tNo .\t1\ttest\n3\tu\tv\t0\ttest\n",
    )

    def text_pair(a: str, b: str, tokens_a: str, tokens_b: str, etpc: int) -> str:
        return (
            f"<text_pair><pair_id>1</pair_id><sent1_raw>{a}</sent1_raw><sent2_raw>{b}</sent2_raw>"
            f"<sent1_tokenized>{tokens_a}</sent1_tokenized>"
            f"<sent2_tokenized>{tokens_b}</sent2_tokenized>"
            f"<mrpc_label>1</mrpc_label><etpc_label>{etpc}</etpc_label></text_pair>"
        )

    write(
        tmp_path / "text_pairs.xml",
        "<root>"
        + text_pair("It isn\x12t.", "It ain't.", "It is n't .", "It ai n't .", 1)
        + text_pair("Yes.", "No.", "Yes .", "No .", 0)
        + "</root>",
    )
    with pytest.warns(DataWarning):
        pairs = read_mrpc("test", folder=tmp_path)
    assert brief(pairs) == [("1", "It isn't.", "It ain't.", True), ("3", "u", "v", False)]


def test_paraphraser(tmp_path: Path) -> None:
    def xml(id_: int, found: str) -> str:
        return (
            f'<paraphrase><value name="id">{id_}</value>'
            '<value name="text_1">A &amp; B & C</value>\n'
            f'<value name="text_2">Д</value><value name="class">{found}</value></paraphrase>'
        )

    file = tmp_path / "paraphrases_gold.xml"
    write(file, "<data><corpus>" + xml(1, "1") + xml(2, "0") + xml(3, "-1") + "</corpus></data>")
    with pytest.warns(DataWarning, match="2 positive and 1 negative"):
        pairs = read_paraphraser("test", folder=tmp_path)
    assert [pair.label for pair in pairs] == [True, True, False]
    assert pairs[0].a == ("A & B & C", "ru")
    write(file, xml(1, "2"))
    with pytest.raises(InputError, match="row 1: the class is '2'"):
        read_paraphraser("test", folder=tmp_path)
    write(file, "<data></data>")
    with pytest.raises(InputError, match="contains no pairs"):
        read_paraphraser("test", folder=tmp_path)


def test_turku(tmp_path: Path) -> None:
    items = [
        {"txt1": "Ja.", "txt2": "Visst.", "label": "4s", "fold": 1, "rewrites": []},
        {"txt1": "Nej.", "txt2": "Kanske.", "label": "3", "fold": 2, "rewrites": []},
    ]
    file = write(tmp_path / "data-sv" / "test.json", json.dumps(items))
    with pytest.warns(DataWarning, match="783 and 298"):
        pairs = read_turku("sv", "test", folder=tmp_path)
    assert brief(pairs) == [("1", "Ja.", "Visst.", True), ("2", "Nej.", "Kanske.", False)]
    write(file, json.dumps([{"txt1": "Ja."}]))
    with pytest.raises(InputError, match=r"test\.json, row 1: a text or the label is missing"):
        read_turku("sv", "test", folder=tmp_path)
    with pytest.raises(InputError, match="not on the hub"):
        read_turku("sv", "test")
