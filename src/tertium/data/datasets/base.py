"""What datasets are made of: labelled pairs, judged segments, rankings, sets of paraphrases."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tertium.data.lines import name_of
from tertium.errors import DataWarning, InputError
from tertium.text import Text


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts, and whether they are paraphrases (or translations) of each other."""

    id: str
    a: Text
    b: Text
    label: bool


@dataclass(frozen=True, slots=True)
class JudgedSegment:
    """A system's output for one input, and what people thought of it; higher is better."""

    id: str
    hypothesis: Text
    references: tuple[Text, ...] = ()
    source: Text | None = None
    system: str = ""
    score: float | None = None
    """None where nobody judged it."""

    @property
    def lang_pair(self) -> str:
        """Source and target language.

        >>> JudgedSegment("1", Text("Hi.", "en"), source=Text("Hallo.", "de")).lang_pair
        'de-en'
        """
        source = self.source.lang if self.source else None
        return f"{source or '?'}-{self.hypothesis.lang or '?'}"


@dataclass(frozen=True, slots=True)
class RankedPair:
    """One judgement of the relative kind (daRR): on this input, one system is better."""

    lang_pair: str
    segment: str
    better: str
    worse: str


@dataclass(frozen=True, slots=True)
class ParaphraseSet:
    """Sentences of one language that mean the same."""

    id: str
    lang: str
    sentences: tuple[str, ...]


def fault(path: Path, row: int, reason: str, cure: str) -> InputError:
    """Say what is wrong with a row, and what to do about it."""
    return InputError(f"{name_of(path)}, row {row}: {reason}; {cure}")


def check_count(what: str, found: int, published: int | None) -> None:
    """Warn where a dataset has not as many rows as it should have.

    >>> check_count("PAWS-X de test", 1968, 1968)
    """
    if published is not None and found != published:
        warnings.warn(
            f"{what}: {found} were read, {published} were published; the numbers of papers need "
            "the same rows",
            DataWarning,
            stacklevel=3,
        )


def check_labels(what: str, pairs: Sequence[LabelledPair], paper: tuple[int, int] | None) -> None:
    """Warn where the positive and negative pairs are not as many as in the paper."""
    positive = sum(pair.label for pair in pairs)
    found = (positive, len(pairs) - positive)
    if paper is not None and found != paper:
        warnings.warn(
            f"{what}: {found[0]} positive and {found[1]} negative pairs were read, where the "
            f"NMTScore paper (table A3) has {paper[0]} and {paper[1]}",
            DataWarning,
            stacklevel=3,
        )
