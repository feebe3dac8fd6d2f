"""The page in a browser: what a user does, and what the user then sees."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tertium import load_encoder, load_model, score
from tertium.web.app import create_app
from tertium.web.engines import Loaded

from .conftest import Running, fake_models

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip(
        "THE PAGE IS NOT TESTED: there is no Chromium (apt-get install chromium)",
        allow_module_level=True,
    )
playwright = pytest.importorskip(
    "playwright.sync_api", reason="THE PAGE IS NOT TESTED: pip install playwright"
)
expect = playwright.expect

PATIENCE = 60_000
A, B = "I see a dog.", "I see a cat."
EXAMPLES = Path(__file__).parents[2] / "examples" / "pairs.tsv"
DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  document.getElementById("drop").dispatchEvent(
    new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    encoder = load_encoder()
    running = Running(create_app(Loaded(load_model(cache=False), encoder, encoder)))
    yield running
    running.close()


@pytest.fixture
def faults() -> list[str]:
    """What the browser reports: failing scripts, violations of the content policy."""
    return []


@pytest.fixture
def open_page(
    browser: Browser, server: Running, faults: list[str]
) -> Iterator[Callable[..., Page]]:
    contexts: list[Any] = []

    def visit(fragment: str = "", **settings: Any) -> Page:
        context = browser.new_context(**settings)
        context.set_default_timeout(PATIENCE)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.address)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console",
            lambda message: faults.append(message.text) if message.type == "error" else None,
        )
        page.on(
            "request", lambda request: faults.append(request.url) if outside(request.url) else None
        )
        page.goto(f"{server.address}/{fragment}")
        expect(page.locator("#score")).to_be_enabled(timeout=PATIENCE)
        return page

    def outside(url: str) -> bool:
        return not url.startswith((server.address, "blob:"))

    yield visit
    for context in contexts:
        context.close()
    assert faults == []


def type_and_score(page: Page) -> None:
    page.get_by_label("Language of the first text").select_option("en")
    page.get_by_label("First text", exact=True).fill(A)
    page.get_by_label("Second text", exact=True).fill(B)
    page.get_by_label("Second text", exact=True).press("Control+Enter")
    expect(page.get_by_role("status")).to_contain_text("Scored by", timeout=PATIENCE)


def test_typed_texts_are_scored_and_explained(open_page: Callable[..., Page]) -> None:
    page = open_page()
    type_and_score(page)
    card = page.locator("#scores li", has_text="cross")
    expect(card.locator("data")).to_have_text(f"{score(A, B, measure='cross', lang='en'):.4f}")
    expect(card).to_contain_text("as probable from the other")
    card.get_by_role("button", name="Copy the signature of cross").click()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith("measure:cross|model:tertium-mini|")
    token = page.get_by_role("button", name="dog").first
    tip = page.locator(".tip", has_text="cat").first
    expect(tip).to_be_hidden()
    token.hover()
    expect(tip).to_be_visible()
    page.get_by_role("heading", name="Tertium").hover()
    expect(tip).to_be_hidden()
    token.focus()
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    expect(page.get_by_role("rowheader", name="cross, into en")).to_be_visible()
    expect(page.get_by_role("region", name="Cosines of tokens")).to_be_visible()
    expect(page.get_by_role("region", name="Moves between tokens")).to_be_visible()


def test_a_link_restores_the_view(open_page: Callable[..., Page]) -> None:
    page = open_page()
    type_and_score(page)
    shown = page.locator("#scores").inner_text()
    page.get_by_role("button", name="Copy a link").click()
    link = page.evaluate("() => navigator.clipboard.readText()")
    other = open_page(link.partition("/#")[2].join(["#", ""]))
    expect(other.get_by_role("status")).to_contain_text("Scored by", timeout=PATIENCE)
    assert other.get_by_label("First text", exact=True).input_value() == A
    assert other.locator("#scores").inner_text() == shown
    page.reload()
    expect(page.get_by_role("status")).to_contain_text("Scored by", timeout=PATIENCE)
    assert page.locator("#scores").inner_text() == shown


def test_without_languages_what_needs_them_is_left_out(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.get_by_label("First text", exact=True).fill(A)
    page.get_by_label("Second text", exact=True).fill(B)
    page.get_by_role("button", name="Score").click()
    status = page.get_by_role("status")
    expect(status).to_contain_text("direct, prism-ref: needs both languages", timeout=PATIENCE)
    expect(page.locator("#scores li", has_text="cross")).to_be_visible()
    expect(page.locator("#explanation")).to_contain_text("Choose both languages")


def test_a_dropped_file_is_scored_sorted_filtered_and_saved(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = open_page()
    page.get_by_role("tab", name="A file").click()
    page.evaluate(DROP, ["pairs.tsv", EXAMPLES.read_text("utf-8")])
    status = page.get_by_role("status")
    expect(status).to_have_text("23 rows scored.", timeout=PATIENCE)
    expect(page.get_by_text("23 of 23 rows")).to_be_visible()
    page.get_by_role("button", name="cross").click()
    expect(page.get_by_role("columnheader", name="cross")).to_have_attribute(
        "aria-sort", "ascending"
    )
    numbers = [float(text) for text in page.locator("td[data-name=cross]").all_inner_texts()]
    assert numbers == sorted(numbers)
    page.get_by_label("Measure to filter by").select_option("cross")
    page.get_by_label("Highest score").fill("0.5")
    page.get_by_label("Rows containing").fill("train")
    expect(page.locator("#rows tbody tr")).to_have_count(1)
    expect(page.locator("#rows tbody")).to_contain_text("Where is the train station?")
    page.get_by_label("Rows containing").fill("")
    page.get_by_label("Highest score").fill("")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as TSV").click()
    saving.value.save_as(tmp_path / "saved.tsv")
    assert saving.value.suggested_filename == "pairs.scored.tsv"
    [head, *rows] = [
        line.split("\t") for line in (tmp_path / "saved.tsv").read_text("utf-8").splitlines()
    ]
    assert head[-1] == "cut"
    assert len(rows) == 23
    worst = dict(zip(head, rows[0], strict=True))
    expected = score(
        worst["hyp"],
        worst["ref"],
        measure="cross",
        lang=worst["hyp_lang"],
        reference_lang=worst["ref_lang"],
    )
    assert float(worst["cross"]) == pytest.approx(expected, abs=1e-6)
    page.get_by_role("button", name="Explain the scores of row 22").click()
    expect(status).to_contain_text("Scored by", timeout=PATIENCE)
    assert page.get_by_label("Second text", exact=True).input_value() == "Das Fenster ist offen."


def test_a_row_that_cannot_be_scored_says_why(
    open_page: Callable[..., Page], faults: list[str]
) -> None:
    page = open_page()
    page.evaluate(DROP, ["rows.tsv", "hyp\tref\tlang\na\tb\txx\na\tb\ten\n"])
    status = page.get_by_role("status")
    expect(status).to_have_text("2 rows scored, 1 of them refused.", timeout=PATIENCE)
    expect(page.locator("#rows .error")).to_contain_text("'xx'")
    assert all("400 (Bad Request)" in fault for fault in faults)  # of the rows together, and alone
    faults.clear()


def test_a_file_that_is_no_table_is_refused(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.evaluate(DROP, ["rows.tsv", "one\nanother\n"])
    expect(page.get_by_role("status")).to_contain_text("two texts per row are needed")


def test_keys_are_enough(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.get_by_role("tab", name="Two texts").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="A file")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="A file")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    seen = []
    for _ in range(6):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("() => document.activeElement.id || document.activeElement.tagName")
        )
    assert seen == ["lang", "reference-lang", "hypothesis", "reference", "SUMMARY", "score"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_need_not_scroll_sideways(open_page: Callable[..., Page], scheme: str) -> None:
    page = open_page(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    type_and_score(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")


def test_a_token_is_asked_for_once(browser: Browser, running: Callable[..., Running]) -> None:
    server = running(create_app(fake_models(), token="0123456789abcdef", hosts=()))
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.address)
    for token in ("not this one", "0123456789abcdef"):
        page.get_by_role("textbox", name="Token").fill(token)
        page.get_by_role("button", name="Continue").click()
    expect(page.locator("#score")).to_be_enabled(timeout=PATIENCE)
    expect(page.locator("dialog")).to_be_hidden()
    expect(page.locator("#model")).to_have_text("Model: fake.")
    context.close()


def test_the_description_for_programs_is_shown(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.get_by_role("link", name="API").click()
    expect(page.get_by_role("heading", name="POST /api/score")).to_be_visible()
