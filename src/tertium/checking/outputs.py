"""What a check prints: for people, and for the tools of continuous integration."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from tertium._version import __version__
from tertium.checking.check import CheckResult
from tertium.checking.findings import RULES, Finding, one_line
from tertium.data.records import counted
from tertium.explanation.spans import SEVERITIES

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
SARIF_LEVELS = {"critical": "error", "major": "warning", "minor": "note"}
GITHUB_LEVELS = {"critical": "error", "major": "error", "minor": "warning"}
NOT_XML = dict.fromkeys([*range(9), 11, 12, *range(14, 32)], "\ufffd")


def as_text(result: CheckResult) -> str:
    """One line for each finding, as linters print them, with the texts below."""
    lines = []
    for each in result.findings:
        lines.append(
            f"{each.path}:{each.line}: {each.severity}: {each.rule}: {each.message}  "
            f"[{one_line(each.key)}]"
        )
        if each.target:
            lines += [f"    {one_line(each.source, 160)}", f"    {one_line(each.target, 160)}"]
    lines += [f"{problem}" for problem in result.unread]
    return "\n".join([*lines, summary(result)])


def summary(result: CheckResult) -> str:
    """How many findings there are, of which severities, in how many strings."""
    counts = Counter(each.severity for each in result.findings)
    parts = [f"{counts[severity]} {severity}" for severity in reversed(SEVERITIES)]
    found = counted(len(result.findings), "finding")
    looked = f"{counted(result.strings, 'string')} in {counted(result.files, 'file')}"
    model = f"; a model read {result.by_model}" if result.by_model else "; by rules alone"
    unread = f"; {counted(len(result.unread), 'file')} could not be read" if result.unread else ""
    detail = f" ({', '.join(parts)})" if result.findings else ""
    return f"{found}{detail} in {looked}{model}{unread}"


def as_json(result: CheckResult) -> str:
    """All findings as an object of JSON."""
    content = {
        "tertium": __version__,
        "files": result.files,
        "strings": result.strings,
        "read_by_model": result.by_model,
        "unread": list(result.unread),
        "findings": [each.to_dict() for each in result.findings],
    }
    return json.dumps(content, ensure_ascii=False, indent=1)


def as_sarif(result: CheckResult) -> str:
    """A log of SARIF 2.1.0, which GitHub and editors read."""
    names = list(RULES)
    content = {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "tertium",
                        "semanticVersion": __version__,
                        "rules": [
                            {"id": name, "shortDescription": {"text": text}}
                            for name, text in RULES.items()
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_sarif_result(each, names) for each in result.findings],
                "invocations": [
                    {
                        "executionSuccessful": not result.unread,
                        "toolExecutionNotifications": [
                            {"level": "error", "message": {"text": problem}}
                            for problem in result.unread
                        ],
                    }
                ],
            }
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=1)


def _sarif_result(each: Finding, names: Sequence[str]) -> dict[str, Any]:
    return {
        "ruleId": each.rule,
        "ruleIndex": names.index(each.rule),
        "level": SARIF_LEVELS[each.severity],
        "message": {"text": f"{each.message} [{one_line(each.key)}]"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(each.path)},
                    "region": {"startLine": max(1, each.line)},
                }
            }
        ],
        "partialFingerprints": {"tertium/v1": each.fingerprint},
        "properties": {"source": each.source, "target": each.target, "severity": each.severity},
    }


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path)


def as_github(result: CheckResult) -> str:
    """Annotations of GitHub Actions."""
    lines = []
    for each in result.findings:
        title = f"{each.rule} ({each.severity})"
        lines.append(
            f"::{GITHUB_LEVELS[each.severity]} file={_property(each.path)},line={each.line},"
            f"title={_property(title)}::{_message(f'{each.message} [{one_line(each.key)}]')}"
        )
    lines += [f"::error::{_message(problem)}" for problem in result.unread]
    return "\n".join([*lines, summary(result)])


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def as_junit(result: CheckResult) -> str:
    """A report of JUnit: a test for each finding, and one that passes if there are none."""
    cases = []
    for each in result.findings:
        name = quoteattr(_xml(f"{each.rule}: {one_line(each.key)}"))
        place = quoteattr(_xml(f"{each.path}:{each.line}"))
        detail = escape(_xml(f"{each.path}:{each.line}\n{each.source}\n{each.target}"))
        cases.append(
            f"  <testcase classname={place} name={name} file={quoteattr(_xml(each.path))} "
            f'line="{each.line}">\n   <failure type="{each.rule}" '
            f"message={quoteattr(_xml(each.message))}>{detail}</failure>\n  </testcase>"
        )
    errors = [
        f'  <testcase classname="tertium" name="read">\n'
        f"   <error message={quoteattr(_xml(problem))}/>\n  </testcase>"
        for problem in result.unread
    ]
    if not cases and not errors:
        cases.append(f'  <testcase classname="tertium" name={quoteattr(summary(result))}/>')
    total = len(cases) + len(errors)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
        f' <testsuite name="tertium check" tests="{total}" failures="{len(result.findings)}" '
        f'errors="{len(errors)}">\n' + "\n".join([*cases, *errors]) + "\n </testsuite>\n"
        "</testsuites>"
    )


def _xml(text: str) -> str:
    return text.translate(NOT_XML)


FORMATS: dict[str, Callable[[CheckResult], str]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
    "junit": as_junit,
}
