"""Rules, and what a check does with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tertium
from tertium.checking.check import CheckSettings, check_strings
from tertium.checking.findings import Finding
from tertium.checking.rules import Term, check_string
from tertium.data.l10n.strings import FileContent, Missing, Translated
from tertium.errors import SettingError


def string(source: str | tuple[str, ...], target: str, **more: Any) -> Translated:
    sources = (source,) if isinstance(source, str) else source
    given = {"path": Path("de.po"), "line": 3, "key": sources[0], **more}
    return Translated(sources=sources, target=target, source_lang="en", target_lang="de", **given)


def found(item: Translated, **settings: Any) -> list[tuple[str, str]]:
    return [(each.rule, each.severity) for each in check_string(item, **settings)]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("Open the file", "Datei öffnen", []),
        ("Open the file", "   ", ["empty"]),
        ("Open the big red file", "Open the big red file", ["copied"]),
        ("Save {count} files", "Speichere Dateien", ["placeholder"]),
        ("Press <b>here</b>", "Drücke <b>hier", ["markup"]),
        ("Wait 25 seconds", "Warte 52 Sekunden", ["number"]),
        ("All is well today with you", "Alles ist heute ist heute ist heute gut", ["repetition"]),
        (
            "The cat sat quietly on the mat today.",
            "Le chat était assis tranquillement sur le tapis.",
            ["language"],
        ),
        (
            "Yesterday I went to the old market.",
            "Gestern ging ich to the old market.",
            ["untranslated"],
        ),
    ],
)
def test_each_rule(source: str, target: str, expected: list[str]) -> None:
    assert [rule for rule, _ in found(string(source, target))] == expected


CODE = " eval(a)\n for each in the_list; do\n echo and or is not\n"


@pytest.mark.parametrize(
    ("source", "target", "rule"),
    [
        ("Go to the line", "*Go to the line*", "copied"),
        (CODE, CODE, "copied"),
        ("GRANTED WITHOUT A WARRANTY BY THE AUTHOR",) * 2 + ("copied",),
        ("Old Ways of the North, by Smith and Jones (1987)",) * 2 + ("copied",),
        ("It is zero by default", "Es hat zwei Vorgaben", "number"),
        ("Vote +1 or -7 today", "Stimme +1 oder 7 heute", "number"),
        ("This is 100% right", "Das ist ganz richtig", "number"),
        ("the value `` x[27] `` is", "der Wert `` x `` ist", "number"),
        ("call `a` and `a` and `b`", "rufe `a` et `a` et `a` et `b`", "repetition"),
    ],
)
def test_what_is_often_wrong_in_technical_texts_is_minor(
    source: str, target: str, rule: str
) -> None:
    assert (rule, "minor") in found(string(source, target))
    assert all(severity == "minor" for _, severity in found(string(source, target)))


def test_many_numbers_in_one_text_are_one_finding() -> None:
    source = " ".join(f"item {n} costs {n}" for n in range(20, 30))
    target = " ".join(f"Ding {n} kostet {n}" for n in range(50, 60))
    [finding] = check_string(string(source, target))
    assert (finding.rule, finding.severity) == ("number", "major")
    assert finding.message.startswith("20 numbers differ; the first: ")


def test_a_file_in_another_language_is_one_finding() -> None:
    texts = [
        "The cat sat quietly on the mat today.",
        "Nobody knows what the weather will be.",
        "We have never been to that village before.",
        "She wanted to read all of the letters.",
    ]
    french = [
        "Le chat était assis tranquillement sur le tapis.",
        "Personne ne sait quel temps il fera demain.",
        "Nous ne sommes jamais allés dans ce village.",
        "Elle voulait lire toutes les lettres de son père.",
    ]
    pairs = list(enumerate(zip(texts, french, strict=True)))
    items = [string(text, other, key=text, line=n) for n, (text, other) in pairs]
    [finding] = [each for each in check(*items) if each.rule == "language"]
    assert finding.message == "4 of 4 strings of the file are not in German"
    assert len([each for each in check(*items[:2]) if each.rule == "language"]) == 2


def test_the_finding_says_where_and_what() -> None:
    [finding] = check_string(string("Wait 25 seconds", "Warte 52 Sekunden"))
    assert finding.target_span is not None
    start, end = finding.target_span
    assert finding.target[start:end] == "52 Sekunden"
    assert finding.message == "numbers differ: 52 Sekunden / 25 seconds"
    assert finding.severity == "critical"


def test_a_form_of_a_plural_may_be_that_of_either_source() -> None:
    assert found(string(("one file", "%d files"), "eine Datei")) == []
    assert found(string(("%d files", "one file"), "%d Dateien")) == []
    assert found(string(("%d files", "one file"), "%s Dateien")) != []


def test_the_length_that_a_file_or_the_settings_allow() -> None:
    item = string("Open", "Öffnen", max_length=5)
    assert found(item) == [("length", "major")]
    assert found(string("Open", "Öffnen"), max_length=5) == [("length", "major")]
    assert found(string("Open", "Öffnen"), max_length=6) == []


def test_terms_of_a_glossary() -> None:
    terms = [Term("file", ("Datei", "Akte")), Term("menu", ("menú",), "es")]
    assert found(string("Open the FILE", "Dokument öffnen"), glossary=terms) == [("term", "major")]
    assert found(string("Open the file", "Datei öffnen"), glossary=terms) == []
    assert found(string("Open the profile", "Profil öffnen"), glossary=terms) == []
    assert found(string("Open the menu", "Öffne das Menü"), glossary=terms) == []


def check(*items: Translated, missing: tuple[Missing, ...] = (), **settings: Any) -> list[Finding]:
    content = FileContent(Path("de.po"), items, missing)
    return list(check_strings([content], CheckSettings(**settings)).findings)


def test_the_same_source_translated_in_two_ways() -> None:
    items = [
        string("Open", "Öffnen", line=1, key="a"),
        string("Open", "Öffnen", line=2, key="b"),
        string("Open", "Aufmachen", line=3, key="c"),
    ]
    [finding] = check(*items)
    assert (finding.rule, finding.line, finding.severity) == ("inconsistent", 3, "minor")
    assert finding.message == "'Open' is translated as 'Öffnen' elsewhere"


def test_what_is_missing_is_minor() -> None:
    [finding] = check(missing=(Missing(Path("de.po"), 7, "k", "Save all files"),))
    assert (finding.rule, finding.line, finding.severity) == ("missing", 7, "minor")


def test_rules_are_switched_off_by_settings_and_by_comments() -> None:
    item = string("Wait 25 seconds", "Warte {n} Sekunden")
    assert {each.rule for each in check(item)} == {"number", "placeholder"}
    rules = check(item, ignore=frozenset({"number"}))
    assert [each.rule for each in rules] == ["placeholder"]
    quiet = string("Wait 25 seconds", "Warte {n} Sekunden", comment="tertium: ignore placeholder")
    assert [each.rule for each in check(quiet)] == ["number"]
    silent = string("Wait 25 seconds", "Warte {n} Sekunden", comment="x\ntertium: ignore\ny")
    assert check(silent) == []
    with pytest.raises(SettingError, match="unknown rule 'numbers': use empty, missing"):
        CheckSettings(frozenset({"numbers"}))


def test_processes_find_the_same() -> None:
    items = [string(f"Wait {n} seconds", f"Warte {n + n % 2} Sekunden", line=n) for n in range(600)]
    alone = check(*items, ignore=frozenset({"inconsistent"}))
    assert len(alone) == 300
    assert check(*items, ignore=frozenset({"inconsistent"}), jobs=2) == alone


def test_the_model_reads_without_placeholders_and_its_spans_are_in_the_file() -> None:
    source = "The <b>meeting</b> is on Monday in the large hall behind the station."
    item = string(source, "Die <b>Sitzung</b> ist am Montag.")
    content = FileContent(Path("de.po"), (item, string("Open", "Öffnen")))
    model = tertium.load_model(cache=False)
    result = check_strings([content], model=model)
    assert result.by_model == 1
    [finding] = [each for each in result.findings if each.rule == "omission"]
    assert finding.source_span is not None
    start, end = finding.source_span
    assert source[start:end].startswith("large hall behind")
    assert finding.target_span is None


def test_fingerprints_do_not_depend_on_the_line() -> None:
    one, two = (
        check(string("Wait 25 seconds", "Warte 52 Sekunden", line=line))[0] for line in (1, 9)
    )
    assert one != two
    assert one.fingerprint == two.fingerprint


def test_a_lost_negation_is_found_by_words_and_model() -> None:
    model = tertium.load_model(cache=False)
    right = string("We will not come tomorrow.", "Wir werden morgen nicht kommen.")
    wrong = string("We will come tomorrow.", "Wir werden morgen nicht kommen.")
    result = check_strings([FileContent(Path("de.po"), (right, wrong))], model=model)
    assert [
        (each.rule, each.severity, each.source)
        for each in result.findings
        if each.rule == "negation"
    ] == [("negation", "major", wrong.source)]
