"""Tables that can be printed, and written as text, CSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertium.errors import SettingError
from tertium.storage.atomic import write_text

if TYPE_CHECKING:
    from rich.console import Console

Value = str | float | int | None
MARK = "*"
"""Marks bold cells in plain text."""
FORMATS = (".txt", ".csv", ".tsv", ".md", ".tex")
SAVED = (".txt", ".csv", ".md", ".tex")
GAP = 2
LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
}


NEGATIVE = re.compile(r"(?<![^\s(])-(?=\d)")
"""A hyphen that is a minus sign."""


@dataclass(frozen=True)
class Cell:
    """A value, its format, and whether it is bold."""

    value: Value
    format: str = ""
    """A format specification such as ``.1f``; CSV has full precision."""
    bold: bool = False

    def __str__(self) -> str:
        """The formatted value.

        >>> str(Cell(61.333, ".1f")), str(Cell(None))
        ('61.3', '')
        """
        return "" if self.value is None else format(self.value, self.format)


@dataclass(frozen=True)
class Table:
    """A header and rows of cells; the first column has names, the others have numbers.

    >>> table = Table(["measure", "de"], [[Cell("chrf"), Cell(58.33, ".1f", bold=True)]])
    >>> print(table.text())
    measure     de
    chrf     58.3*
    >>> print(table.markdown())
    | measure | de |
    |---|---:|
    | chrf | **58.3** |
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    note: str = ""
    data: Table | None = None
    """What CSV has instead: one number per cell, where the table to read has intervals or stars."""

    def text(self) -> str:
        """Plain text with aligned columns; bold cells are marked with an asterisk."""
        lines = [f"{self.title}\n"] if self.title else []
        lines += ["".join(parts).rstrip() for parts in self._aligned()]
        return "\n".join(lines + [f"\n{self.note}"] * bool(self.note))

    def csv(self, *, delimiter: str = ",") -> str:
        """Values with a comma (or a tab) between them, in full precision, without bold."""
        if self.data is not None:
            return self.data.csv(delimiter=delimiter)
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n", delimiter=delimiter)
        writer.writerow(self.header)
        for row in self.rows:
            writer.writerow(["" if cell.value is None else cell.value for cell in row])
        return stream.getvalue()

    def markdown(self) -> str:
        """A table in GitHub's Markdown."""
        lines = [f"**{self.title}**\n"] if self.title else []
        lines.append(f"| {' | '.join(map(markdown_escape, self.header))} |")
        lines.append("|---|" + "---:|" * (len(self.header) - 1))
        for row in self.rows:
            cells = [
                f"**{markdown_escape(str(cell))}**" if cell.bold else markdown_escape(str(cell))
                for cell in row
            ]
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines + [f"\n{self.note}"] * bool(self.note))

    def latex(self) -> str:
        """A LaTeX table float with the rules of booktabs."""
        lines = [r"\begin{table}", r"\centering"]
        lines += [rf"\begin{{tabular}}{{l{'r' * (len(self.header) - 1)}}}", r"\toprule"]
        lines += [" & ".join(map(latex_escape, self.header)) + r" \\", r"\midrule"]
        for row in self.rows:
            cells = []
            for place, cell in enumerate(row):
                is_name = place == 0 and isinstance(cell.value, str)
                text = latex_escape(str(cell)) if is_name else latex_number(str(cell))
                cells.append(rf"\textbf{{{text}}}" if cell.bold else text)
            lines.append(" & ".join(cells) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}"]
        caption = ". ".join(part.rstrip(".") for part in (self.title, self.note) if part)
        lines += [rf"\caption{{{latex_escape(caption)}.}}"] if caption else []
        return "\n".join([*lines, r"\end{table}"])

    def html(self) -> str:
        """An HTML table, for notebooks."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.header)
        lines = [f"<tr>{head}</tr>"]
        for row in self.rows:
            cells = [
                f"<b>{escape(str(cell))}</b>" if cell.bold else escape(str(cell)) for cell in row
            ]
            lines.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
        title = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        note = f"<p><small>{escape(self.note)}</small></p>" if self.note else ""
        return f"<table>{title}{''.join(lines)}</table>{note}"

    def as_format(self, suffix: str) -> str:
        """The table in the format of a file: .txt, .csv, .tsv, .md or .tex."""
        return {
            ".txt": self.text() + "\n",
            ".csv": self.csv(),
            ".tsv": self.csv(delimiter="\t"),
            ".md": self.markdown() + "\n",
            ".tex": self.latex() + "\n",
        }[suffix]

    def save(self, folder: Path, name: str) -> list[Path]:
        """Write the table in four formats: text, CSV, Markdown and LaTeX."""
        folder.mkdir(parents=True, exist_ok=True)
        for suffix in SAVED:
            write_text(folder / f"{name}{suffix}", self.as_format(suffix))
        return [folder / f"{name}{suffix}" for suffix in SAVED]

    def print(self, console: Console) -> None:
        """Print the text; bold cells are also bold in a terminal."""
        from rich.text import Text as RichText

        if self.title:
            console.print(f"{self.title}\n", markup=False, highlight=False, soft_wrap=True)
        for number, parts in enumerate(self._aligned()):
            line = RichText()
            for part, cell in zip(parts, [None, *self.rows][number] or parts, strict=True):
                bold = number == 0 or (isinstance(cell, Cell) and cell.bold)
                line.append(part, style="bold" if bold else "")
            line.rstrip()
            console.print(line, soft_wrap=True)
        if self.note:
            console.print(f"\n{self.note}", markup=False, highlight=False, soft_wrap=True)

    def _aligned(self) -> Iterator[list[str]]:
        """Each line as padded cells: names aligned left, numbers aligned right."""
        from rich.cells import cell_len

        mark = MARK if any(cell.bold for row in self.rows for cell in row) else ""
        lines = [list(self.header)]
        for row in self.rows:
            marks = [mark if cell.bold else " " * len(mark) for cell in row]
            lines.append([str(cell) + mark_ for cell, mark_ in zip(row, marks, strict=True)])
            lines[-1][0] = lines[-1][0].rstrip()
        widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            blanks = [width - cell_len(part) for part, width in zip(line, widths, strict=True)]
            numbers = zip(line[1:], blanks[1:], strict=True)
            yield [line[0] + " " * blanks[0]] + [" " * (GAP + n) + part for part, n in numbers]


def latex_escape(text: str) -> str:
    r"""Escape text for LaTeX.

    >>> print(latex_escape("hyp|ref, 95 % & more_"))
    hyp\textbar{}ref, 95 \% \& more\_
    """
    return "".join(LATEX.get(character, character) for character in text)


def latex_number(text: str) -> str:
    r"""Escape text for LaTeX, with real minus signs.

    >>> print(latex_number("-25.00"), latex_number("-1.0 to 2.5"))
    $-$25.00 $-$1.0 to 2.5
    """
    return NEGATIVE.sub("$-$", latex_escape(text))


def markdown_escape(text: str) -> str:
    """Escape text for a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def data_frame(rows: Iterable[Mapping[str, Any]]) -> Any:
    """A data frame of pandas, which need not be installed otherwise."""
    try:
        import pandas
    except ImportError:
        raise SettingError("to_pandas needs pandas: pip install pandas") from None
    return pandas.DataFrame(list(rows))
