"""An explanation in a terminal: words over their log-probabilities, as in Prism's table 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tertium.explanation.explain import Direction, Explanation
from tertium.report.style import INKS, display_token, shade

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text as RichText

GAP = 1
MIN_WIDTH = 6


def print_explanation(explanation: Explanation, console: Console, *, tokens: bool = False) -> None:
    """Print both directions, by words or by subword tokens, and the scores."""
    for direction in explanation.directions:
        for line in direction_lines(direction, console.width, tokens=tokens):
            console.print(line, soft_wrap=True)
        console.print()
    direct = "" if explanation.direct is None else f"direct {explanation.direct:.4f}   "
    console.print(
        f"prism-ref {explanation.prism_ref:.4f}   {direct}({explanation.model})", highlight=False
    )


def direction_lines(
    direction: Direction, width: int, *, tokens: bool = False
) -> Iterator[RichText]:
    """Lay out one direction in lines of at most ``width`` columns."""
    from rich.cells import cell_len
    from rich.text import Text as RichText

    scores = direction.scores
    langs = [text.lang or "?" for text in (direction.target, direction.source)]
    yield RichText(f"{langs[0]} given {langs[1]}: {direction.source.text}", style="dim")
    shown = [
        (display_token(token), log_prob)
        for token, log_prob in zip(scores.tokens, scores.log_probs, strict=True)
    ]
    if not tokens:
        shown = [(each.word.text or shown[-1][0], each.log_prob) for each in direction.words]
    words, numbers = RichText(), RichText()
    for word, log_prob in shown:
        number = f"{log_prob:.2f}"
        cell = max(cell_len(word), len(number), MIN_WIDTH)
        if len(words) and words.cell_len + cell > width:
            yield words
            yield numbers
            words, numbers = RichText(), RichText()
        red, green, blue = shade(log_prob, INKS)
        words.append(word, style=f"bold rgb({red},{green},{blue})")
        words.append(" " * (cell - cell_len(word) + GAP))
        numbers.append(number.ljust(cell + GAP), style="dim")
    yield words
    yield numbers
    end = "; too long: only the beginning was scored" if scores.cut else ""
    yield RichText(f"H = {scores.H:.4f}   G = {scores.G:.2f}   {len(scores.tokens)} tokens{end}")
    for place, alternatives in direction.alternatives.items():
        preferred = ", ".join(
            f"{display_token(each.token)} ({each.log_prob:.2f})" for each in alternatives
        )
        yield RichText(
            f"  instead of {display_token(scores.tokens[place])}: {preferred}", style="italic"
        )
