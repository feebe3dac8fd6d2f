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
    in_other_script,
    is_other_language,
    same_language,
)
from tertium.measures.base import CUT_REASON, Measure
from tertium.text import Row, Text

REASONS = {
    "cut": CUT_REASON,
    "split": "hold text that was split into sentences, which were aligned and scored in parts",
    "empty": "have an empty text: the score is the lowest of the measure, if there is a lowest",
    "unknown": "hold text in a language or script that the model was not trained on, or of which "
    "most tokens are unknown to it: their scores say nothing",
    "language": "have a hypothesis that is in another language than given",
    "copy": "have a hypothesis that is an untranslated copy of the source",
}
"""The marks, and what is said about the rows that have them."""
MOSTLY = 0.5
SYMBOLS = {"Cc", "Cf", "Sc", "Sk", "Sm", "So"}
FEWEST_COPIED_LETTERS = 10


@dataclass(frozen=True)
class Marks:
    """The marks of some rows, and the identified languages of those without a given one."""

    rows: list[tuple[str, ...]]
    identified: Counter[str] = field(default_factory=Counter)

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
    identified = Counter[str]()
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
        }
        marks.append(tuple(mark for mark, holds in found.items() if holds))
        if models and hypothesis.lang is None:
            guess = confident_guess(hypothesis.text)
            identified.update([] if guess is None else [guess])
    return Marks(marks, identified)


def is_blank(text: Text) -> bool:
    """Whether there is nothing but white space."""
    return not text.text.strip()


def without_symbols(text: str) -> str:
    """Leave out emoji and other symbols, which many tokenizers do not know, and control characters.

    >>> without_symbols("Ok 🙂 = fine")
    'Ok    fine'
    """
    return "".join(char for char in text if unicodedata.category(char) not in SYMBOLS)


def is_copy(row: Row) -> bool:
    """Whether the hypothesis is its source, untranslated, and not by chance what it should be.

    A copy that a reference has as well is right; so is one in the same language. Names and numbers
    are often left as they are, so a copy has at least two words or ten letters.

    >>> is_copy(Row(1, Text("wo ist sie"), (Text("where is she"),), Text("Wo ist sie?")))
    True
    """
    source, hypothesis = row.source, row.hypothesis
    if source is None or is_blank(hypothesis):
        return False
    if source.lang and hypothesis.lang and primary(source.lang) == primary(hypothesis.lang):
        return False
    copied = _folded(hypothesis.text)
    letters = sum(map(str.isalpha, copied))
    return (
        copied == _folded(source.text)
        and copied not in {_folded(reference.text) for reference in row.references}
        and letters > 0
        and (len(copied.split()) > 1 or letters >= FEWEST_COPIED_LETTERS)
    )


def describe_marks(counts: Mapping[str, int], rows: int, noun: str = "row") -> list[str]:
    """Say how many rows have each mark, and what it means.

    >>> describe_marks({"copy": 1}, 2)
    ['1 of 2 rows have a hypothesis that is an untranslated copy of the source (mark: copy)']
    """
    return [
        f"{counts[mark]} of {rows} {noun}s {reason} (mark: {mark})"
        for mark, reason in REASONS.items()
        if counts.get(mark)
    ]


def describe_languages(identified: Mapping[str, int]) -> str:
    """Say which languages were identified, most frequent first; empty if none was.

    >>> describe_languages({"de": 1, "en": 20})
    'no language was given; identified: en (20), de (1); if that is wrong, use --lang'
    """
    if not identified:
        return ""
    order = sorted(identified.items(), key=lambda item: (-item[1], item[0]))
    listed = ", ".join(f"{lang} ({count})" for lang, count in order[:5])
    more = f" and {len(order) - 5} more" if len(order) > 5 else ""
    return f"no language was given; identified: {listed}{more}; if that is wrong, use --lang"


@dataclass(frozen=True)
class _Model:
    """What a model says about the texts that it can read; some models say nothing."""

    model: Any
    scripts: frozenset[str]
    languages: frozenset[str]

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
        if not self.languages:
            return False
        if self.scripts and in_other_script(text.text, self.scripts):
            return True
        if text.lang is not None:  # a language that the model does not have is an error
            return False
        guess = confident_guess(text.text)
        return guess is not None and not any(same_language(guess, lang) for lang in self.languages)


def _models(measure: Measure) -> list[_Model]:
    """The models of a measure, or of the parts of a sum."""
    found = [each for part in getattr(measure, "parts", ()) for each in _models(part)]
    model = getattr(measure, "model", None)
    if model is None:
        return found
    while not hasattr(model, "unknown_shares") and hasattr(model, "model"):
        model = model.model  # behind a cache
    supported = getattr(model, "languages", None)
    codes = frozenset() if supported is None else supported.all
    scripts = [scripts_of(code) for code in codes]
    known = frozenset().union(*(each for each in scripts if each)) if all(scripts) else frozenset()
    return [*found, _Model(model, known, codes)]


def _compared(measures: Sequence[Measure], row: Row) -> list[Text]:
    """What the measures compare the hypothesis of a row with."""
    roles = {role for measure in measures for role in measure.reads}
    texts = list(row.references) if "reference" in roles else []
    return texts + ([row.source] if "source" in roles and row.source is not None else [])


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!?…。！？ ")
