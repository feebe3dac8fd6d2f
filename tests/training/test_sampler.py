from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tertium.training.model.corpus import Corpus, Stream
from tertium.training.model.mixture import Mixture
from tertium.training.model.pieces import END, PAD
from tertium.training.model.sampler import BLOCK_BATCHES, Sampler

TAGS = {"de": 4, "en": 5}
FIRST_PIECE = 10


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Sentence n is made of piece n + 10 alone; n and n + 500 translate each other."""
    lengths = 1 + np.arange(1000) % 7
    numbers = np.arange(500, dtype=np.int32)
    pairs = np.stack([numbers, numbers + 500], axis=1)
    return Corpus(
        pieces=np.repeat(np.arange(1000, dtype=np.int32) + FIRST_PIECE, lengths),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        pairs=np.concatenate([pairs, pairs[:, ::-1], pairs[:, :1].repeat(2, axis=1)]),
        streams=(
            Stream("translation", "de", "en", 1.0, 0, 500),
            Stream("translation", "en", "de", 1.0, 500, 1000),
            Stream("copy", "de", "de", 1.0, 1000, 1500),
        ),
    )


def sampler(corpus: Corpus, *, seed: int = 1, mixture: Mixture | None = None) -> Sampler:
    mixture = mixture or Mixture(paraphrases=0.0, copies=0.2, joined=0.0)
    return Sampler(corpus, mixture, TAGS, batch_tokens=40, max_pieces=10, seed=seed)


def test_a_batch_depends_on_the_seed_and_its_number_alone(corpus: Corpus) -> None:
    numbers = [0, 3, BLOCK_BATCHES - 1, BLOCK_BATCHES, 5 * BLOCK_BATCHES + 7]
    one, other = sampler(corpus), sampler(corpus)
    forwards = {number: one.batch(number) for number in numbers}
    for number in reversed(numbers):
        again = other.batch(number)
        for name in ("sources", "targets", "labels"):
            np.testing.assert_array_equal(getattr(forwards[number], name), getattr(again, name))
    another = sampler(corpus, seed=2).batch(0)
    assert another.labels.tolist() != forwards[0].labels.tolist()


def test_every_pair_is_seen_equally_often_and_each_kind_has_its_share(corpus: Corpus) -> None:
    drawn = sampler(corpus)
    batches = [drawn.batch(number) for number in range(BLOCK_BATCHES)]
    rows = [
        (source[0], target[1], target[2])
        for batch in batches
        for source, target in zip(batch.sources.tolist(), batch.targets.tolist(), strict=True)
    ]
    copies = sum(source == piece for source, _, piece in rows)
    assert copies / len(rows) == pytest.approx(0.2, abs=0.001)
    to_english = [piece for _, tag, piece in rows if tag == TAGS["en"]]
    counts = np.bincount(np.array(to_english) - FIRST_PIECE - 500, minlength=500)
    assert counts.max() - counts.min() <= 1


def test_batches_are_of_like_size_and_hold_little_padding(corpus: Corpus) -> None:
    drawn = sampler(corpus)
    batches = [drawn.batch(number) for number in range(BLOCK_BATCHES)]
    assert np.mean([batch.tokens for batch in batches]) == pytest.approx(40, rel=0.05)
    assert [drawn.tokens(number) for number in range(9)] == [batch.tokens for batch in batches[:9]]
    cells = sum(batch.labels.size for batch in batches)
    assert sum(batch.tokens for batch in batches) / cells > 0.95


def test_the_framing_is_that_of_prism(corpus: Corpus) -> None:
    batch = sampler(corpus).batch(0)
    for source, target, labels in zip(batch.sources, batch.targets, batch.labels, strict=True):
        assert source[source != PAD][-1] == END
        assert target[0] == END
        assert target[1] in TAGS.values()
        pieces = target[2:][target[2:] != PAD].tolist()
        assert labels[labels != PAD].tolist() == [*pieces, END]


def test_pairs_are_joined_where_they_fit(corpus: Corpus) -> None:
    joined = Mixture(paraphrases=0.0, copies=0.2, joined=0.5)
    drawn = sampler(corpus, mixture=joined)
    rows = [row for number in range(50) for row in drawn.batch(number).labels.tolist()]
    assert [drawn.tokens(number) for number in range(50)] == [
        drawn.batch(number).tokens for number in range(50)
    ]
    texts = [[piece for piece in row if piece not in (PAD, END)] for row in rows]
    assert max(map(len, texts)) <= 10
    kinds = [len(set(text)) for text in texts]
    assert set(kinds) == {1, 2}
    alone = sampler(corpus, mixture=replace(joined, joined=0.0)).batch(0)
    assert all(len(set(row) - {PAD, END}) == 1 for row in alone.labels.tolist())
