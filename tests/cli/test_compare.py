"""``tertium compare`` from tables and files to text, JSON and a page."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import tertium as library
from tertium.jobs.task import Job

from .conftest import Run

EXAMPLES = Path(__file__).parents[2] / "examples" / "systems.tsv"
NAMES = ("careful", "literal", "hasty")


def columns() -> dict[str, list[str]]:
    head, *lines = EXAMPLES.read_text("utf-8").splitlines()
    rows = [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]
    return {name: [row[name] for row in rows] for name in head.split("\t")}


def test_the_same_numbers_as_the_library(tertium: Run) -> None:
    done = tertium("compare", EXAMPLES, "-m", "chrf", "-m", "bleu", "--seed", "7", "--json")
    assert done.returncode == 0
    table = columns()
    result = library.compare(
        {name: table[name] for name in NAMES},
        table["ref"],
        sources=table["src"],
        lang=table["lang"],
        source_lang=table["src_lang"],
        measures=["chrf", "bleu"],
        seed=7,
    )
    assert json.loads(done.stdout) == json.loads(json.dumps(result.document()))
    assert done.stderr == ""


def test_tables_in_the_terminal(tertium: Run) -> None:
    done = tertium("compare", EXAMPLES, "-m", "chrf", "--segments", "2", "--baseline", "hasty")
    shown = " ".join(done.stdout.split())
    assert "Against hasty: significantly better: careful and literal." in shown
    assert "chrf: where hasty and careful differ most" in shown
    assert "m:chrf|" in shown
    assert "20 segments; 1000 samples, seed 0" in shown


def test_plain_files(tertium: Run, tmp_path: Path) -> None:
    table = columns()
    for name in (*NAMES, "ref", "src"):
        (tmp_path / f"{name}.txt").write_text("\n".join(table[name]) + "\n", encoding="utf-8")
    hyps = [part for name in NAMES for part in ("--hyp", tmp_path / f"{name}.txt")]
    files = (*hyps, "--ref", tmp_path / "ref.txt", "--src", tmp_path / "src.txt")
    done = tertium("compare", *files, "-m", "chrf", "--json")
    document = json.loads(done.stdout)
    whole = json.loads(tertium("compare", EXAMPLES, "-m", "chrf", "--json").stdout)
    assert document["systems"] == list(NAMES)
    ours, theirs = (each["measures"]["chrf"] for each in (document, whole))
    assert ours["pairs"] == theirs["pairs"]


def test_only_named_systems_are_compared(tertium: Run) -> None:
    done = tertium("compare", EXAMPLES, "--systems", "hasty,literal", "-m", "chrf", "--json")
    assert json.loads(done.stdout)["systems"] == ["hasty", "literal"]


def test_with_a_model_every_query_is_computed_once(tertium: Run, tmp_path: Path) -> None:
    small = tmp_path / "small.tsv"
    small.write_text("".join(EXAMPLES.read_text("utf-8").splitlines(keepends=True)[:4]), "utf-8")
    first = tertium("compare", small, "-m", "cross", "--no-cache")
    # Each of the 3 segments has 3 outputs, both ways, with 3 queries each: 54. The reference is
    # translated, and scored given itself, once; one output is the reference.
    assert "54 queries" in first.stderr
    distinct = int(first.stderr.split(" queries, ")[1].split()[0])
    assert distinct < 45
    assert tertium("compare", small, "-m", "cross", "--no-cache").stdout == first.stdout


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [value or "" for name, value in attributes if name in ("src", "href")]
        if tag not in ("meta", "br", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_needs_nothing_else(tertium: Run, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    command = ("compare", EXAMPLES, "-m", "chrf", "-m", "bleu", "-q", "--html")
    assert tertium(*command, out).stdout == ""
    page = out.read_text("utf-8")
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.links == []
    assert not tags.seen & {"script", "link", "img", "iframe"}
    for start in page.split("<svg")[1:]:
        ET.fromstring("<svg" + start.split("</svg>")[0] + "</svg>")
    assert "prefers-color-scheme: dark" in page
    assert tertium(*command, tmp_path / "again.html").returncode == 0
    assert (tmp_path / "again.html").read_text("utf-8") == page


def test_the_page_escapes_what_it_shows(tertium: Run, tmp_path: Path) -> None:
    table = tmp_path / "a.tsv"
    table.write_text(
        "ref\t<b>one\ttwo&\n" + "<script>x</script>\t<i>\t&amp;\nשלום\tשלום\t\n" * 3, "utf-8"
    )
    out = tmp_path / "page.html"
    assert tertium("compare", table, "-m", "chrf", "--html", out).returncode == 0
    tags = Tags()
    tags.feed(out.read_text("utf-8"))
    assert tags.open == []
    assert "script" not in tags.seen


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give a table"),
        ((EXAMPLES, "--hyp", EXAMPLES), "either a table"),
        (("--hyp", EXAMPLES, "--ref", EXAMPLES), "at least twice"),
        ((EXAMPLES, "--systems", "hasty"), "nothing to compare"),
        ((EXAMPLES, "--systems", "hasty,nobody"), "no column 'nobody'"),
        ((EXAMPLES, "--systems", "hasty,hasty"), "given twice"),
        ((EXAMPLES, "-m", "chrf", "--baseline", "nobody"), "no system 'nobody'"),
        ((EXAMPLES, "-m", "chrf", "--set", "base=2"), "chrf has no setting base"),
        ((EXAMPLES, "-m", "chrf", "--alpha", "2"), "alpha=2"),
    ],
)
def test_mistakes_are_reported_in_one_line(
    tertium: Run, arguments: tuple[str, ...], words: str
) -> None:
    done = tertium("compare", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_outputs_that_are_missing(tertium: Run, tmp_path: Path) -> None:
    table = tmp_path / "a.jsonl"
    table.write_text('{"ref": "x", "a": "x", "b": "y"}\n{"ref": "x", "a": "x"}\n', "utf-8")
    done = tertium("compare", table, "-m", "chrf")
    assert done.returncode == 2
    assert "row 2: the field 'b' is missing" in done.stderr


def test_columns_of_numbers_are_no_systems(tertium: Run, tmp_path: Path) -> None:
    table = tmp_path / "t.tsv"
    table.write_text(
        "ref\ta\tb\tlength\tquality\nx y\tx y\tx z\t3\t0.5\np q\tp q\tp r\t4\t\n", encoding="utf-8"
    )
    done = tertium("compare", table, "-m", "chrf", "--segments", "0")
    assert done.stderr.startswith(
        "systems: a, b\nleft out, as numbers or metadata: length, quality (to choose"
    )
    assert "quality" not in done.stdout
    document = json.loads(tertium("compare", table, "-m", "chrf", "--json").stdout)
    assert document["systems"] == ["a", "b"]
    assert document["left_out"] == ["length", "quality"]
    named = tertium("compare", table, "-m", "chrf", "--systems", "a,length", "--json")
    assert json.loads(named.stdout)["systems"] == ["a", "length"]


def test_columns_of_metadata_are_no_systems(tertium: Run, tmp_path: Path) -> None:
    table = tmp_path / "t.tsv"
    lines = ["doc_id\tdomain\tkey\tstyle\tref\ta\tb\tshort"]
    for n in range(10):
        style = "news wire" if n % 2 else "talk show"
        lines.append(
            f"d{n // 5}\tsport news\tk-{n}\t{style}\tIt is {n}.\tIt is {n}!\tHm {n}.\tIt {n}"
        )
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = tertium("compare", table, "-m", "chrf", "--segments", "0")
    assert done.stderr.startswith(
        "systems: a, b, short\nleft out, as numbers or metadata: doc_id, domain, key, style (to"
    )
    assert "doc_id" not in done.stdout
    named = tertium("compare", table, "-m", "chrf", "--systems", "a,key", "--json")
    assert json.loads(named.stdout)["systems"] == ["a", "key"]
    alone = tmp_path / "alone.tsv"
    alone.write_text("doc_id\tref\ta\nd1\tIt rains.\tIt rains.\nd2\tA b.\tA c.\n")
    refused = tertium("compare", alone, "-m", "chrf")
    assert refused.returncode == 2
    assert "doc_id look like numbers or metadata; name the columns with --systems" in refused.stderr


def test_one_word_outputs_are_systems(tertium: Run, tmp_path: Path) -> None:
    table = tmp_path / "t.tsv"
    table.write_text("ref\ta\tb\nyes\tyes\tno\nno\tno\tyes\n", encoding="utf-8")
    done = tertium("compare", table, "-m", "chrf", "--segments", "0")
    assert done.stderr.startswith("systems: a, b\n")
    assert "left out" not in done.stderr


def test_too_few_samples_are_named(tertium: Run) -> None:
    done = tertium("compare", EXAMPLES, "-m", "chrf", "--samples", "10", "--segments", "0")
    shown = " ".join(done.stdout.split())
    assert "No difference can be significant: with 10 samples, p is at least 0.091" in shown
    assert "use at least 20 samples" in shown
    enough = tertium("compare", EXAMPLES, "-m", "chrf", "--samples", "20", "--segments", "0")
    assert "No difference can be" not in enough.stdout


def test_marked_outputs_are_counted_by_system(tertium: Run, tmp_path: Path) -> None:
    table = tmp_path / "t.tsv"
    table.write_text(
        "src\tref\ta\tb\nWo ist sie?\tWhere is she?\tWo ist sie?\tWhere is she?\n"
        "Ja, gern.\tYes, please.\t\tYes.\n",
        encoding="utf-8",
    )
    done = tertium("compare", table, "-m", "chrf", "--segments", "0")
    shown = " ".join(done.stdout.split())
    assert "1 of 4 outputs have an empty text" in shown
    assert "(mark: empty): a 1" in shown
    assert "(mark: copy): a 1" in shown
    # half of a's outputs are copies: its name has a mark, and its score without them is said
    assert re.search(r"\ba \(\?\)", shown)
    assert not re.search(r"\bb \(\?\)", shown)
    assert "a: without rows whose scores say nothing: chrf 0.00" in shown
    page = tmp_path / "page.html"
    tertium("compare", table, "-m", "chrf", "--segments", "0", "--html", page, "-q")
    assert page.read_text("utf-8").count("a (?)") == 2  # in the overview and in the ranking
    document = json.loads(tertium("compare", table, "-m", "chrf", "--json").stdout)
    assert document["measures"]["chrf"]["marks"] == {"copy": {"a": 1}, "empty": {"a": 1}}


def test_localisation_files_of_the_same_texts(tertium: Run, tmp_path: Path) -> None:
    """Strings are paired by their keys; what one file lacks is left out and counted."""
    source = {"open": "Open the window.", "save": "Save the file.", "quit": "Quit the program."}
    careful = {"open": "Öffnen Sie das Fenster.", "save": "Datei speichern.", "quit": "Beenden."}
    hasty = {"save": "Datei speichern.", "open": "Schließen Sie die Tür."}
    for folder, texts in (("careful", careful), ("hasty", hasty)):
        (tmp_path / folder).mkdir()
        for lang, content in (("en", source), ("de", texts)):
            path = tmp_path / folder / f"{lang}.json"
            path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    files = [tmp_path / folder / "de.json" for folder in ("careful", "hasty")]
    done = tertium("compare", *files, "-m", "prism-src")
    assert done.returncode == 0, done.stderr
    assert f"left out, because not all files have them: 1 of {files[0]}" in done.stderr
    assert "2 systems, 2 segments" in done.stdout
    document = json.loads(tertium("compare", *files, "-m", "prism-src", "--json").stdout)
    assert document["unpaired"] == {str(files[0]): 1}
    systems = document["measures"]["prism-src"]["systems"]
    rows = library.score(
        [careful["open"], careful["save"], hasty["open"], hasty["save"]],
        sources=[source["open"], source["save"]] * 2,
        measure="prism-src",
        lang="de",
        source_lang="en",
    )
    means = [sum(rows[:2]) / 2, sum(rows[2:]) / 2]
    assert [scores["score"] for scores in systems.values()] == pytest.approx(means)


def test_other_files_are_not_compared(tertium: Run, tmp_path: Path) -> None:
    done = tertium("compare", EXAMPLES, tmp_path / "de.po")
    assert done.returncode == 2
    assert f"{EXAMPLES} is not a localisation file; compare one table" in done.stderr


def test_an_interrupted_comparison_resumes(
    tertium: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, out = tmp_path / "whole.json", tmp_path / "out.json"
    command = ("compare", EXAMPLES, "-m", "chrf", "-m", "bleu", "-q", "-o")
    assert tertium(*command, whole).returncode == 0
    monkeypatch.setattr("tertium.cli.compare.ROWS_AT_A_TIME", 8)
    assert tertium("compare", EXAMPLES, "-m", "chrf", "--resume").returncode == 2
    process, done = Job.process, 0

    def stop(*arguments: Any) -> Any:
        nonlocal done
        done += 1
        if done == 5:
            raise KeyboardInterrupt
        return process(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Job, "process", stop)
        assert tertium(*command, out).returncode == 130
    assert not out.exists()
    again = tertium(*command, out)
    assert "is an unfinished run; resume it with --resume" in again.stderr
    resumed = tertium(*command, out, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert out.read_bytes() == whole.read_bytes()
    assert not (tmp_path / "out.json.part").exists()
    assert "is complete" in tertium(*command, out, "--resume").stderr
