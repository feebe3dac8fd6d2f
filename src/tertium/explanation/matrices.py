"""Alignments as tables: the cosines that BERTScore matches, and the moves of WMD."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from tertium.explanation.alignment import Alignment, Transport
from tertium.report.shades import visible
from tertium.report.style import heat_class

MOST_PIECES = 80
"""Of a text that is still drawn."""
LEAST_SHARE = 0.0005
"""What is written as 0.0 % is not worth a word."""


def cosines(found: Alignment) -> str:
    """Every piece of the first text against every piece of the second; best matches are framed."""
    matrix = found.cosines
    rows_best, columns_best = matrix.argmax(axis=1), matrix.argmax(axis=0)
    low = min(0.0, float(matrix.min()))

    def cell(i: int, j: int) -> str:
        best = " best" if rows_best[i] == j or columns_best[j] == i else ""
        # Cosines crowd near 1: the square tells them apart.
        share = ((matrix[i, j] - low) / (1 - low)) ** 2
        return f'<td class="{heat_class(share)}{best}">{matrix[i, j]:.2f}</td>'

    match = found.match
    return _table(
        found.hypothesis,
        found.reference,
        cell,
        "Cosines of pieces",
        "Rows are the pieces of the first text, columns those of the second; each has its best "
        f"match framed. Precision {match.P:.4f}, recall {match.R:.4f}, F1 {match.F1:.4f}.",
    )


def moves(found: Transport) -> str:
    """How much of each piece of the second text goes to which piece of the first."""
    plan = found.plan
    most = float(plan.max()) or 1.0

    def cell(i: int, j: int) -> str:
        if plan[i, j] < LEAST_SHARE:
            return "<td></td>"
        told = f"{100 * plan[i, j]:.1f} % of the text, at a distance of {found.costs[i, j]:.3f}"
        shown = f"{100 * plan[i, j]:.0f}" if plan[i, j] >= 0.01 else "&lt;1"
        return f'<td class="{heat_class(plan[i, j] / most)}" title="{told}">{shown}</td>'

    return _table(
        found.hypothesis,
        found.reference,
        cell,
        "Moves between pieces",
        "The cheapest way to turn the second text (columns) into the first (rows): the numbers are "
        f"per cent of the text that is moved. It takes {found.work:.4f} of work; wmd is that, "
        "negated.",
    )


def _table(
    rows: Sequence[str],
    columns: Sequence[str],
    cell: Callable[[int, int], str],
    title: str,
    told: str,
) -> str:
    if max(len(rows), len(columns)) > MOST_PIECES:
        return f'<p class="key">{told} The texts are too long to be drawn.</p>'
    heads = "".join(f'<th scope="col">{_piece(column)}</th>' for column in columns)
    body = "\n".join(
        f'<tr><th scope="row">{_piece(row)}</th>'
        + "".join(cell(i, j) for j in range(len(columns)))
        + "</tr>"
        for i, row in enumerate(rows)
    )
    return f"""<p class="key">{told}</p>
<div class="wide" role="region" aria-label="{title}" tabindex="0"><table class="alignment">
<thead><tr><td></td>{heads}</tr></thead>
<tbody>
{body}
</tbody></table></div>"""


def _piece(token: str) -> str:
    return f"<bdi>{escape(visible(token))}</bdi>"
