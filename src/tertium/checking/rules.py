"""Rules that need no model: what can be seen in a source and its translation."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tertium.checking.findings import Finding
from tertium.data.codes import english_name, primary
from tertium.data.identify import is_other_language
from tertium.data.l10n.strings import Translated
from tertium.errors import InputError
from tertium.explanation.flags import COPY, EMPTY, LANGUAGE, REPETITION, TRUNCATED, flag
from tertium.explanation.lexicon import language, words_of
from tertium.explanation.names import NAME, begins_sentence
from tertium.explanation.numbers import DATE, NUMBER, PROTECTED
from tertium.explanation.placeholders import find_placeholders
from tertium.explanation.spans import SEVERITIES, A, Severity, Span
from tertium.explanation.untranslated import CODE, UNTRANSLATED
from tertium.text import Text

WHOLE_TEXT: dict[str, tuple[str, Severity, str]] = {
    EMPTY: ("empty", "critical", "the translation has only spaces"),
    COPY: ("copied", "major", "the translation is a copy of the source"),
    TRUNCATED: ("truncated", "major", "the translation breaks off: it is much shorter than the "
                "source, and has no punctuation at the end"),
}  # fmt: skip
BARE_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
LEAST_WORDS = 4
"""In shorter texts, a missing name is an abbreviation, and nothing breaks off."""
COPIED_WORDS = 2
"""A copy has this many words of the other language alone."""
OWN_WORDS = 0.4
"""The share of words of its language from which a text is in its language."""
MOST_NUMBERS = 3
"""More numbers that differ in one text are one finding."""
FUNCTION_SHARE = 0.12
"""The share of function words from which words are more than a term or code."""
FUNCTION_WORDS = {
    lang: frozenset(words.split())
    for lang, words in {
        "de": "der die das den dem des ein eine und oder nicht ist sind wird mit von für zu im am",
        "en": "the a an of to and or is are was be will not with for on in at by from this your",
        "es": "el la los las un una y o no es son de del que con por para en su este esta",
        "fr": "le la les un une et ou est sont de du des que avec pour par dans sur ce cette votre",
    }.items()
}
"""Words that sentences have, and terms mostly do not."""
REFERENCE = re.compile(r":(?:rfc|pep):`|\bpp?\.?\s?-*\d|\((?:19|20)\d\d\)|\bVol\.")
"""What shows that a text is the title of a document."""
SET_OFF = re.compile(r"(?<!\w)\*[^*]+\*(?!\w)|[\"“„«][^\"“”„«»]+[\"”“»]")
"""What is in italics or quotation marks: often a title, or a term that is kept."""
ONLY_SIGN = re.compile(r"numbers differ: [-−–]?([\d.,]+) / [-−–]?\1")
NUMBERS = re.compile(r"[^:]+: .*\d.* / .*\d.*|the other text does not have (?!100\s?%).*\d.*")
"""The evidence for numbers in digits; "100 %" is often said in another way."""
QUOTED = re.compile(r"[\"'“‘„«(*`]+(?:\w+\s)?$")
"""What stands before words in quotation marks, in brackets, or in italics; the first of them may be
a word of both languages."""
INCONSISTENT_LETTERS = 3
"""Sources with fewer letters may well be translated in different ways."""


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a glossary, and the translations that it may have."""

    source: str
    targets: tuple[str, ...]
    target_lang: str | None = None


def check_string(
    item: Translated, glossary: Sequence[Term] = (), max_length: int | None = None
) -> list[Finding]:
    """Check one translation; of the forms of a plural, against the form that agrees best."""
    findings = min(
        (_compare(item, source) for source in item.sources),
        key=lambda some: sum(10 ** SEVERITIES.index(each.severity) for each in some),
    )
    limit = item.max_length or max_length
    if limit is not None and len(item.target) > limit:
        message = f"{len(item.target)} characters; at most {limit} are allowed"
        findings.append(
            Finding.of(item, "length", "major", message, target_span=(limit, len(item.target)))
        )
    findings += _terms(item, glossary)
    return findings


def _compare(item: Translated, source: str) -> list[Finding]:
    a, b = Text(item.target, item.target_lang), Text(source, item.source_lang)
    names, spans = flag(a, b)
    first, second = bare_words(item.target), bare_words(source)
    if min(len(first), len(second)) < LEAST_WORDS:
        spans = [span for span in spans if span.kind != NAME]  # Jan. is not Ene.
        names = [name for name in names if name != TRUNCATED]
    findings = []
    for name in names:
        if name == COPY and not _is_copied(item, first):
            continue
        is_term = name == COPY and (
            REFERENCE.search(item.target) is not None
            or not _is_sentence_like(item, bare_words(SET_OFF.sub(" ", item.target)))
        )
        if name == LANGUAGE:
            if UNTRANSLATED in names or not _is_foreign(item, first):
                continue
            lang = english_name(item.target_lang or "")
            message = f"the translation is not in {lang}"
            findings.append(Finding.of(item, "language", "major", message, source=source))
        elif name in WHOLE_TEXT:
            rule, severity, message = WHOLE_TEXT[name]
            severity = "minor" if is_term else severity
            findings.append(Finding.of(item, rule, severity, message, source=source))
    differences = [_of_span(item, source, span) for span in _one_per_place(spans)]
    numbers = [each for each in differences if each.rule == NUMBER]
    if len(numbers) > MOST_NUMBERS:  # another example, or another state of a table
        message = f"{len(numbers)} numbers differ; the first: {numbers[0].message}"
        merged = replace(numbers[0], message=message, severity="major")
        differences = [merged, *(each for each in differences if each.rule != NUMBER)]
    return [*findings, *differences]


def bare_words(text: str) -> list[str]:
    """The words of a text, in lower case, without placeholders, markup, code and links.

    >>> bare_words("See <b>%(name)s</b> and get_url() at https://x.org, {user}")
    ['see', 'and', 'at']
    """
    for pattern in (CODE, PROTECTED):
        text = pattern.sub(" ", text)
    places = [(each.start, each.end) for each in find_placeholders(text)]
    for start, end in reversed(places):
        text = f"{text[:start]} {text[end:]}"
    return [word.lower() for word in BARE_WORD.findall(text)]


def _is_copied(item: Translated, words: Sequence[str]) -> bool:
    """Whether words of the source's language are left that the other language does not have."""
    own = words_of(language(item.target_lang))
    foreign = words_of(language(item.source_lang))
    if not own or not foreign:
        return len(words) >= LEAST_WORDS
    return sum(word in foreign and word not in own for word in words) >= COPIED_WORDS


def _is_sentence_like(item: Translated, words: Sequence[str]) -> bool:
    """Whether words of the source have words like "the" or "of", which terms and code have not.

    Lines that are all indented are an example, and capital letters alone are a name.
    """
    source = item.source
    if source.isupper() or all(line[0].isspace() for line in source.splitlines() if line):
        return False
    known = FUNCTION_WORDS.get(primary(item.source_lang or ""))
    if known is None:
        return len(words) >= LEAST_WORDS
    return sum(word in known for word in words) >= max(1, FUNCTION_SHARE * len(words))


def _is_foreign(item: Translated, words: Sequence[str]) -> bool:
    """Whether identification still says so without placeholders, and few words are its own."""
    if not is_other_language(" ".join(words), item.target_lang or ""):
        return False
    own = words_of(language(item.target_lang))
    return sum(word in own for word in words) < OWN_WORDS * len(words)


def _one_per_place(spans: Sequence[Span]) -> list[Span]:
    """Of a difference that is marked on both sides, the span of the translation."""
    counts = Counter((span.kind, span.side == A) for span in spans)
    kept: list[Span] = []
    seen: Counter[str] = Counter()
    for span in spans:
        if span.side == A:
            kept.append(span)
        else:
            seen[span.kind] += 1
            if seen[span.kind] > counts[span.kind, True]:
                kept.append(span)
    return kept


def _of_span(item: Translated, source: str, span: Span) -> Finding:
    place = (span.start, span.end)
    message = span.evidence
    severity = span.severity
    if severity in ("major", "critical") and _is_doubtful(item, source, span):
        severity = "minor"
    if span.text not in message:
        message = f"{span.text!r}: {message}" if message else repr(span.text)
    return Finding.of(
        item,
        span.kind,
        severity,
        message,
        source=source,
        source_span=None if span.side == A else place,
        target_span=place if span.side == A else None,
    )


def _is_doubtful(item: Translated, source: str, span: Span) -> bool:
    """Whether a finding is often wrong in technical texts.

    That is so for terms that are kept, for quotations, and for what stands in brackets; for unusual
    words at the beginning of a sentence, which have a capital letter without being names; for
    numbers that are spelt out, in code, or differ by a sign, which may be a hyphen; and for
    repetitions in code.
    """
    text = item.target if span.side == A else source
    if span.kind == REPETITION:
        return "`" in span.text or CODE.search(span.text) is not None
    if span.kind in (NUMBER, DATE):
        return (
            NUMBERS.fullmatch(span.evidence) is None
            or ONLY_SIGN.fullmatch(span.evidence) is not None
            or any(
                match.start() < span.start and span.end < match.end()
                for match in CODE.finditer(text)
            )
        )
    if span.kind == UNTRANSLATED:
        blank = SET_OFF.sub(lambda match: " " * len(match[0]), text)
        inside = blank[span.start : span.end]
        return (
            ("(" in inside and ")" not in inside)
            or QUOTED.search(text[: span.start]) is not None
            or not _is_sentence_like(item, bare_words(inside))
        )
    return span.kind == NAME and begins_sentence(text, span.start)


def _terms(item: Translated, glossary: Sequence[Term]) -> Iterator[Finding]:
    for term in glossary:
        if term.target_lang and primary(term.target_lang) != primary(item.target_lang or ""):
            continue
        match = _term(term.source).search(item.source)
        if match is None or any(
            target.casefold() in item.target.casefold() for target in term.targets
        ):
            continue
        wanted = " or ".join(repr(target) for target in term.targets)
        message = f"{match[0]!r} should be translated as {wanted}"
        yield Finding.of(item, "term", "major", message, source_span=match.span())


@lru_cache
def _term(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)


def read_glossary(lines: Iterable[str]) -> list[Term]:
    """Read terms: the term, a tab, its translations (several with ``|``), and maybe a language.

    >>> read_glossary(["file\\tDatei|Dateien", "# a comment", "menu\\tmenú\\tes"])
    ... # doctest: +NORMALIZE_WHITESPACE
    [Term(source='file', targets=('Datei', 'Dateien'), target_lang=None),
     Term(source='menu', targets=('menú',), target_lang='es')]
    """
    terms = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) not in (2, 3) or not fields[0] or not fields[1]:
            raise InputError(
                f"line {number} of the glossary must be a term, a tab and its translation "
                "(and maybe another tab and the language)"
            )
        targets = tuple(target.strip() for target in fields[1].split("|") if target.strip())
        terms.append(Term(fields[0], targets, fields[2] if len(fields) == 3 else None))
    return terms


def inconsistencies(items: Iterable[Translated]) -> list[Finding]:
    """Translations that differ from the most frequent one of the same source.

    Forms of plurals, and texts in another context of the same file, are left out.
    """
    groups: defaultdict[tuple[str, str | None], list[Translated]] = defaultdict(list)
    for item in items:
        is_form = len(item.sources) > 1 or "|" in item.key[: item.key.find(item.source)]
        if not is_form and sum(map(str.isalpha, item.source)) >= INCONSISTENT_LETTERS:
            groups[item.source, item.target_lang].append(item)
    findings = []
    for (source, _), group in groups.items():
        counts = Counter(item.target.strip() for item in group)
        if len(counts) == 1:
            continue
        usual = max(counts, key=lambda text: (counts[text], text))
        for item in group:
            if item.target.strip() != usual:
                message = f"{source!r} is translated as {usual!r} elsewhere"
                findings.append(Finding.of(item, "inconsistent", "minor", message))
    return findings
