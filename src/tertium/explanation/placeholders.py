"""Placeholders and markup that a translation must keep: ``{name}``, ``%s``, ``<b>``, ``&amp;``.

They are compared as they stand. Plurals and selections of ICU messages are compared by their
arguments, because languages have different numbers of branches.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from tertium.explanation.spans import A, B, Severity, Span
from tertium.text import Text

PLACEHOLDER, MARKUP = "placeholder", "markup"
PATTERNS = re.compile(
    r"""
    (?P<rest>:[\w:+.-]+:`[^`]*`|``[^`]+``|`[^`]*<[^<>`]*>`_{1,2})
    |(?P<pod>(?<![^\W_])[BCEFILSXZ]<(?!/[a-z]|br?\b))
    |(?P<icu>\{\s*[\w.]+\s*,\s*(?:plural|select|selectordinal)\s*,)
    |(?P<brace>[$%\#]?\{\{?\s*[\w.$-]*(?:\[[^\]{}]*\])?(?:\s*,\s*\w+(?:\s*,[^{}]*)?)?(?:![rsa])?(?::[^{}\s]*)?\s*\}\}?)
    |(?P<printf>(?<![%\d])(?<!\d[ \u00a0\u202f])%(?:\(\w+\)|\d+\$)?[-+\#0]*(?:\d+|\*)?(?:\.\d+)?
        (?:hh|h|ll|l|L|q|j|z|t)?[diouxXeEfFgGcrsap@](?![^\W\d_]{2})
        |%(?:\(\w+\)|\d+\$)[-+\#0]*(?:\d+|\*)?(?:\.\d+)?[diouxXeEfFgGcrsap@])
    |(?P<numbered>(?<![%\w])%L?\d{1,2}(?![\w%$.,]))
    |(?P<variable>(?<![%\w])%[A-Z][A-Z_]{2,}\b%?|(?<!\w)\$[A-Z_][A-Z_]{2,}\b)
    |(?P<link>(?<!\\)\[(?P<label>[^\[\]]*)\]\((?P<target>[^()\s]+)\))
    |(?P<tag>(?<!<)</?[A-Za-z][\w:-]*(?:\s[^<>]*)?/?>)
    |(?P<entity>&(?:[A-Za-z][A-Za-z0-9]*|\#\d+|\#[xX][0-9A-Fa-f]+);)
    |(?P<path>\b[A-Za-z]:\\[^\s"']*)
    |(?P<escape>\\[nrt])
    """,
    re.VERBOSE,
)
ICU_PARTS = re.compile(r"\s*(=?\w+)\s*(\{)")
TYPOGRAPHY = frozenset(
    [
        *("&nbsp;", "&quot;", "&apos;", "&laquo;", "&raquo;", "&ldquo;", "&rdquo;", "&bdquo;"),
        *("&lsquo;", "&rsquo;", "&sbquo;", "&ndash;", "&mdash;", "&hellip;", "&#39;", "&shy;"),
        *("&#160;", "&thinsp;", "&lsaquo;", "&rsaquo;", "&iquest;", "&iexcl;"),
    ]
)
"""Entities that languages use differently."""
TYPOGRAPHIC_TAGS = frozenset(
    [
        *("<sup>", "</sup>", "<sub>", "</sub>", "<nobr>", "</nobr>", "<wbr>"),
        *("<quote>", "</quote>", "<q>", "</q>"),
    ]
)
"""Tags for what languages set differently: ordinals, units and quotations."""
TAGS = frozenset(
    [
        *("a", "b", "br", "code", "div", "em", "font", "hr", "i", "img", "li", "ol", "p", "s"),
        *("small", "span", "strong", "sub", "sup", "td", "th", "tr", "tt", "u", "ul", "wbr"),
    ]
)
"""Tags without a partner are markup if they have one of these names, or attributes; others, such as
``<file>``, stand for something."""
ARGUMENT = "<...>"
VALUES = re.compile(r"=\s*[\"']([^\"']+)")
"""Values of attributes, such as where a link leads."""
NUMBERED = re.compile(r"%\d+\$")
STAND_IN = "X"
"""What a model reads in place of a placeholder."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Something that is kept: where it is, and the text that it is compared by."""

    start: int
    end: int
    key: str
    group: str
    """The name of its pattern."""

    @property
    def kind(self) -> str:
        markup = ("tag", "entity", "escape", "link", "argument")
        return MARKUP if self.group in markup else PLACEHOLDER


def find_placeholders(text: str, other: str = "") -> list[Placeholder]:
    """The placeholders and the markup of a text, in order; tags may have their partner in another.

    >>> [each.key for each in find_placeholders("Hi %(name)s, <a href='x'>{0}</a>: 50 % &amp;")]
    ['%(name)s', '<a>', '{0}', '</a>', '&amp;']
    """
    if not any(char in text for char in "{%<&\\[$"):
        return []
    return list(_found(text, 0, len(text), f"{text} {other}".lower()))


def _found(text: str, start: int, end: int, context: str) -> Iterator[Placeholder]:
    place = start
    while match := PATTERNS.search(text, place, end):
        group = str(match.lastgroup)
        if group == "target" or match["link"]:
            yield Placeholder(match.start(), match.end(), f"]({match['target']})", "link")
            place = match.end()
        elif group in ("path", "rest"):  # C:\new has no line break; reStructuredText
            place = match.end()
        elif group == "icu":
            stop = _closing(text, match.start(), end)
            yield from _icu(text, match.start(), match.end(), stop, context)
            place = stop
        else:
            key = match[0]
            if group == "tag":
                name = re.split(r"[\s>/]", key.lstrip("</"), maxsplit=1)[0].lower()
                has_partner = f"</{name}" in context
                if name not in TAGS and not has_partner and not re.search("[=/]", key):
                    group, key = "argument", ARGUMENT
                else:
                    key = f"</{name}>" if key.startswith("</") else f"<{name}>"
            elif group == "brace":
                key = re.sub(r"\s+", "", key)
            yield Placeholder(match.start(), match.end(), key, group)
            place = match.end()


def _closing(text: str, start: int, end: int) -> int:
    """The place after the bracket that closes the one at ``start``."""
    depth = 0
    for place in range(start, end):
        depth += (text[place] == "{") - (text[place] == "}")
        if not depth:
            return place + 1
    return end


def _icu(text: str, start: int, begin: int, stop: int, context: str) -> Iterator[Placeholder]:
    """The argument of a plural or a selection, and what its branches have, each once."""
    argument = re.sub(r"\s+", "", text[start:begin]).strip("{,")
    keys = []
    inside: dict[str, Placeholder] = {}
    place = begin
    while match := ICU_PARTS.match(text, place, stop):
        keys.append(match[1])
        place = _closing(text, match.start(2), stop)
        for found in _found(text, match.end(), place - 1, context):
            inside.setdefault(found.key, found)
    if argument.endswith(",select"):
        argument += ":" + "|".join(sorted(keys))
    yield Placeholder(start, begin, f"{{{argument}}}", "icu")
    yield from inside.values()


def placeholder_spans(a: Text, b: Text) -> list[Span]:
    """Placeholders and markup that only one side has, or has in another order.

    >>> pair = Text("Hallo {nom}, %d von %s", "de"), Text("Hello {name}, %s of %d", "en")
    >>> [span.evidence for span in placeholder_spans(*pair)]
    ['the source has {name} instead of {nom}', '{name} is missing: the translation has {nom}',
     'the order of %d and %s differs: the values would be exchanged']
    """
    first, second = (
        [each for each in find_placeholders(text, other) if each.group != "pod"]
        for text, other in ((a.text, b.text), (b.text, a.text))
    )
    if not first and not second:
        return []
    if any(NUMBERED.match(each.key) for each in (*first, *second)):
        first, second = _numbered(first), _numbered(second)
    extra = _lacking(first, second, b.text)
    missing = _lacking(second, first, a.text)
    both = {each.key for each in first} & {each.key for each in second}
    spans = []
    for side, text, own, other_text, others in (
        (A, a.text, extra, b.text, missing),
        (B, b.text, missing, a.text, extra),
    ):
        for each in own:
            other = next((other.key for other in others if other.kind == each.kind), None)
            if each.key in other_text and each.key not in both:
                evidence = f"a space is missing after {each.key}"
            elif each.key in both:
                evidence = f"{each.key} does not occur as often on both sides"
            elif other is not None:
                evidence = (
                    f"the source has {other} instead of {each.key}"
                    if side == A
                    else f"{each.key} is missing: the translation has {other}"
                )
            elif side == A:
                evidence = f"the source does not have {each.key}"
            else:
                evidence = f"{each.key} is missing in the translation"
            is_minor = each.key in both or _is_whole(each, side, own, text, other_text)
            spans.append(_span(text, side, each, evidence, is_minor=is_minor))
    if not any(each.group == "printf" for each in (*extra, *missing)):
        spans += _exchanged(a.text, first, second)
    return spans


def _numbered(found: list[Placeholder]) -> list[Placeholder]:
    """Number what is filled in order, as translations do that need another order.

    >>> [each.key for each in _numbered(find_placeholders("%s of %(all)s in %d"))]
    ['%1$s', '%(all)s', '%2$d']
    """
    numbers = count(1)
    return [
        replace(each, key=f"%{next(numbers)}${each.key[1:]}")
        if each.group == "printf" and not re.match(r"%(\(|\d+\$)", each.key)
        else each
        for each in found
    ]


def _is_whole(each: Placeholder, side: str, own: list[Placeholder], text: str, other: str) -> bool:
    """Whether a tag and its partner are both on one side alone, and no link is lost with them."""
    name = each.key.strip("</>")
    pair = [each for each in own if each.key in (f"<{name}>", f"</{name}>")]
    tags = [text[each.start : each.end] for each in pair]
    if each.group != "tag" or (len({each.key for each in pair}) < 2 and "/>" not in tags[0]):
        return False
    return side == A or all(value in other for tag in tags for value in VALUES.findall(tag))


def _span(
    text: str, side: str, each: Placeholder, evidence: str, *, is_minor: bool = False
) -> Span:
    severity: Severity = "critical" if each.kind == PLACEHOLDER else "major"
    if each.group in ("escape", "argument") or (is_minor and each.group != "printf"):
        severity = "minor"
    return Span.of(
        text,
        each.start,
        each.end,
        side=side,
        kind=each.kind,
        score=1.0,
        severity=severity,
        evidence=evidence,
    )


def _lacking(own: list[Placeholder], others: list[Placeholder], other: str) -> list[Placeholder]:
    """Those of one side that the other side does not have as often."""
    rest = Counter(each.key for each in others)
    lacking = []
    for each in own:
        if rest[each.key]:
            rest[each.key] -= 1
        elif each.key in TYPOGRAPHY | TYPOGRAPHIC_TAGS or (
            each.group == "entity" and _is_resolved(each.key, other)
        ):
            continue
        else:
            lacking.append(each)
    return lacking


def _is_resolved(entity: str, other: str) -> bool:
    """Whether the other side has the character itself, or a word for "and"."""
    char = html.unescape(entity)
    return char.isalpha() or (entity == "&amp;" and "&" not in other) or char in "©®™°€£§"


def _exchanged(text: str, own: list[Placeholder], others: list[Placeholder]) -> list[Span]:
    """Placeholders without a number or a name are filled in order: theirs has to be the same."""
    ordered = [
        [each for each in side if each.group == "printf" and not re.search(r"[($]", each.key[1:])]
        for side in (own, others)
    ]
    for first, second in zip(*ordered, strict=False):
        if first.key != second.key:
            evidence = (
                f"the order of {first.key} and {second.key} differs: the values would be exchanged"
            )
            return [_span(text, A, first, evidence)]
    return []


def mask(text: str) -> tuple[str, list[int]]:
    """A text that a model can read, and the offset of each of its characters in the original.

    Placeholders become a letter, tags are left out, entities are resolved, and of links the label
    is left.

    >>> mask("See [this](http://x.y), <b>%s</b> &amp; me")[0]
    'See this, X & me'
    """
    parts: list[str] = []
    offsets: list[int] = []

    def add(part: str, start: int, *, moving: bool) -> None:
        parts.append(part)
        offsets.extend(start + place if moving else start for place in range(len(part)))

    place = 0
    for each in find_placeholders(text):
        if each.start < place:
            continue
        add(text[place : each.start], place, moving=True)
        place = each.end
        if each.group == "icu":
            place = _closing(text, each.start, len(text))
            add(STAND_IN, each.start, moving=False)
        elif each.group == "link":
            label = text[each.start + 1 : text.index("](", each.start)]
            add(label, each.start + 1, moving=True)
        elif each.group == "entity":
            add(html.unescape(each.key), each.start, moving=False)
        elif each.group == "escape":
            add(" ", each.start, moving=False)
        elif each.group not in ("tag", "pod"):
            add(STAND_IN, each.start, moving=False)
    add(text[place:], place, moving=True)
    return "".join(parts), offsets
