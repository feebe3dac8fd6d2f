"""Similarity in tests: of the outputs of language models, of translations, of summaries.

    >>> from tertium.testing import assert_similar
    >>> assert_similar("He owns a red car.", "He has a red car.", at_least=0.3)
    >>> assert_similar("The shop opens at nine.", "Der Laden öffnet um zehn.", at_least=0.2)
    Traceback (most recent call last):
        ...
    AssertionError: cross is 0.0..., which is less than 0.2
      text:     The shop opens at nine.
      expected: Der Laden öffnet um zehn.
      numbers differ: nine / zehn

With pytest, the fixture ``tertium_similarity`` does the same and is there without any import.
Scores are the same on every machine; no service is asked.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING

from tertium.explanation.flags import flag
from tertium.explanation.words import split_words
from tertium.measures.registry import DEFAULT_MEASURE
from tertium.models.guess import assume_language
from tertium.text import Text, check_text

if TYPE_CHECKING:
    from tertium.measures.base import Measure

__all__ = ["Similarity", "assert_similar"]


@lru_cache(maxsize=8)
def loaded(measure: str) -> Measure:
    """A measure with its models, which are loaded once per process."""
    from tertium.measures.loading import load

    return load(measure)


class Similarity:
    """Asserts the similarity of texts by one measure, which is loaded when it is first needed."""

    def __init__(self, measure: str = DEFAULT_MEASURE) -> None:
        self.measure = measure

    def score(
        self, text: str, expected: str, *, lang: str | None = None, expected_lang: str | None = None
    ) -> float:
        """The score of a text against the expected one; languages are identified if not given."""
        first, second = self._texts(text, expected, lang, expected_lang)
        measure = loaded(self.measure)
        scores = measure([first.text], [second.text], lang=first.lang, reference_lang=second.lang)
        return float(scores[0])

    def __call__(
        self,
        text: str,
        expected: str,
        *,
        at_least: float,
        lang: str | None = None,
        expected_lang: str | None = None,
    ) -> None:
        """Raise an AssertionError that shows what differs, if the score is below ``at_least``."""
        __tracebackhide__ = True
        value = self.score(text, expected, lang=lang, expected_lang=expected_lang)
        if value >= at_least:
            return
        first, second = self._texts(text, expected, lang, expected_lang)
        raise AssertionError(
            f"{self.measure} is {value:.3f}, which is less than {at_least:g}\n"
            f"  text:     {text}\n  expected: {expected}\n"
            + "".join(f"  {line}\n" for line in differences(first, second)).rstrip("\n")
        )

    def _texts(
        self, text: str, expected: str, lang: str | None, expected_lang: str | None
    ) -> tuple[Text, Text]:
        return (
            Text(check_text(text, role="text", row=1), lang or self._language(text)),
            Text(
                check_text(expected, role="expected text", row=1),
                expected_lang or lang or self._language(expected),
            ),
        )

    def _language(self, text: str) -> str | None:
        """The language of a text, of those that the measure's model has; None if it needs none."""
        model = getattr(loaded(self.measure), "model", None)
        return None if model is None else assume_language([text], model.languages)


def assert_similar(
    text: str,
    expected: str,
    *,
    at_least: float,
    measure: str = DEFAULT_MEASURE,
    lang: str | None = None,
    expected_lang: str | None = None,
) -> None:
    """Raise an AssertionError that shows what differs, if two texts are not similar enough.

    ``at_least`` is in the unit of the measure: for ``cross``, 1 is the same text, unrelated texts
    are near 0. Languages are identified if they are not given.
    """
    __tracebackhide__ = True
    Similarity(measure)(text, expected, at_least=at_least, lang=lang, expected_lang=expected_lang)


def differences(text: Text, expected: Text) -> list[str]:
    """What differs, in words: what rules find; in one language also the words that differ.

    >>> differences(Text("The shop opens at nine.", "en"), Text("The shop closes at nine.", "en"))
    ["'opens' instead of 'closes'"]
    """
    _, spans = flag(text, expected)
    found = [span.evidence for span in spans]
    if text.lang == expected.lang:
        first, second = (
            [word.text for word in split_words(each.text)] for each in (text, expected)
        )
        matcher = SequenceMatcher(None, first, second, autojunk=False)
        for tag, i, i_end, j, j_end in matcher.get_opcodes():
            here, there = " ".join(first[i:i_end]), " ".join(second[j:j_end])
            if tag == "replace":
                found.append(f"{here!r} instead of {there!r}")
            elif tag == "delete":
                found.append(f"{here!r} is not expected")
            elif tag == "insert":
                found.append(f"{there!r} is missing")
    return list(dict.fromkeys(found)) or ["no single difference stands out"]
