"""Cached vectors are not computed again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tertium
from tertium.models.encoders.model import CTranslate2Encoder, VectorMemo


def rows(value: float) -> np.ndarray:
    return np.full((1, 4), value, np.float32)  # 16 bytes


def test_the_least_recently_used_is_evicted_first() -> None:
    memo = VectorMemo(max_bytes=32)
    memo.put((1,), rows(1))
    memo.put((2,), rows(2))
    assert memo.get((1,)) is not None
    memo.put((3,), rows(3))
    assert [memo.get((n,)) is not None for n in (1, 2, 3)] == [True, False, True]
    assert memo.bytes == 32


def test_what_never_fits_is_not_kept() -> None:
    memo = VectorMemo(max_bytes=15)
    memo.put((1,), rows(1))
    assert memo.get((1,)) is None
    assert memo.bytes == 0


def test_put_twice_counts_once() -> None:
    memo = VectorMemo()
    memo.put((1,), rows(1))
    memo.put((1,), rows(1))
    assert memo.bytes == 16


def test_one_pass_for_all_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens and sentences come from the same pass, and a text is encoded once."""
    encoder = tertium.load_encoder("tertium-mini", threads=1)
    assert isinstance(encoder, CTranslate2Encoder)
    monkeypatch.setattr(encoder, "_memo", VectorMemo())
    forward, passes = encoder._forward, []

    def counted(ids: list[tuple[int, ...]], *types: Any) -> np.ndarray:
        passes.extend(ids)
        return forward(ids, *types)

    monkeypatch.setattr(encoder, "_forward", counted)
    texts = ["A first text.", "Ein zweiter.", "A first text."]
    for name in ("sss", "bertscore", "smd", "sentsim:scale=fixed"):
        tertium.load(name, encoder=encoder)(texts, ["Un troisième."] * 3)
    assert len(passes) == len(set(passes)) == 3
    encoder.forget()
    tertium.load("sss", encoder=encoder)(texts, ["Un troisième."] * 3)
    assert len(passes) == 6
