"""The HTML page of a study: findings, tables, and embedded figures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tertium.report.page import render_page
from tertium.report.tables import Table

STYLE = Path(__file__).with_name("study.css")
TEMPLATE = "report/templates/study.html"


@dataclass(frozen=True)
class Picture:
    """An SVG file and its caption."""

    path: Path
    caption: str

    def content(self) -> str:
        """The file in base64."""
        return b64encode(self.path.read_bytes()).decode("ascii")


@dataclass(frozen=True)
class Section:
    """A heading, a text, tables and figures."""

    heading: str
    text: str = ""
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    of_texts: bool = False
    """Whether the tables hold sentences instead of numbers."""


@dataclass(frozen=True)
class StudyPage:
    """The content of the page."""

    title: str
    lead: str
    findings: Sequence[str] = ()
    sections: Sequence[Section] = ()
    facts: Sequence[str] = ()
    """Everything that the numbers depend on."""

    def html(self) -> str:
        """The whole page, self-contained."""
        style = STYLE.read_text("utf-8")
        title = f"Tertium: {self.title}"
        return render_page(TEMPLATE, title, style=style, pictures=True, study=self)
