"""Commands that the README and the docs show with their output are run, and it is compared.

The Python examples are run as doctests; the shell commands here, in a terminal.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .cli.conftest import TERTIUM

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOLERANCE = 1.001e-4
"""float32 differs between processors by 1e-5, which can change the fourth decimal by one."""


def examples() -> list[tuple[str, str, str]]:
    found = []
    for page in PAGES:
        for block in BLOCK.findall(page.read_text("utf-8")):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                found.append((page.name, command, output))
    return found


def in_a_terminal(command: list[str], folder: Path) -> str:
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "dumb", "COLUMNS": "100"}
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=folder
    )
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 65536):
            shown += block
    except OSError:  # the terminal has closed
        pass
    os.close(ours)
    assert process.wait() == 0, shown.decode()
    return shown.decode().replace("\r\n", "\n")


def same(word: str, expected: str) -> bool:
    try:
        return abs(float(word.strip(",;()")) - float(expected.strip(",;()"))) <= TOLERANCE
    except ValueError:
        return word == expected


def aligned(output: str, expected: str) -> Iterator[tuple[list[str], list[str], str]]:
    """Yield the words of each line of an output, the words expected, and the line expected.

    ``...`` in what is expected stands for the rest of a line and, alone on a line, for any lines.
    """
    lines = [line for line in output.splitlines() if line.strip()]
    wanted = [line for line in expected.splitlines() if line.strip()]
    if "..." in wanted:
        place = wanted.index("...")
        wanted.remove("...")
        assert len(lines) > len(wanted), output
        lines = lines[:place] + lines[place + len(lines) - len(wanted) :]
    assert len(lines) == len(wanted), output
    for line, want in zip(lines, wanted, strict=True):
        start, cut, _ = want.partition("...")
        words, expected_words = line.split(), start.split()
        if cut:
            words = words[: len(expected_words)]
            words[-1] = words[-1][: len(expected_words[-1])]
        assert len(words) == len(expected_words), (line, want)
        yield words, expected_words, want


def assert_shown(output: str, expected: str) -> None:
    """Compare word by word; numbers may differ a little."""
    for words, expected_words, line in aligned(output, expected):
        pairs = zip(words, expected_words, strict=True)
        assert all(same(word, other) for word, other in pairs), (words, line)


def test_there_are_examples() -> None:
    assert len(examples()) >= 3


@pytest.mark.parametrize(("page", "command", "output"), examples())
def test_commands_print_what_the_docs_say(
    page: str, command: str, output: str, tmp_path: Path
) -> None:
    words = shlex.split(command)
    assert words[0] == "tertium", f"{page}: only Tertium's commands can be run here"
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert_shown(in_a_terminal([*TERTIUM, *words[1:]], tmp_path), output)


RUN = re.compile(r"^<!-- run by the tests -->\n```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def scripts() -> list[tuple[str, str]]:
    return [(page.name, block) for page in PAGES for block in RUN.findall(page.read_text("utf-8"))]


def test_there_are_scripts() -> None:
    assert "training.md" in {page for page, _ in scripts()}


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize(("page", "script"), scripts())
def test_scripts_run_from_start_to_end(page: str, script: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command in script.replace("\\\n", " ").splitlines():
        words = shlex.split(command, comments=True)
        assert words[0] == "tertium", f"{page}: only Tertium's commands can be run here"
        done = subprocess.run(
            [*TERTIUM, *words[1:]], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    if page == "training.md":
        header, *rows = (tmp_path / "scores.tsv").read_text("utf-8").splitlines()
        place = header.split("\t").index("prism-src")
        assert [-0.4 < float(row.split("\t")[place]) < 0 for row in rows] == [True] * 4


def test_the_table_of_ratios_is_what_was_measured() -> None:
    """Every result that ``benchmarks/peers.py`` wrote has its row, and every row its result."""
    page = (ROOT / "docs" / "performance.md").read_text("utf-8")
    short, table = (
        part.partition("\n\n")[0].splitlines()[2:] for part in page.split("| work | model |")[1:]
    )
    results = json.loads((ROOT / "docs" / "performance.json").read_text("utf-8"))["results"]
    assert len(table) == len(results) > 20
    for row, result in zip(table, results, strict=True):
        peer, ours = (statistics.median(result[f"{who}_seconds"]) for who in ("peer", "our"))
        cells = [result[name] for name in ("contest", "model", "size", "precision")]
        cells += [f"{peer:.2f}", f"{ours:.2f}", f"**{peer / ours:.1f}**"]
        assert row.startswith(f"| {' | '.join(cells)} |")
    assert len(short) == 10
    assert [row for row in short if not any(each.startswith(row) for each in table)] == []


def test_the_site_and_the_page_have_the_same_icon() -> None:
    icon = ROOT / "src" / "tertium" / "web" / "static" / "icon.svg"
    assert (ROOT / "docs" / "icon.svg").read_bytes() == icon.read_bytes()


def test_every_claim_of_speed_is_in_the_table() -> None:
    """Paragraphs that refer to the comparison have measured ratios only (in bold)."""
    results = json.loads((ROOT / "docs" / "performance.json").read_text("utf-8"))["results"]
    measured = {f"{result['ratio']:.1f}" for result in results}
    claims = [
        (page.name, claim)
        for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
        for paragraph in page.read_text("utf-8").split("\n\n")
        if "performance.md#comparison-with-peers" in paragraph
        for claim in re.findall(r"\*\*(\d[\d.]*)\*\*", paragraph)
    ]
    assert len(claims) > 10
    assert [claim for claim in claims if claim[1] not in measured] == []


def test_the_table_of_costs_is_computed_from_the_measured_rates() -> None:
    command = [sys.executable, "benchmarks/cost.py", "docs/performance.json"]
    table = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert len(table.splitlines()) > 20
    assert table in (ROOT / "docs" / "performance.md").read_text("utf-8")
