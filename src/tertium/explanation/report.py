"""Reviews in a terminal, in a notebook and as an HTML report over many rows."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tertium.explanation.review import PairReview
from tertium.explanation.spans import SEVERITIES, A, B, Span
from tertium.explanation.verdict import Verdict, reason, verdict
from tertium.measures.base import percent
from tertium.report.page import render, render_page

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text as RichText

STYLE = Path(__file__).with_name("review.css")
MAX_ROWS = 1000
"""The report shows this many rows, the worst first."""
COLOURS = {
    "omission": "rgb(31,111,180)",
    "addition": "rgb(194,87,26)",
    "number": "rgb(205,50,60)",
    "unit": "rgb(205,50,60)",
    "date": "rgb(205,50,60)",
    "name": "rgb(205,50,60)",
    "placeholder": "rgb(205,50,60)",
    "markup": "rgb(205,50,60)",
    "untranslated": "rgb(205,50,60)",
    "repetition": "rgb(205,50,60)",
    **dict.fromkeys(("negation", "opposite"), "rgb(205,50,60)"),
    **dict.fromkeys(("change", "difference"), "rgb(120,100,20)"),
    "unlikely": "rgb(170,60,150)",
    "hallucination": "rgb(205,50,60)",
}
"""Of kinds of spans in the terminal; a span has precedence over those of later kinds."""


@dataclass(frozen=True)
class Piece:
    """Some characters of a text, and the spans that cover them, in the order of ``COLOURS``."""

    text: str
    spans: tuple[Span, ...] = ()
    changed: bool = False
    """Whether the other text, in the same language, does not have these words."""


@dataclass(frozen=True)
class ReportRow:
    """A row of the report."""

    number: int
    review: PairReview
    rank: int
    """The place by severity."""
    name: str = ""
    """What the file calls the row, if it does."""

    @property
    def kinds(self) -> list[str]:
        return kinds_of(self.review)

    @property
    def verdict(self) -> Verdict:
        """Whether the texts mean the same, in one sentence."""
        return verdict(self.review)

    def reason(self, span: Span) -> str:
        """What a span says, in plain words."""
        return reason(span, self.review.spans)

    @property
    def sides(self) -> list[tuple[str, str | None, list[Piece]]]:
        """The name, the language and the pieces of both texts."""
        review = self.review
        return [
            (side, text.lang, pieces(text.text, review.of_side(side), changed))
            for side, text, changed in zip(
                (A, B), (review.a, review.b), review.changes, strict=True
            )
        ]


def kinds_of(review: PairReview) -> list[str]:
    """The kinds of spans and the flags of a pair."""
    return sorted({*review.flags, *(span.kind for span in review.spans)})


def pieces(
    text: str, spans: Sequence[Span], changed: Sequence[tuple[int, int]] = ()
) -> list[Piece]:
    """Cut a text where spans begin and end, and where what is in no span was changed.

    >>> span = Span.of("I see it", 2, 5, side="a", kind="addition", score=1.0)
    >>> [(piece.text, len(piece.spans)) for piece in pieces("I see it", [span])]
    [('I ', 0), ('see', 1), (' it', 0)]
    """
    order = {kind: place for place, kind in enumerate(COLOURS)}
    cuts = {0, len(text), *(place for span in spans for place in (span.start, span.end))}
    cuts |= {
        place
        for change in changed
        for place in change
        if not any(span.start < place < span.end for span in spans)
    }
    return [
        Piece(
            text[start:end],
            tuple(
                sorted(
                    (span for span in spans if span.start < end and start < span.end),
                    key=lambda span: (order.get(span.kind, 0), -span.score),
                )
            ),
            any(first < end and start < last for first, last in changed),
        )
        for start, end in itertools.pairwise(sorted(cuts))
    ]


def badness(review: PairReview) -> tuple[int, float]:
    """How bad a pair is: by severity, then by the number of spans and flags."""
    severity = review.severity
    level = -1 if severity is None else SEVERITIES.index(severity)
    return level, float(len(review.spans) + len(review.flags))


def review_page(
    reviews: Sequence[PairReview],
    *,
    title: str,
    sides: tuple[str, str] = ("hypothesis", "reference"),
    description: str = "",
    names: Sequence[str] = (),
) -> str:
    """Render the report of many pairs: filters by kind, and both orders.

    The page has no scripts: filters and orders are style rules over check boxes. Rows without spans
    and flags are only counted.
    """
    marked = [(place, review) for place, review in enumerate(reviews) if kinds_of(review)]
    order = sorted(marked, key=lambda each: badness(each[1]), reverse=True)
    rows = [
        ReportRow(place + 1, review, rank, names[place] if names else "")
        for rank, (place, review) in enumerate(order[:MAX_ROWS])
    ]
    kinds = Counter(kind for _, review in marked for kind in kinds_of(review))
    return render_page(
        "explanation/templates/review.html",
        title,
        style=STYLE.read_text("utf-8") + _filters(sorted(kinds)),
        rows=sorted(rows, key=lambda row: row.number),
        total=len(reviews),
        marked=len(marked),
        kinds=sorted(kinds.items()),
        side_names=dict(zip((A, B), sides, strict=True)),
        description=description,
    )


def _filters(kinds: Sequence[str]) -> str:
    """Show rows and marks of a kind while its box is checked."""
    return "".join(
        f"body:has(#kind-{kind}:checked) .row.has-{kind} {{ display: block; }}\n"
        f"body:not(:has(#kind-{kind}:checked)) .mark.{kind} "
        "{ background: none; border-color: transparent; }\n"
        for kind in kinds
    )


def review_fragment(review: PairReview) -> str:
    """Render one pair, with its style."""
    from markupsafe import Markup

    return render(
        "explanation/templates/review-pair.html",
        row=ReportRow(1, review, 0),
        side_names={A: "a", B: "b"},
        style=Markup(STYLE.read_text("utf-8")),
    )


def print_review(
    review: PairReview,
    console: Console,
    *,
    sides: tuple[str, str] = ("a", "b"),
    methods: Sequence[str] = (),
) -> None:
    """Print both texts with their spans in colour, then the evidence."""
    for line in review_lines(review, sides, methods):
        console.print(line, soft_wrap=True)


def review_lines(
    review: PairReview, sides: tuple[str, str] = ("a", "b"), methods: Sequence[str] = ()
) -> Iterator[RichText]:
    """Lay out a review by some methods: spans in brackets, other changed words in braces."""
    from rich.text import Text as RichText

    for name, (side, lang, cut) in zip(sides, ReportRow(1, review, 0).sides, strict=True):
        line = RichText(f"{name}{f' ({lang})' if lang else ''}: ", style="dim")
        for piece in cut:
            if piece.spans:
                colour = COLOURS.get(piece.spans[0].kind, "red")
                line.append(f"[{piece.text}]", style=f"bold not dim {colour}")
            elif piece.changed:
                line.append(f"{{{piece.text}}}", style="underline not dim")
            else:
                line.append(piece.text, style="not dim")
        yield line
        for span in review.of_side(side):
            label = RichText(f"  {span.severity} {span.kind}: ", style="not dim")
            label.append(span.text, style=f"bold {COLOURS.get(span.kind, 'red')}")
            label.append(f" ({span.score:.2f}; {span.evidence})", style="dim")
            yield label
    if review.flags:
        yield RichText(f"flags: {', '.join(review.flags)}", style="red")
    if review.direction is not None:
        original = sides[1] if review.direction.score > 0 else sides[0]
        yield RichText(
            f"direction: {original} is more likely the original "
            f"(H {review.direction.a_given_b:.2f} and {review.direction.b_given_a:.2f})"
        )
    if not review.spans and not review.flags:
        by = f" by {', '.join(methods)}" if methods else ""
        rate = review.false_alarms
        at = "" if rate is None else f" at {percent(rate)} false alarms"
        yield RichText(f"nothing flagged{by}{at}", style="green")
    if review.error_probability is not None:
        yield RichText(
            f"score {review.score:.0f} of 100; probability of an error "
            f"{review.error_probability:.2f}, where half of the texts have one",
            style="dim",
        )
