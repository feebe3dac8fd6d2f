"""Pages escape what they show and load nothing; charts put things where the numbers are."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from tertium.report.page import environment, render, render_page
from tertium.report.style import shade
from tertium.report.svg import Plot, histogram, scatter

HOSTILE = "<script>x</script> \"'&"
BASE = "report/templates/base.html"
SVG = '{% import "report/templates/svg.html" as svg %}{{ svg.plot(plot) }}'


def drawn(plot: Plot) -> ET.Element:
    return ET.fromstring(environment().from_string(SVG).render(plot=plot))


def test_a_page_has_its_body_and_a_policy() -> None:
    body = Markup("<p>body</p>")
    made = render_page(BASE, HOSTILE, style="p { color: red; }", body=body)
    assert "<p>body</p>" in made
    assert "p { color: red; }" in made
    assert "<script" not in made
    assert "default-src 'none'; style-src 'unsafe-inline'\">" in made
    assert "img-src data:" in render_page(BASE, "title", pictures=True, body="")


def test_a_template_must_have_its_values() -> None:
    with pytest.raises(UndefinedError, match="body"):
        render(BASE, title="", style="", pictures=False)


def test_values_are_escaped_and_markup_is_not() -> None:
    made = environment().from_string("{{ text }}{{ markup }}")
    inner = render(BASE, title=HOSTILE, style="", pictures=False, body="")
    assert made.render(text=HOSTILE, markup=inner).count("<script") == 0
    assert "<title>" in made.render(text="", markup=inner)


def test_a_histogram_has_a_bar_for_each_filled_bin() -> None:
    # Nine values: 2 * 3 bins of width 1, from -3 to 3; ties have a bar of their own.
    values = np.array([-3.0, -3.0, 0.0, 0.0, 0.1, 1.0, 3.0, 3.0, 3.0])
    plot = histogram(values, below=HOSTILE, above="b", description="differences")
    assert [bar.css_class for bar in plot.bars] == ["below", "above", "above", "above", "even"]
    assert [bar.title.split(": ")[1] for bar in plot.bars] == [
        "2 segments",
        "1 segment",
        "1 segment",
        "3 segments",
        "2 segments",
    ]
    assert [bar.y for bar in plot.bars][3] == plot.top  # the most frequent reach the top
    root = drawn(plot)
    assert len(root.findall("svg/rect")) == 5
    assert f"← {HOSTILE}" in [text.text for text in root.findall("svg/text")]


def test_a_scatter_plot_names_only_what_has_space() -> None:
    plot = scatter([0, 0, 10], [0, 0, 10], ["a" * 20, "a" * 20, HOSTILE], "x", "y")
    root = drawn(plot)
    assert len(root.findall("svg/circle")) == 3
    assert len({point.title for point in plot.points}) == 2
    boxes = [(label.x, label.y) for label in plot.labels]
    assert len(boxes) == len(set(boxes))
    assert HOSTILE in [text.text for text in root.findall("svg/text")]


def test_the_lightness_of_probabilities_falls() -> None:
    """Light blue to dark orange: also without colours, the worse is the darker."""
    lightness = [
        0.2126 * red + 0.7152 * green + 0.0722 * blue
        for red, green, blue in (shade(-0.5 * step) for step in range(17))
    ]
    assert lightness == sorted(lightness, reverse=True)
    assert len(set(lightness)) == 17
