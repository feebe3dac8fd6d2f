"""Marks: which rows hold text that a measure can score only in part, or that looks wrong.

A mark never changes a score. (Empty texts have the worst score of a measure by its own rule, see
:func:`tertium.measures.references.over_references`.)
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tertium.data.codes import primary, scripts_of
from tertium.data.identify import (
    confident_guess,
    identified_languages,
    in_other_script,
    is_other_language,
    languages_of,
    same_language,
)
from tertium.data.records import counted
from tertium.measures.base import CUT_REASON, Measure
from tertium.measures.degenerate import is_blank, is_copy, is_repeated
from tertium.measures.words import LANGUAGE_TOKENIZERS
from tertium.models.languages import LanguageSet
from tertium.text import Row, Text

REASONS = {
    "cut": CUT_REASON,
    "split": "hold text that was split into sentences, which were aligned and scored in parts",
    "empty": "have an empty text: the score is the lowest of the measure, if there is a lowest",
    "unknown": "hold text in a language or script that the model was not trained on, or of which "
    "most tokens are unknown to it: their scores say nothing",
    "language": "have a hypothesis that is in another language than given",
    "copy": "have a hypothesis that is an untranslated copy of the source",
    "repeated": "have a hypothesis that repeats words, more often than the source",
}
"""The marks, and what is said about the rows that have them."""
MEANINGLESS = ("unknown", "language", "copy", "repeated")
"""Marks of rows whose scores say nothing about the translation."""
MOSTLY = 0.5
SYMBOLS = {"Cc", "Cf", "Sc", "Sk", "Sm", "So"}
SPACE_TOKENIZERS = ("13a", "intl", "split", "none")
FEWEST_TEXTS = 10
"""From so many identified texts on, their language is worth a warning; rows have marks."""


@dataclass(frozen=True)
class Marks:
    """The marks of some rows, and the languages of all of them together."""

    rows: list[tuple[str, ...]]
    languages: Counter[str] = field(default_factory=Counter)
    """How many texts of each role were identified as each language (:func:`language_key`)."""

    def counts(self) -> Counter[str]:
        """The number of rows with each mark."""
        return Counter(mark for marks in self.rows for mark in marks)


def mark_rows(
    measures: Sequence[Measure],
    rows: Sequence[Row],
    cut: Sequence[bool],
    split: Sequence[bool],
) -> Marks:
    """Mark rows that were scored by some measures.

    ``cut`` is whether only the beginning of a text counted, ``split`` whether one was split.
    """
    models = [each for measure in measures for each in _models(measure)]
    compared = [
        [row.hypothesis, *dict.fromkeys(_compared(measures, row))] for row in rows
    ]  # every text that a measure reads, the hypothesis first
    unknown = set[Text]()
    for model in models:
        unknown |= model.unknown({text for texts in compared for text in texts})
    marks = []
    for row, texts, is_cut, is_split in zip(rows, compared, cut, split, strict=True):
        hypothesis = row.hypothesis
        found = {
            "cut": is_cut,
            "split": is_split,
            "empty": any(is_blank(text) for text in texts),
            "unknown": not unknown.isdisjoint(texts),
            "language": hypothesis.lang is not None
            and is_other_language(hypothesis.text, hypothesis.lang),
            "copy": is_copy(row),
            "repeated": is_repeated(row),
        }
        marks.append(tuple(mark for mark, holds in found.items() if holds))
    return Marks(marks, _languages(measures, rows))


def is_meaningless(marks: Iterable[str]) -> bool:
    """Whether a row has a mark by which its scores say nothing."""
    return not frozenset(MEANINGLESS).isdisjoint(marks)


def language_key(role: str, given: str | None, identified: str) -> str:
    """How languages are counted: by role, by the language that was given, and as identified.

    >>> language_key("hypothesis", "en", "de"), language_key("reference", None, "en")
    ('hypothesis:en:de', 'reference::en')
    """
    return f"{role}:{given or ''}:{identified}"


def _languages(measures: Sequence[Measure], rows: Sequence[Row]) -> Counter[str]:
    """Identify the languages of everything that is compared; of several references, the first."""
    texts: dict[tuple[str, str | None], list[str]] = {}
    roles = {role for measure in measures for role in measure.reads}
    for row in rows:
        read = {"hypothesis": row.hypothesis}
        if "reference" in roles and row.references:
            read["reference"] = row.references[0]
        if "source" in roles and row.source is not None:
            read["source"] = row.source
        for role, text in read.items():
            texts.setdefault((role, text.lang), []).append(text.text)
    return Counter(
        {
            language_key(role, given, lang): count
            for (role, given), several in texts.items()
            for lang, count in languages_of(several).items()
        }
    )


def without_symbols(text: str) -> str:
    """Leave out emoji and other symbols, which many tokenizers do not know, and control characters.

    >>> without_symbols("Ok 🙂 = fine")
    'Ok    fine'
    """
    return "".join(char for char in text if unicodedata.category(char) not in SYMBOLS)


def describe_marks(
    counts: Mapping[str, int], rows: int, noun: str = "row", *, cut: str = CUT_REASON
) -> list[str]:
    """Say how many rows have each mark, and what it means.

    >>> describe_marks({"copy": 1}, 2)
    ['1 of 2 rows have a hypothesis that is an untranslated copy of the source (mark: copy)']
    """
    return [
        f"{counts[mark]} of {counted(rows, noun)} {_agreeing(reason, rows)} (mark: {mark})"
        for mark, reason in {**REASONS, "cut": cut}.items()
        if counts.get(mark)
    ]


def _agreeing(reason: str, rows: int) -> str:
    """The verb of a reason agrees with the number of rows."""
    verb, _, rest = reason.partition(" ")
    return f"{ {'hold': 'holds', 'have': 'has'}[verb] } {rest}" if rows == 1 else reason


def describe_system_marks(
    marks: Mapping[str, Mapping[str, int]], rows: int, *, cut: str = CUT_REASON
) -> list[str]:
    """Say how many outputs have each mark, and how many of each system.

    >>> describe_system_marks({"a": {}, "b": {"copy": 2}}, 2)[0][-17:]
    '(mark: copy): b 2'
    """
    total = rows * len(marks)
    sentences = []
    for mark in REASONS:
        whose = {system: counts[mark] for system, counts in marks.items() if counts.get(mark)}
        listed = ", ".join(f"{system} {count}" for system, count in whose.items())
        for sentence in describe_marks({mark: sum(whose.values())}, total, "output", cut=cut):
            sentences.append(f"{sentence}: {listed}")
    return sentences


def by_system(messages: Mapping[str, Sequence[str]]) -> list[str]:
    """Say once what holds for several systems, with their names; without, if it holds for all.

    >>> by_system({"a": ["x"], "b": ["x", "y"]}), by_system({"a": ["x"]})
    (['x', 'b: y'], ['x'])
    """
    whose: dict[str, list[str]] = {}
    for system, several in messages.items():
        for message in several:
            whose.setdefault(message, []).append(system)
    return [
        message if len(systems) == len(messages) else f"{', '.join(systems)}: {message}"
        for message, systems in whose.items()
    ]


def identified(languages: Mapping[str, int]) -> Counter[str]:
    """The languages of those hypotheses whose language was not given.

    >>> identified({"hypothesis::de": 9, "hypothesis:en:en": 2, "reference::en": 10})
    Counter({'de': 9})
    """
    return _by_role(languages).get(("hypothesis", ""), Counter())


def describe_languages(languages: Mapping[str, int]) -> str:
    """Say which languages were identified, most frequent first; empty if none was.

    >>> describe_languages({"de": 1, "en": 20})
    'no language was given; identified: en (20), de (1)'
    """
    if not languages:
        return ""
    order = sorted(languages.items(), key=lambda item: (-item[1], item[0]))
    listed = ", ".join(f"{lang} ({count})" for lang, count in order[:5])
    more = f" and {len(order) - 5} more" if len(order) > 5 else ""
    return f"no language was given; identified: {listed}{more}"


def language_warnings(languages: Mapping[str, int], measures: Sequence[Measure] = ()) -> list[str]:
    """Say where most texts of a role are in another language than they should be.

    That is another one than given; without a given one, hypotheses that are not in the language of
    the references, or that are in the language of the sources. Measures of words are named that
    split the hypotheses at spaces, in a language that is written without.

    >>> language_warnings({"hypothesis:en:de": 12, "reference:en:en": 12})
    ['most hypotheses are in another language (de) than given (en)']
    >>> language_warnings({"hypothesis::de": 9, "hypothesis::en": 2, "reference::en": 10})
    ['most hypotheses are in de and most references in en; if that is right, give both languages']
    """
    found = _by_role(languages)
    warnings = []
    main: dict[str, str] = {}
    for (role, given), counts in found.items():
        lang, count = counts.most_common(1)[0]
        clear = counts.total() >= FEWEST_TEXTS and count > MOSTLY * counts.total()
        if given and clear and not same_language(lang, given):
            if primary(given) in identified_languages():
                warnings.append(
                    f"most {_plural(role)} are in another language ({lang}) than given ({given})"
                )
        elif given or clear:
            main.setdefault(role, given or lang)
    if ("hypothesis", "") in found and "hypothesis" in main:
        lang = main["hypothesis"]
        reference, source = main.get("reference"), main.get("source")
        cure = "if that is right, give both languages"
        if reference is not None and not same_language(lang, reference):
            warnings.append(
                f"most hypotheses are in {lang} and most references in {reference}; {cure}"
            )
        if source is not None and same_language(lang, source):
            warnings.append(f"most hypotheses are in the language of the sources ({lang}); {cure}")
    return warnings + _tokenizer_warnings(languages, measures)


def _tokenizer_warnings(languages: Mapping[str, int], measures: Sequence[Measure]) -> list[str]:
    hypotheses = Counter[str]()
    for (role, given), counts in _by_role(languages).items():
        if role == "hypothesis":
            hypotheses.update({primary(given): counts.total()} if given else counts)
    lang = next((lang for lang, _ in hypotheses.most_common(1)), "")
    if lang not in LANGUAGE_TOKENIZERS:
        return []
    return [
        f"{measure.column} splits texts at spaces, and most hypotheses are in {lang}, which needs "
        f"another tokenizer: use tokenize={LANGUAGE_TOKENIZERS[lang]}, or give the language"
        for measure in measures
        if getattr(measure, "tokenize", "") in SPACE_TOKENIZERS
    ]


def _by_role(languages: Mapping[str, int]) -> dict[tuple[str, str], Counter[str]]:
    found: dict[tuple[str, str], Counter[str]] = {}
    for key, count in sorted(languages.items()):
        role, given, lang = key.split(":")
        found.setdefault((role, given), Counter())[lang] += count
    return found


def _plural(role: str) -> str:
    return "hypotheses" if role == "hypothesis" else f"{role}s"


@dataclass(frozen=True)
class _Model:
    """What a model says about the texts that it can read; some models say nothing."""

    model: Any
    scripts: frozenset[str]
    languages: LanguageSet | None

    def unknown(self, texts: Iterable[Text]) -> set[Text]:
        """Those texts that the model was not trained on, or does not know the tokens of."""
        there = sorted(
            {text for text in texts if any(map(str.isalpha, text.text))},
            key=lambda text: (text[0], text[1] or ""),
        )
        shares = [0.0] * len(there)
        if hasattr(self.model, "unknown_shares"):
            shares = self.model.unknown_shares([without_symbols(text.text) for text in there])
        return {
            text
            for text, share in zip(there, shares, strict=True)
            if share > MOSTLY or self._is_foreign(text)
        }

    def _is_foreign(self, text: Text) -> bool:
        if self.languages is None or not self.languages.all:
            return False
        if self.scripts and in_other_script(text.text, self.scripts):
            return True
        if text.lang is not None and self.languages.resolve(text.lang) in self.languages.all:
            return False
        lang = text.lang or confident_guess(text.text)
        return lang is not None and not any(
            same_language(lang, known) for known in self.languages.all
        )


def uses_model(measures: Sequence[Measure]) -> bool:
    """Whether one of the measures has a model, for which languages matter."""
    parts = [part for each in measures for part in getattr(each, "parts", (each,))]
    return any(part.model_kind for part in parts)


def _models(measure: Measure) -> list[_Model]:
    """The models of a measure, or of the parts of a sum."""
    found = [each for part in getattr(measure, "parts", ()) for each in _models(part)]
    model = getattr(measure, "model", None)
    if model is None:
        return found
    while not hasattr(model, "unknown_shares") and hasattr(model, "model"):
        model = model.model  # behind a cache
    supported: LanguageSet | None = getattr(model, "languages", None)
    codes = frozenset() if supported is None else supported.all
    scripts = [scripts_of(code) for code in codes]
    known = frozenset().union(*(each for each in scripts if each)) if all(scripts) else frozenset()
    return [*found, _Model(model, known, supported)]


def _compared(measures: Sequence[Measure], row: Row) -> list[Text]:
    """What the measures compare the hypothesis of a row with."""
    roles = {role for measure in measures for role in measure.reads}
    texts = list(row.references) if "reference" in roles else []
    return texts + ([row.source] if "source" in roles and row.source is not None else [])
