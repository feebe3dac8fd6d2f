"""Localisation files: the texts, the keys and the lines of every format."""

from __future__ import annotations

from pathlib import Path

import pytest

from tertium.data.l10n.files import find_files, read_files
from tertium.data.l10n.strings import FileContent
from tertium.errors import InputError, LanguageError

pytest.importorskip("lxml")


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def read(folder: Path, **languages: str) -> list[tuple[str, int, str, str, str]]:
    """File, line, key, source and target of everything that is translated."""
    return [
        (item.path.name, item.line, item.key, item.source, item.target)
        for content in contents(folder, **languages)
        for item in content.translated
    ]


def contents(folder: Path, **languages: str) -> list[FileContent]:
    return list(
        read_files(
            find_files([folder]),
            source_lang=languages.get("source_lang"),
            target_lang=languages.get("target_lang"),
        )
    )


def test_po_has_contexts_plurals_and_comments_without_fuzzy_entries(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "de.po": 'msgid ""\nmsgstr ""\n"Language: de\\n"\n\n'
            '# by the translator\nmsgctxt "menu"\nmsgid "Open"\nmsgstr "Öffnen"\n\n'
            '#, fuzzy\nmsgid "Close"\nmsgstr "Offen"\n\n'
            'msgid "@@image: \'a.png\'; md5=1f2e"\nmsgstr "new"\n\n'
            'msgid "translator-credits"\nmsgstr "Eva, 2009"\n\n'
            'msgid "Save"\nmsgstr ""\n\n'
            'msgid "one file"\nmsgid_plural "%d files"\n'
            'msgstr[0] "eine Datei"\nmsgstr[1] "%d Dateien"\n'
        },
    )
    [content] = contents(tmp_path)
    assert [
        (item.line, item.key, item.sources, item.target, item.target_lang)
        for item in content.translated
    ] == [
        (6, "menu|Open", ("Open",), "Öffnen", "de"),
        (23, "one file[0]", ("one file", "%d files"), "eine Datei", "de"),
        (23, "one file[1]", ("%d files", "one file"), "%d Dateien", "de"),
    ]
    assert content.translated[0].comment == "by the translator"
    assert [(each.line, each.source) for each in content.missing] == [(20, "Save")]


def test_the_language_of_a_po_file_may_be_in_its_path(tmp_path: Path) -> None:
    write(tmp_path, **{"locale/fr/LC_MESSAGES/app.po": 'msgid "Yes"\nmsgstr "Oui"\n'})
    [content] = contents(tmp_path)
    assert content.translated[0].target_lang == "fr"
    write(tmp_path, **{"other.po": 'msgid "Yes"\nmsgstr "Oui"\n'})
    with pytest.raises(LanguageError, match=r"other\.po does not say what its language is"):
        contents(tmp_path)


def test_xliff_of_both_versions(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "one.xlf": '<?xml version="1.0"?>\n'
            '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
            '<file source-language="en" target-language="de"><body>\n'
            '<trans-unit id="a" maxwidth="9" size-unit="char">\n<source>Open <g id="1">it</g>'
            '</source>\n<target>Öffne <g id="1">es</g></target></trans-unit>\n'
            '<trans-unit id="b" translate="no"><source>X</source><target>X</target></trans-unit>\n'
            '<trans-unit id="c"><source>Close <x id="2"/></source></trans-unit>\n'
            "</body></file></xliff>\n",
            "two.xliff": '<xliff version="2.0" srcLang="en" trgLang="fr" '
            'xmlns="urn:oasis:names:tc:xliff:document:2.0">\n<file id="f">\n<unit id="u">\n'
            '<segment><source>Yes <ph id="1"/></source>\n<target>Oui <ph id="1"/></target>'
            "</segment></unit></file></xliff>",
        },
    )
    one, two = contents(tmp_path)
    assert [(item.line, item.key, item.source, item.target) for item in one.translated] == [
        (6, "a", "Open <g>it</g>", "Öffne <g>es</g>")
    ]
    assert one.translated[0].max_length == 9
    assert [(each.line, each.source) for each in one.missing] == [(8, 'Close <x id="2"/>')]
    assert [(i.line, i.key, i.source, i.target, i.target_lang) for i in two.translated] == [
        (5, "u", 'Yes <ph id="1"/>', 'Oui <ph id="1"/>', "fr")
    ]


def test_fluent_has_attributes_terms_and_variants(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "en/app.ftl": "hello = Hello, { $name }!\n    .title = Greeting\n"
            "files = { $n ->\n    [one] One file\n   *[other] { $n } files\n}\n-brand = Tertium\n",
            "de/app.ftl": "# nothing\nhello = Hallo, { $name }!\n    .title = Begrüßung\n"
            "files = { $n ->\n    [one] Eine Datei\n   *[other] { $n } Dateien\n}\n",
        },
    )
    [content] = contents(tmp_path)
    assert [(item.line, item.key, item.source, item.target) for item in content.translated] == [
        (2, "hello", "Hello, { $name }!", "Hallo, { $name }!"),
        (3, "hello.title", "Greeting", "Begrüßung"),
        (4, "files[one]", "One file", "Eine Datei"),
        (4, "files[other]", "{ $n } files", "{ $n } Dateien"),
    ]
    assert [each.key for each in content.missing] == ["-brand"]


def test_android_has_escapes_arrays_and_plurals(tmp_path: Path) -> None:
    head = '<?xml version="1.0" encoding="utf-8"?>\n<resources>\n'
    write(
        tmp_path,
        **{
            "res/values/strings.xml": head + '<string name="a">It\\\'s <b>%1$s</b></string>\n'
            '<string name="no" translatable="false">X</string>\n'
            '<string-array name="list"><item>One</item></string-array>\n'
            '<plurals name="n"><item quantity="one">%d file</item>\n'
            '<item quantity="other">%d files</item></plurals>\n</resources>\n',
            "res/values-de/strings.xml": head + '<string name="a">Es ist <b>%1$s</b></string>\n'
            '<string-array name="list"><item>Eins</item></string-array>\n'
            '<plurals name="n"><item quantity="one">%d Datei</item>\n'
            '<item quantity="other">%d Dateien</item></plurals>\n</resources>\n',
        },
    )
    assert read(tmp_path) == [
        ("strings.xml", 3, "a", "It's <b>%1$s</b>", "Es ist <b>%1$s</b>"),
        ("strings.xml", 4, "list[0]", "One", "Eins"),
        ("strings.xml", 5, "n[one]", "%d file", "%d Datei"),
        ("strings.xml", 6, "n[other]", "%d files", "%d Dateien"),
    ]


def test_ios_strings_with_comments_and_either_encoding(tmp_path: Path) -> None:
    write(tmp_path, **{"en.lproj/Main.strings": '"open" = "Open \\"it\\"";\n"Close" = "Close";\n'})
    target = tmp_path / "de.lproj" / "Main.strings"
    target.parent.mkdir()
    text = '/* A button.\n   tertium: ignore name */\n"open" = "\\U00d6ffne \\"es\\"";\n// x\n'
    target.write_bytes((text + '"Close" = "Schließen";\n').encode("utf-16"))
    [content] = contents(tmp_path)
    assert [(item.line, item.key, item.source, item.target) for item in content.translated] == [
        (3, "open", 'Open "it"', 'Öffne "es"'),
        (5, "Close", "Close", "Schließen"),
    ]
    assert "tertium: ignore name" in content.translated[0].comment


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (
            '{"menu": {"open": "Open", "n_one": "a file", "n_other": "files"},\n "l": ["x"]}',
            '{"menu": {"open": "Öffnen",\n  "n_one": "eine Datei", "n_other": "Dateien"},\n'
            ' "l": ["y"]}',
        ),
        (
            '{"en": {"menu": {"open": "Open", "n_one": "a file", "n_other": "files"},'
            '\n "l": ["x"]}}',
            '{"de": {"menu": {"open": "Öffnen",\n  "n_one": "eine Datei", "n_other": "Dateien"}'
            ',\n "l": ["y"]}}',
        ),
    ],
)
def test_nested_json(tmp_path: Path, source: str, target: str) -> None:
    write(tmp_path, **{"i18n/en.json": source, "i18n/de.json": target})
    assert read(tmp_path) == [
        ("de.json", 1, "menu.open", "Open", "Öffnen"),
        ("de.json", 2, "menu.n[one]", "a file", "eine Datei"),
        ("de.json", 2, "menu.n[other]", "files", "Dateien"),
        ("de.json", 3, "l.0", "x", "y"),
    ]


def test_json_whose_keys_are_the_source(tmp_path: Path) -> None:
    write(tmp_path, **{"de.json": '{"Open the file": "Datei öffnen",\n"Close it": "Schließen"}'})
    assert read(tmp_path) == [
        ("de.json", 1, "Open the file", "Open the file", "Datei öffnen"),
        ("de.json", 2, "Close it", "Close it", "Schließen"),
    ]


def test_arb_and_web_extensions_without_their_descriptions(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "app_en.arb": '{"@@locale": "en", "hi": "Hi {name}", "@hi": {"description": "x"}}',
            "app_es.arb": '{"@@locale": "es",\n "hi": "Hola {name}"}',
            "_locales/en/messages.json": '{"hi": {"message": "Hello", "description": "x"}}',
            "_locales/fr/messages.json": '{"hi": {"message": "Bonjour",\n "description": "x"}}',
        },
    )
    assert sorted(read(tmp_path)) == [
        ("app_es.arb", 2, "hi", "Hi {name}", "Hola {name}"),
        ("messages.json", 1, "hi", "Hello", "Bonjour"),
    ]


def test_string_catalogs_hold_all_languages(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "Main.xcstrings": """{"sourceLanguage": "en", "version": "1.0", "strings": {
"Open": {"localizations": {"de": {"stringUnit": {"state": "translated",
  "value": "Öffnen"}}}},
"%lld files": {"localizations": {"de": {"variations": {"plural": {
  "one": {"stringUnit": {"state": "translated", "value": "%lld Datei"}},
  "other": {"stringUnit": {"state": "translated", "value": "%lld Dateien"}}}}}}},
"Close": {}}}"""
        },
    )
    [content] = contents(tmp_path)
    assert [(item.line, item.key, item.source, item.target) for item in content.translated] == [
        (3, "Open", "Open", "Öffnen"),
        (5, "%lld files[one]", "%lld files", "%lld Datei"),
        (6, "%lld files[other]", "%lld files", "%lld Dateien"),
    ]
    assert [each.key for each in content.missing] == ["Close"]


def test_yaml_of_rails(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "en.yml": "en:\n  menu:\n    open: Open\n    count: 3\n",
            "de.yml": "# a comment\nde:\n  menu:\n    open: |\n      Öffnen\n",
        },
    )
    assert read(tmp_path) == [("de.yml", 4, "menu.open", "Open", "Öffnen\n")]


def test_properties_with_escapes_and_continuations(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "messages.properties": "open = Open\nlong = one \\\n   two\n",
            "messages_de.properties": "! a note\nopen: \\u00d6ffnen\nlong = eins \\\n   zwei\n",
        },
    )
    [content] = contents(tmp_path)
    assert [(item.line, item.key, item.source, item.target) for item in content.translated] == [
        (2, "open", "Open", "Öffnen"),
        (3, "long", "one two", "eins zwei"),
    ]
    assert content.translated[0].comment == "a note"


def test_cues_are_joined_to_sentences_and_paired_by_time(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "film.en.srt": "1\n00:00:01,000 --> 00:00:02,000\nI never said\n\n"
            "2\n00:00:02,100 --> 00:00:03,000\nthat it was easy.\n\n"
            "3\n00:00:10,000 --> 00:00:11,000\nGood night!\n\n"
            "4\n00:00:20,000 --> 00:00:21,000\nNobody is here.\n",
            "film.de.srt": "1\n00:00:01,000 --> 00:00:03,000\nIch habe nie gesagt,\n"
            "dass es leicht war.\n\n2\n00:00:10,100 --> 00:00:11,200\nGute Nacht!\n",
            "talk.en.vtt": "WEBVTT\n\nNOTE a note\n\n00:01.000 --> 00:02.000\nYes.\n",
            "talk.de.vtt": "WEBVTT\n\n00:01.000 --> 00:02.000 align:start\nJa.\n",
        },
    )
    film, talk = contents(tmp_path)
    assert [(item.line, item.key, item.source, item.target) for item in film.translated] == [
        (
            2,
            "00:00:01.000",
            "I never said that it was easy.",
            "Ich habe nie gesagt, dass es leicht war.",
        ),
        (7, "00:00:10.100", "Good night!", "Gute Nacht!"),
    ]
    assert [(each.key, each.source) for each in film.missing] == [
        ("00:00:20.000", "Nobody is here.")
    ]
    assert [(item.line, item.source, item.target) for item in talk.translated] == [
        (3, "Yes.", "Ja.")
    ]


def test_markdown_is_paired_by_structure(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "README.md": "---\ntitle: x\n---\n# Start\n\nRead this\nfirst.\n\n```\ncode\n```\n\n"
            "- one\n- two\n\n| a | b |\n|---|---|\n| c | d |\n",
            "README.de.md": "# Anfang\n\nLies das\nzuerst.\n\n```\ncode\n```\n\n- eins\n- zwei\n\n"
            "| A | B |\n|---|---|\n| C | D |\n",
        },
    )
    rows = [row[1:] for row in read(tmp_path)]
    assert rows == [
        (1, "Anfang", "Start", "Anfang"),
        (3, "Anfang", "Read this first.", "Lies das zuerst."),
        (10, "Anfang", "one", "eins"),
        (11, "Anfang", "two", "zwei"),
        (13, "Anfang", "a", "A"),
        (13, "Anfang", "b", "B"),
        (15, "Anfang", "c", "C"),
        (15, "Anfang", "d", "D"),
    ]


def test_a_paragraph_that_is_missing_in_a_document(tmp_path: Path) -> None:
    write(tmp_path, **{"a.en.md": "# A\n\nOne.\n\n- item\n", "a.de.md": "# A\n\n- Punkt\n"})
    [content] = contents(tmp_path)
    assert [item.target for item in content.translated] == ["A", "Punkt"]
    assert [each.source for each in content.missing] == ["One."]


def test_translation_memories(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "memory.tmx": '<tmx version="1.4"><body><tu><tuv xml:lang="en"><seg>Yes</seg></tuv>'
            '<tuv xml:lang="de-DE"><seg>Ja</seg></tuv><tuv xml:lang="fr"><seg>Oui</seg></tuv>'
            "</tu></body></tmx>"
        },
    )
    assert [row[2:] for row in read(tmp_path, source_lang="en", target_lang="de")] == [
        ("unit 1", "Yes", "Ja")
    ]


def test_tables_that_are_named(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "a.tsv": "id\tsrc\ttgt\nx\tYes\tJa\ny\tNo\tNein\n",
            "b.jsonl": '{"source": "Yes", "target": "Oui", "src_lang": "en", "tgt_lang": "fr"}\n',
        },
    )
    assert contents(tmp_path) == [], "folders may hold other tables"
    [table] = read_files([tmp_path / "a.tsv"], source_lang="en", target_lang="de")
    assert [(item.line, item.key, item.target) for item in table.translated] == [
        (2, "x", "Ja"),
        (3, "y", "Nein"),
    ]
    [rows] = read_files([tmp_path / "b.jsonl"])
    assert [(item.key, item.target, item.target_lang) for item in rows.translated] == [
        ("row 1", "Oui", "fr")
    ]
    with pytest.raises(LanguageError, match=r"a\.tsv does not say what its languages are"):
        list(read_files([tmp_path / "a.tsv"]))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("de.po", 'msgid "a"\nhello\n', r"de\.po, line 2: is not a well-formed PO file"),
        ("a.xlf", "<xliff>\n<file>\n</xliff>", r"a\.xlf, line 3: is not well-formed XML"),
        ("a.xlf", "<html/>", r"a\.xlf, line 1: is not XLIFF: it begins with <html>"),
        ("de/a.ftl", "a = b\n\n= c\n", r"a\.ftl, line 3: is not well-formed"),
        ("de.json", '{"a": "b",\n "c" "d"}', r"de\.json, line 2: is not well-formed JSON"),
        ("de.json", '{"a": "b"', r"de\.json, line 1: is not well-formed JSON: it ends too early"),
        ("de.json", "[1]", r"de\.json, line 1: has no keys at the top"),
        ("de.yml", "a: b\nc: [d\n", r"de\.yml, line 3: is not well-formed YAML"),
        ("de.lproj/a.strings", '"a" = "b";\n"c" "d";', r"a\.strings, line 2: is not well-formed"),
        ("film.de.srt", "hello\n", r"film\.de\.srt, line 1: has no cues"),
        ("values-de/strings.xml", "<resources>\n<a>", r"strings\.xml, line 2: is not well-formed"),
    ],
)
def test_a_broken_file_is_one_line_with_its_place(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    sources = {
        "de/a.ftl": ("en/a.ftl", "a = x\n"),
        "de.json": ("en.json", '{"a": "x"}'),
        "de.yml": ("en.yml", "a: x\n"),
        "de.lproj/a.strings": ("en.lproj/a.strings", '"a" = "x";'),
        "film.de.srt": ("film.en.srt", "1\n00:00:01,000 --> 00:00:02,000\nYes.\n"),
        "values-de/strings.xml": ("values/strings.xml", "<resources/>"),
    }
    write(tmp_path, **{name: text}, **dict([sources[name]] if name in sources else []))
    with pytest.raises(InputError, match=message) as error:
        contents(tmp_path)
    assert "\n" not in str(error.value)


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    document = (
        f'<!DOCTYPE resources [<!ENTITY file SYSTEM "{secret.as_uri()}"><!ENTITY app "App">]>'
        '<resources><string name="a">&file; &app;</string></resources>'
    )
    write(tmp_path, **{"values/strings.xml": document, "values-de/strings.xml": document})
    assert [row[3] for row in read(tmp_path)] == ["&file; &app;"]


def test_a_named_file_without_source_is_an_error_and_others_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, **{"config.json": '{"a": "b"}', "notes.md": "# Notes\n"})
    assert contents(tmp_path) == []
    file = tmp_path / "config.json"
    with pytest.raises(InputError, match="there is no file in the source language"):
        list(read_files([file], named=frozenset({file})))
