"""Names and untranslated parts: cases written by hand."""

from __future__ import annotations

import pytest

from tertium.explanation.names import are_one_name, name_spans
from tertium.explanation.untranslated import untranslated_spans
from tertium.text import Text


@pytest.mark.parametrize(
    ("a", "b", "marked"),
    [
        (
            *(("Robert sah Claire in Paris.", "de"), ("Peter saw Susan in London.", "en")),
            ["Robert", "Claire", "Paris", "Peter", "Susan", "London"],
        ),
        (("Tom traf Obama.", "de"), ("Tom met Clinton.", "en"), ["Obama", "Clinton"]),
        (("Nous vivons à Madrid.", "fr"), ("We live in Berlin.", "en"), ["Madrid", "Berlin"]),
        (("Él viene de Francia.", "es"), ("He is from Germany.", "en"), ["Francia", "Germany"]),
    ],
)
def test_another_name(a: tuple[str, str], b: tuple[str, str], marked: list[str]) -> None:
    """Equal numbers of names do not cancel each other."""
    spans = name_spans(Text(*a), Text(*b))
    assert [span.text for span in spans] == marked
    assert all((span.kind, span.severity) == ("name", "major") for span in spans)
    assert all(span.evidence.startswith("names differ: the other text") for span in spans)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (("Elle habite à Londres.", "fr"), ("She lives in London.", "en")),
        (("Wir fuhren nach München.", "de"), ("We went to Munich.", "en")),
        (("Genf ist schön.", "de"), ("Genève est belle.", "fr")),
        (("Alemania y Francia", "es"), ("Germany and France", "en")),
        (("die deutsche Regierung", "de"), ("the government of Germany", "en")),
        (("Monsieur Crowley a parlé.", "fr"), ("Mr Crowley spoke.", "en")),
        (("Obamas Rede", "de"), ("Obama's speech", "en")),
        (("Jelzin sprach mit Gorbatschow.", "de"), ("Yeltsin spoke to Gorbachev.", "en")),
        (("El lunes, en enero", "es"), ("On Monday, in January", "en")),
        (("Ella habla alemán.", "es"), ("She speaks German.", "en")),
        (("L'ONU et l'OTAN", "fr"), ("The UN and NATO", "en")),
        (("Der Rat und die Kommission", "de"), ("The Council and the Commission", "en")),
        (("Er hat es gesagt.", "de"), ("Obama said it.", "en")),
        (("WICHTIGER HINWEIS", "de"), ("IMPORTANT NOTICE", "en")),
    ],
)
def test_the_same_names(a: tuple[str, str], b: tuple[str, str]) -> None:
    """Exonyms, inflection, titles, months, languages, abbreviations, headings and pronouns."""
    assert name_spans(Text(*a), Text(*b)) == []


def test_spellings_of_a_name() -> None:
    assert are_one_name("tschaikowski", "tchaikovsky")
    assert are_one_name("poutine", "putin")
    assert not are_one_name("susan", "claire")
    assert not are_one_name("london", "paris")


@pytest.mark.parametrize(
    ("a", "b", "marked"),
    [
        (
            *("Er ging gestern to the old market.", "Yesterday he went to the old market."),
            ["to the old market"],
        ),
        (
            "Die Kommission hat beschlossen, to withdraw its proposal for a directive.",
            "The Commission has decided to withdraw its proposal for a directive.",
            ["to withdraw its proposal for a directive"],
        ),
        ("Ich las The Grapes of Wrath.", "I read The Grapes of Wrath.", []),
        ('Er sang "all you need is love".', 'He sang "all you need is love".', []),
        ("Siehe http://x.org/to-the-old-market.", "See http://x.org/to-the-old-market.", []),
        ("Ich las die New York Times in Los Angeles.", "I read the New York Times in LA.", []),
        ("Die Option `set the old value`", "The option `set the old value`", []),
    ],
)
def test_untranslated_parts(a: str, b: str, marked: list[str]) -> None:
    assert [span.text for span in untranslated_spans(Text(a, "de"), Text(b, "en"))] == marked
    assert untranslated_spans(Text(a, "en"), Text(b, "en")) == []
    assert untranslated_spans(Text(a), Text(b)) == []


def test_untranslated_parts_without_a_table_of_words() -> None:
    """Estonian has none: four words of the source in sequence are enough."""
    pair = Text("Ta läks eile to the old market.", "et"), Text("He went to the old market.", "en")
    assert [span.text for span in untranslated_spans(*pair)] == ["to the old market"]
