"""Pages of HTML that need nothing but themselves; here, an explanation."""

from __future__ import annotations

from html import escape

from tertium.report.explanation import Direction, Explanation
from tertium.report.shades import shade, visible

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
.tokens { display: flex; flex-wrap: wrap; gap: .35rem; padding: 0; list-style: none; }
.tokens li { border-radius: .35rem; padding: .15rem .5rem; color: #fff; text-align: center; }
.tokens small { display: block; font-size: .75rem; opacity: .9; }
.sums, .rather { font-size: .9rem; } dt { font-weight: 600; float: left; margin-right: .5rem; }
footer { margin-top: 2rem; font-size: .85rem; opacity: .75; }
"""


def page(title: str, body: str, *, style: str = "", pictures: bool = False) -> str:
    """Put a body into a page that loads nothing and runs nothing.

    ``pictures`` says whether images that are written out in the page itself may be shown.
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'" + "; img-src data:" * pictures
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape(title)}</title>
<style>{STYLE}{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def explanation_page(explanation: Explanation) -> str:
    """Write the whole page."""
    first, second = explanation.directions
    return page(
        "Tertium: why this score",
        f"""<h1>How probable is each text, given the other?</h1>
{_direction(first)}
{_direction(second)}
<dl>
<dt>prism-ref</dt><dd>{explanation.prism_ref:.4f}, the mean of both H; 0 is best</dd>
<dt>direct</dt><dd>{explanation.direct:.4f}, relative to an identical text, which has 1</dd>
</dl>
<footer>Each token stands over its natural-log probability, given the other text and the tokens
before it: green is expected, red is a surprise. Model: {escape(explanation.model)}.</footer>""",
    )


def _direction(direction: Direction) -> str:
    scores = direction.scores
    tokens = "\n".join(
        _token(token, log_prob)
        for token, log_prob in zip(scores.tokens, scores.log_probs, strict=True)
    )
    rather = "\n".join(
        f"<li>instead of <b>{escape(visible(scores.tokens[place]))}</b>: "
        + ", ".join(f"{escape(visible(each.token))} ({each.log_prob:.2f})" for each in alternatives)
        + "</li>"
        for place, alternatives in direction.alternatives.items()
    )
    cut = " It was too long for the model: only its beginning counts." if scores.cut else ""
    return f"""<section>
<h2>Given <q lang="{escape(direction.source.lang or "")}" dir="auto">{
        escape(direction.source.text)
    }</q></h2>
<ol class="tokens" lang="{escape(direction.target.lang or "")}">
{tokens}
</ol>
<p class="sums">H = {scores.H:.4f}, G = {scores.G:.2f}, {len(scores.tokens)} tokens.{cut}</p>
<ul class="rather">{rather}</ul>
</section>"""


def _token(token: str, log_prob: float) -> str:
    red, green, blue = shade(log_prob)
    return (
        f'<li style="background: rgb({red} {green} {blue})">'
        f"<bdi>{escape(visible(token))}</bdi><small>{log_prob:.2f}</small></li>"
    )
