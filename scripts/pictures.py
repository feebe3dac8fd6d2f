"""Take the screenshots of the documentation: the page and reports, with the bundled model.

    python scripts/pictures.py docs

It needs Chromium and the extras ``web`` and ``test``.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer
import uvicorn

from tertium import compare, load_encoder, load_model
from tertium.comparison.page import comparison_page
from tertium.explanation.report import review_page
from tertium.explanation.review import load_reviewer
from tertium.text import Text
from tertium.web.app import create_app
from tertium.web.lists import available_measures
from tertium.web.models import Loaded
from tertium.web.server import listen, server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

EXAMPLES = Path(__file__).parents[1] / "examples"
WIDTH = 1280
PAIRS = [
    ("Take 15 drops three times a day.", "en", "Prenez 50 gouttes trois fois par jour.", "fr"),
    ("I have lost my keys.", "en", "Ich habe meine Schlüssel im Garten verloren.", "de"),
    ("My sister lives in Madrid.", "en", "Mi hermana vive en Barcelona.", "es"),
    ("The shop opens at nine.", "en", "The shop closes at nine.", "en"),
]


def main(out: Path) -> None:
    """Write page.png, page-rows.png, report-spans.png and report-compare.png."""
    from playwright.sync_api import sync_playwright

    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if program is None:
        sys.exit("there is no Chromium: set CHROMIUM to its path")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        take_page(browser, out)
        take(browser, Path(folder), compared(), out / "report-compare.png", 900)
        take(browser, Path(folder), reviewed(), out / "report-spans.png", 760)
        browser.close()


def compared() -> str:
    """The report of a comparison."""
    header, *rows = [
        line.split("\t") for line in (EXAMPLES / "systems.tsv").read_text("utf-8").splitlines()
    ]
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    systems = {name: list(columns[name]) for name in ("careful", "literal", "hasty")}
    result = compare(
        systems,
        list(columns["ref"]),
        measures=["chrf", "bleu", "cross"],
        lang=list(columns["lang"]),
    )
    return comparison_page(result, segments=5)


def reviewed() -> str:
    """The report of several pairs."""
    pairs = [(Text(a, la), Text(b, lb)) for a, la, b, lb in PAIRS]
    return review_page(load_reviewer()(pairs), title="Where the texts of pairs.tsv differ")


def take_page(browser: Browser, out: Path) -> None:
    """Take the page with its first example, and with a row that is reviewed."""
    encoder = load_encoder()
    app = create_app(Loaded(load_model(cache=False), encoder, encoder))
    app.state.service.warm_up(available_measures())
    listening = listen("127.0.0.1", 0)
    running: uvicorn.Server = server(app)
    threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True).start()
    while not running.started:
        time.sleep(0.05)
    page = browser.new_page(viewport={"width": WIDTH, "height": 765})
    page.goto(f"http://127.0.0.1:{listening.getsockname()[1]}/")
    page.locator("path.band").first.wait_for(state="attached")
    page.locator("#examples button").first.click()
    shot(page, out / "page.png")
    page.get_by_role("tab", name="Many pairs").click()
    page.locator("#file-example").click()
    page.locator("#rows button[data-row]").nth(1).click()
    page.locator("#rows .judged").wait_for()
    page.evaluate("() => document.querySelector('#file-result > h2').scrollIntoView()")
    shot(page, out / "page-rows.png")
    page.close()
    running.should_exit = True


def take(browser: Browser, folder: Path, html: str, out: Path, height: int) -> None:
    """Take the beginning of a report."""
    file = folder / "report.html"
    file.write_text(html, "utf-8")
    page = browser.new_page(viewport={"width": WIDTH, "height": height})
    page.goto(file.as_uri())
    shot(page, out)
    page.close()


def shot(page: Page, out: Path) -> None:
    """Write what is on the screen."""
    page.wait_for_timeout(300)
    page.screenshot(path=out)


if __name__ == "__main__":
    typer.run(main)
