"""An explanation in a terminal: tokens over their log-probabilities, as in Prism's table 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tertium.explanation.explain import Direction, Explanation
from tertium.report.style import display_token, shade

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text as RichText

GAP = 1
MIN_WIDTH = 6


def print_explanation(explanation: Explanation, console: Console) -> None:
    """Print both directions and the scores."""
    for direction in explanation.directions:
        for line in direction_lines(direction, console.width):
            console.print(line, soft_wrap=True)
        console.print()
    direct = "" if explanation.direct is None else f"direct {explanation.direct:.4f}   "
    console.print(
        f"prism-ref {explanation.prism_ref:.4f}   {direct}({explanation.model})", highlight=False
    )


def direction_lines(direction: Direction, width: int) -> Iterator[RichText]:
    """Lay out one direction in lines of at most ``width`` columns."""
    from rich.cells import cell_len
    from rich.text import Text as RichText

    scores = direction.scores
    langs = [text.lang or "?" for text in (direction.target, direction.source)]
    yield RichText(f"{langs[0]} given {langs[1]}: {direction.source.text}", style="dim")
    tokens, numbers = RichText(), RichText()
    for token, log_prob in zip(scores.tokens, scores.log_probs, strict=True):
        word, number = display_token(token), f"{log_prob:.2f}"
        cell = max(cell_len(word), len(number), MIN_WIDTH)
        if len(tokens) and tokens.cell_len + cell > width:
            yield tokens
            yield numbers
            tokens, numbers = RichText(), RichText()
        red, green, blue = shade(log_prob)
        tokens.append(word, style=f"bold rgb({red},{green},{blue})")
        tokens.append(" " * (cell - cell_len(word) + GAP))
        numbers.append(number.ljust(cell + GAP), style="dim")
    yield tokens
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
