"""The page in a browser: what a user does, and what the user then sees."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tertium import compare, score
from tertium.web import app
from tertium.web.app import create_app

from .conftest import NO_PLAYWRIGHT, PATIENCE, Running, fake_models

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

playwright = pytest.importorskip("playwright.sync_api", reason=NO_PLAYWRIGHT)
expect = playwright.expect
expect.set_options(timeout=PATIENCE)

Open = Callable[..., "Page"]
A, B = "I see a dog.", "I see a cat."
EXAMPLES = Path(__file__).parents[2] / "examples" / "pairs.tsv"
SHOWN = """(texts) => ["a", "b"].every((side, place) => {
  const copy = document.querySelector(`#verdict .side-${side} .linked`)?.cloneNode(true);
  copy?.querySelectorAll(".tip").forEach((tip) => tip.remove());
  return copy?.textContent === texts[place];
})"""
STATIC = Path(app.__file__).with_name("static")
DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  document.getElementById("drop").dispatchEvent(
    new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def fill(page: Page, a: str = A, b: str = B) -> None:
    page.get_by_label("First text", exact=True).fill(a)
    page.get_by_label("Second text", exact=True).fill(b)


def type_and_compare(page: Page, a: str = A, b: str = B) -> None:
    fill(page, a, b)
    page.get_by_label("Second text", exact=True).press("Control+Enter")
    page.wait_for_function(SHOWN, arg=[a, b])
    expect(page.get_by_role("status")).to_contain_text(re.compile("Compared in|Scored by"))


def type_and_score(page: Page, a: str = A, b: str = B) -> None:
    if page.locator("#scored").get_attribute("open") is None:
        page.locator("#pair-result:visible").wait_for()  # of the example
        page.locator("#scored > summary").click()
    fill(page, a, b)
    page.get_by_label("Second text", exact=True).press("Control+Enter")
    expect(page.get_by_role("status")).to_contain_text("Compared in")
    expect(page.get_by_role("status")).to_contain_text("Scored by")


def choose_measures(page: Page, *names: str) -> None:
    page.locator("#choice summary").click()
    for box in page.locator("#measures input").all():
        box.set_checked(box.get_attribute("value") in names)


def open_file(page: Page, name: str, content: bytes) -> None:
    page.get_by_role("tab", name="Many pairs").click()
    page.locator("#file").set_input_files({"name": name, "mimeType": "", "buffer": content})


def score_file(page: Page, name: str, content: bytes) -> None:
    open_file(page, name, content)
    expect(page.get_by_role("status")).to_contain_text("how the rows were read")
    page.locator("#score").click()
    expect(page.get_by_role("status")).to_contain_text("scored")


def test_a_visitor_sees_at_once_what_the_page_does(open_page: Open) -> None:
    page = open_page()
    expect(page.locator(".judged")).to_have_attribute("data-level", "different")
    expect(page.locator(".judged .sentence")).to_contain_text("is missing in the first text")
    expect(page.get_by_role("img", name="on a scale from 0, an error, to 100")).to_be_visible()
    expect(page.locator("path.band.same").first).to_be_attached()


def test_the_verdict_follows_the_keys(open_page: Open) -> None:
    page = open_page()
    page.locator(".judged").wait_for()
    page.get_by_label("First text", exact=True).fill("She was born in 1985.")
    page.get_by_label("Second text", exact=True).fill("She was born in 1958.")
    sentence = page.locator(".judged .sentence")
    expect(sentence).to_contain_text("Probably not the same: the number differs (1985 / 1958).")
    expect(page.locator("path.band.differs")).to_have_count(1)
    assert "#a=" not in page.url  # only what was asked for is in the history
    page.get_by_label("Second text", exact=True).fill("She was born in 1985.")
    expect(sentence).to_contain_text("The texts are identical.")
    expect(page.locator(".mark:not(.sample)")).to_have_count(0)
    page.get_by_label("Second text", exact=True).fill("")
    expect(page.locator("#pair-result")).to_be_hidden()


def test_typed_texts_are_scored_with_their_languages_identified(open_page: Open) -> None:
    page = open_page()
    type_and_score(page)
    expect(page.locator("#lang option:checked")).to_have_text("English (identified)")
    card = page.locator("#scores li", has_text="cross")
    expect(card.locator("data")).to_have_text(f"{score(A, B, measure='cross', lang='en'):.2f}")
    expect(card).to_contain_text("as probable from the other")
    expect(card).to_contain_text(re.compile(r"unrelated 0\.\d\d"))  # the reference scale
    labels = card.locator(".bar > small").all_inner_texts()
    values = [float(text.rsplit(" ", 1)[1]) for text in labels]
    assert values == sorted(values)
    card.get_by_text("Signature").click()
    card.get_by_role("button", name="Copy the signature of cross").click()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith("measure:cross|model:tertium-mini|")


def test_a_language_can_be_changed(open_page: Open) -> None:
    page = open_page()
    page.locator("#pair-result:visible").wait_for()
    page.locator("#scored > summary").click()
    fill(page)
    page.get_by_label("Language of the first text", exact=True).select_option("de")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("status")).to_contain_text("Scored by")
    expected = score(A, B, measure="direct", lang="de", reference_lang="en")
    expect(page.locator("#scores data").first).to_have_text(f"{expected:.2f}")


def test_marks_say_why_when_pointed_at_or_focused(open_page: Open) -> None:
    page = open_page()
    type_and_compare(page, "The shop opens at nine.", "The shop closes at nine.")
    mark = page.locator(".side-a .mark", has_text="opens")
    tip = page.locator(".side-a .tip")
    expect(tip).to_be_hidden()
    mark.hover()
    expect(tip).to_be_visible()
    expect(tip).to_have_text("“opens” and “closes” are opposites.")
    expect(page.locator("path.band.differs")).to_have_class(re.compile("active"))
    page.get_by_role("heading", name="Tertium").hover()
    expect(tip).to_be_hidden()
    mark.focus()
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_a_tip_stays_on_the_screen(open_page: Open) -> None:
    page = open_page(viewport={"width": 700, "height": 500})
    text = "We were told by the people next door that the old bridge was built in"
    type_and_compare(page, f"{text} 1931.", f"{text} 1913.")
    for mark in page.locator(".mark:not(.sample)").all():
        mark.focus()
        box = page.locator(".tip:visible").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 700


def test_the_key_has_only_what_is_drawn(open_page: Open) -> None:
    page = open_page()
    type_and_compare(page, "She was born in 1985.", "She was born in 1958.")
    expect(page.locator(".kinds li")).to_have_text(["abc matches", "abc differs"])
    type_and_compare(page, "It rains.", "It rains.")
    expect(page.locator(".kinds li")).to_have_text(["abc matches"])


def test_texts_are_shown_as_they_are(open_page: Open) -> None:
    page = open_page()
    a, b = "Ich 👍 sehe 12 Hunde <b>.", "I 👍 see 21 dogs <b>."
    type_and_compare(page, a, b)
    expect(page.locator(".judged .sentence")).to_contain_text("12 / 21")


def test_nothing_is_called_the_same_that_was_not_judged(open_page: Open) -> None:
    page = open_page()
    type_and_compare(page, "The cat chased the dog yesterday.", "The dog chased the cat yesterday.")
    expect(page.locator(".judged")).to_have_attribute("data-level", "unsure")
    expect(page.locator(".judged .sentence")).to_contain_text("in another order")


def test_on_a_phone_the_verdict_is_scrolled_to(open_page: Open) -> None:
    page = open_page(viewport={"width": 390, "height": 500})
    page.get_by_role("button", name="A wrong number").click()
    expect(page.locator(".judged .sentence")).to_contain_text("number differs")
    expect(page.locator(".judged .sentence")).to_be_in_viewport()


def test_tokens_are_shown_on_demand(open_page: Open) -> None:
    page = open_page()
    type_and_compare(page)
    expect(page.locator(".tokens")).to_have_count(0)
    page.get_by_role("button", name="Show tokens").click()
    token = page.locator("#tokens").get_by_role("button", name="dog").first
    tip = page.locator("#tokens .tip", has_text="cat").first
    expect(tip).to_be_hidden()
    token.focus()
    expect(tip).to_be_visible()
    expect(page.get_by_role("rowheader", name="cross, into en")).to_be_visible()
    expect(page.get_by_role("region", name="Cosines of tokens")).to_be_visible()
    expect(page.get_by_role("region", name="Moves between tokens")).to_be_visible()


def test_a_link_restores_the_view(open_page: Open) -> None:
    page = open_page()
    type_and_compare(page)
    shown = page.locator(".judged").inner_text()
    page.get_by_role("button", name="Copy a link").click()
    link = page.evaluate("() => navigator.clipboard.readText()")
    other = open_page(link.partition("/#")[2].join(["#", ""]))
    expect(other.get_by_role("status")).to_contain_text("Compared in")
    assert other.get_by_label("First text", exact=True).input_value() == A
    assert other.locator(".judged").inner_text() == shown
    page.reload()
    expect(page.get_by_role("status")).to_contain_text("Compared in")
    assert page.locator(".judged").inner_text() == shown


def test_an_unknown_language_in_a_link_is_reported(open_page: Open) -> None:
    page = open_page("#a=I+see+a+dog.&b=I+see+a+cat.&la=tlh&lb=en&m=chrf")
    expect(page.get_by_role("status")).to_contain_text("language that the model does not have: tlh")
    expect(page.locator("#lang option:checked")).to_have_text("English (identified)")


def test_settings_source_and_further_references(open_page: Open) -> None:
    page = open_page()
    choose_measures(page, "cross", "chrf", "chrf++", "prism-src")
    page.get_by_text("Settings: the usual ones").click()
    page.get_by_label("target lang").select_option("fr")
    page.get_by_label("char order").fill("4")
    page.get_by_text("A source, or further references").click()
    page.get_by_label("Source", exact=True).fill("Ich sehe einen Hund.")
    page.get_by_label("Further references").fill("I can see a dog.\nThere is a dog.")
    type_and_score(page)
    signatures = page.locator("#scores .signature").all_text_contents()
    assert any("measure:cross|" in each and "target_lang:fr" in each for each in signatures)
    assert any("nc:4|nw:2" in each and "nrefs:3" in each for each in signatures)  # chrF++
    assert any("nc:4|nw:0" in each for each in signatures)
    assert any("source_lang:de" in each for each in signatures)
    page.reload()  # the link holds all of it
    page.locator("#pair-result:visible").wait_for()
    page.locator("#scored > summary").click()
    expect(page.get_by_role("status")).to_contain_text("Scored by")
    assert page.locator("#scores .signature").all_text_contents() == signatures


def test_texts_in_unknown_languages_leave_out_what_needs_them(open_page: Open) -> None:
    page = open_page()
    page.locator("#pair-result:visible").wait_for()
    page.locator("#scored > summary").click()
    fill(page, "qqq", "zzz")
    page.get_by_role("button", name="Compare").click()
    status = page.get_by_role("status")
    expect(status).to_contain_text("Left out: direct, prism-ref need both languages")
    expect(page.locator("#scores li", has_text="cross")).to_be_visible()
    expect(page.locator(".judged")).to_have_attribute("data-level", "unsure")
    expect(page.locator(".judged .scale")).to_have_count(0)  # nothing was learned for these


def test_nothing_misleading_is_shown(open_page: Open) -> None:
    page = open_page()
    expect(page.locator("#model")).to_contain_text("English, French, German, Spanish")
    expect(page.locator("#model")).to_contain_text("small")
    type_and_score(page, "أين تقع محطة القطار من فضلك؟", "<b>Where</b> is it?")
    expect(page.locator("#cautions")).to_contain_text("the scores say nothing")
    expect(page.locator("#scores .track")).to_have_count(0)
    assert page.locator(".judged").get_attribute("data-level") != "same"
    page.get_by_label("First text", exact=True).fill("")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("status")).to_contain_text("Type two texts")
    expect(page.locator("#pair-result")).to_be_hidden()


def test_the_examples_tell_the_truth(open_page: Open) -> None:
    """The verdict on each is what a reader sees; the expected levels are in examples.js."""
    page = open_page()
    source = (STATIC / "examples.js").read_text("utf-8")
    examples = re.findall(r'"([^"]+)": \{\s+a: "([^"]+)".*?level: "(\w+)"', source, re.DOTALL)
    examples += re.findall(r'"([^"]+)": \{ a: "([^"]+)".*?level: "(\w+)"', source)
    buttons = page.locator("#examples button")
    assert {name for name, *_ in examples} == set(buttons.all_inner_texts())
    assert {level for *_, level in examples} == {"same", "unsure", "different"}
    for name, text, level in examples:
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator(".side-a .linked")).to_contain_text(text[:8])
        expect(page.locator(".judged")).to_have_attribute("data-level", level)


def test_without_a_measure_there_is_a_verdict(open_page: Open) -> None:
    page = open_page()
    choose_measures(page)
    type_and_compare(page)
    page.locator("#scored > summary").click()
    expect(page.get_by_role("status")).to_have_text("Choose a measure.")
    page.locator("#measures input[value=chrf]").check()
    expect(page.locator("#scores li")).to_have_count(1)
    page.locator("#scored > summary").click()
    page.locator("#measures input[value=bleu]").check()
    page.locator("#scored > summary").click()
    expect(page.locator("#scores li")).to_have_count(2)


def test_measures_are_in_plain_words(open_page: Open) -> None:
    page = open_page()
    page.locator("#choice summary").click()
    label = page.locator("#measures label", has_text="cross")
    expect(label).to_contain_text("How well a translation of one text would do")
    expect(label).to_contain_text("Range: 0 to about 1.")


def test_a_file_is_scored_sorted_filtered_and_saved(open_page: Open, tmp_path: Path) -> None:
    page = open_page()
    page.evaluate(DROP, ["pairs.tsv", EXAMPLES.read_text("utf-8")])
    expect(page.locator("#read")).to_contain_text("read as TSV with a header: 23 rows")
    expect(page.locator("#preview-rows tr")).to_have_count(5)
    page.get_by_role("button", name="Score 23 pairs").click()
    status = page.get_by_role("status")
    expect(status).to_contain_text("23 rows scored.")
    page.get_by_role("button", name="cross", exact=True).click()
    expect(page.get_by_role("columnheader", name="cross")).to_have_attribute(
        "aria-sort", "ascending"
    )
    numbers = [float(text) for text in page.locator("td[data-name=cross]").all_inner_texts()]
    assert numbers == sorted(numbers)
    corpus = page.locator("#corpus li", has_text="cross")
    shown = float(corpus.locator("data").inner_text())
    assert shown == pytest.approx(sum(numbers) / len(numbers), abs=0.01)  # two decimals
    expect(corpus.locator(".signature")).to_contain_text("measure:cross|model:tertium-mini")
    expect(corpus.get_by_role("img", name="Distribution of cross over 23 rows")).to_be_visible()
    page.get_by_label("Measure to filter by").select_option("cross")
    page.get_by_label("Highest score").fill("0.5")
    page.get_by_label("Rows containing").fill("train")
    expect(page.locator("#rows tbody tr")).to_have_count(1)
    expect(page.locator("#count")).to_have_text("1 of 23 rows match the filter")
    page.get_by_label("Rows containing").fill("")
    page.get_by_label("Highest score").fill("")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as TSV").click()
    saving.value.save_as(tmp_path / "saved.tsv")
    assert saving.value.suggested_filename == "pairs.scored.tsv"
    [head, *rows] = [
        line.split("\t") for line in (tmp_path / "saved.tsv").read_text("utf-8").splitlines()
    ]
    assert head[-3:] == ["cut", "marks", "error"]
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


def test_rows_are_reviewed_in_place_the_worst_first(open_page: Open) -> None:
    page = open_page()
    score_file(page, "pairs.tsv", EXAMPLES.read_bytes())
    numbers = [float(text) for text in page.locator("td[data-name=direct]").all_inner_texts()]
    assert numbers == sorted(numbers)
    classes = page.locator("td[data-name=direct]").evaluate_all(
        "(each) => each.map((td) => td.className)"
    )
    shades = [int(name.rsplit("-", 1)[1]) for name in classes]
    assert shades == sorted(shades, reverse=True)
    page.get_by_role("button", name="Review row 21").click()
    detail = page.locator("#rows tr.detail")
    expect(detail.locator(".judged .sentence")).to_contain_text("Madrid / Barcelona")
    expect(page.get_by_role("button", name="Close row 21")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(detail.locator(".judged")).to_have_count(1)
    expect(page.get_by_role("button", name="Close row 21")).to_have_count(0)
    page.keyboard.press("k")
    expect(detail.locator(".judged .sentence")).to_contain_text("Madrid / Barcelona")
    page.get_by_role("button", name="Close row 21").click()
    expect(detail).to_have_count(0)


def test_back_returns_to_the_scored_file(open_page: Open) -> None:
    page = open_page()
    score_file(page, "pairs.tsv", EXAMPLES.read_bytes())
    page.get_by_role("button", name="Review row 22").click()
    page.get_by_role("button", name="Open in two texts").click()
    expect(page.get_by_role("status")).to_contain_text("Compared in")
    assert page.get_by_label("Second text", exact=True).input_value() == "Das Fenster ist offen."
    page.go_back()
    expect(page.locator("#rows tbody tr:not(.detail)")).to_have_count(23)
    expect(page.get_by_role("tab", name="Many pairs")).to_have_attribute("aria-selected", "true")
    page.go_forward()
    expect(page.locator("#verdict .judged")).to_be_visible()


def test_saved_texts_are_no_formulas(open_page: Open, tmp_path: Path) -> None:
    page = open_page()
    choose_measures(page, "chrf")
    score_file(page, "rows.tsv", b"hyp\tref\n=cmd|' /C calc'!A0\t@SUM(1)\n-1.5\tplain\n")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as TSV").click()
    saving.value.save_as(tmp_path / "saved.tsv")
    lines = (tmp_path / "saved.tsv").read_text("utf-8").splitlines()
    cells = [cell for line in lines for cell in line.split("\t")]
    assert "'=cmd|' /C calc'!A0" in cells
    assert "'@SUM(1)" in cells
    assert not [cell for cell in cells if re.match(r"[=+@]", cell)]


def test_a_changed_input_marks_the_report(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("tab", name="Systems").click()
    choose_measures(page, "chrf")
    page.locator("#systems-example").click()
    expect(page.get_by_role("status")).to_contain_text("The comparison is done.")
    page.locator("#system-1-text").fill("Something else.")
    expect(page.locator("#systems-result")).to_have_class(re.compile("stale"))
    expect(page.get_by_role("status")).to_contain_text("out of date")


def test_dropped_files_are_sorted_by_their_names(open_page: Open, tmp_path: Path) -> None:
    page = open_page()
    page.get_by_role("tab", name="Systems").click()
    choose_measures(page, "chrf")
    files = {name: f"A {name}.\nRain.\n" for name in ("a.en.txt", "b.en.txt", "ref.en.txt")}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    page.locator("#several-files").set_input_files([tmp_path / name for name in files])
    status = page.get_by_role("status")
    expect(status).to_have_text("references: ref.en.txt; outputs: a.en.txt, b.en.txt")
    page.get_by_role("button", name="Compare").click()
    expect(status).to_contain_text("The comparison is done.")
    expect(page.locator("#systems-result table.data").first).to_contain_text("a.en")


@pytest.mark.parametrize("tab", ["Many pairs", "Systems"])
def test_every_tab_has_an_example(open_page: Open, tab: str) -> None:
    page = open_page()
    choose_measures(page, "chrf")
    page.get_by_role("tab", name=tab).click()
    page.get_by_role("tabpanel", name=tab).get_by_role("button", name="Try an example").click()
    done = {"Many pairs": "7 rows scored", "Systems": "The comparison is done."}
    expect(page.get_by_role("status")).to_contain_text(done[tab])


def test_a_file_without_languages_is_scored(open_page: Open) -> None:
    page = open_page()
    score_file(page, "rows.tsv", b"I see a dog.\tI see a cat.\nIt is raining.\tIt rains.\n")
    expect(page.locator("#read")).to_contain_text("without a header: 2 rows")
    expect(page.locator("#file-lang option:checked")).to_have_text("English (identified)")
    expect(page.get_by_role("status")).to_have_text("2 rows scored.")
    score_file(page, "rows.tsv", b"qqq\tzzz\nxxq\tzxx\n")
    status = page.get_by_role("status")
    expect(status).to_contain_text("2 rows scored. Left out: direct, prism-ref need both languages")
    expect(page.locator("#rows .error")).to_have_count(0)


def test_files_are_read_as_the_command_line_reads_them(open_page: Open, faults: list[str]) -> None:
    page = open_page()
    open_file(page, "rows.csv", b"HYP;REF\nEin Hund.;Eine Katze.\n")
    expect(page.locator("#read")).to_contain_text("CSV with a header: 1 row.")
    expect(page.locator("#preview-rows")).to_contain_text("Eine Katze.")
    open_file(page, "latin.tsv", "hyp\tref\nschön\tgut\n".encode("latin-1"))
    status = page.get_by_role("status")
    expect(status).to_contain_text("latin.tsv, line 2: byte 4 (0xF6) is not valid UTF-8")
    expect(page.locator("#preview")).to_be_hidden()
    page.get_by_text("Read it differently").click()
    page.locator("#replace-invalid").check()
    expect(page.locator("#preview-rows")).to_contain_text("sch�n")
    open_file(page, "bad.tsv", b"hyp\tref\na\tb\nc\n")
    expect(status).to_contain_text("row 2 (line 3): 1 field, where the first line has 2")
    assert "--" not in status.inner_text()
    assert all("400 (Bad Request)" in fault for fault in faults)
    faults.clear()


def test_after_an_error_old_results_are_gone(open_page: Open, faults: list[str]) -> None:
    page = open_page()
    score_file(page, "rows.tsv", b"hyp\tref\nI see a dog.\tI see a cat.\n")
    expect(page.get_by_role("button", name="Save as TSV")).to_be_visible()
    open_file(page, "one.tsv", b"one\nanother\n")
    expect(page.get_by_role("status")).to_contain_text("two texts per row are needed")
    expect(page.get_by_role("button", name="Save as TSV")).to_be_hidden()
    faults.clear()


def test_a_row_that_cannot_be_scored_says_why(open_page: Open) -> None:
    page = open_page()
    score_file(page, "rows.tsv", b"hyp\tref\tlang\na\tb\txx\na\tb\ten\n")
    expect(page.get_by_role("status")).to_contain_text("2 rows scored, 1 of them refused.")
    expect(page.locator("#rows .error")).to_contain_text("'xx'")
    assert "--" not in page.locator("#rows .error").inner_text()


def test_pasted_rows_and_lines_are_pairs(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("tab", name="Many pairs").click()
    page.locator("#paste").fill("I see a dog.\tI see a cat.\nIt is raining.\tIt rains.\n")
    expect(page.locator("#read")).to_contain_text("without a header: 2 rows")
    page.get_by_role("tab", name="Two texts").click()
    fill(page, "One dog.\nTwo dogs.\nNo dog.", "A dog.\nA pair of dogs.\nNo dogs.")
    page.get_by_role("button", name="Score line by line: 3 pairs").click()
    expect(page.locator("#preview-rows tr")).to_have_count(3)
    page.get_by_role("button", name="Score 3 pairs").click()
    expect(page.get_by_role("status")).to_contain_text("3 rows scored")


def test_scoring_can_be_stopped(open_page: Open) -> None:
    page = open_page()
    lines = "".join(f"I see dog {n}.\tI see cat {n}.\n" for n in range(3000))
    open_file(page, "long.tsv", f"hyp\tref\n{lines}".encode())
    page.get_by_role("button", name="Score 3000 pairs").click()
    expect(page.locator("#count")).to_contain_text("of 3000 rows scored")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("status")).to_have_text("Stopped.")
    expect(page.locator("#score")).to_be_enabled()


def test_systems_are_compared(open_page: Open, tmp_path: Path) -> None:
    references = ["The cat sat on the mat.", "It rains every day.", "Where is the station?"]
    one = ["The cat sat on a mat.", "It rains each day.", "Where is the station?"]
    two = ["A dog sat there.", "It rains.", "Where is it?"]
    page = open_page()
    page.get_by_role("tab", name="Systems").click()
    for number, outputs in enumerate((one, two), start=1):
        page.locator(f"#system-{number}-text").fill("\n".join(outputs))
    page.locator("#system-1-name").fill("mine")
    page.locator("#references-text").fill("\n".join(references))
    choose_measures(page, "chrf", "cross")
    expect(page.locator("#systems-lang option:checked")).to_have_text("English (identified)")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("status")).to_contain_text("The comparison is done.")
    result = page.locator("#systems-result")
    expected = compare({"mine": one, "two": two}, references, measures="chrf", lang="en")["chrf"]
    expect(result.locator(".findings")).to_contain_text(f"{expected.scores['mine']:.2f}")
    expect(result.locator(".ranking:visible")).to_have_count(1)
    result.locator(".tablist").get_by_text("chrf").click()
    expect(result.get_by_role("heading", name="chrf")).to_be_visible()
    expect(result.get_by_role("heading", name="cross")).to_be_hidden()
    expect(result.locator(".ranking")).to_have_count(2)
    expect(result.locator("details", has_text="where they differ most")).to_have_count(2)
    with page.expect_download() as saving:
        page.get_by_role("button", name="Download this report").click()
    saving.value.save_as(tmp_path / "report.html")
    saved = (tmp_path / "report.html").read_text("utf-8")
    assert "Which system is better?" in saved
    assert "<style>" in saved


def test_a_table_of_systems_is_compared(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("tab", name="Systems").click()
    page.locator("#systems-table").set_input_files(EXAMPLES.with_name("systems.tsv"))
    choose_measures(page, "chrf")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("status")).to_contain_text("The comparison is done.")
    expect(page.locator("#systems-result .ranking")).to_have_count(1)
    expect(page.locator("#several")).to_be_hidden()
    page.get_by_role("button", name="back to the text boxes").click()
    expect(page.locator("#system-1-text")).to_be_visible()


def test_keys_are_enough(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("tab", name="Two texts").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Many pairs")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="Many pairs")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    seen = []
    for _ in range(15):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("() => document.activeElement.id || document.activeElement.tagName")
        )
    boxes = ["hypothesis", "lang", "reference", "reference-lang"]
    examples = ["BUTTON"] * page.locator("#examples button").count()
    assert seen == [*examples, *boxes, "score", "link", "SUMMARY", "SUMMARY", "SUMMARY"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_need_not_scroll_sideways(open_page: Open, scheme: str) -> None:
    for address in ("", "docs"):
        page = open_page(address, viewport={"width": 390, "height": 844}, color_scheme=scheme)
        if not address:
            type_and_score(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
        ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")


def test_a_wrong_token_is_reported(browser: Browser, running: Callable[..., Running]) -> None:
    server = running(create_app(fake_models(), token="0123456789abcdef", hosts=()))
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.address)
    expect(page.locator("#token-wrong")).to_be_hidden()
    for token in ("not this one", "0123456789abcdef"):
        page.get_by_role("textbox", name="Token").fill(token)
        page.get_by_role("button", name="Continue").click()
        if token.startswith("not"):
            expect(page.get_by_role("alert")).to_have_text("This token was not accepted.")
    expect(page.locator("#score")).to_be_enabled()
    expect(page.locator("dialog")).to_be_hidden()
    expect(page.locator("#model")).to_contain_text("Model: fake")
    context.close()


def test_a_dead_server_is_reported(browser: Browser) -> None:
    server = Running(create_app(fake_models()))
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.address)
    expect(page.locator("#score")).to_be_enabled()
    server.close()
    fill(page)
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("status")).to_contain_text("The server does not answer")
    context.close()


def test_the_documentation_needs_no_script(open_page: Open) -> None:
    page = open_page("docs", java_script_enabled=False)
    expect(page.get_by_role("heading", name="POST /api/score", exact=True)).to_be_visible()
    expect(page.locator("pre", has_text="curl").first).to_contain_text("/api/score")
    expect(page.locator("#measures")).to_be_visible()


def test_few_requests_are_needed(browser: Browser, served: Running) -> None:
    """The page is usable within 5 s at 400 kbit/s, and a second visit needs less."""
    context = browser.new_context()
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    speed = 400_000 / 8
    session.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 100, "downloadThroughput": speed, "uploadThroughput": speed},
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    started = time.perf_counter()
    page.goto(served.address)
    page.locator("#score:enabled").wait_for()
    assert time.perf_counter() - started < 5
    scripts = [url for url in asked if ".js" in url or ".css" in url]
    assert len(scripts) == 2
    context.close()
