"""How the command line reads texts, files and standard input."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest

from .conftest import Run
from .test_score import column


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "hyp_missing.txt", "ref_missing.txt", "-m", "chrf", "--rows"),
        ("score", "out/hyp", "out/ref", "-m", "chrf", "--rows"),
        ("score", "newstest.de", "newstest.en.gz", "-m", "chrf", "--rows"),
        ("paraphrase", "nofile.txt", "--lang", "en"),
        ("explain", "a.txt", "b.txt", "--lang", "en"),
    ],
)
def test_missing_files_are_not_texts(
    tertium: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = tertium(*arguments)
    assert done.returncode == 2
    assert f"{arguments[1]}: there is no such file" in done.stderr
    assert "--text" in done.stderr


def test_names_can_be_scored_as_texts(tertium: Run) -> None:
    done = tertium("score", "a.txt", "a.txt", "-m", "chrf", "--text")
    assert column(done.stdout, "chrf") == [100]


@pytest.mark.parametrize(
    "text", ["Hi.", "He opened notes.txt and left.", "3.5", "e.g.", "and so on"]
)
def test_what_cannot_be_a_path_is_a_text(tertium: Run, text: str) -> None:
    assert column(tertium("score", text, text, "-m", "chrf", "--rows").stdout, "chrf") == [100]


@pytest.mark.parametrize(
    "content",
    [
        b"hyp\tref\na, b\ta, b\n",
        b'hyp,ref\n"a, b","a, b"\n',
        b"hyp;ref\na, b;a, b\n",
        b'{"hyp": "a, b", "ref": "a, b"}\n',
        b"\xef\xbb\xbfhyp;ref\na, b;a, b\n",
        gzip.compress(b"hyp;ref\na, b;a, b\n"),
        gzip.compress(b'{"hyp": "a, b", "ref": "a, b"}\n'),
    ],
)
def test_standard_input_is_sniffed(
    tertium: Run, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    done = tertium("score", "-", "-m", "chrf", "--json")
    assert [row["hyp"] for row in json.loads(done.stdout)["segments"]] == ["a, b"]


def test_parquet_on_standard_input_is_refused(
    tertium: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"PAR1\x15\x04")))
    done = tertium("score", "-", "-m", "chrf", "--rows")
    assert done.returncode == 2
    assert "Parquet cannot be read from standard input" in done.stderr


def test_semicolons_separate_the_fields_of_a_csv_file(tertium: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", "hyp;ref\na, b;a, b\n")
    assert column(tertium("score", file, "-m", "chrf", "--rows").stdout, "chrf") == [100]


QUOTED = 'hyp\tref\n"He said ""no"" to me."\tHe said no to me.\n'


def test_quoted_tsv_is_named(tertium: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "a.tsv", QUOTED)
    done = tertium("score", file, "-m", "chrf", "--rows")
    assert done.returncode == 2
    assert 'row 1: "He said ""no"" to me." is quoted' in done.stderr
    assert "--quoting" in done.stderr


def test_quoted_tsv_is_read_on_request(tertium: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "a.tsv", QUOTED + '"two\nlines"\t"a ""tab"" \t here"\n')
    document = json.loads(tertium("score", file, "-m", "chrf", "--quoting", "--json").stdout)
    texts = [(row["hyp"], row["ref"]) for row in document["segments"]]
    assert texts == [
        ('He said "no" to me.', "He said no to me."),
        ("two\nlines", 'a "tab" \t here'),
    ]


def test_quotation_marks_may_be_part_of_the_text(tertium: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "a.tsv", 'hyp\tref\n"No."\t"No."\n')
    assert column(tertium("score", file, "-m", "chrf", "--rows").stdout, "chrf") == [100]
    write(file, QUOTED)
    document = json.loads(tertium("score", file, "-m", "chrf", "--no-quoting", "--json").stdout)
    assert document["segments"][0]["hyp"] == '"He said ""no"" to me."'


def test_a_quoted_header_is_named(tertium: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "a.tsv", '"hyp"\t"ref"\n"a"\t"b"\n')
    assert 'the header: "hyp" is quoted' in tertium("score", file, "-m", "chrf", "--rows").stderr


def test_references_of_every_usual_name_count(tertium: Run, tmp_path: Path) -> None:
    for head in ("hyp\treference\treference2", "Hyp\tREF\tref_2", "mt\tref1\tref2"):
        file = write(tmp_path / "a.tsv", f"{head}\na b c\tx y z\ta b c\n")
        done = tertium("score", file, "-m", "chrf", "--rows")
        assert column(done.stdout, "chrf") == [100], head


def test_target_is_the_reference(tertium: Run, tmp_path: Path) -> None:
    for name in ("target", "tgt", "Target"):
        file = write(tmp_path / "a.tsv", f"source\t{name}\tmt\na b c\tx y z\tx y z\n")
        done = tertium("score", file, "-m", "chrf", "--rows")
        assert column(done.stdout, "chrf") == [100]


def test_a_surface_measure_is_not_scored_against_the_source(tertium: Run, tmp_path: Path) -> None:
    for name in "hs":
        write(tmp_path / name, "a b c\n")
    done = tertium(
        "score", "--hyp", tmp_path / "h", "--src", tmp_path / "s", "-m", "chrf", "--rows"
    )
    assert done.returncode == 2
    assert "chrf compares with references" in done.stderr


def test_empty_lines_at_the_end_are_ignored(tertium: Run, tmp_path: Path) -> None:
    hyp, ref = write(tmp_path / "h", "a\nb\n\n"), write(tmp_path / "r", "a\nb\n")
    done = tertium("score", "--hyp", hyp, "--ref", ref, "-m", "chrf", "--rows")
    assert column(done.stdout, "chrf") == [100, 100]
    done = tertium("score", "--hyp", ref, "--ref", hyp, "-m", "chrf", "--rows")
    assert column(done.stdout, "chrf") == [100, 100]
    table = write(tmp_path / "t.tsv", "hyp\tref\na\ta\n\n")
    assert column(tertium("score", table, "-m", "chrf", "--rows").stdout, "chrf") == [100]


def test_an_empty_last_hypothesis_counts(tertium: Run, tmp_path: Path) -> None:
    hyp, ref = write(tmp_path / "h", "a\n\n"), write(tmp_path / "r", "a\nb\n")
    done = tertium("score", "--hyp", hyp, "--ref", ref, "-m", "chrf", "--rows")
    assert column(done.stdout, "chrf") == [100, 0]
    write(hyp, "a\n")
    done = tertium("score", "--hyp", hyp, "--ref", ref, "-m", "chrf", "--rows")
    assert done.returncode == 2
    assert "differ in their number of lines" in done.stderr


def test_rows_and_lines_are_both_named(tertium: Run, tmp_path: Path) -> None:
    table = write(tmp_path / "t.tsv", "hyp\tref\na\ta\na\tb\tc\n")
    assert "row 2 (line 3): 3 fields" in tertium("score", table, "-m", "chrf", "--rows").stderr
    lines = write(tmp_path / "t.jsonl", '{"hyp": "a", "ref": "b"}\n\n{"hyp": \n')
    assert "row 2 (line 3): not JSON" in tertium("score", lines, "-m", "chrf", "--rows").stderr


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('{"hyp": null, "ref": "b"}', "row 2: the field 'hyp' is null"),
        ('{"hyp": "a", "ref": ["b", null]}', "row 2: the field 'ref' is null"),
        ('{"ref": "b"}', "row 2: the field 'hyp' is missing"),
    ],
)
def test_missing_fields_are_named(tertium: Run, tmp_path: Path, record: str, message: str) -> None:
    file = write(tmp_path / "t.jsonl", '{"hyp": "a", "ref": "b"}\n' + record + "\n")
    done = tertium("score", file, "-m", "chrf", "--rows")
    assert done.returncode == 2
    assert message in done.stderr


def test_a_language_for_all_rows_fills_gaps(tertium: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "a.tsv", "hyp\tref\tlang\nHallo.\tHallo.\tde\nHello.\tHello.\t\n")
    mixed = json.loads(tertium("score", file, "-m", "direct", "--lang", "de", "--json").stdout)
    assert "lang:de|" in mixed["measures"]["direct"]["signature"]
    done = tertium("score", file, "-m", "direct", "--lang", "en")
    assert done.returncode == 2
    assert "row 1: the language in 'lang' is 'de', but 'en' was given" in done.stderr


def test_only_a_contradiction_is_an_error(tertium: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "a.tsv", "hyp\tref\tlang\nHallo.\tHallo.\tdeu\n")
    assert tertium("score", file, "-m", "direct", "--lang", "German").returncode == 0


@pytest.mark.parametrize("lang", ["EN", "en-US", "en_GB", "english", "English", "eng"])
def test_languages_are_understood(tertium: Run, lang: str) -> None:
    done = tertium("score", "Hi there.", "Hello.", "-m", "direct", "--lang", lang)
    expected = tertium("score", "Hi there.", "Hello.", "-m", "direct", "--lang", "en")
    assert done.returncode == 0, done.stderr
    assert column(done.stdout, "direct") == column(expected.stdout, "direct")


TMX = """<tmx version="1.4"><header/><body>
<tu><tuv xml:lang="de"><seg>Guten Tag!</seg></tuv><tuv xml:lang="en"><seg>Hello!</seg></tuv></tu>
</body></tmx>"""


def test_a_translation_memory_for_every_command(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "memory.tmx"
    file.write_text(TMX, encoding="utf-8")
    scored = tertium("score", file, "-m", "chrf", "-l", "de-en", "-o", tmp_path / "out.tsv")
    assert scored.returncode == 2
    assert "source" in scored.stderr  # chrf has nothing to compare with but a source
    for command in (
        ("score", file, "-m", "prism-src", "-l", "de-en"),
        ("explain", file, "--method", "flags", "--lang", "en", "--src-lang", "de"),
        ("filter", file, "--filters", "length", "--src-lang", "de", "--tgt-lang", "en"),
        ("translate", file, "-l", "de-en"),
    ):
        out = tmp_path / f"{command[0]}.tsv"
        done = tertium(*command, "-o", out)
        assert done.returncode == 0, done.stderr
        head, row = out.read_text("utf-8").splitlines()
        assert head.split("\t")[:2] == ["src", "tgt"]
        assert row.split("\t")[:2] == ["Guten Tag!", "Hello!"]
    refused = tertium("score", file, "-m", "prism-src")
    assert "a TMX file may have several languages" in refused.stderr


def test_the_same_columns_for_every_command(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("lang_a\tlang_b\tsentence_a\tsentence_b\nde\ten\tJa, gern.\tYes, please.\n")
    for command in (
        ("score", file, "-m", "chrf"),
        ("explain", file, "--method", "flags"),
        ("filter", file, "--filters", "length"),
    ):
        done = tertium(*command, "-o", tmp_path / f"{command[0]}.tsv")
        assert done.returncode == 0, done.stderr
    contradictory = tertium("filter", file, "--filters", "length", "--src-lang", "fr")
    assert "the language in 'lang_a' is 'de', but 'fr' was given" in contradictory.stderr


def test_what_was_written_is_no_system(tertium: Run, tmp_path: Path) -> None:
    """A table that ``score --parts`` wrote, compared again: its marks are no outputs."""
    file, out = tmp_path / "pairs.tsv", tmp_path / "scored.tsv"
    rows = [f"A dog {n}.\tThe dog {n}.\tA dog, {n}." for n in range(4)]
    file.write_text("mt\tonline\tref\n" + "\n".join([*rows, "\tx\tx"]) + "\n")
    assert tertium("score", file, "-m", "chrf", "--parts", "-o", out).returncode == 0
    assert out.read_text().splitlines()[0].split("\t")[3:] == ["chrf", "cut", "marks", "parts"]
    assert "empty" in out.read_text()
    done = tertium("compare", out, "-m", "chrf", "--samples", "10")
    assert done.returncode == 0, done.stderr
    assert "mt" in done.stdout
    assert "online" in done.stdout
    for name in ("marks", "parts", "cut"):
        assert not any(line.split()[:1] == [name] for line in done.stdout.splitlines())
