"""Checking translations: rules first, then a model for what the rules say nothing about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

from tertium.checking.findings import RULES, WITH_MODEL, Finding, one_line
from tertium.checking.rules import Term, check_string, inconsistencies
from tertium.data.codes import english_name, primary
from tertium.data.l10n.strings import FileContent, Missing, Translated
from tertium.data.negation import negation_differs
from tertium.errors import SettingError
from tertium.explanation.coverage import ADDITION, OMISSION
from tertium.explanation.opposites import NEGATION, opposites, reported_opposites
from tertium.explanation.placeholders import mask
from tertium.explanation.review import COVERAGE, HALLUCINATION, Reviewer, learned_for
from tertium.explanation.spans import SEVERITIES, A, Span
from tertium.models.base import Progress, TranslationModel
from tertium.processes import follow_parent
from tertium.text import Text

IGNORED = re.compile(r"tertium:\s*ignore\b(?P<rules>[ \t]+[a-z, \t]+)?")
"""A comment beside a string that switches rules off for it: all, or those it names."""
LEAST_WORDS = 4
"""Texts of fewer words are not put to a model: there is no phrase to leave out."""
WHOLE = frozenset({"copied", "untranslated", "language", "empty", "truncated", "repetition"})
"""Rules after which a model has nothing to add."""
LEAST_FOREIGN = 3
"""A file is in another language if so many strings and most of them are."""
CHUNK = 256
"""Strings that a process checks at a time."""
BATCH = 512
"""Strings that a model is asked about at a time."""
FALSE_ALARMS = 0.02
"""The share of right strings that the model's findings may be about, where it was learned."""


@dataclass(frozen=True)
class CheckSettings:
    """What is checked."""

    ignore: frozenset[str] = frozenset()
    """Rules that are switched off."""
    glossary: tuple[Term, ...] = ()
    max_length: int | None = None
    jobs: int = 1
    """Processes that the rules run in."""

    def __post_init__(self) -> None:
        if unknown := sorted(self.ignore - RULES.keys()):
            raise SettingError(f"unknown rule {unknown[0]!r}: use {', '.join(RULES)}")
        if self.jobs < 1:
            raise SettingError(f"{self.jobs} processes: give 1 or more")


@dataclass(frozen=True)
class CheckResult:
    """What was found, and what was looked at."""

    findings: tuple[Finding, ...]
    files: int
    strings: int
    unread: tuple[str, ...] = field(default=())
    """Files that could not be read, each with the reason."""
    by_model: int = 0
    """Strings that a model was asked about."""


def check_strings(
    contents: Iterable[FileContent],
    settings: CheckSettings = CheckSettings(),
    *,
    model: TranslationModel | None = None,
    progress: Progress | None = None,
) -> CheckResult:
    """Check the translations of some files; without a model, by rules alone.

    A model is asked about translations of some length for which no rule has found anything that
    concerns the whole text, in directions that it has.
    """
    files = list(contents)
    items = [item for content in files for item in content.translated]
    found = by_rules(items, settings, progress)
    asked = 0
    if model is not None and WITH_MODEL - settings.ignore:
        chosen = [
            place
            for place, (item, findings) in enumerate(zip(items, found, strict=True))
            if _is_for_model(item, findings, model)
        ]
        asked = len(chosen)
        some = [items[place] for place in chosen]
        for place, findings in zip(chosen, by_model(some, model, progress), strict=True):
            found[place] = [*found[place], *findings]
    findings = _of_files([each for some in found for each in some], items)
    findings += inconsistencies(items)
    silenced = {
        (item.path.as_posix(), item.line, item.key): ignored_rules(item.comment)
        for item in items
        if item.comment
    }
    findings += [_missing(each) for content in files for each in content.missing]
    kept = tuple(
        each
        for each in dict.fromkeys(findings)
        if each.rule not in settings.ignore
        and each.rule not in silenced.get((each.path, each.line, each.key), ())
    )
    return CheckResult(kept, len({content.path for content in files}), len(items), by_model=asked)


def _of_files(findings: Sequence[Finding], items: Sequence[Translated]) -> list[Finding]:
    """Findings, with one about the language for each file that is mostly in another one."""
    strings = Counter(item.path.as_posix() for item in items)
    foreign = Counter(each.path for each in findings if each.rule == "language")
    wrong = {
        path
        for path, count in foreign.items()
        if count >= LEAST_FOREIGN and count > strings[path] / 2
    }
    kept, seen = [], set()
    for each in findings:
        if each.rule == "language" and each.path in wrong:
            if each.path in seen:
                continue
            seen.add(each.path)
            share = f"{foreign[each.path]} of {strings[each.path]} strings"
            lang = english_name(each.target_lang or "")
            each = replace(each, message=f"{share} of the file are not in {lang}")
        kept.append(each)
    return kept


def by_rules(
    items: Sequence[Translated], settings: CheckSettings, progress: Progress | None = None
) -> list[list[Finding]]:
    """What the rules without a model find about each string."""
    check = partial(check_string, glossary=settings.glossary, max_length=settings.max_length)
    chunks = [items[start : start + CHUNK] for start in range(0, len(items), CHUNK)]
    found: list[list[Finding]] = []

    def collect(results: Iterable[list[list[Finding]]]) -> None:
        for result in results:
            found.extend(result)
            if progress is not None:
                progress("checking", len(found), len(items))

    if settings.jobs == 1 or len(chunks) < 2:
        collect(_check_chunk(chunk, check) for chunk in chunks)
        return found
    jobs = min(settings.jobs, len(chunks))
    with ProcessPoolExecutor(jobs, initializer=follow_parent) as pool:
        collect(pool.map(partial(_check_chunk, check=check), chunks))
    return found


def _check_chunk(
    chunk: Sequence[Translated], check: Callable[[Translated], list[Finding]]
) -> list[list[Finding]]:
    return [check(item) for item in chunk]


def _is_for_model(item: Translated, findings: Sequence[Finding], model: TranslationModel) -> bool:
    if WHOLE & {each.rule for each in findings}:
        return False
    if min(len(item.source.split()), len(item.target.split())) < LEAST_WORDS:
        return False
    langs = item.source_lang, item.target_lang
    return model.translates(*langs) or model.translates(*langs[::-1])


def by_model(
    items: Sequence[Translated], model: TranslationModel, progress: Progress | None = None
) -> list[list[Finding]]:
    """Omissions, additions and translations of something else, read without placeholders."""
    found: list[list[Finding]] = []
    learned, aligner = learned_for(model)
    for start in range(0, len(items), BATCH):
        batch = items[start : start + BATCH]
        masked = [(mask(item.target), mask(item.source)) for item in batch]
        pairs = [
            (Text(target[0], item.target_lang), Text(source[0], item.source_lang))
            for item, (target, source) in zip(batch, masked, strict=True)
        ]
        both = all(model.translates(b.lang, a.lang) for a, b in pairs)
        methods = (COVERAGE, HALLUCINATION) if both else (COVERAGE,)
        reviewer = Reviewer(
            methods, model, learned=learned, aligner=aligner, false_alarms=FALSE_ALARMS
        )
        reviews = reviewer(pairs)
        negated = negations(pairs, model)
        for place, (item, review, (target, source)) in enumerate(
            zip(batch, reviews, masked, strict=True)
        ):
            findings = [
                finding
                for span in joined(review.spans, review.a.text, review.b.text)
                if (finding := _of_span(item, span, target[1], source[1])) is not None
            ]
            if place in negated:
                message = "one side is negated, and the other is not"
                findings.append(Finding.of(item, "negation", "major", message))
            found.append(findings)
        if progress is not None:
            progress("asking the model", len(found), len(items))
    return found


def negations(pairs: Sequence[tuple[Text, Text]], model: TranslationModel) -> set[int]:
    """The places of translations that are negated and should not be, or the other way round.

    The words of one side alone must say so, and the model must find the translation more probable
    with its negation removed, or with one.
    """
    places = [
        place
        for place, (a, b) in enumerate(pairs)
        if negation_differs(a.text, primary(a.lang or ""), b.text, primary(b.lang or ""))
    ]
    asked = [pairs[place] for place in places]
    found = opposites(asked, model, kinds={NEGATION}, sides={A})
    return {place for place, spans in zip(places, found, strict=True) if reported_opposites(spans)}


def joined(spans: Sequence[Span], a: str, b: str) -> list[Span]:
    """Join spans of one kind that nothing but spaces separates: they are one phrase.

    >>> text = "in the hall behind the station"
    >>> spans = [Span.of(text, start, end, side="b", kind="omission", score=1.0)
    ...          for start, end in ((0, 11), (12, 30))]
    >>> [span.text for span in joined(spans, "", text)]
    ['in the hall behind the station']
    """
    result: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.side, span.start)):
        text = a if span.side == A else b
        last = result[-1] if result else None
        if (
            last is not None
            and (last.side, last.kind) == (span.side, span.kind)
            and not text[last.end : span.start].strip()
        ):
            severity = max(last.severity, span.severity, key=SEVERITIES.index)
            end = max(last.end, span.end)
            result[-1] = replace(last, end=end, text=text[last.start : end], severity=severity)
        else:
            result.append(span)
    return result


def _of_span(
    item: Translated, span: Span, target_places: list[int], source_places: list[int]
) -> Finding | None:
    """A finding at the place of a span in the text with its placeholders."""
    places, text = (target_places, item.target) if span.side == A else (source_places, item.source)
    if span.start >= len(places):
        return None
    end = places[span.end] if span.end < len(places) else len(text)
    place = (places[span.start], max(end, places[span.start]))
    if span.kind == OMISSION:
        rule, message = "omission", f"{span.text!r} has no counterpart in the translation"
    elif span.kind == ADDITION:
        rule, message = "addition", f"{span.text!r} has no counterpart in the source"
    else:
        rule, message = "unrelated", "the source does not explain the translation"
        return Finding.of(item, rule, "major", message)
    return Finding.of(
        item,
        rule,
        span.severity,
        message,
        source_span=None if span.side == A else place,
        target_span=place if span.side == A else None,
    )


def _missing(each: Missing) -> Finding:
    message = f"{one_line(each.source)!r} has no translation"
    return Finding(
        each.path.as_posix(), each.line, each.key, "missing", "minor", message, each.source
    )


def ignored_rules(comment: str) -> frozenset[str]:
    """The rules that a comment switches off: those it names, or all.

    >>> sorted(ignored_rules("Shown in the menu. tertium: ignore name, number"))
    ['name', 'number']
    >>> ignored_rules("tertium: ignore") == frozenset(RULES)
    True
    """
    rules: set[str] = set()
    for match in IGNORED.finditer(comment):
        named = set(re.findall("[a-z]+", match["rules"] or "")) & RULES.keys()
        rules |= named or RULES.keys()
    return frozenset(rules)


def unchanged_since(
    contents: Iterable[FileContent], before: Callable[[FileContent], FileContent | None]
) -> list[FileContent]:
    """Leave out the translations that an earlier version of the file has with the same source."""
    result = []
    for content in contents:
        old = before(content)
        if old is None:
            result.append(content)
            continue
        known = {(item.key, item.sources, item.target) for item in old.translated}
        missing = {(each.key, each.source) for each in old.missing}
        result.append(
            replace(
                content,
                translated=tuple(
                    item
                    for item in content.translated
                    if (item.key, item.sources, item.target) not in known
                ),
                missing=tuple(
                    each for each in content.missing if (each.key, each.source) not in missing
                ),
            )
        )
    return result
