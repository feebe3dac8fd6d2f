"""Overlap and preference, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tertium.errors import InputError
from tertium.studies.bias import (
    BiasStudy,
    Bin,
    alternatives,
    bins,
    bins_table,
    listing_table,
    log_probs,
    mean_interval,
    overlaps,
    package_pairs,
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
    assert table.header == ["sentBLEU", "pairs", "share", "H, fake", "low", "high"]
    assert [str(cell) for cell in table.rows[9]] == ["90-100", "1", "50.0 %", "-1.500", "", ""]
    assert "fake: rises from bin to bin" in table.note
    with pytest.raises(InputError, match="there are no pairs"):
        BiasStudy({"fake": model}, pairs=[]).run()


def test_sentence_bleu_of_the_paper() -> None:
    """Table 1: the reference is scored against the output, and only zero counts are smoothed."""
    reference = "Jason went to school at the University of Madrid."
    outputs = {
        "Jason went school at University of Madrid.": 35.5,
        "Jason will go to school at the University of Madrid.": 70.8,
        "Jason went to school at the University of Berlin.": 78.3,
        "Jason attended the University of Madrid.": 41.1,
    }
    pairs = [(text(reference), text(output)) for output in outputs]
    expected = pytest.approx(list(outputs.values()), abs=0.05)
    assert overlaps(pairs, "floor") == expected
    assert overlaps(pairs, "exp") == expected
    assert overlaps(pairs, "add-k")[3] > 45
    # 1 of 3 words, and 0 of 2 and of 1 runs of them, counts that become 1
    zero = [(text("a b c"), text("a x y"))]
    assert overlaps(zero, "floor") == pytest.approx([100 * (1 / 3 * 1 / 2 * 1 / 1) ** (1 / 3)])


def test_intervals_of_means_and_bins_that_do_not_rise() -> None:
    values = [-1.0, -2.0, -3.0, -4.0] * 25
    interval = mean_interval(np.array(values), samples=500, seed=0)
    assert interval is not None
    # 1.96 standard errors of the mean: 1.118 / 10
    assert interval.low == pytest.approx(-2.5 - 0.219, abs=0.05)
    assert interval.high == pytest.approx(-2.5 + 0.219, abs=0.05)
    low, high = (Bin(n, 1, 0.5, h) for n, h in ((0, -1.0), (90, -2.0)))
    assert "fake: does not rise" in bins_table({"fake": [low, high]}).note


def test_a_package_and_a_listing_of_changes(tmp_path: Path) -> None:
    for place, content in {
        "sources/newstest2019-deen-src.de": "q1\nq2\n",
        "references/newstest2019-deen-ref.en": "the cat sat\nit rains\n",
        "system-outputs/newstest2019/de-en/newstest2019.A.1.de-en": "a cat sat\nit rains\n",
    }.items():
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    pairs = package_pairs(tmp_path, ["de-en"])
    assert pairs == [(text("a cat sat"), text("the cat sat")), (text("it rains"),) * 2]
    with pytest.raises(InputError, match="pairs into one language"):
        package_pairs(tmp_path, ["de-en", "en-de"])
    table = listing_table(pairs, {"model": ["the cat sits", "it rains"]})
    assert [[str(cell) for cell in row] for row in table.rows] == [
        ["text", "the cat sat"],
        ["model", "the cat [sat] *sits*"],
        ["text", "it rains"],
        ["model", "it rains"],
    ]


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
    assert [str(cell) for cell in rows[2]] == ["H(paraphrase|text)", "-2.500", "", ""]
    with pytest.raises(InputError, match=r"there are no pairs .* for the table preferences"):
        BiasStudy({"fake": model}, paraphrases=[]).run()
