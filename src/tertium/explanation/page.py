"""An explanation as HTML: the same for a page that is a file and for one that is served."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tertium.explanation.intermediates import Intermediate
from tertium.explanation.tokens import WORST_PLACES, Direction, Explanation
from tertium.models.base import Alternative
from tertium.report.page import page
from tertium.report.shades import visible
from tertium.report.style import shade_class


def explanation_page(explanation: Explanation) -> str:
    """Write the whole page."""
    return page(
        "Tertium: why this score",
        f"""<h1>How probable is each text, given the other?</h1>
{directions(explanation, heading="h2")}
<dl>
<dt>prism-ref</dt><dd>{explanation.prism_ref:.4f}, the mean of both H; 0 is best</dd>
<dt>direct</dt><dd>{explanation.direct:.4f}, relative to an identical text, which has 1</dd>
</dl>
<footer>{KEY} Model: {escape(explanation.model)}.</footer>""",
    )


KEY = """Each token stands over its natural-log probability, given the other text and the tokens
before it: green is expected, red is a surprise."""


def directions(explanation: Explanation, *, heading: str) -> str:
    """Both texts as heat maps, each given the other (Prism, table 1)."""
    first, second = explanation.directions
    return f"{_direction(first, 'a', heading)}\n{_direction(second, 'b', heading)}"


def translations(found: Sequence[Intermediate]) -> str:
    """By way of which translations cross and pivot compare."""
    rows = "\n".join(
        f'<tr><th scope="row">{each.measure}, into {escape(each.lang)}</th>'
        f"<td>{_text(each.hypothesis, each.lang)}</td><td>{_text(each.reference, each.lang)}</td>"
        "</tr>"
        for each in found
    )
    return f"""<div class="wide"><table class="translations">
<thead><tr><th scope="col">measure</th><th scope="col">first text</th>
<th scope="col">second text</th></tr></thead>
<tbody>
{rows}
</tbody></table></div>"""


def _direction(direction: Direction, side: str, heading: str) -> str:
    scores = direction.scores
    tokens = "\n".join(
        _token(token, log_prob, direction.alternatives.get(place, []), f"tip-{side}-{place}")
        for place, (token, log_prob) in enumerate(zip(scores.tokens, scores.log_probs, strict=True))
    )
    worst = sorted(direction.alternatives, key=scores.log_probs.__getitem__)[:WORST_PLACES]
    rather = "\n".join(
        f"<li>instead of <b>{escape(visible(scores.tokens[place]))}</b>: "
        f"{_preferred(direction.alternatives[place])}</li>"
        for place in sorted(worst)
    )
    cut = " It was too long for the model: only its beginning counts." if scores.cut else ""
    return f"""<section>
<{heading}>Given {_text(direction.source.text, direction.source.lang, "q")}</{heading}>
<ol class="tokens" lang="{escape(direction.target.lang or "")}">
{tokens}
</ol>
<p class="sums">H = {scores.H:.4f}, G = {scores.G:.2f}, {len(scores.tokens)} tokens.{cut}</p>
<ul class="rather">{rather}</ul>
</section>"""


def _token(token: str, log_prob: float, alternatives: Sequence[Alternative], tip: str) -> str:
    """A token; what would rather have been said shows when it is pointed at or has the focus."""
    inner = f"<bdi>{escape(visible(token))}</bdi><small>{log_prob:.2f}</small>"
    if not alternatives:
        return f'<li class="{shade_class(log_prob)}"><span class="token">{inner}</span></li>'
    return (
        f'<li class="{shade_class(log_prob)}">'
        f'<button type="button" class="token" aria-describedby="{tip}">{inner}</button>'
        f'<span class="tip" role="tooltip" id="{tip}" lang="en">rather: '
        f"{_preferred(alternatives)}</span></li>"
    )


def _preferred(alternatives: Sequence[Alternative]) -> str:
    return ", ".join(
        f"<bdi>{escape(visible(each.token))}</bdi> ({each.log_prob:.2f})" for each in alternatives
    )


def _text(text: str, lang: str | None, tag: str = "span") -> str:
    return f'<{tag} lang="{escape(lang or "")}" dir="auto">{escape(text)}</{tag}>'
