"""Placeholders and markup: cases written by hand."""

from __future__ import annotations

import pytest

from tertium.explanation.placeholders import find_placeholders, mask, placeholder_spans
from tertium.text import Text


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Hello {name}, {0} and {{x}}", ["{name}", "{0}", "{{x}}"]),
        ("%s of %d, %1$s, %(name)s, %.2f", ["%s", "%d", "%1$s", "%(name)s", "%.2f"]),
        ("${var} %{count} $USER_NAME", ["${var}", "%{count}", "$USER_NAME"]),
        ("<b>x</b><br/> &amp; a\\nb", ["<b>", "</b>", "<br>", "&amp;", "\\n"]),
        ("%1 and %2 of %PRODUCTNAME", ["%1", "%2", "%PRODUCTNAME"]),
        ("See [the page](http://x.org/a).", ["](http://x.org/a)"]),
        ("100% sure, 50 % done, {not a placeholder!}, a < b > c", []),
        ("{n, plural, one {# file of {who}} other {# files of {who}}}", ["{n,plural}", "{who}"]),
        ("{g, select, male {he} other {they}}", ["{g,select:male|other}"]),
        ("{d, date, short}", ["{d,date,short}"]),
    ],
)
def test_what_is_a_placeholder(text: str, keys: list[str]) -> None:
    assert [each.key for each in find_placeholders(text)] == keys


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("{name} grüßt %s", "%s greets {name}"),
        ("%2$s und %1$s", "%1$s and %2$s"),
        (
            "{n, plural, one {# plik} few {# pliki} many {# plików} other {# pliku}}",
            "{n, plural, one {# file} other {# files}}",
        ),
        ("Käse und Brot", "Cheese &amp; bread"),
        ("<a href='de.html'>hier</a>", '<a href="en.html">here</a>'),
        ("Ich bin zu 100 % sicher", "I am 100% sure"),
        ("«&nbsp;oui&nbsp;»", "&quot;yes&quot;"),
        ("%2$s von %1$s", "%s in %s"),
        ("Version %2$d von %1$.9s", "%.9s version %d"),
        ("I<Paket> I<--cfg=>I<Datei>", "I<package> I<--cfg=>I<file>"),
        ("--%s braucht <Name des Pakets>", "--%s takes <package name>"),
        ("nutze <Datei>", "use <file>"),
        ("der »Pinsel«", "the <quote>brush</quote>"),
    ],
)
def test_what_may_differ(a: str, b: str) -> None:
    assert placeholder_spans(Text(a), Text(b)) == []


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        ("Hallo", "Hello {name}", [("b", "{name}", "placeholder", "critical")]),
        ("Hallo %s", "Hello", [("a", "%s", "placeholder", "critical")]),
        (
            *("Hallo {nom}", "Hello {name}"),
            [("a", "{nom}", "placeholder", "critical"), ("b", "{name}", "placeholder", "critical")],
        ),
        ("%d von %s", "%s of %d", [("a", "%d", "placeholder", "critical")]),
        ("fett</b>", "<b>bold</b>", [("b", "<b>", "markup", "major")]),
        ("eins zwei", "one\\ntwo", [("b", "\\n", "markup", "minor")]),
        (
            "%2$d von %1$s",
            "%s of %s",
            [("a", "%2$d", "placeholder", "critical"), ("b", "%s", "placeholder", "critical")],
        ),
        ("nutze sie", "use <file>", [("b", "<file>", "markup", "minor")]),
        (
            "das <em>API</em>",
            "the API",
            [("a", "<em>", "markup", "minor"), ("a", "</em>", "markup", "minor")],
        ),
        (
            *("<x-y>Wort", "<x-y>word</x-y>"),
            [("b", "</x-y>", "markup", "major")],
        ),
        (
            *("ein Wort", "a <x-y>word</x-y>"),
            [("b", "<x-y>", "markup", "minor"), ("b", "</x-y>", "markup", "minor")],
        ),
        (
            *("ein Wort", "a <a href='x'>word</a>"),
            [("b", "<a href='x'>", "markup", "major"), ("b", "</a>", "markup", "major")],
        ),
        (
            "siehe <xref to='x'/>",
            "see <a to='x'>X</a>",
            [
                ("a", "<xref to='x'/>", "markup", "minor"),
                ("b", "<a to='x'>", "markup", "minor"),
                ("b", "</a>", "markup", "minor"),
            ],
        ),
        ("A & B", "A &amp; B", [("b", "&amp;", "markup", "major")]),
        (
            *("{g, select, other {x}}", "{g, select, male {he} other {x}}"),
            [
                ("a", "{g, select,", "placeholder", "critical"),
                ("b", "{g, select,", "placeholder", "critical"),
            ],
        ),
        (
            *("[hier](http://x.org/b)", "[here](http://x.org/a)"),
            [
                ("a", "[hier](http://x.org/b)", "markup", "major"),
                ("b", "[here](http://x.org/a)", "markup", "major"),
            ],
        ),
    ],
)
def test_what_must_not_differ(a: str, b: str, found: list[tuple[str, str, str, str]]) -> None:
    spans = placeholder_spans(Text(a, "de"), Text(b, "en"))
    assert [(span.side, span.text, span.kind, span.severity) for span in spans] == found
    assert all(span.evidence for span in spans)


def test_the_evidence_names_both() -> None:
    first, second = placeholder_spans(Text("Hallo {nom}"), Text("Hello {name}"))
    assert first.evidence == "the source has {name} instead of {nom}"
    assert second.evidence == "{name} is missing: the translation has {nom}"


def test_masked_text_keeps_its_places() -> None:
    text = "Hi <b>{name}</b>, see [here](http://x.y) &amp; %s\\nend"
    masked, offsets = mask(text)
    assert masked == "Hi X, see here & X end"
    assert len(offsets) == len(masked)
    assert text[offsets[masked.index("see")] :].startswith("see")
    assert text[offsets[masked.index("here")] :].startswith("here]")
    assert text[offsets[masked.index("X")] :].startswith("{name}")
    assert mask("use <file> and B<this>")[0] == "use X and this>"
    assert mask("nothing here") == ("nothing here", list(range(12)))
