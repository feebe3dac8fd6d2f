"""Errors that are injected into right translations."""

from __future__ import annotations

import random

import pytest

from tertium.studies.spans.injections import INJECTED, Names, Pair
from tertium.text import Text

SHOP: Pair = (
    Text("On 4 March, Obama paid 12.5 km of the three old shops that had not opened.", "en"),
    Text("Am 4. März bezahlte Obama 12,5 km der drei alten Läden, die nicht offen waren.", "de"),
)


@pytest.mark.parametrize("kind", INJECTED)
def test_every_kind_changes_the_hypothesis(kind: str) -> None:
    names = Names(("Merkel", "Obama"))
    made = {INJECTED[kind](SHOP, names, random.Random(seed)) for seed in range(20)}
    assert made - {None}
    assert SHOP[0].text not in made
    assert INJECTED[kind](SHOP, names, random.Random(1)) in made  # by its seed
    nothing = (Text("Yes.", "en"), Text("Ja.", "de"))
    assert INJECTED[kind](nothing, names, random.Random(1)) is None


def test_some_errors_by_hand() -> None:
    def made(kind: str) -> set[str | None]:
        return {
            INJECTED[kind](SHOP, Names(("Obama", "Merkel")), random.Random(n)) for n in range(9)
        }

    assert {text and text.split("paid ")[0] for text in made("name")} <= {
        "On 4 March, Merkel ",
        None,
    }
    assert all("April" not in str(text) or "March" not in str(text) for text in made("date"))
    assert {text and "not" in text for text in made("negation")} == {False}
    assert {text and len(text.split()) for text in made("omitted")} == {
        len(SHOP[0].text.split()) - 4
    }
    assert any("new shops" in str(text) for text in made("opposite"))


def test_names_are_in_the_table_and_on_both_sides() -> None:
    assert Names.of([SHOP]).names == ("Obama",)
