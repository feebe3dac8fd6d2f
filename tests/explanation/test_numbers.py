"""Numbers as values: cases written by hand."""

from __future__ import annotations

import itertools

import pytest

from tertium.explanation.number_words import spelt_numbers
from tertium.explanation.numbers import number_spans, read_number
from tertium.text import Text

DOSE = {
    "en": "Take {} mg a day.",
    "de": "Nehmen Sie {} mg am Tag.",
    "fr": "Prenez {} mg par jour.",
    "es": "Tome {} mg al día.",
}
PRICE = {
    "en": "It costs {} euros.",
    "de": "Es kostet {} Euro.",
    "fr": "Cela coûte {} euros.",
    "es": "Cuesta {} euros.",
}
PEOPLE = {
    "en": "{} million people live there.",
    "de": "Dort leben {} Millionen Menschen.",
    "fr": "{} millions de personnes y vivent.",
    "es": "Allí viven {} millones de personas.",
}
COLD = {
    "en": "It was {} degrees.",
    "de": "Es waren {} Grad.",
    "fr": "Il faisait {} degrés.",
    "es": "Hacía {} grados.",
}
PAIRS = list(itertools.combinations(("en", "de", "fr", "es"), 2))
CHANGES = [
    (DOSE, "2.5", "25"),
    (PRICE, "12.50", "1250"),
    (PEOPLE, "1.5", "15"),
    (COLD, "5", "-5"),
]


def local(number: str, lang: str) -> str:
    """A number with the decimal separator of a language."""
    return number if lang == "en" else number.replace(".", ",")


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize(("sentence", "right", "wrong"), CHANGES)
def test_a_changed_value_is_critical(
    sentence: dict[str, str], right: str, wrong: str, first: str, second: str
) -> None:
    """The 24 changes of a decimal separator or a sign; the right number is not reported."""
    source = Text(sentence[first].format(local(right, first)), first)
    kept = Text(sentence[second].format(local(right, second)), second)
    changed = Text(sentence[second].format(local(wrong, second)), second)
    assert number_spans(kept, source) == []
    spans = number_spans(changed, source)
    assert {span.side for span in spans} == {"a", "b"}
    assert {(span.kind, span.severity) for span in spans} == {("number", "critical")}
    assert all(span.evidence.startswith("numbers differ: ") for span in spans)
    assert all(
        span.text == (changed if span.side == "a" else source).text[span.start : span.end]
        for span in spans
    )


@pytest.mark.parametrize(
    ("a", "a_lang", "b", "b_lang"),
    [
        ("1,5 Millionen", "de", "1.5 million", "en"),
        ("1.500.000 Menschen", "de", "1.5 million people", "en"),
        ("3 Milliarden Euro", "de", "3 billion euros", "en"),
        ("2 mil millones de dólares", "es", "2 billion dollars", "en"),
        ("10 000 personnes", "fr", "10,000 people", "en"),
        ("10\u202f000 personnes", "fr", "10.000 Personen", "de"),
        ("1'500 Franken", "de", "1,500 francs", "en"),
        ("5 %", "fr", "5%", "en"),
        ("5 por ciento", "es", "5 Prozent", "de"),
        ("100 Dollar", "de", "$100", "en"),
        ("7 €", "fr", "EUR 7", "en"),
        ("1. Mai", "de", "May 1st", "en"),
        ("le 1er étage", "fr", "the 1st floor", "en"),
        ("el 3.º piso", "es", "the 3rd floor", "en"),
        ("4.3.2020", "de", "3/4/2020", "en"),
        ("4 mars 2020", "fr", "2020-03-04", "en"),
        ("4. März 2020", "de", "March 4, 2020", "en"),
        ("um 17 Uhr", "de", "at 5 pm", "en"),
        ("à 17 h 30", "fr", "at 5:30 p.m.", "en"),
        ("17:00", "de", "5 p.m.", "en"),
        ("zwischen 5 und 10", "de", "5–10", "en"),
        ("½ Liter", "de", "1/2 litre", "en"),
        ("zwei Drittel", "de", "2/3", "en"),
        ("die 90er Jahre", "de", "the 1990s", "en"),
        ("les années 1990", "fr", "the nineties", "en"),
        ("siglo XIX", "es", "19th century", "en"),
        ("fünf Hunde und 12 Katzen", "de", "5 dogs and twelve cats", "en"),
        ("zweiundzwanzig Jahre", "de", "22 years", "en"),
        ("quatre-vingt-dix-sept", "fr", "97", "en"),
        ("Version 2.3.1 auf 10.0.0.1", "de", "version 2.3.1 on 10.0.0.1", "en"),
        ("Man kann eins sagen.", "de", "One can say something.", "en"),
        ("Saison 2007/08", "de", "the 2007/2008 season", "en"),
        ("H₂O und CO2", "de", "H₂O and CO2", "en"),
    ],
)
def test_the_same_values_are_not_reported(a: str, a_lang: str, b: str, b_lang: str) -> None:
    assert number_spans(Text(a, a_lang), Text(b, b_lang)) == []


@pytest.mark.parametrize(
    ("a", "a_lang", "b", "b_lang", "kind", "severity", "evidence"),
    [
        ("5 g", "de", "5 mg", "en", "unit", "critical", "units differ: 5 g / 5 mg"),
        ("9 Dollar", "de", "9 euros", "en", "unit", "critical", "units differ: 9 Dollar / 9 euros"),
        (
            *("8 km", "de", "5 miles", "en", "unit", "minor"),
            "converted into another unit: 8 km / 5 miles",
        ),
        ("3 Mai", "fr", "3 March", "en", "date", "major", "dates differ: Mai / March"),
        ("um 18 Uhr", "de", "at 5 pm", "en", "number", "major", "times differ: 18 Uhr / 5 pm"),
        ("drei", "de", "five", "en", "number", "major", "numbers differ: drei / five"),
        (
            *("3 Billionen", "de", "3 billion", "en", "number", "critical"),
            "numbers differ: 3 Billionen / 3 billion",
        ),
        ("v2.3.2", "de", "v2.3.1", "en", "number", "critical", "numbers differ: v2.3.2 / v2.3.1"),
        ("1998", "de", "long ago", "en", "number", "major", "the other text does not have 1998"),
        (
            *("10,000 Leute", "de", "10,000 people", "en", "number", "minor"),
            "the separators are not those of the language: 10,000 / 10,000",
        ),
    ],
)
def test_differences_by_kind(
    a: str, a_lang: str, b: str, b_lang: str, kind: str, severity: str, evidence: str
) -> None:
    spans = number_spans(Text(a, a_lang), Text(b, b_lang))
    assert {(span.kind, span.severity, span.evidence) for span in spans} == {
        (kind, severity, evidence)
    }


def test_a_number_that_is_said_twice_does_not_hide_another() -> None:
    changed = Text("Zwei Männer wurden in neun Wochen getötet.", "de")
    source = Text("Two men were killed in two weeks.", "en")
    assert [span.evidence for span in number_spans(changed, source)] == [
        "numbers differ: neun Wochen / two weeks"
    ] * 2
    assert number_spans(Text("Zwei, also zwei.", "de"), Text("Two of them.", "en")) == []


def test_separators_by_language() -> None:
    """1.500 is 1500 in German and Spanish, 1.5 in English; unknown languages have both."""
    assert read_number("1.500", "de") == (1500.0,)
    assert read_number("1.500", "en") == (1.5,)
    assert read_number("1,500", "fr") == (1.5,)
    assert read_number("1.500", "fr") == (1500.0,)
    assert read_number("1.500", "") == (1500.0, 1.5)
    assert read_number("1 234,5", "fr") == (1234.5,)


@pytest.mark.parametrize(
    ("text", "lang", "values"),
    [
        ("twenty-one of two hundred and five", "en", [21, 205]),
        ("two million three thousand and fifty", "en", [2003050]),
        ("zweitausendfünfhundert, dreiundzwanzig", "de", [2500, 23]),
        ("quatre-vingts, soixante-dix, vingt et un", "fr", [80, 70, 21]),
        ("deux mille trois cents millions", "fr", [2300000000]),
        ("treinta y cinco, dos mil millones", "es", [35, 2000000000]),
        ("trois, quatre", "fr", [3, 4]),
        ("due e dodici", "it", [2, 12]),
    ],
)
def test_numbers_in_words(text: str, lang: str, values: list[int]) -> None:
    assert [number.value for number in spelt_numbers(text, lang)] == values


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("seit Version 1.20.1", "since version 1.20.1"),
        ("UTF-8 und ISO_8859-15", "utf-8 and iso 8859-15"),
        ("im Bereich [0, 429]", "in the range [0,429]"),
        ("für Python2/3.", "for Python2/3 code"),
        ("wenn ``-1``", 'if "-1"'),
        ("Befehl 1.2.2018", "order of 1/2/2018"),
    ],
)
def test_versions_lists_and_code(a: str, b: str) -> None:
    assert number_spans(Text(a, "de"), Text(b, "en")) == []


def test_versions_are_compared_as_they_stand() -> None:
    [one, other] = number_spans(Text("seit 1.14.8", "de"), Text("since 1.14.18", "en"))
    assert one.evidence == other.evidence == "numbers differ: 1.14.8 / 1.14.18"
    [alone] = number_spans(Text("seit langem", "de"), Text("since 1.16.0", "en"))
    assert alone.evidence == "the other text does not have 1.16.0"


def test_french_mebibytes_are_no_millions() -> None:
    assert number_spans(Text("9536,74 Mio", "fr"), Text("9536.74 MiB", "en")) == []
