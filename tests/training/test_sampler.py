from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tertium.training.model.batches import BLOCK_BATCHES, Batch, Sampler
from tertium.training.model.corpus import Corpus, Stream
from tertium.training.model.plan import Mixture
from tertium.training.model.tokenizer import END, PAD

TAGS = {"de": 4, "en": 5}
FIRST_TOKEN = 10


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Sentence n is made of token n + 10 alone; n and n + 500 translate each other."""
    lengths = 1 + np.arange(1000) % 7
    numbers = np.arange(500, dtype=np.int32)
    pairs = np.stack([numbers, numbers + 500], axis=1)
    return Corpus(
        tokens=np.repeat(np.arange(1000, dtype=np.int32) + FIRST_TOKEN, lengths),
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
    return Sampler(corpus, mixture, TAGS, batch_tokens=40, max_tokens=10, seed=seed)


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
    copies = sum(source == token for source, _, token in rows)
    assert copies / len(rows) == pytest.approx(0.2, abs=0.001)
    to_english = [token for _, tag, token in rows if tag == TAGS["en"]]
    counts = np.bincount(np.array(to_english) - FIRST_TOKEN - 500, minlength=500)
    assert counts.max() - counts.min() <= 1


def test_batches_are_of_like_size_and_hold_little_padding(corpus: Corpus) -> None:
    drawn = sampler(corpus)
    batches = [drawn.batch(number) for number in range(BLOCK_BATCHES)]
    assert np.mean([batch.count for batch in batches]) == pytest.approx(40, rel=0.05)
    assert [drawn.count(number) for number in range(9)] == [batch.count for batch in batches[:9]]
    cells = sum(batch.labels.size for batch in batches)
    assert sum(batch.count for batch in batches) / cells > 0.95


def test_the_framing_is_that_of_prism(corpus: Corpus) -> None:
    batch = sampler(corpus).batch(0)
    for source, target, labels in zip(batch.sources, batch.targets, batch.labels, strict=True):
        assert source[source != PAD][-1] == END
        assert target[0] == END
        assert target[1] in TAGS.values()
        tokens = target[2:][target[2:] != PAD].tolist()
        assert labels[labels != PAD].tolist() == [*tokens, END]


def test_pairs_are_joined_where_they_fit(corpus: Corpus) -> None:
    joined = Mixture(paraphrases=0.0, copies=0.2, joined=0.5)
    drawn = sampler(corpus, mixture=joined)
    rows = [row for number in range(50) for row in drawn.batch(number).labels.tolist()]
    assert [drawn.count(number) for number in range(50)] == [
        drawn.batch(number).count for number in range(50)
    ]
    texts = [[token for token in row if token not in (PAD, END)] for row in rows]
    assert max(map(len, texts)) <= 10
    kinds = [len(set(text)) for text in texts]
    assert set(kinds) == {1, 2}
    alone = sampler(corpus, mixture=replace(joined, joined=0.0)).batch(0)
    assert all(len(set(row) - {PAD, END}) == 1 for row in alone.labels.tolist())


def test_several_pairs_are_joined_in_the_same_order_on_both_sides(corpus: Corpus) -> None:
    several = Mixture(paraphrases=0.0, copies=0.0, joined=0.6, joined_tokens=40)
    drawn, again = (
        Sampler(corpus, several, TAGS, batch_tokens=200, max_tokens=10, seed=1) for _ in range(2)
    )
    batches = [drawn.batch(number) for number in range(BLOCK_BATCHES)]
    assert again.batch(99).labels.tolist() == batches[99].labels.tolist()
    assert [drawn.count(number) for number in range(BLOCK_BATCHES)] == [
        batch.count for batch in batches
    ]
    joined, sizes = 0, []
    for batch in batches:
        for source, target in zip(batch.sources.tolist(), batch.labels.tolist(), strict=True):
            texts = [
                [token for token in row if token not in (PAD, END)] for row in (source, target)
            ]
            assert max(map(len, texts)) <= 40
            first, second = ([*dict.fromkeys(text)] for text in texts)
            assert [abs(a - b) for a, b in zip(first, second, strict=True)] == [500] * len(first)
            sizes.append(len(first))
            joined += len(first) if len(first) > 1 else 0
    assert max(sizes) > 5
    assert 0.5 < joined / sum(sizes) < 0.61  # a group of one is left over now and then


def test_a_part_has_no_more_padding_than_it_needs() -> None:
    rows = np.array([[7, 8, 9, 2], [7, 2, PAD, PAD], [8, 9, 2, PAD]])
    batch = Batch(rows, rows, rows)
    assert batch.part(0, 1) is batch
    assert batch.part(1, 2).sources.tolist() == [[7, 2]]
    assert batch.part(2, 3).labels.tolist() == [[8, 9, 2]]
    parts = [batch.part(part, 4) for part in range(4)]
    assert [part.count for part in parts] == [4, 2, 3, 0]


def test_copies_have_the_same_source_and_target() -> None:
    sources = np.array([[7, 8, 2, PAD], [7, 8, 9, 2], [7, 2, PAD, PAD]])
    labels = np.array([[7, 8, 2], [7, 8, 2], [8, 2, PAD]])
    assert Batch(sources, labels, labels).copies.tolist() == [True, False, False]
