"""Self-contained HTML pages, rendered from Jinja2 templates."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tertium.report.style import display_token, heat_class, shade_class, style_sheet

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

PACKAGE = Path(__file__).parents[1]
"""Templates are named by their path from here, for example ``report/templates/base.html``."""
BASE = "report/templates/base.html"


def fixed(value: float, digits: int) -> str:
    """Format a number with a fixed number of decimals.

    >>> fixed(-1.0, 2)
    '-1.00'
    """
    return f"{value:.{digits}f}"


def signed(value: float, digits: int) -> str:
    """Format a difference, with a plus or a minus sign.

    >>> signed(1.0, 2), signed(-0.5, 1)
    ('+1.00', '−0.5')
    """
    return f"{value:+.{digits}f}".replace("-", "−")


@cache
def environment() -> Environment:
    """Return the one environment of all templates; it escapes every value that is not markup."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        fixed=fixed,
        signed=signed,
        display_token=display_token,
        shade_class=shade_class,
        heat_class=heat_class,
    )
    return made


def render(template: str, **values: object) -> Markup:
    """Render a template as markup, which other templates do not escape again."""
    from markupsafe import Markup

    return Markup(environment().get_template(template).render(**values))


def render_page(
    template: str, title: str, *, style: str = "", pictures: bool = False, **values: object
) -> str:
    """Render a template that extends the base template: a page that loads and runs nothing.

    ``pictures`` allows images that are embedded in the page itself.
    """
    from markupsafe import Markup

    return render(
        template, title=title, style=Markup(style_sheet() + style), pictures=pictures, **values
    )


def page(title: str, body: str, *, style: str = "", pictures: bool = False) -> str:
    """Put a body of HTML, with its texts escaped, into the base template.

    >>> "<title>a &amp; b</title>" in page("a & b", "<p>c</p>")
    True
    """
    from markupsafe import Markup

    return render_page(BASE, title, style=style, pictures=pictures, body=Markup(body))
