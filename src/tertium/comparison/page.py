"""A comparison as a page: rankings, pairs, plots, and the segments that differ most."""

from __future__ import annotations

from html import escape
from pathlib import Path

from tertium.comparison.result import Comparison, Contrast, MeasureComparison, Pair
from tertium.comparison.text import decimals, setup, verdict
from tertium.measures.base import CUT_REASON
from tertium.report.differences import Part, differences
from tertium.report.page import page
from tertium.report.svg import Scale, histogram, interval_axis, interval_bar, scatter, spread
from tertium.stats.correlation import kendall
from tertium.text import Text

BAR_START, BAR_END = 4.0, 96.0
"""Where the intervals begin and end, in per cent of their column."""
MOST_IN_MATRIX = 40
STYLE = Path(__file__).with_name("comparison.css")


def comparison_page(comparison: Comparison, *, segments: int) -> str:
    """Write the whole page."""
    names = ", ".join(found.name for found in comparison.measures)
    count = len(comparison.outputs.segments)
    sections = "\n".join(_measure(comparison, found, segments) for found in comparison.measures)
    verdicts = "".join(
        f'<li><a href="#{escape(found.name)}">{escape(found.name)}</a>: '
        f"{escape(verdict(comparison, found))}</li>"
        for found in comparison.measures
    )
    return page(
        f"Tertium: {len(comparison.systems)} systems compared",
        f"""<h1>Which system is better?</h1>
<p class="lead">{len(comparison.systems)} systems on {count} segments of
{escape(Path(comparison.outputs.name).name)}, by {escape(names)}. Higher is better.</p>
<ul class="verdict">{verdicts}</ul>
{sections}
{_agreement(comparison)}
<footer>{escape(setup(comparison))}</footer>""",
        style=STYLE.read_text("utf-8"),
    )


def _measure(comparison: Comparison, found: MeasureComparison, segments: int) -> str:
    a, b = comparison.closest_pair(found.name)
    cut = f"<p>{found.cut} outputs {CUT_REASON}.</p>" if found.cut else ""
    return f"""<section>
<h2 id="{escape(found.name)}">{escape(found.name)}</h2>
{cut}{_ranking(comparison, found)}
{_matrix(comparison, found)}
{_pair(comparison, found, a, b)}
{_contrasts(comparison, found, a, b, segments)}
<p class="signature">{escape(found.signature.long)}</p>
</section>"""


def _ranking(comparison: Comparison, found: MeasureComparison) -> str:
    against = comparison.against(found.name)
    ends = [end for each in found.intervals.values() for end in (each.low, each.high)]
    scale = Scale(*spread(ends), BAR_START, BAR_END)
    bodies = []
    for rank, cluster in enumerate(found.clusters, start=1):
        rows = "\n".join(_system(comparison, found, name, rank, scale) for name in cluster)
        bodies.append(f'<tbody class="{"top" if rank == 1 else ""}">{rows}</tbody>')
    return f"""<div class="wide"><table class="ranking">
<thead><tr><th>rank</th><th class="system">system</th><th>score</th><th class="plotted">
{comparison.level:.0%} interval</th><th>difference</th><th>p (bootstrap)</th>
<th>p (permutation)</th><th>wins, ties, losses</th></tr></thead>
{"".join(bodies)}
<tfoot><tr><td></td><td></td><td></td><td class="plotted">{interval_axis(scale)}</td>
<td colspan="4" class="none">against {escape(against)}</td></tr></tfoot>
</table></div>"""


def _system(
    comparison: Comparison, found: MeasureComparison, name: str, rank: int, scale: Scale
) -> str:
    digits, against = decimals(found), comparison.against(found.name)
    score, interval = found.scores[name], found.intervals[name]
    told = f"{name}: {score:.{digits}f} ({interval.low:.{digits}f} to {interval.high:.{digits}f})"
    if name == against:
        rest = '<td class="none" colspan="4"></td>'
    else:
        rest = _against(found.pair(name, against), digits, comparison.alpha)
    return (
        f'<tr><td>{rank}</td><td class="system">{escape(name)}</td><td>{score:.{digits}f}</td>'
        f'<td class="plotted">{interval_bar(score, interval.low, interval.high, scale, told)}</td>'
        f"{rest}</tr>"
    )


def _against(pair: Pair, digits: int, alpha: float) -> str:
    cells = [f"<td>{_signed(pair.difference, digits)}</td>"]
    for p in (pair.bootstrap_p, pair.permutation_p):
        cells.append(f'<td class="{"significant" if p < alpha else "none"}">{p:.3f}</td>')
    total = pair.wins + pair.ties + pair.losses
    told = f"{pair.wins} wins, {pair.ties} ties, {pair.losses} losses"
    bars = "".join(
        f'<i class="{kind}" style="width: {100 * count / total:.2f}%"></i>'
        for kind, count in (("w", pair.wins), ("t", pair.ties), ("l", pair.losses))
    )
    cells.append(f'<td><div class="share" title="{told}" aria-label="{told}">{bars}</div></td>')
    return "".join(cells)


def _matrix(comparison: Comparison, found: MeasureComparison) -> str:
    """Every system against every other, coloured where the difference is significant."""
    names = list(found.scores)
    if not 2 < len(names) <= MOST_IN_MATRIX:
        return ""
    rows = []
    for place, name in enumerate(names, start=1):
        cells = "".join(_cell(comparison, found, name, other) for other in names)
        rows.append(f'<tr><th scope="row">{escape(name)}</th><th>{place}</th>{cells}</tr>')
    heads = "".join(f"<th>{place}</th>" for place in range(1, len(names) + 1))
    return f"""<h3>Every pair</h3>
<p class="key">The system of the row is <b class="better">significantly better</b> or
<b class="worse">significantly worse</b> than that of the column; the numbers are the percentage of
segments, ties aside, that it wins.</p>
<div class="wide"><table class="matrix"><thead><tr><th></th><th></th>{heads}</tr></thead>
<tbody>{"".join(rows)}</tbody></table></div>"""


def _cell(comparison: Comparison, found: MeasureComparison, name: str, other: str) -> str:
    if name == other:
        return "<td></td>"
    pair = found.pair(name, other)
    kind = "same"
    if pair.permutation_p < comparison.alpha:
        kind = "better" if pair.difference > 0 else "worse"
    told = (
        f"{name} against {other}: {_signed(pair.difference, decimals(found))}, "
        f"p = {pair.permutation_p:.3f}; {pair.wins} wins, {pair.ties} ties, {pair.losses} losses"
    )
    decided = pair.wins + pair.losses
    share = f"{100 * pair.wins / decided:.0f}" if decided else "–"
    return f'<td class="{kind}" title="{escape(told)}">{share}</td>'


def _pair(comparison: Comparison, found: MeasureComparison, a: str, b: str) -> str:
    pair, digits = found.pair(a, b), decimals(found)
    systems, scores = comparison.systems, found.segment_scores
    differences = scores[systems.index(a)] - scores[systems.index(b)]
    return f"""<h3>{escape(a)} and {escape(b)}, segment by segment</h3>
<p>{escape(a)} scores higher on {pair.wins} segments, {escape(b)} on {pair.losses}; {pair.ties} are
ties. The system scores differ by {_signed(pair.difference, digits)}
({comparison.level:.0%} interval {_signed(pair.interval.low, digits)} to
{_signed(pair.interval.high, digits)}).</p>
{histogram(differences, below=f"{b} is better", above=f"{a} is better")}"""


def _contrasts(comparison: Comparison, found: MeasureComparison, a: str, b: str, count: int) -> str:
    contrasts = comparison.contrasts(found.name, a, b, count=count)
    if not contrasts:
        return ""
    shown = "\n".join(_contrast(comparison, each, (a, b), decimals(found)) for each in contrasts)
    return f"""<details open><summary><b>Where they differ most</b></summary>
{shown}
</details>"""


def _contrast(
    comparison: Comparison, contrast: Contrast, names: tuple[str, str], digits: int
) -> str:
    segment = contrast.segment
    lines = []
    if segment.source is not None:
        lines.append(f"<p><span>source</span> {_text(segment.source)}</p>")
    lines += [f"<p><span>reference</span> {_text(text)}</p>" for text in segment.references]
    outputs = [segment.outputs[comparison.systems.index(name)] for name in names]
    parts = differences(outputs[0].text, outputs[1].text)
    sides = zip("ab", names, outputs, parts, (contrast.a, contrast.b), strict=True)
    for side, name, output, marked, score in sides:
        lines.append(
            f'<p class="{side}"><span><b>{score:.{digits}f}</b> {escape(name)}</span> '
            f"{_marked(output, marked)}</p>"
        )
    return (
        f'<article class="contrast"><header>segment {segment.number}</header>'
        f"{''.join(lines)}</article>"
    )


def _text(text: Text) -> str:
    return f'<bdi lang="{escape(text.lang or "")}">{escape(text.text)}</bdi>'


def _marked(text: Text, parts: list[Part]) -> str:
    inner = "".join(
        f"<mark>{escape(part)}</mark>" if differs else escape(part) for part, differs in parts
    )
    return f'<bdi lang="{escape(text.lang or "")}">{inner or "<i>(empty)</i>"}</bdi>'


def _agreement(comparison: Comparison) -> str:
    """Whether the first two measures order the systems alike."""
    if len(comparison.measures) < 2 or len(comparison.systems) < 3:
        return ""
    first, second = comparison.measures[:2]
    x = [first.scores[name] for name in comparison.systems]
    y = [second.scores[name] for name in comparison.systems]
    tau = kendall(x, y)
    return f"""<h2>Do the measures agree?</h2>
<p>Kendall's tau between {escape(first.name)} and {escape(second.name)}, over the systems:
{tau:.2f}.</p>
{scatter(x, y, comparison.systems, first.name, second.name)}"""


def _signed(value: float, digits: int) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")
