"""The formats that commands print: the same words for tables of scores and for rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from tertium.jobs.output import (
    CsvLayout,
    JsonDocumentLayout,
    Layout,
    TsvLayout,
    plain,
)
from tertium.report.tables import latex_escape, latex_number, markdown_escape


class OutputFormat(StrEnum):
    """How scores, or rows, are printed."""

    text = "text"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"
    tsv = "tsv"
    json = "json"


class MarkdownLayout(Layout):
    """A table in GitHub's Markdown.

    >>> layout = MarkdownLayout()
    >>> print(layout.head(["hyp", "chrf"]) + layout.body([{"hyp": "a|b", "chrf": 1.0}]), end="")
    | hyp | chrf |
    |---|---|
    | a\\|b | 1.0000 |
    """

    def head(self, columns: Sequence[str]) -> str:
        names = " | ".join(map(markdown_escape, columns))
        return f"| {names} |\n|{'---|' * len(columns)}\n"

    def body(self, rows: Sequence[Mapping[str, Any]]) -> str:
        return "".join(f"| {' | '.join(map(self._cell, row.values()))} |\n" for row in rows)

    def _cell(self, value: Any) -> str:
        return markdown_escape(plain(value, 4 if self.digits is None else self.digits))


class LatexLayout(MarkdownLayout):
    """A table in LaTeX, with the rules of booktabs."""

    def head(self, columns: Sequence[str]) -> str:
        names = " & ".join(map(latex_escape, columns))
        return f"\\begin{{tabular}}{{{'l' * len(columns)}}}\n\\toprule\n{names} \\\\\n\\midrule\n"

    def body(self, rows: Sequence[Mapping[str, Any]]) -> str:
        return "".join(f"{' & '.join(map(self._cell, row.values()))} \\\\\n" for row in rows)

    def tail(self, summary: Mapping[str, Any]) -> str:
        return "\\bottomrule\n\\end{tabular}\n"

    def _cell(self, value: Any) -> str:
        text = plain(value, 4 if self.digits is None else self.digits)
        return latex_number(text) if isinstance(value, float | int) else latex_escape(text)


LAYOUTS: Mapping[OutputFormat, type[Layout]] = {
    OutputFormat.text: TsvLayout,
    OutputFormat.tsv: TsvLayout,
    OutputFormat.csv: CsvLayout,
    OutputFormat.markdown: MarkdownLayout,
    OutputFormat.latex: LatexLayout,
    OutputFormat.json: JsonDocumentLayout,
}
"""How rows are printed; ``text`` has another layout in commands that print texts alone."""
