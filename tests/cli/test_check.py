"""``tertium check``: its outputs, exit codes, settings and what it leaves out."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.conftest import Run

pytest.importorskip("lxml")
EN = '{"a": "Save {count} files",\n "b": "Wait 25 seconds",\n "c": "Open the file"}'
DE = '{"a": "Speichere Dateien",\n "b": "Warte 52 Sekunden",\n "c": "Datei öffnen"}'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "en.json").write_text(EN, encoding="utf-8")
    (folder / "de.json").write_text(DE, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def test_findings_as_linters_print_them(project: Path, tertium: Run) -> None:
    result = tertium("check", "--model", "none")
    assert result.returncode == 1
    assert result.stdout.splitlines() == [
        "de.json:1: critical: placeholder: {count} is missing in the translation  [a]",
        "    Save {count} files",
        "    Speichere Dateien",
        "de.json:2: critical: number: numbers differ: 52 Sekunden / 25 seconds  [b]",
        "    Wait 25 seconds",
        "    Warte 52 Sekunden",
        "2 findings (2 critical, 0 major, 0 minor) in 3 strings in 1 file; by rules alone",
    ]


def test_exit_codes(project: Path, tertium: Run) -> None:
    assert tertium("check", "--model", "none", "--fail-on", "never").returncode == 0
    assert tertium("check", "--model", "none", "--ignore", "number,placeholder").returncode == 0
    assert tertium("check", "--model", "none", "-l", "en-fr").returncode == 2
    (project / "fr.json").write_text("{", encoding="utf-8")
    broken = tertium("check", "--model", "none")
    assert broken.returncode == 2
    assert "fr.json, line 1: is not well-formed JSON" in broken.stdout
    assert "1 file could not be read" in broken.stdout
    assert "de.json:1:" in broken.stdout, "others are checked all the same"


def test_settings_of_the_project(project: Path, tertium: Run) -> None:
    (project / "pyproject.toml").write_text(
        '[tool.tertium.check]\nignore = ["number"]\nmodel = "none"\nglossary = "terms.tsv"\n',
        encoding="utf-8",
    )
    (project / "terms.tsv").write_text("file\tAkte\n", encoding="utf-8")
    out = tertium("check").stdout
    assert "'file' should be translated as 'Akte'" in out
    assert "number" not in out
    (project / "tertium.toml").write_text('[check]\nmodel = "none"\nfail-on = "x"\n', "utf-8")
    result = tertium("check")
    assert result.returncode != 0
    assert "fail-on is 'x'; use critical, major, minor or never" in result.stderr


def test_a_baseline_of_known_findings(project: Path, tertium: Run) -> None:
    written = tertium("check", "--model", "none", "--write-baseline", "known.json")
    assert written.returncode == 0
    assert tertium("check", "--model", "none", "--baseline", "known.json").returncode == 0
    changed = DE.replace("Datei öffnen", "Öffne {0}").replace('{"a"', '{\n"a"')
    (project / "de.json").write_text(changed, encoding="utf-8")
    result = tertium("check", "--model", "none", "--baseline", "known.json")
    assert result.returncode == 1
    assert [line for line in result.stdout.splitlines() if line.startswith("de.json")] == [
        "de.json:4: critical: placeholder: the source does not have {0}  [c]"
    ]
    again = tertium("check", "--model", "none", "--write-baseline", "known.json")
    assert "known.json" in again.stderr
    assert "--force" in again.stderr


def test_only_what_has_changed_since_a_commit(project: Path, tertium: Run) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
            check=True,
            cwd=project,
        )

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "Begin")
    assert tertium("check", "--model", "none", "--since", "HEAD").returncode == 0
    (project / "en.json").write_text(EN.replace("25", "26"), encoding="utf-8")
    result = tertium("check", "--model", "none", "--since", "HEAD")
    assert result.returncode == 1
    assert [line for line in result.stdout.splitlines() if line.startswith("de.json")] == [
        "de.json:2: critical: number: numbers differ: 52 Sekunden / 26 seconds  [b]"
    ]
    wrong = tertium("check", "--model", "none", "--since", "nowhere")
    assert "git cannot compare with that commit" in wrong.stderr


def test_sarif(project: Path, tertium: Run) -> None:
    log = json.loads(tertium("check", "--model", "none", "-f", "sarif").stdout)
    assert log["version"] == "2.1.0"
    [sarif] = log["runs"]
    rules = [rule["id"] for rule in sarif["tool"]["driver"]["rules"]]
    for result in sarif["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] == "error"
    place = sarif["results"][1]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "de.json"}, "region": {"startLine": 2}}


def test_annotations_of_github(project: Path, tertium: Run) -> None:
    (project / "de.json").write_text(DE.replace("52", "52 %"), encoding="utf-8")
    lines = tertium("check", "--model", "none", "-f", "github").stdout.splitlines()
    assert lines[0].startswith("::error file=de.json,line=1,title=placeholder (critical)::{count}")
    assert "52 %25" in lines[1]


def test_junit(project: Path, tertium: Run) -> None:
    suite = ET.fromstring(tertium("check", "--model", "none", "-f", "junit").stdout)[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert [case.get("line") for case in suite] == ["1", "2"]
    (project / "de.json").write_text(EN.replace("Save", "Sichere"), encoding="utf-8")
    passed = ET.fromstring(
        tertium("check", "--model", "none", "-f", "junit", "--ignore", "copied,untranslated").stdout
    )
    assert passed[0].get("failures") == "0"
    assert passed[0].get("tests") == "1"


def test_json_and_html(project: Path, tertium: Run) -> None:
    content = json.loads(tertium("check", "--model", "none", "-f", "json").stdout)
    assert content["strings"] == 3
    assert [each["rule"] for each in content["findings"]] == ["placeholder", "number"]
    assert content["findings"][1]["target_span"] == [6, 17]
    result = tertium("check", "--model", "none", "-f", "html", "-o", "check.html")
    assert result.returncode == 1
    page = (project / "check.html").read_text(encoding="utf-8")
    assert "<mark>52 Sekunden</mark>" in page
    assert "--force" in tertium("check", "--model", "none", "-f", "html", "-o", "check.html").stderr


def test_nothing_to_check_is_an_error(tmp_path: Path, tertium: Run) -> None:
    result = tertium("check", tmp_path)
    assert result.returncode == 2
    assert "there is nothing to check" in result.stderr


def test_the_model_finds_what_was_left_out(tmp_path: Path, tertium: Run) -> None:
    (tmp_path / "de.po").write_text(
        'msgid "The meeting is on Monday in the large hall behind the station."\n'
        'msgstr "Die Sitzung ist am Montag."\n',
        encoding="utf-8",
    )
    result = tertium("check", tmp_path)
    assert result.returncode == 1
    assert "de.po:1: major: omission: 'large hall behind the station'" in result.stdout
    assert "a model read 1" in result.stdout


@pytest.mark.parametrize("command", ["score", "explain", "filter"])
def test_other_commands_read_localisation_files(project: Path, tertium: Run, command: str) -> None:
    (project / "app.po").write_text(
        'msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "The cat sleeps in the garden."\n'
        'msgstr "Die Katze schläft im Garten."\n',
        encoding="utf-8",
    )
    options = {
        "score": ["-m", "prism-src", "-o", "out.jsonl"],
        "explain": ["--method", "flags", "-o", "out.jsonl"],
        "filter": ["-l", "en-de", "--filters", "length", "-o", "out.jsonl"],
    }
    result = tertium(command, "app.po", "-q", *options[command])
    assert result.returncode == 0, result.stderr
    [row] = [json.loads(line) for line in (project / "out.jsonl").read_text().splitlines()]
    assert (row["line"], row["key"], row["tgt"]) == (
        "4",
        "The cat sleeps in the garden.",
        "Die Katze schläft im Garten.",
    )
    scored = tertium("score", "de.json", "-l", "en-de", "-m", "prism-src", "--rows")
    assert scored.returncode == 0, scored.stderr
