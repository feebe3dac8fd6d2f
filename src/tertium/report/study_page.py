"""The HTML page of a study: findings, tables, and embedded figures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from tertium.report.page import page
from tertium.report.tables import Cell, Table

STYLE = """
body { max-width: 76rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; }
h2 { border-top: 1px solid #8884; padding-top: 1.2rem; }
.lead { opacity: .75; margin-top: 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; margin: .8rem 0; }
table { font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .2rem .6rem; text-align: right; vertical-align: top; }
th { border-bottom: 1px solid #8888; vertical-align: bottom; font-size: .8rem; }
td { white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
.texts td:nth-child(n + 4) { white-space: normal; }
.texts td, .texts th { text-align: left; }
.faint td { font-size: .8rem; opacity: .75; padding-top: 0; }
.note { font-size: .85rem; opacity: .75; }
figure { margin: 1rem 0; } figcaption { font-size: .85rem; opacity: .75; }
figure img { max-width: 100%; height: auto; background: #fff; }
"""


@dataclass(frozen=True)
class Picture:
    """An SVG file and its caption."""

    path: Path
    caption: str


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
    facts: Sequence[str] = field(default_factory=tuple)
    """Everything that the numbers depend on."""

    def html(self) -> str:
        """The whole page, self-contained."""
        findings = "".join(f"<li>{escape(each)}</li>" for each in self.findings)
        facts = "".join(f"<li>{escape(each)}</li>" for each in self.facts)
        sections = "\n".join(map(_section, self.sections))
        return page(
            f"Tertium: {self.title}",
            f"""<h1>{escape(self.title)}</h1>
<p class="lead">{escape(self.lead)}</p>
<ul>{findings}</ul>
{sections}
<footer><ul>{facts}</ul></footer>""",
            style=STYLE,
            pictures=True,
        )


def html_table(table: Table, *, of_texts: bool = False) -> str:
    """A table as HTML; a row without a name belongs to the row above.

    >>> print(html_table(Table(["a", "b"], [[Cell("x"), Cell(1.25, ".1f", bold=True)]])))
    <div class="wide"><table class="">
    <thead><tr><th>a</th><th>b</th></tr></thead>
    <tbody><tr><td>x</td><td><b>1.2</b></td></tr></tbody>
    </table></div>
    """
    caption = f"<caption>{escape(table.title)}</caption>\n" if table.title else ""
    header = "".join(f"<th>{escape(name)}</th>" for name in table.header)
    rows = "".join(_row(row, of_texts) for row in table.rows)
    note = f'\n<p class="note">{escape(table.note)}</p>' if table.note else ""
    return f"""<div class="wide"><table class="{"texts" if of_texts else ""}">
{caption}<thead><tr>{header}</tr></thead>
<tbody>{rows}</tbody>
</table></div>{note}"""


def _row(row: Sequence[Cell], of_texts: bool) -> str:
    kind = ' class="faint"' if not of_texts and row and str(row[0]) == "" else ""
    return f"<tr{kind}>{''.join(map(_cell, row))}</tr>"


def _cell(cell: Cell) -> str:
    shown = escape(str(cell))
    return f"<td><b>{shown}</b></td>" if cell.bold else f"<td>{shown}</td>"


def _section(section: Section) -> str:
    tables = "\n".join(html_table(each, of_texts=section.of_texts) for each in section.tables)
    pictures = "\n".join(map(_picture, section.pictures))
    words = f"<p>{escape(section.text)}</p>" if section.text else ""
    return f"""<section>
<h2>{escape(section.heading)}</h2>
{words}
{tables}
{pictures}
</section>"""


def _picture(picture: Picture) -> str:
    content = b64encode(picture.path.read_bytes()).decode("ascii")
    caption = escape(picture.caption)
    return f"""<figure><img src="data:image/svg+xml;base64,{content}" alt="{caption}">
<figcaption>{caption}</figcaption></figure>"""
