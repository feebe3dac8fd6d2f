"""Overlap and preference, by hand."""

from __future__ import annotations

import pytest

from tertium.errors import InputError
from tertium.studies.bias import (
    BiasStudy,
    alternatives,
    bins,
    bins_table,
    log_probs,
    preferences,
    preferences_table,
)
from tertium.text import Text

from ..fakes import FakeModel


def text(words: str) -> Text:
    return Text(words, "en")


def test_mean_h_by_overlap() -> None:
    same, other = "the cat sat on the mat", "dogs bark at night"
    model = FakeModel(scores={(same, same): (-1.0, -2.0), (other, same): (-4.0,)})
    pairs = [(text(same), text(same)), (text(other), text(same))]
    scored = log_probs(model, pairs)
    found = bins(pairs, scored.parts["paraphrase"])
    assert [each.count for each in found] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert found[0].mean_h == -4.0
    assert found[9].mean_h == -1.5
    assert found[5].mean_h is None
    assert found[9].share == 0.5
    table = bins_table({"fake": found})
    assert table.header == ["sentBLEU", "pairs", "share", "H, fake"]
    assert [str(cell) for cell in table.rows[9]] == ["90-100", "1", "50.0 %", "-1.500"]
    with pytest.raises(InputError, match="there are no pairs"):
        BiasStudy({"fake": model}, pairs=[]).run()


def test_beam_copy_and_paraphrase() -> None:
    r0, r1, beam = "we like tea very much", "tea is what we like", "we like tea very"
    model = FakeModel(
        scores={(beam, r0): (-0.5,), (r0, r0): (-0.25,), (r1, r0): (-2.0, -3.0)},
        translations={r0: beam},
    )
    pairs = [(text(r1), text(r0))]
    scored = alternatives(model, pairs)
    found = preferences(pairs, scored)
    assert (found.beam, found.copy, found.paraphrase) == (-0.5, -0.25, -2.5)
    assert found.beam_bleu > found.paraphrase_bleu
    rows = preferences_table({"fake": found}).rows
    assert [str(cell) for cell in rows[2]] == ["H(paraphrase|text)", "-2.500"]
    with pytest.raises(InputError, match=r"there are no pairs .* for the table preferences"):
        BiasStudy({"fake": model}, paraphrases=[]).run()
