"""A table says the same in every form."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from rich.console import Console

from tertium.report.tables import Cell, Table

TABLE = Table(
    ["measure", "de | acc.", "zh"],
    [
        [Cell("chrf"), Cell(58.3333, ".1f"), Cell(9.0, ".1f")],
        [Cell("sent_bleu & co"), Cell(61.3333, ".1f", bold=True), Cell(None)],
        [Cell("中文"), Cell("0.56±.01"), Cell(1)],
    ],
    title="Table 1",
    note="Bold: 95 %",
)


def test_text() -> None:
    assert TABLE.text().splitlines() == [
        "Table 1",
        "",
        "measure         de | acc.    zh",
        "chrf                58.3   9.0",
        "sent_bleu & co      61.3*",
        "中文            0.56±.01     1",
        "",
        "Bold: 95 %",
    ]


def test_csv_has_numbers_in_full() -> None:
    rows = list(csv.reader(io.StringIO(TABLE.csv())))
    assert rows[0] == ["measure", "de | acc.", "zh"]
    assert rows[1] == ["chrf", "58.3333", "9.0"]
    assert rows[2] == ["sent_bleu & co", "61.3333", ""]


def test_markdown() -> None:
    assert TABLE.markdown().splitlines() == [
        "**Table 1**",
        "",
        "| measure | de \\| acc. | zh |",
        "|---|---:|---:|",
        "| chrf | 58.3 | 9.0 |",
        "| sent_bleu & co | **61.3** |  |",
        "| 中文 | 0.56±.01 | 1 |",
        "",
        "Bold: 95 %",
    ]


def test_latex_is_escaped() -> None:
    assert TABLE.latex().splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"measure & de \textbar{} acc. & zh \\",
        r"\midrule",
        r"chrf & 58.3 & 9.0 \\",
        r"sent\_bleu \& co & \textbf{61.3} &  \\",
        r"中文 & 0.56$\pm$.01 & 1 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\caption{Table 1. Bold: 95 \%.}",
        r"\end{table}",
    ]


def test_printed_as_the_text_is() -> None:
    shown = io.StringIO()
    TABLE.print(Console(file=shown, width=20))
    assert shown.getvalue() == TABLE.text() + "\n"
    shown = io.StringIO()
    TABLE.print(Console(file=shown, width=80, force_terminal=True, color_system="standard"))
    assert "\x1b[1m" in shown.getvalue()


def test_saved_four_times(tmp_path: Path) -> None:
    files = TABLE.save(tmp_path / "tables", "one")
    assert [file.name for file in files] == ["one.txt", "one.csv", "one.md", "one.tex"]
    assert files[0].read_text("utf-8") == TABLE.text() + "\n"
    assert files[1].read_text("utf-8") == TABLE.csv()
