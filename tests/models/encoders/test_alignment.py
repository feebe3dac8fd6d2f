"""Alignment of texts by an encoder's vectors."""

from __future__ import annotations

import numpy as np
import pytest

from tertium.errors import InputError
from tertium.models.base import Languages, Progress, SentenceVectors
from tertium.models.encoders.alignment import Aligner
from tertium.stats.alignment import Unit
from tertium.text import Text


class BagOfWords:
    """Encodes a text as its words, each in a dimension of its own."""

    name, fingerprint = "bag", "b" * 64
    settings: dict[str, str] = {}  # noqa: RUF012

    def sentence_vectors(
        self, texts: list[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> SentenceVectors:
        rows = np.zeros((len(texts), 26), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[ord(word) - ord("a")] += 1
            row /= np.linalg.norm(row)
        return SentenceVectors(rows, (False,) * len(texts))


def shape(units: list[Unit]) -> list[tuple[list[int], list[int]]]:
    return [(list(unit.source), list(unit.target)) for unit in units]


def test_texts() -> None:
    source = [Text(text) for text in ("a b", "c", "d", "e f")]
    target = [Text(text) for text in ("A B", "C D", "E", "F")]
    aligner = Aligner(BagOfWords())  # type: ignore[arg-type]
    assert shape(aligner(source, target)) == [([0], [0]), ([1, 2], [1]), ([3], [2, 3])]
    assert shape(aligner(source[:1], target[:1])) == [([0], [0])]
    with pytest.raises(InputError, match="second document"):
        aligner(source, [])
