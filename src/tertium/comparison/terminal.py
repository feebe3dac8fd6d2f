"""A comparison in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tertium.comparison.result import Comparison, Contrast, MeasureComparison
from tertium.comparison.text import decimals, setup, verdict
from tertium.measures.base import CUT_REASON
from tertium.report.differences import Part, differences

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text as RichText


def print_comparison(comparison: Comparison, console: Console, *, segments: int) -> None:
    """Print a table a measure, and the segments that differ most."""
    for found in comparison.measures:
        console.print(ranking_table(comparison, found))
        console.print(verdict(comparison, found), markup=False)
        if found.cut:
            console.print(f"{found.cut} outputs {CUT_REASON}", style="yellow")
        console.print()
        if segments:
            print_contrasts(comparison, found, console, segments)
        console.print(found.signature.short, style="dim", markup=False, soft_wrap=True)
        console.print()
    console.print(setup(comparison), style="dim", markup=False)


def ranking_table(comparison: Comparison, found: MeasureComparison) -> Table:
    """The systems, best first, each against the best one or the baseline."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    digits = decimals(found)
    against = comparison.against(found.name)
    table = Table(
        box=box.SIMPLE_HEAD,
        title=escape(found.name),
        title_justify="left",
        title_style="bold",
        caption=f"differences, p, wins, ties and losses: against {escape(against)}",
        caption_justify="left",
        pad_edge=False,
        padding=(0, 0, 0, 1),
    )
    table.add_column("rank", justify="right")
    table.add_column("system", overflow="fold", min_width=8)
    for name in ("score", f"{comparison.level:.0%} interval", "diff", "p boot", "p perm"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("win/tie/loss", justify="right", no_wrap=True)
    for rank, cluster in enumerate(found.clusters, start=1):
        for name in cluster:
            interval = found.intervals[name]
            row = [
                str(rank),
                f"[bold]{escape(name)}[/bold]" if rank == 1 else escape(name),
                f"{found.scores[name]:.{digits}f}",
                f"{interval.low:.{digits}f} {interval.high:.{digits}f}",
            ]
            if name == against:
                row += ["", "", "", ""]
            else:
                pair = found.pair(name, against)
                row += [
                    f"{pair.difference:+.{digits}f}",
                    f"{pair.bootstrap_p:.3f}",
                    f"{pair.permutation_p:.3f}",
                    f"{pair.wins}/{pair.ties}/{pair.losses}",
                ]
            table.add_row(*row, end_section=name == cluster[-1])
    return table


def print_contrasts(
    comparison: Comparison, found: MeasureComparison, console: Console, count: int
) -> None:
    """Print the segments on which two systems differ most."""
    a, b = comparison.closest_pair(found.name)
    contrasts = comparison.contrasts(found.name, a, b, count=count)
    if not contrasts:
        return
    console.print(f"{found.name}: where {a} and {b} differ most", style="bold", markup=False)
    for contrast in contrasts:
        _print_contrast(comparison, contrast, (a, b), decimals(found), console)
    console.print()


def _print_contrast(
    comparison: Comparison,
    contrast: Contrast,
    names: tuple[str, str],
    digits: int,
    console: Console,
) -> None:
    from rich.table import Table
    from rich.text import Text as RichText

    segment = contrast.segment
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="dim")
    table.add_column(style="dim", max_width=console.width // 3, overflow="fold")
    table.add_column(overflow="fold")
    if segment.source is not None:
        table.add_row("", "source", RichText(segment.source.text))
    for reference in segment.references:
        table.add_row("", "reference", RichText(reference.text))
    texts = [segment.outputs[comparison.systems.index(name)].text for name in names]
    scores = [f"{score:.{digits}f}" for score in (contrast.a, contrast.b)]
    for score, name, parts in zip(scores, names, differences(*texts), strict=True):
        table.add_row(score, RichText(name), _marked(parts))
    console.print(f"segment {segment.number}", style="dim", markup=False)
    console.print(table)


def _marked(parts: list[Part]) -> RichText:
    from rich.text import Text as RichText

    line = RichText()
    for text, differs in parts:
        line.append(text, style="bold" if differs else "")
    return line
