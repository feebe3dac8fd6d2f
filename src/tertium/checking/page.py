"""The findings of a check as an HTML page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tertium.checking.check import CheckResult
from tertium.checking.findings import RULES, Finding, ordered
from tertium.checking.outputs import summary
from tertium.report.page import render_page

STYLE = Path(__file__).with_name("check.css")


@dataclass(frozen=True)
class Part:
    """Some characters of a text, and whether the finding is about them."""

    text: str
    is_marked: bool = False


def parts(text: str, span: tuple[int, int] | None) -> list[Part]:
    """Cut a text where a span begins and ends.

    >>> [(part.text, part.is_marked) for part in parts("on Monday", (3, 9))]
    [('on ', False), ('Monday', True)]
    """
    if span is None:
        return [Part(text)]
    start, end = span
    cut = [Part(text[:start]), Part(text[start:end], True), Part(text[end:])]
    return [part for part in cut if part.text]


@dataclass(frozen=True)
class Shown:
    """A finding, with its texts cut where they are marked."""

    finding: Finding

    @property
    def sides(self) -> list[tuple[str, str | None, list[Part]]]:
        each = self.finding
        sides = [("source", each.source_lang, parts(each.source, each.source_span))]
        if each.target:
            sides.append(("translation", each.target_lang, parts(each.target, each.target_span)))
        return sides


def check_page(result: CheckResult) -> str:
    """Render the findings, file by file."""
    files = [
        (path, [Shown(each) for each in group])
        for path, group in groupby(ordered(result.findings), key=lambda each: each.path)
    ]
    counts = Counter(each.rule for each in result.findings)
    return render_page(
        "checking/templates/check.html",
        "Translations checked by Tertium",
        style=STYLE.read_text(encoding="utf-8"),
        summary=summary(result),
        unread=result.unread,
        counts=[(rule, RULES[rule], count) for rule, count in counts.most_common()],
        files=files,
    )
