"""Language identification on the examples of the package."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tertium.data.codes import language_code, spellings
from tertium.data.identify import (
    confident_guess,
    identify,
    is_other_language,
    languages_of,
)

EXAMPLES = Path(__file__).parents[2] / "examples" / "pairs.tsv"


def test_no_example_is_taken_for_another_language() -> None:
    with EXAMPLES.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = [(row["hyp"], row["hyp_lang"]) for row in rows]
    texts += [(row["ref"], row["ref_lang"]) for row in rows]
    assert len(texts) == 46
    wrong = [text for text, lang in texts if is_other_language(text, lang)]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Где находится ближайший вокзал?", "ru"),
        ("一番近い駅はどこですか。", "ja"),
        ("가장 가까운 역이 어디에 있습니까?", "ko"),
        ("Gdzie jest najbliższy dworzec kolejowy, proszę pana?", "pl"),
    ],
)
def test_languages_are_identified(text: str, lang: str) -> None:
    assert confident_guess(text) == lang


def test_short_texts_are_not() -> None:
    assert identify("Ja.") is None
    assert identify("1234567890 1234567890 1234567890") is None


def test_a_foreign_script_needs_only_a_few_letters() -> None:
    assert is_other_language("вокзал", "en")
    assert not is_other_language("π = 3", "en")


def test_names_and_codes() -> None:
    assert [language_code(lang) for lang in ("GERMAN", "pt-br", "Zho_hans", "farsi")] == [
        "de",
        "pt-BR",
        "zho_Hans",
        "fa",
    ]
    assert "fr" in spellings("French")
    assert "deu" in spellings("ger")


def test_short_texts_are_identified_together() -> None:
    german = ["Wie geht's?", "Guten Tag!", "Ich weiß es nicht.", "Wir gehen jetzt.", "Sehr schön."]
    assert all(identify(text) is None for text in german)
    assert languages_of(german) == {"de": 5}
    assert languages_of(["你好吗？", "我很好。", "谢谢你！", "再见，朋友。", "我不知道。"]) == {
        "zh": 5
    }
    english = "Where did you learn to speak French so well?"
    assert languages_of([*german, english, english]) == {"de": 5, "en": 2}


def test_one_short_text_repeated_is_not_identified() -> None:
    assert languages_of(["OK"] * 100) == {}
    assert languages_of(["", "123", "Hi!"]) == {}
