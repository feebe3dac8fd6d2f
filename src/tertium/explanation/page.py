"""An explanation as HTML: a page in a file, and the fragment that the web page shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tertium.explanation.explain import Alignment, Explanation, PairExplanation, Transport
from tertium.report.page import render, render_page
from tertium.report.style import heat_class

MAX_TOKENS = 80
"""Longer texts get no matrix."""
MIN_SHARE = 0.0005
"""Smaller shares, which would be shown as 0.0 %, are left out."""


@dataclass(frozen=True)
class MatrixCell:
    """What a cell shows."""

    text: str = ""
    css_class: str = ""
    title: str = ""


@dataclass(frozen=True)
class TokenMatrix:
    """A table with a row for each token of the first text, and a column for each of the second."""

    title: str
    description: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[MatrixCell]]

    @property
    def too_large(self) -> bool:
        return max(len(self.rows), len(self.columns)) > MAX_TOKENS


def explanation_page(explanation: Explanation) -> str:
    """Render an explanation as an HTML page."""
    return render_page(
        "explanation/templates/page.html", "Tertium: why this score", explanation=explanation
    )


def explanation_fragment(pair: PairExplanation) -> str:
    """Render the parts that are not empty, each under a heading."""
    return render(
        "explanation/templates/fragment.html",
        pair=pair,
        cosines=pair.alignment and cosine_matrix(pair.alignment),
        moves=pair.transport and transport_matrix(pair.transport),
    )


def cosine_matrix(alignment: Alignment) -> TokenMatrix:
    """Show the cosines of all pairs of tokens; the best matches are framed."""
    matrix = alignment.cosines
    rows_best, columns_best = matrix.argmax(axis=1), matrix.argmax(axis=0)
    low = min(0.0, float(matrix.min()))

    def cell(i: int, j: int) -> MatrixCell:
        best = " best" if rows_best[i] == j or columns_best[j] == i else ""
        # Most cosines are close to 1: the square separates them better.
        share = ((matrix[i, j] - low) / (1 - low)) ** 2
        return MatrixCell(f"{matrix[i, j]:.2f}", heat_class(share) + best)

    match = alignment.match
    return TokenMatrix(
        "Cosines of tokens",
        "Rows are the tokens of the first text, columns those of the second; the best match of "
        f"each is framed. Precision {match.P:.4f}, recall {match.R:.4f}, F1 {match.F1:.4f}.",
        alignment.hypothesis,
        alignment.reference,
        [[cell(i, j) for j in range(matrix.shape[1])] for i in range(matrix.shape[0])],
    )


def transport_matrix(transport: Transport) -> TokenMatrix:
    """Show how much of each token of the second text is moved to which token of the first."""
    plan = transport.plan
    most = float(plan.max()) or 1.0

    def cell(i: int, j: int) -> MatrixCell:
        if plan[i, j] < MIN_SHARE:
            return MatrixCell()
        return MatrixCell(
            f"{100 * plan[i, j]:.0f}" if plan[i, j] >= 0.01 else "<1",
            heat_class(plan[i, j] / most),
            f"{100 * plan[i, j]:.1f} % of the text, at a distance of {transport.costs[i, j]:.3f}",
        )

    return TokenMatrix(
        "Moves between tokens",
        "The cheapest way to turn the second text (columns) into the first (rows); the numbers are "
        f"percentages of the text. The total cost is {transport.work:.4f}; the wmd score is its "
        "negative.",
        transport.hypothesis,
        transport.reference,
        [[cell(i, j) for j in range(plan.shape[1])] for i in range(plan.shape[0])],
    )
