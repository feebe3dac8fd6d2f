"""axe-core finds nothing on the page, on the documentation and on the reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from tertium import compare
from tertium.comparison.page import comparison_page
from tertium.data.datasets.isometry import read_predictions
from tertium.explanation.explain import explain
from tertium.explanation.page import explanation_page
from tertium.explanation.report import review_page
from tertium.explanation.review import load_reviewer
from tertium.measures.loading import MeasureSpec
from tertium.studies.isometry.report import analyse
from tertium.text import Text

from .conftest import NO_PLAYWRIGHT
from .test_page import EXAMPLES, choose_measures, expect, score_file, type_and_score

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason=NO_PLAYWRIGHT)

Open = Callable[..., "Page"]
SCREENS = [(1280, "light"), (390, "dark")]


def check(page: Page) -> None:
    violations = axe.Axe().run(page).response["violations"]
    nodes = [(each["id"], node["html"]) for each in violations for node in each["nodes"]]
    assert nodes == []


@pytest.fixture(params=SCREENS, ids=lambda screen: f"{screen[0]}-{screen[1]}")
def screen(request: pytest.FixtureRequest) -> dict[str, Any]:
    width, scheme = request.param
    return {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}


def test_two_texts(open_page: Open, screen: dict[str, Any]) -> None:
    page = open_page(**screen)
    page.locator(".judged").wait_for()
    check(page)
    type_and_score(page, "I have lost my keys.", "Ich habe meine Schlüssel im Garten verloren.")
    page.locator(".mark.omission").first.wait_for()
    page.get_by_role("button", name="Show tokens").click()
    page.locator(".alignment").first.wait_for()
    page.evaluate("() => document.querySelectorAll('details').forEach((each) => each.open = true)")
    check(page)


def test_a_file(open_page: Open, screen: dict[str, Any]) -> None:
    page = open_page(**screen)
    score_file(page, "pairs.tsv", EXAMPLES.read_bytes())
    page.get_by_text("Read it differently").click()
    page.get_by_role("button", name="Review row 21").click()
    page.locator("#rows .judged").wait_for()
    check(page)


def test_systems(open_page: Open, screen: dict[str, Any]) -> None:
    page = open_page(**screen)
    page.get_by_role("tab", name="Systems").click()
    check(page)
    page.locator("#systems-table").set_input_files(EXAMPLES.with_name("systems.tsv"))
    choose_measures(page, "chrf", "bleu")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("status")).to_contain_text("The comparison is done.")
    check(page)


def test_the_documentation(open_page: Open, screen: dict[str, Any]) -> None:
    page = open_page("docs", **screen)
    for summary in page.locator("summary:visible").all():
        summary.click()
    check(page)


def comparison() -> str:
    outputs = {
        "one": ["The cat sat.", "It rains each day.", "Where is it?"] * 4,
        "two": ["A dog sat.", "It rains.", "Where is he?"] * 4,
        "three": ["No.", "Rain.", "Where?"] * 4,
    }
    references = ["The cat sat.", "It rains every day.", "Where is it?"] * 4
    return comparison_page(compare(outputs, references, measures=["chrf", "bleu"]), segments=4)


def review() -> str:
    pairs = [
        (Text("I saw 12 big brown dogs.", "en"), Text("I saw a dog in the garden.", "en")),
        (
            Text("I have lost my keys.", "en"),
            Text("Ich habe meine Schlüssel im Garten verloren.", "de"),
        ),
        (Text("It rains.", "en"), Text("It rains.", "en")),
    ]
    return review_page(load_reviewer("coverage,differences,flags,unlikely")(pairs), title="Spans")


def explanation() -> str:
    return explanation_page(explain("I see a dog.", "I see a cat.", lang="en"))


def study() -> str:
    folder = EXAMPLES.parent / "isometry"
    predictions = [
        read_predictions(folder / f"{name}.json", model=name, dataset="news")
        for name in ("careful", "careless")
    ]
    report = analyse(predictions, [MeasureSpec("chrf")], samples=20).report(["made by a test"])
    with TemporaryDirectory() as folder_of_figures:
        return report.page(report.draw(Path(folder_of_figures)))


REPORTS = {"compare": comparison, "spans": review, "explain": explanation, "study": study}


@pytest.mark.parametrize("name", REPORTS)
def test_reports(browser: Browser, screen: dict[str, Any], name: str, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(REPORTS[name](), "utf-8")
    context = browser.new_context(**screen)
    page = context.new_page()
    page.goto(file.as_uri())
    expect(page.locator("main")).to_have_count(1)
    check(page)
    width = page.evaluate("() => innerWidth")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    context.close()


def test_no_column_is_cut_in_print(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(comparison(), "utf-8")
    context = browser.new_context(viewport={"width": 718, "height": 1000})  # A4 without margins
    page = context.new_page()
    page.goto(file.as_uri())
    page.emulate_media(media="print")
    edges = page.evaluate(
        "() => [...document.querySelectorAll('table, svg.plot')]"
        ".map((each) => each.getBoundingClientRect().right)"
    )
    assert max(edges) <= 718
    context.close()


def test_evidence_of_spans_is_shown_when_pointed_at(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(review(), "utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.goto(file.as_uri())
    expect(page.locator(".evidence").first).to_be_hidden()
    page.locator(".mark").first.hover()
    expect(page.locator(".evidence").first).to_be_visible()
    context.close()
