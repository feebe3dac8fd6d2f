"""A comparison as text: sentences for the terminal and the page, and tables for the terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from tertium.comparison.result import Comparison, Contrast, MeasureComparison
from tertium.measures.marks import describe_languages, describe_system_marks

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text as RichText

MAX_LISTED = 4
# Scripts without spaces between words are compared character by character.
WORDS = re.compile(
    r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_]+|\s+|[\W_]", re.UNICODE
)

MarkedText = list[tuple[str, bool]]
"""The parts of a text, and whether each differs from the other text."""


def verdict(comparison: Comparison, measure: MeasureComparison) -> str:
    """State which system is best, and whether the difference is significant."""
    digits = measure.digits
    best, *others = measure.clusters[0]
    sentence = f"{best} is best with {measure.scores[best]:.{digits}f}"
    second = next(name for name in measure.scores if name != best)
    pair = measure.pair(best, second)
    if others:
        sentence += f", but not significantly different from {listed(others)}"
    else:
        sentence += (
            f", significantly better than {second}, the next ({measure.scores[second]:.{digits}f}, "
            f"p = {pair.permutation_p:.3f})"
        )
    if comparison.baseline is None:
        return sentence + "."
    better: list[str] = []
    worse: list[str] = []
    even: list[str] = []
    for name in measure.scores:
        if name == comparison.baseline:
            continue
        against = measure.pair(name, comparison.baseline)
        if against.permutation_p >= comparison.alpha:
            even.append(name)
        else:
            (better if against.difference > 0 else worse).append(name)
    parts = [
        f"{words} {listed(names)}"
        for words, names in (
            ("significantly better:", better),
            ("no significant difference:", even),
            ("significantly worse:", worse),
        )
        if names
    ]
    return f"{sentence}. Against {comparison.baseline}: {'; '.join(parts)}."


def mark_sentences(comparison: Comparison, measure: MeasureComparison) -> list[str]:
    """Say how many outputs have each mark, whose they are, and what is wrong with languages."""
    by_system = {
        system: {mark: counts.get(system, 0) for mark, counts in measure.marks.items()}
        for system in comparison.systems
    }
    sentences = describe_system_marks(by_system, comparison.outputs.count)
    sentences += [*filter(None, measure.without.values()), *measure.warnings]
    if languages := describe_languages(measure.identified):
        sentences.append(languages)
    return sentences


def listed(names: Sequence[str]) -> str:
    """Join names for a sentence; only the first of many are named.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(list("abcdefg"))
    ('a', 'a, b and c', 'a, b, c and 4 more')
    """
    if len(names) > MAX_LISTED:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def protocol(comparison: Comparison) -> str:
    """Describe how the p-values and intervals were computed."""
    tail = "" if comparison.tail == "two-sided" else f" (bootstrap: {comparison.tail})"
    return (
        f"{len(comparison.systems)} systems, {comparison.outputs.count} segments; "
        f"{comparison.samples} samples, seed {comparison.seed}. "
        f"The {comparison.level:.0%} intervals are computed with the bootstrap over segments, the "
        f"two-sided{tail} p-values with the paired bootstrap and with a permutation test "
        "(approximate randomisation); they are not corrected for the number of pairs. A system "
        "that is significantly worse (permutation test, "
        f"p < {comparison.alpha:g}) than one of the rank above starts a new rank: systems of the "
        "same rank are not significantly different."
    )


def word_differences(a: str, b: str) -> tuple[MarkedText, MarkedText]:
    """Split both texts into the parts that they share and those that differ.

    >>> word_differences("the cat sat", "the dog sat")[0]
    [('the ', False), ('cat', True), (' sat', False)]
    """
    first, second = WORDS.findall(a), WORDS.findall(b)
    marked: tuple[MarkedText, MarkedText] = ([], [])
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        for parts, words in zip(
            marked, (first[start:end], second[other_start:other_end]), strict=True
        ):
            if words:
                parts.append(("".join(words), tag != "equal"))
    return marked


def print_comparison(comparison: Comparison, console: Console, *, segments: int) -> None:
    """Print a table for each measure, and the segments that differ most."""
    for measure in comparison.measures:
        console.print(ranking_table(comparison, measure))
        console.print(verdict(comparison, measure), markup=False)
        if comparison.caution:
            console.print(comparison.caution, style="yellow", markup=False)
        for sentence in mark_sentences(comparison, measure):
            console.print(sentence, style="yellow", markup=False)
        console.print()
        if segments:
            print_contrasts(comparison, measure, console, segments)
        console.print(measure.signature.short, style="dim", markup=False, soft_wrap=True)
        console.print()
    console.print(protocol(comparison), style="dim", markup=False)


def ranking_table(comparison: Comparison, measure: MeasureComparison) -> Table:
    """Make a table of the systems, best first, each compared with the best or the baseline."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    digits = measure.digits
    against = comparison.against(measure.name)
    table = Table(
        box=box.SIMPLE_HEAD,
        title=escape(measure.name),
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
    for rank, cluster in enumerate(measure.clusters, start=1):
        for name in cluster:
            interval, label = measure.intervals[name], measure.label(name)
            row = [
                str(rank),
                f"[bold]{escape(label)}[/bold]" if rank == 1 else escape(label),
                f"{measure.scores[name]:.{digits}f}",
                f"{interval.low:.{digits}f} {interval.high:.{digits}f}",
            ]
            if name == against:
                row += ["", "", "", ""]
            else:
                pair = measure.pair(name, against)
                row += [
                    f"{pair.difference:+.{digits}f}",
                    f"{pair.bootstrap_p:.3f}",
                    f"{pair.permutation_p:.3f}",
                    f"{pair.wins}/{pair.ties}/{pair.losses}",
                ]
            table.add_row(*row, end_section=name == cluster[-1])
    return table


def print_contrasts(
    comparison: Comparison, measure: MeasureComparison, console: Console, count: int
) -> None:
    """Print the segments on which two systems differ most."""
    a, b = comparison.closest_pair(measure.name)
    contrasts = comparison.contrasts(measure.name, a, b, count=count)
    if not contrasts:
        return
    console.print(f"{measure.name}: where {a} and {b} differ most", style="bold", markup=False)
    for contrast in contrasts:
        _print_contrast(contrast, (a, b), measure.digits, console)
    console.print()


def _print_contrast(
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
    texts = [row.hypothesis.text for row in contrast.rows]
    scores = [f"{score:.{digits}f}" for score in (contrast.a, contrast.b)]
    for score, name, parts in zip(scores, names, word_differences(*texts), strict=True):
        table.add_row(score, RichText(name), _bold_differences(parts))
    console.print(f"segment {segment.number}", style="dim", markup=False)
    console.print(table)


def _bold_differences(parts: MarkedText) -> RichText:
    from rich.text import Text as RichText

    line = RichText()
    for text, differs in parts:
        line.append(text, style="bold" if differs else "")
    return line
