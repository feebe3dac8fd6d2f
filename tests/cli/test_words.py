"""The same words in every command: options, formats, languages, existing outputs, gates."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tertium as library
from tertium.cli.commands import imported

from .conftest import TERTIUM, Run

ROWS = ("score", "compare", "explain", "filter", "mine", "align", "translate", "rerank")
COMMANDS = (*ROWS, "paraphrase")
WORDS = {
    *("-l", "--lang", "--src-lang", "--tgt-lang", "-m", "--measure", "--model", "--encoder"),
    *("-o", "--output", "-f", "--output-format", "-q", "--quiet", "-v", "--verbose"),
    *("--threads", "--force", "--resume", "--engine", "--device", "-w"),
}
LACKING = {
    "explain": {"-m", "--measure"},  # it has methods
    "filter": {"-w"},  # it prints no scores
    "align": {"-m", "--measure", "--engine", "--device", "-w"},
    "translate": {"-m", "--measure", "--encoder"},
    "paraphrase": {"--src-lang", "--tgt-lang"},  # one language
}
"""What has no meaning for a command; alignment runs in one process."""
REFERENCES = ["The cat sat on the mat.", "It rained all day.", "She is at home."]
GOOD = ["The cat sat on a mat.", "It rained all day.", "She is home."]
POOR = ["A cat is sitting.", "Rain fell.", "She is at work."]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, lines in (("ref", REFERENCES), ("good", GOOD), ("poor", POOR)):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def options(command: str) -> set[str]:
    return {name for each in imported(command).params for name in each.opts}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_options_everywhere(command: str) -> None:
    assert options(command) >= WORDS - LACKING.get(command, set())
    if command in ("score", "compare", "explain"):
        assert {"-t", "-r", "-s", "--ref-lang"} <= options(command)


RUNS = {
    "score": "-t good.txt -r ref.txt -m chrf --rows",
    "compare": "-t good.txt poor.txt -r ref.txt -m chrf --samples 20",
    "explain": "-t good.txt -r ref.txt -l en --method flags",
    "filter": "ref.txt good.txt -l en-en --filters length",
    "mine": "ref.txt good.txt -l de-en",
    "align": "ref.txt good.txt -l en",
    "translate": "ref.txt -l en-de",
    "rerank": "lists.jsonl -m chrf",
    "paraphrase": "ref.txt -l en -n 2",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_format_and_one_policy_for_outputs(tertium: Run, command: str, files: Path) -> None:
    """``-f`` prints every format; ``-o`` writes, refuses to replace a file, and replaces it."""
    Path("lists.jsonl").write_text(json.dumps({"candidates": GOOD}) + "\n")
    run = (command, *RUNS[command].split(), "-q")
    printed = {}
    for form in ("text", "markdown", "latex", "csv", "tsv", "json"):
        done = tertium(*run, "-f", form)
        assert done.returncode == 0, done.stderr
        printed[form] = done.stdout
    assert isinstance(json.loads(printed["json"]), dict)
    assert printed["markdown"].startswith("| ")
    assert "\\begin{tabular}" in printed["latex"]
    assert len(printed["csv"].splitlines()[0].split(",")) > 1
    assert len(printed["tsv"].splitlines()[0].split("\t")) > 1
    assert tertium(*run, "-o", "out.csv").returncode == 0
    before = Path("out.csv").read_bytes()
    again = tertium(*run, "-o", "out.csv")
    assert again.returncode == 2
    assert "out.csv exists; use --force to replace it" in again.stderr
    assert tertium(*run, "-o", "out.csv", "--force").returncode == 0
    assert Path("out.csv").read_bytes() == before


@pytest.mark.parametrize("command", COMMANDS)
def test_rare_options_are_in_the_whole_help(tertium: Run, command: str) -> None:
    short, whole = tertium(command, "--help"), tertium(command, "--help-all")
    assert f"tertium {command} --help-all" in short.stdout
    assert "--compute-type" not in short.stdout
    assert "--compute-type" in whole.stdout
    assert whole.returncode == 0


def test_the_help_of_score_fits_one_screen_and_a_half(
    tertium: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert len(tertium("score", "--help").stdout.splitlines()) <= 75  # of 50 lines


def test_one_system_prints_its_summary_and_rows_on_request(tertium: Run, files: Path) -> None:
    command = ("score", "-t", "good.txt", "-r", "ref.txt", "-m", "chrf")
    expected = library.load("chrf").score(GOOD, REFERENCES).system
    assert [line.split() for line in tertium(*command).stdout.splitlines()] == [
        ["system", "chrf"],
        ["good", f"{expected:.2f}"],
    ]
    rows = tertium(*command, "--rows").stdout.splitlines()
    assert rows[0].split("\t")[:3] == ["hyp", "ref", "chrf"]
    assert len(rows) == 4


def test_hypotheses_from_standard_input_as_sacrebleu_takes_them(files: Path) -> None:
    done = subprocess.run(
        [*TERTIUM, "score", "ref.txt", "-m", "chrf", "-b"],
        input="\n".join(GOOD) + "\n",
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TERTIUM_CACHE": str(files / "cache")},
    )
    assert done.stdout == f"{library.load('chrf').score(GOOD, REFERENCES).system:.2f}\n"


def test_the_worst_rows_are_shown(tertium: Run, files: Path) -> None:
    command = ("score", "-t", "poor.txt", "-r", "ref.txt", "-m", "chrf", "--worst", "2", "-q")
    scores = sorted(library.load("chrf").score(POOR, REFERENCES).segments)
    shown = tertium(*command).stdout.split("\n\n")[1].splitlines()
    place = shown[0].split("\t").index("chrf")
    assert [float(line.split("\t")[place]) for line in shown[1:]] == [
        round(score, 6) for score in scores[:2]
    ]
    document = json.loads(tertium(*command, "-f", "json").stdout)
    assert [row["chrf"] for row in document["segments"]] == scores[:2]


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv", "tsv", "json"])
def test_the_width_holds_for_every_format(tertium: Run, files: Path, form: str) -> None:
    score = library.load("chrf").score(GOOD, REFERENCES).system
    for rows in ((), ("--rows",)):
        command = ("score", "-t", "good.txt", "-r", "ref.txt", "-m", "chrf", "-q", "-w", "1")
        out = tertium(*command, "-f", form, *rows).stdout
        if not rows or form == "json":
            assert f"{score:.1f}" in out
        assert f"{score:.2f}"[:-1] + f"{score:.3f}"[-2:] not in out
        assert "100.0" in out if rows else True
        assert "100.00" not in out


def test_labels_keep_their_settings(tertium: Run, files: Path) -> None:
    command = ("score", "-t", "good.txt", "-r", "ref.txt", "-m", "chrf:word_order=2", "-q")
    assert tertium(*command).stdout.split()[1] == "chrf:word_order=2"
    assert r"chrf:word\_order=2" in tertium(*command, "-f", "latex").stdout
    assert library.load("chrf:word_order=2").column == "chrf:word_order=2"


def test_latex_has_minus_signs_and_a_caption_with_the_signature(tertium: Run, files: Path) -> None:
    out = tertium("score", "-t", "poor.txt", "-r", "ref.txt", "-m", "ter", "-f", "latex").stdout
    score = library.load("ter").score(POOR, REFERENCES).system
    assert f"poor & $-${-score:.2f} \\\\" in out
    assert r"\caption{ter: m:ter\textbar{}" in out
    assert "ter is negated: higher is better" in out


def test_a_threshold_that_no_score_reaches_is_explained(tertium: Run, files: Path) -> None:
    command = ("score", "-t", "good.txt", "-r", "ref.txt", "-m", "ter", "--fail-under")
    wrong = tertium(*command, "47")
    assert wrong.returncode == 2
    assert "ter is negated" in wrong.stderr
    assert "--fail-under ter=-47" in wrong.stderr
    assert tertium(*command, "-47").returncode == 0
    assert tertium(*command, "-1").returncode == 3


def test_scores_that_say_nothing_pass_no_gate(tertium: Run, tmp_path: Path) -> None:
    table = tmp_path / "a.tsv"
    russian = "Где находится ближайший вокзал?"
    table.write_text("hyp\tref\n" + f"{russian}\t{russian}\n" * 12, "utf-8")
    command = ("score", table, "-m", "cross", "--fail-under", "0.1")
    done = tertium(*command)
    assert done.returncode == 3
    assert "its scores do not count: 12 of 12 rows hold text in a language" in done.stderr
    english = "Where is the railway station?"
    table.write_text("hyp\tref\n" + f"{english}\t{english}\n" * 12, "utf-8")
    assert tertium(*command).returncode == 0


def test_a_system_that_is_worse_does_not_pass(tertium: Run, tmp_path: Path) -> None:
    good, poor = [REFERENCES * 5, POOR * 5]
    for name, lines in (("good", good), ("poor", poor), ("ref", REFERENCES * 5)):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    systems = ("-t", tmp_path / "good", tmp_path / "poor", "-r", tmp_path / "ref")
    command = ("compare", *systems, "-m", "chrf", "-q", "--samples", "200", "--fail-if-worse")
    worse = tertium(*command, "poor")
    assert worse.returncode == 3
    assert "poor is significantly worse than good" in worse.stderr
    assert tertium(*command, "good").returncode == 0
    wrong = tertium(*command, "nobody")
    assert wrong.returncode == 2
    assert "the systems are good, poor" in wrong.stderr
    under = ("compare", *systems, "-m", "chrf", "-q", "--fail-under", "99")
    assert tertium(*under).returncode == 3


@pytest.mark.parametrize("form", ["markdown", "latex", "csv", "tsv", "json"])
def test_compare_prints_and_writes_every_format(tertium: Run, files: Path, form: str) -> None:
    systems = ("-t", "good.txt", "poor.txt", "-r", "ref.txt", "-m", "chrf", "-q")
    done = tertium("compare", *systems, "-f", form)
    assert done.returncode == 0, done.stderr
    starts = {
        "markdown": "| system |",
        "latex": r"\begin{table}",
        "csv": "system,measure",
        "tsv": "system\tmeasure",
        "json": '{"systems"',
    }
    assert done.stdout.startswith(starts[form])
    suffix = {"markdown": "md", "latex": "tex"}.get(form, form)
    assert tertium("compare", *systems, "-o", f"c.{suffix}").returncode == 0
    assert (files / f"c.{suffix}").read_text("utf-8").startswith(starts[form])


@pytest.mark.parametrize(
    "command",
    [
        ("score", "-t", "good.txt", "-r", "ref.txt", "-m", "chrf"),
        ("explain", "-t", "good.txt", "-r", "ref.txt", "--method", "flags"),
        ("translate", "good.txt", "-l", "en-de"),
        ("filter", "--src", "good.txt", "--tgt", "ref.txt", "--filters", "length"),
        ("mine", "good.txt", "ref.txt"),
        ("align", "good.txt", "ref.txt"),
    ],
)
def test_an_existing_output_is_refused_and_replaced_on_request(
    tertium: Run, files: Path, command: tuple[str, ...]
) -> None:
    out = files / "out.tsv"
    out.write_text("precious\n")
    refused = tertium(*command, "-o", out)
    assert refused.returncode == 2
    assert "exists; use --force to replace it" in refused.stderr
    assert out.read_text() == "precious\n"
    forced = tertium(*command, "-o", out, "--force")
    assert forced.returncode == 0, forced.stderr
    assert out.read_text() != "precious\n"


def test_a_page_is_not_replaced_either(tertium: Run, files: Path) -> None:
    (files / "page.html").write_text("precious")
    systems = ("-t", "good.txt", "poor.txt", "-r", "ref.txt", "-m", "chrf")
    for command in (("compare", *systems), ("explain", "A dog.", "A cat.", "-l", "en")):
        done = tertium(*command, "--html", "page.html")
        assert done.returncode == 2
        assert "--force" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="everything may be written by root")
def test_a_folder_that_cannot_be_written_is_named_before_the_work(
    tertium: Run, files: Path
) -> None:
    locked = files / "locked"
    locked.mkdir()
    locked.chmod(stat.S_IRUSR | stat.S_IXUSR)
    done = tertium("score", "-t", "good.txt", "-r", "ref.txt", "-o", locked / "out.tsv")
    assert done.returncode == 2
    assert "no permission to write" in done.stderr


def test_languages_are_identified_printed_and_signed(tertium: Run) -> None:
    texts = ("The meeting is on Monday.", "Die Sitzung ist am Dienstag.")
    done = tertium("explain", *texts)
    assert done.returncode == 0, done.stderr
    assert "assumed languages: hypotheses en, references de" in done.stderr
    assert "en given de" in done.stdout
    scored = tertium("score", *texts, "-m", "direct", "-f", "json")
    signature = json.loads(scored.stdout)["measures"]["direct"]["signature"]
    assert "|lang:en (assumed)|reference_lang:de (assumed)|" in signature
    unclear = tertium("explain", "Ok.", "Taxi.")
    assert unclear.returncode == 2
    assert "not clear: perhaps" in unclear.stderr
    given = tertium("explain", *texts, "-l", "en", "--ref-lang", "de")
    assert given.stdout == done.stdout
    assert given.stderr == ""


@pytest.mark.parametrize("form", ["-l de-en", "--src-lang de --tgt-lang en", "--tgt-lang en"])
def test_the_target_language_in_every_notation(tertium: Run, form: str) -> None:
    done = tertium("translate", "Guten Morgen!", *form.split())
    assert done.stdout == "Good morning!\n"


def test_every_setting_is_an_option(tertium: Run, files: Path) -> None:
    command = ("score", "-t", "good.txt", "-r", "ref.txt", "-q", "-f", "json", "-m", "chrf")
    one = json.loads(tertium(*command, "--word-order", "2", "--lowercase").stdout)
    signature = one["measures"]["chrf"]["signature"]
    assert "|nw:2|" in signature
    assert "case:lc" in signature
    assert one["measures"]["chrf"]["system"] == (
        library.load("chrf", word_order=2, lowercase=True).score(GOOD, REFERENCES).system
    )


def test_mined_pairs_have_a_threshold_from_the_margins(tertium: Run, tmp_path: Path) -> None:
    german = ["Ich habe eine Katze.", "Der Zug ist verspätet.", "Es regnet heute stark."]
    english = ["The train is late.", "I have a cat.", "The king bought a ship."]
    for name, lines in (("de", german), ("en", english)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", "utf-8")
    command = ("mine", tmp_path / "de", tmp_path / "en", "-l", "de-en", "--no-cache")
    done = tertium(*command)
    pairs = [line.split("\t")[2:4] for line in done.stdout.splitlines()[1:]]
    assert pairs == [["2", "1"], ["1", "2"]] or pairs == [["1", "2"], ["2", "1"]]
    assert "which pairs seldom reach by chance" in done.stderr
    every = tertium(*command, "--threshold", "-9")
    assert len(every.stdout.splitlines()) == 4
    found: Any = library.mine(german, english, source_lang="de", target_lang="en")
    assert sorted([str(each.source_line), str(each.target_line)] for each in found) == sorted(pairs)


def test_standard_input_that_is_a_terminal_is_not_waited_for(
    tertium: Run, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert tertium("score", "ref.txt", "-m", "chrf").returncode == 2


def not_into_out(path: str | Path, mode: int) -> bool:
    """Deny writing into a folder named out, also to root, who may write everywhere."""
    return mode != os.W_OK or Path(path).name != "out"


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "a.tsv", "-m", "chrf"),
        ("compare", "-t", "a.txt", "a.txt", "-r", "a.txt", "-m", "chrf", "--html"),
        ("explain", "a.tsv", "--method", "flags"),
        ("filter", "a.tsv", "--filters", "length"),
        ("mine", "a.txt", "a.txt", "-l", "de-en"),
        ("align", "a.txt", "a.txt", "-l", "en"),
        ("translate", "a.txt", "-l", "de-en"),
        ("paraphrase", "a", "-l", "en"),
        ("check", "a.tsv"),
        ("study", "correlate", "--dataset", "x=.", "-m", "chrf"),
    ],
)
def test_a_read_only_folder_is_refused_before_the_work(
    tertium: Run, arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.access", not_into_out)
    Path("a.tsv").write_text("hyp\tref\na\tb\n")
    Path("a.txt").write_text("a\n")
    (tmp_path / "out").mkdir()
    given = arguments if arguments[-1] == "--html" else (*arguments, "-o")
    out = "out" if arguments[0] == "study" else "out/x.tsv"
    done = tertium(*given, out)
    assert done.returncode == 2
    assert done.stderr == "tertium: out: no permission to write into this folder\n"
    assert list((tmp_path / "out").iterdir()) == []
