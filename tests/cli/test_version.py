"""``tertium --version``, and what it adds for a bug report."""

from __future__ import annotations

from pathlib import Path

from tertium.models.catalog import find

from .conftest import Run


def test_a_bug_report_has_what_is_needed(tertium: Run) -> None:
    done = tertium("--version", "--verbose")
    facts = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert list(facts) == [
        *("tertium", "Python", "system", "processor", "packages", "extras", "plug-ins", "model"),
        "environment",
    ]
    assert "ctranslate2 4." in facts["packages"]
    assert facts["model"] == f"tertium-mini {find('tertium-mini').fingerprint[:12]}"
    assert "TERTIUM_CACHE=..." in facts["environment"]  # no path of the user
    assert str(Path.home()) not in done.stdout
    assert tertium("--version").stdout.split()[0] == "tertium"
    assert tertium("--verbose").returncode == 2
