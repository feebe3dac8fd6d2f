"""``tertium filter``: what it keeps, what it says, and that a kill changes nothing."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tertium.filters.surface import Overlap
from tertium.models.base import Progress
from tertium.storage.resume import RECORD, locked
from tertium.text import Row

from ..disks import small_disk
from .conftest import TERTIUM, Run

GERMAN = ("Der Hund", "Meine Schwester", "Unser Lehrer", "Das kleine Kind", "Ein alter Mann")
ENGLISH = ("The dog", "My sister", "Our teacher", "The little child", "An old man")
DOES = (("liest ein Buch", "is reading a book"), ("sieht das Meer", "sees the sea"))
WHEN = (("heute Morgen.", "this morning."), ("am Abend.", "in the evening."), ("oft.", "often."))
MARGIN = ("--encoder", "tertium-mini")
EXAMPLES = Path(__file__).parents[2] / "examples"
BY = ("--src-lang", "de", "--tgt-lang", "en", "--processes", "1")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Pairs with duplicates, copies and holes among them."""
    draw = random.Random(4)
    lines = []
    for number in range(400):
        who, does, when = draw.randrange(5), draw.choice(DOES), draw.choice(WHEN)
        source, target = (
            f"{(GERMAN, ENGLISH)[side][who]} {does[side]} {when[side]}" for side in (0, 1)
        )
        if number % 11 == 0:
            target = source
        if number % 17 == 0:
            target = ""
        lines.append(f"{number}\t{source}\t{target}")
    file = tmp_path / "pairs.tsv"
    file.write_text("id\tde\ten\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_counts_reasons_and_rows(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    out, rejected = tmp_path / "clean.tsv", tmp_path / "rejected.jsonl"
    done = tertium("filter", pairs, *BY, "-o", out, "--rejected", rejected, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    removed = {one["filter"]: one["removed"] for one in report["filters"]}
    assert list(removed) == ["length", "ratio", "lid", "overlap", "duplicates", "margin"]
    assert removed["margin"] == 0
    assert removed["length"] == 24  # 0, 17, ..., 391
    assert removed["lid"] == 34  # 37 multiples of 11, less 0, 187 and 374
    assert report["kept"] == 30  # five subjects, two verbs, three times
    kept = out.read_text("utf-8").splitlines()
    assert kept[0] == "id\tde\ten"
    assert len(kept) == 31
    records = [json.loads(line) for line in rejected.read_text("utf-8").splitlines()]
    assert len(records) == 370
    assert records[0] == {
        **{"id": "0", "de": records[0]["de"], "en": ""},
        **{"removed_by": "length", "reason": "target too short", "value": 0.0},
    }
    assert sorted(path.name for path in tmp_path.glob("clean*")) == ["clean.tsv"]


def test_the_filters_of_the_prism_paper(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    long, same = "Der Hund sieht heute wieder das große Meer.", "The dog sees the great sea today."
    rows = [(long, same), (long, same), (long, f"{same} Really?"), (long, long), ("Ja.", "Yes.")]
    lines = ["de\ten", *("\t".join(row) for row in rows)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = tertium("filter", file, *BY, "--prism", "--json", "-o", tmp_path / "clean.tsv")
    assert done.returncode == 0, done.stderr
    assert "without --encoder, the filter margin is left out" in done.stderr
    counts = {each["filter"]: each["removed"] for each in json.loads(done.stdout)["filters"]}
    assert counts == {"length": 0, "overlap": 1, "lid": 1, "duplicates": 1}
    # no limit on the ratio of lengths, and no near-duplicates, which the paper lacks
    assert len((tmp_path / "clean.tsv").read_text(encoding="utf-8").splitlines()) == 3


def test_the_number_of_processes_changes_nothing(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    outs = [tmp_path / "one.tsv", tmp_path / "two.tsv"]
    for processes, out in zip(("1", "2"), outs, strict=True):
        rows = ("--rows-at-a-time", "64", "--processes", processes)
        done = tertium(
            "filter", pairs, *BY, *rows, "--filters", "length,overlap,duplicates", "-o", out
        )
        assert done.returncode == 0, done.stderr
    assert outs[0].read_bytes() == outs[1].read_bytes()


def test_plain_files_in_and_out(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    rows = [line.split("\t") for line in pairs.read_text("utf-8").splitlines()[1:]]
    for name, column in (("x.de", 1), ("x.en", 2)):
        text = "".join(row[column] + "\n" for row in rows)
        (tmp_path / name).write_text(text, encoding="utf-8")
    outs = ("-o", tmp_path / "clean.de", "-o", tmp_path / "clean.en")
    inputs = ("--src", tmp_path / "x.de", "--tgt", tmp_path / "x.en")
    done = tertium("filter", *inputs, *BY, *outs, "--filters", "length,overlap,duplicates")
    assert done.returncode == 0, done.stderr
    assert "30 of 400 rows kept (7.5 %)" in done.stderr
    german = (tmp_path / "clean.de").read_text("utf-8").splitlines()
    english = (tmp_path / "clean.en").read_text("utf-8").splitlines()
    assert len(german) == len(english) == 30
    assert all(text.startswith(GERMAN) for text in german)


def test_standard_input_and_output(
    tertium: Run, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pairs.read_bytes())))
    done = tertium("filter", "-", *BY, "--filters", "duplicates", "-q")
    assert done.returncode == 0, done.stderr
    monkeypatch.undo()
    assert done.stdout.splitlines()[0] == "id\tde\ten"


def test_margin_dual_and_measure_in_one_run(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    """A filter that needs all pairs, between others, gives what it gives alone."""
    few = tmp_path / "few.tsv"
    few.write_text("\n".join(pairs.read_text("utf-8").splitlines()[:80]) + "\n", encoding="utf-8")
    out, rejected = tmp_path / "clean.tsv", tmp_path / "rejected.tsv"
    filters = (
        "--filters",
        "length,margin,duplicates,dual",
        *MARGIN,
        "--set",
        "margin.at_least=0.9",
    )
    measure = ("--measure", "chrf", "--at-most", "60", "--set", "dual.at-least=0")
    done = tertium(
        *("filter", few, *BY, *filters, *measure, "-o", out, "--rejected", rejected),
        *("--rows-at-a-time", "16", "--json"),
    )
    assert done.returncode == 0, done.stderr
    report = {one["filter"]: one for one in json.loads(done.stdout)["filters"]}
    assert list(report) == ["length", "margin", "duplicates", "dual", "measure"]
    assert report["length"]["removed"] == 5
    assert report["dual"]["removed"] == 0
    reasons = [line.split("\t")[3:] for line in rejected.read_text("utf-8").splitlines()[1:]]
    assert all(float(value) < 0.9 for by, _, value in reasons if by == "margin")
    assert all(float(value) > 60 for by, _, value in reasons if by == "measure")
    kept = len(out.read_text("utf-8").splitlines()) - 1
    assert kept + len(reasons) == 79


def done(out: Path) -> int:
    """The rows that were judged so far, over all stages."""
    file = out.with_name(out.name + ".part") / RECORD
    try:
        found = json.loads(file.read_text())["state"]
    except FileNotFoundError:
        return 0
    return int(found["rows"]) if found else 0


def test_killed_and_resumed(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole.tsv", tmp_path / "broken.tsv"
    filters = ("--filters", "length,duplicates,margin,overlap", "--set", "margin.at_least=0.8")
    settings = (*BY, *filters, *MARGIN)
    common = ("filter", pairs, *settings, "--rows-at-a-time", "10", "--json")
    unbroken = tertium(*common, "-o", whole, "--rejected", tmp_path / "whole.rejected.tsv")
    assert unbroken.returncode == 0, unbroken.stderr
    again = (*common, "-o", broken, "--rejected", tmp_path / "broken.rejected.tsv", "--resume")
    for processes, when in ((2, 50), (1, 200), (1, 400 + 100), (1, 400 + 376 + 10)):
        command = [*TERTIUM, *map(str, again), "--processes", str(processes)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while process.poll() is None and done(broken) < when:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert not broken.exists()
    assert done(broken) >= 400 + 376 + 10  # 24 of 400 are too short, and margin is the third
    resumed = tertium(*again)
    assert resumed.returncode == 0, resumed.stderr
    assert broken.read_bytes() == whole.read_bytes()
    rejected = [(tmp_path / f"{name}.rejected.tsv").read_bytes() for name in ("whole", "broken")]
    assert rejected[0] == rejected[1]
    assert resumed.stdout == unbroken.stdout
    assert not (tmp_path / "broken.tsv.part").exists()


def test_what_is_not_ours_is_left_alone(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    out, part = tmp_path / "out.tsv", tmp_path / "out.tsv.part"
    part.mkdir()
    (part / "notes.txt").write_text("mine")
    command = ("filter", pairs, *BY, "--filters", "length", "-o", out)
    for more in ((), ("--resume",), ("--overwrite",)):
        refused = tertium(*command, *more)
        assert refused.returncode == 2
        assert f"{part} contains files that Tertium has not written" in refused.stderr
        assert (part / "notes.txt").read_text() == "mine"
    (part / "notes.txt").rename(part / f"{RECORD}.new")  # as if killed when it began
    assert tertium(*command).returncode == 0


def test_an_unfinished_run_is_guarded(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    good = pairs.read_text("utf-8")
    pairs.write_text(good + "a row with one field\n", encoding="utf-8")
    common = (
        "filter",
        pairs,
        *BY,
        "--filters",
        "length,duplicates",
        "-o",
        out,
        "--rows-at-a-time",
        "50",
    )
    assert tertium(*common).returncode == 2
    assert not out.exists()
    assert "is an unfinished run" in tertium(*common).stderr
    other = tertium(*common, "--resume", "--set", "length.longest=9")
    assert "was started with longest = '200', not '9'" in other.stderr
    pairs.write_text(good.replace("1\t", "1\tx", 1), encoding="utf-8")
    assert "has changed since" in tertium(*common, "--resume").stderr
    pairs.write_text(good, encoding="utf-8")
    done = tertium(*common, "--resume")
    assert done.returncode == 0, done.stderr
    assert "400 of them judged before" in done.stderr
    assert tertium(*common, "--overwrite").returncode == 0


def test_the_second_of_two_runs_is_refused(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    command = ("filter", pairs, *BY, "--filters", "length", "-o", out)
    with locked(tmp_path / "out.tsv.part"):
        for more in ((), ("--resume",), ("--overwrite",)):
            refused = tertium(*command, *more)
            assert refused.returncode == 2
            assert f"is in use by another run (process {os.getpid()} on" in refused.stderr
    assert list(tmp_path.glob("out*")) == []
    assert tertium(*command).returncode == 0
    assert list(tmp_path.glob("out*")) == [out]


def test_margin_alone(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    """A filter that needs all pairs may be the first."""
    few = tmp_path / "few.tsv"
    few.write_text("\n".join(pairs.read_text("utf-8").splitlines()[:40]) + "\n", encoding="utf-8")
    rejected = tmp_path / "rejected.tsv"
    command = ("filter", few, *BY, "--filters", "margin", *MARGIN, "--rows-at-a-time", "16", "-q")
    assert tertium(*command, "--rejected", rejected).returncode == 0
    removed = rejected.read_text("utf-8").splitlines()[1:]
    kept = tertium(*command).stdout.splitlines()[1:]
    assert len(kept) + len(removed) == 39
    assert removed
    assert kept


def test_a_full_disk(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    command = (
        "filter",
        pairs,
        *BY,
        "--filters",
        "length,overlap",
        "--rows-at-a-time",
        "50",
        "-q",
        "-o",
    )
    whole = tmp_path / "whole.tsv"
    assert tertium(*command, whole).returncode == 0
    with small_disk(tmp_path / "disk", 256 * 1024) as disk:
        out = disk / "out.tsv"
        (disk / "other").write_bytes(bytes(240 * 1024))
        stopped = tertium(*command, out)
        assert stopped.returncode == 2
        assert "the results so far are kept: free some disk space" in stopped.stderr
        assert not out.exists()
        (disk / "other").unlink()
        assert tertium(*command, out, "--resume").returncode == 0
        assert out.read_bytes() == whole.read_bytes()
        assert [file.name for file in disk.iterdir()] == [out.name]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--filters", "lenght"), "no filter 'lenght'"),
        (("--set", "length.most=3"), "its settings are shortest, longest, unit"),
        (("--set", "dual.k=3"), "dual is not one of the filters"),
        (("--set", "longest=3"), "FILTER.NAME=VALUE"),
        (("--at-least", "0.3"), "--measure"),
        (("--filters", "measure"), "give --measure with --at-least or --at-most"),
        (("--filters", "pattern"), "needs a regular expression"),
        (("--resume",), "--output"),
        (("-o", "there/is/no.tsv"), "no such folder"),
        (("-o", "clean.doc"), "cannot infer the format"),
    ],
)
def test_mistakes(tertium: Run, pairs: Path, arguments: tuple[str, ...], message: str) -> None:
    done = tertium("filter", pairs, *BY, *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_languages_that_the_model_lacks_are_counted_in_words(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "ru.tsv"
    pair = "Старик весь день спит у себя в саду.\tThe old man sleeps in his garden all day."
    file.write_text(f"ru\ten\n{pair}\n", encoding="utf-8")
    done = tertium("filter", file, "--src-lang", "ru", "--tgt-lang", "en", "--processes", "1")
    assert "counted in words: tertium-mini does not support both" in done.stderr
    assert len(done.stdout.splitlines()) == 2
    empty = tmp_path / "empty.tsv"
    empty.write_text("ru\ten\n")
    again = tertium("filter", empty, "--src-lang", "ru", "--tgt-lang", "en", "--processes", "1")
    assert again.returncode == 2
    assert "is empty" in again.stderr


SUBJECTS = {
    "Der Arzt": "The doctor",
    "Meine Schwester": "My sister",
    "Die alte Katze": "The old cat",
    "Unser Lehrer": "Our teacher",
    "Die Regierung": "The government",
    "Ein Soldat": "A soldier",
    "Der Bäcker": "The baker",
    "Die Königin": "The queen",
    "Mein Nachbar": "My neighbor",
    "Das Kind": "The child",
    "Die Ärztin": "The physician",
}
ENDS = {
    "kauft heute frisches Brot.": "buys fresh bread today.",
    "schläft auf dem Sofa.": "sleeps on the sofa.",
    "wartet seit einer Stunde auf den Zug.": "has been waiting for the train for an hour.",
    "will im Sommer nach Spanien fahren.": "wants to go to Spain in summer.",
    "hat den Schlüssel verloren.": "has lost the key.",
    "liest jeden Abend die Zeitung.": "reads the newspaper every evening.",
    "trinkt morgens Kaffee mit Milch.": "drinks coffee with milk in the morning.",
    "versteht das neue Gesetz nicht.": "does not understand the new law.",
    "spielt gern Fußball im Park.": "likes to play football in the park.",
    "schreibt einen langen Brief.": "is writing a long letter.",
}


def test_misaligned_pairs_do_not_pass_the_default(tertium: Run, tmp_path: Path) -> None:
    german = [f"{subject} {end}" for subject in SUBJECTS for end in ENDS]
    english = [f"{subject} {end}" for subject in SUBJECTS.values() for end in ENDS.values()]
    kept = []
    for shift in (0, 13):  # another subject and another end
        path = tmp_path / f"{shift}.tsv"
        pairs = zip(german, english[shift:] + english[:shift], strict=True)
        path.write_text("src\ttgt\n" + "".join(f"{a}\t{b}\n" for a, b in pairs), "utf-8")
        done = tertium("filter", path, "-l", "de-en", "-q")
        assert done.returncode == 0, done.stderr
        kept.append(len(done.stdout.splitlines()) - 1)
    assert kept[0] > 80
    assert kept[1] == 0


def test_an_existing_output_is_refused(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    out.write_text("precious\n")
    done = tertium("filter", pairs, *BY, "--filters", "length", "-o", out)
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert out.read_text() == "precious\n"
    assert (
        tertium("filter", pairs, *BY, "--filters", "length", "-o", out, "--force").returncode == 0
    )
    assert out.read_text() != "precious\n"


def test_kept_rows_in_other_formats(tertium: Run, pairs: Path) -> None:
    command = ("filter", pairs, "-l", "de-en", "--filters", "length", "-q", "-f")
    assert json.loads(tertium(*command, "json").stdout)["segments"][0]["id"] == "1"
    assert tertium(*command, "markdown").stdout.startswith("| id | de | en |\n|---|---|---|\n")


def test_rows_that_cannot_be_read(tertium: Run, tmp_path: Path) -> None:
    """Row 2 has no target: the run stops, or leaves it out, or names it among the removed."""
    file, out, rejected = (tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.jsonl"))
    rows = [{"de": "Ja.", "en": "Yes."}, {"de": "Nein.", "en": None}, {"de": "", "en": "Why?"}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ("filter", file, *BY, "--filters", "length,duplicates", "-o", out)
    stopped = tertium(*command)
    assert stopped.returncode == 2
    assert "row 2: the field 'en' is null" in stopped.stderr
    for how, fields in (("skip", ["length"]), ("mark", ["error", "length"])):
        ways = ("--on-error", how, "--rejected", rejected, "--json", "--force")
        done = tertium(*command, *ways)
        assert done.returncode == 0, done.stderr
        assert "1 row could not be filtered" in done.stderr
        assert "row 2: the field 'en' is null" in done.stderr
        assert [json.loads(line)["de"] for line in out.read_text().splitlines()] == ["Ja."]
        removed = [json.loads(line) for line in rejected.read_text().splitlines()]
        assert [row["removed_by"] for row in removed] == fields
        report = json.loads(done.stdout)
        assert (report["rows"], report["kept"]) == (3, 1)


def test_stopped_by_ctrl_c(
    tertium: Run, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, out = tmp_path / "whole.tsv", tmp_path / "out.tsv"
    command = ("filter", pairs, *BY, "--filters", "length,overlap", "--rows-at-a-time", "50", "-q")
    assert tertium(*command, "-o", whole).returncode == 0
    judge, judged = Overlap.judge, list[int]()

    def stops(self: Overlap, rows: Sequence[Row], progress: Progress | None = None) -> object:
        if len(judged) == 3:
            raise KeyboardInterrupt
        judged.append(len(rows))
        return judge(self, rows, progress)

    with monkeypatch.context() as patch:
        patch.setattr(Overlap, "judge", stops)
        stopped = tertium(*command, "-o", out)
    assert stopped.returncode == 130
    assert "tertium: stopped; continue with --resume" in stopped.stderr
    assert not out.exists()
    assert done(out) == 150
    assert tertium(*command, "-o", out, "--resume").returncode == 0
    assert out.read_bytes() == whole.read_bytes()
    again = tertium(*command, "-o", out, "--resume")
    assert again.returncode == 2
    assert "is complete, so that nothing is left to resume" in again.stderr
    assert out.read_bytes() == whole.read_bytes()
