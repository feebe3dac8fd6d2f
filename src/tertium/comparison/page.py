"""A comparison as an HTML page: all scores, then a tab for each measure, with what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from tertium.comparison.result import Comparison, Contrast, MeasureComparison, SystemPair
from tertium.comparison.text import (
    MarkedText,
    mark_sentences,
    protocol,
    verdict,
    word_differences,
)
from tertium.report.page import render_page
from tertium.report.svg import Plot, Scale, histogram, scatter, spread
from tertium.report.tables import Cell, Table
from tertium.stats.correlation import kendall
from tertium.text import Text

BAR_START, BAR_END = 4.0, 96.0
"""Where the intervals start and end, in per cent of their column."""
MAX_IN_MATRIX = 40
STYLE = Path(__file__).with_name("comparison.css")


def comparison_page(comparison: Comparison, *, segments: int) -> str:
    """Render a comparison as an HTML page."""
    return render_page(
        "comparison/templates/page.html",
        f"Tertium: {len(comparison.systems)} systems compared",
        style=comparison_style(),
        comparison=comparison,
        file=Path(comparison.outputs.name).name,
        sections=[MeasureSection(comparison, each, segments) for each in comparison.measures],
        overview=overview(comparison),
        agreement=Agreement.of(comparison),
        protocol=protocol(comparison),
    )


def comparison_style() -> str:
    """The style of a comparison, besides that of all pages."""
    return STYLE.read_text("utf-8")


def overview(comparison: Comparison) -> Table:
    """The scores of all systems by all measures, the best systems first."""
    places = {
        name: sum(list(measure.scores).index(name) for measure in comparison.measures)
        for name in comparison.systems
    }
    note = "Bold: no other system is significantly better."
    return Table(
        ["system", *(measure.name for measure in comparison.measures)],
        [
            [
                Cell(comparison.label(name)),
                *(
                    Cell(
                        measure.scores[name],
                        f".{measure.digits}f",
                        bold=not comparison.caution and name in measure.clusters[0],
                    )
                    for measure in comparison.measures
                ),
            ]
            for name in sorted(comparison.systems, key=lambda name: places[name])
        ],
        note="" if comparison.caution else note,
    )


@dataclass(frozen=True)
class MeasureSection:
    """What the page shows about one measure."""

    comparison: Comparison
    measure: MeasureComparison
    segments: int

    @property
    def verdict(self) -> str:
        return verdict(self.comparison, self.measure)

    @property
    def cautions(self) -> list[str]:
        """What to know before the numbers are believed."""
        return mark_sentences(self.comparison, self.measure)

    @property
    def against(self) -> str:
        return self.comparison.against(self.measure.name)

    @property
    def scale(self) -> Scale:
        """The scale of the intervals."""
        intervals = self.measure.intervals.values()
        ends = [end for each in intervals for end in (each.low, each.high)]
        return Scale(*spread(ends), BAR_START, BAR_END)

    @property
    def has_matrix(self) -> bool:
        return 2 < len(self.measure.scores) <= MAX_IN_MATRIX

    @property
    def closest_pair(self) -> SystemPair:
        return self.measure.pair(*self.comparison.closest_pair(self.measure.name))

    @property
    def differences(self) -> Plot:
        """A histogram of the differences of the closest pair."""
        pair, systems, scores = self.closest_pair, self.comparison.systems, self.measure
        first, second = (scores.segment_scores[systems.index(name)] for name in (pair.a, pair.b))
        return histogram(
            first - second,
            below=f"{pair.b} is better",
            above=f"{pair.a} is better",
            description=f"Differences between {pair.a} and {pair.b} by {scores.name}, segment by "
            "segment",
        )

    @property
    def contrasts(self) -> list[Contrast]:
        """The segments on which the closest pair differs most."""
        pair = self.closest_pair
        return self.comparison.contrasts(self.measure.name, pair.a, pair.b, count=self.segments)

    def outputs(self, contrast: Contrast) -> Iterator[tuple[str, float, Text, MarkedText]]:
        """The outputs of the closest pair for a segment: system, score, text, marked text."""
        pair = self.closest_pair
        a, b = (row.hypothesis for row in contrast.rows)
        marked = word_differences(a.text, b.text)
        yield pair.a, contrast.a, a, marked[0]
        yield pair.b, contrast.b, b, marked[1]


@dataclass(frozen=True)
class Agreement:
    """How alike the measures rank the systems, and a plot of the two that do so least."""

    taus: Table
    least: tuple[str, str, float]
    plot: Plot

    @classmethod
    def of(cls, comparison: Comparison) -> Agreement | None:
        """Compute it, if there are enough measures and systems."""
        if len(comparison.measures) < 2 or len(comparison.systems) < 3:
            return None
        scores = {
            measure.name: [measure.scores[name] for name in comparison.systems]
            for measure in comparison.measures
        }
        taus = {pair: kendall(*(scores[name] for name in pair)) for pair in combinations(scores, 2)}
        x, y = min(taus, key=lambda pair: taus[pair])
        return cls(
            Table(
                ["", *list(scores)[1:]],
                [
                    [
                        Cell(one),
                        *(Cell(taus.get((one, other)), ".2f") for other in list(scores)[1:]),
                    ]
                    for one in list(scores)[:-1]
                ],
                note="Kendall's tau over the systems: 1 is the same order, -1 the reverse.",
            ),
            (x, y, taus[x, y]),
            scatter(scores[x], scores[y], comparison.systems, x, y),
        )
