"""The vocabulary of a static encoder; tokenized sentences as flat arrays, and batches of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tertium.errors import ModelError
from tertium.training.encoder.corpus import Row

Indices = NDArray[np.int64]
CHUNK = 50_000


@dataclass(frozen=True, eq=False)
class Sentences:
    """Token ids of many sentences: those of sentence i are ``ids[starts[i]:starts[i + 1]]``."""

    ids: NDArray[np.int32]
    starts: Indices

    def bags(self, chosen: Indices) -> tuple[Indices, Indices]:
        """The ids of some sentences, one after the other, and where each begins."""
        lengths = self.starts[chosen + 1] - self.starts[chosen]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        places = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - self.starts[chosen], lengths)
        return self.ids[places].astype(np.int64), offsets[:-1]


def tokenize(processor: Any, texts: Sequence[str]) -> Sentences:
    """Tokenize texts with a SentencePiece processor."""
    lengths: list[int] = []
    parts = []
    for start in range(0, len(texts), CHUNK):
        encoded = processor.encode(list(texts[start : start + CHUNK]), out_type=int)
        lengths += map(len, encoded)
        parts.append(np.fromiter((id_ for ids in encoded for id_ in ids), dtype=np.int32))
    ids = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
    return Sentences(ids, np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))))


@dataclass(frozen=True, eq=False)
class Corpus:
    """The rows of a corpus: the sentences of row i are those from ``firsts[i]`` on."""

    sentences: Sentences
    firsts: Indices
    counts: Indices
    targets: Indices
    """The place of each row in the teacher's vectors; -1 if the teacher did not encode it."""

    def part(self, chosen: NDArray[np.bool_]) -> Corpus:
        """Some of the rows."""
        return replace(
            self,
            firsts=self.firsts[chosen],
            counts=self.counts[chosen],
            targets=self.targets[chosen],
        )


def make_corpus(
    rows: Sequence[Row],
    languages: Collection[str],
    processor: Any,
    places: Mapping[str, int],
) -> Corpus:
    """Tokenize rows; those with a single sentence are left out, unless the teacher encoded it."""
    texts: list[str] = []
    counts, targets = [], []
    for row in rows:
        kept = [text for lang, text in row.sentences() if lang in languages]
        if len(kept) > 1 or row.english in places:
            texts += kept
            counts.append(len(kept))
            targets.append(places.get(row.english, -1))
    numbers = np.array(counts, dtype=np.int64)
    return Corpus(
        tokenize(processor, texts),
        np.cumsum(numbers) - numbers,
        numbers,
        np.array(targets, dtype=np.int64),
    )


@dataclass(frozen=True, eq=False)
class Batch:
    """Two sentences of each of some rows of one corpus, and the rows' targets."""

    first: tuple[Indices, Indices]
    second: tuple[Indices, Indices]
    targets: Indices


def batches(
    corpora: Mapping[str, Corpus],
    weights: Mapping[str, float],
    size: int,
    steps: int,
    seed: int,
) -> Iterator[Batch]:
    """Draw batches, each from one corpus, so that the other rows are near in domain.

    A corpus is drawn with a probability in proportion to its weight. Its rows are visited in a
    random order, again and again; two sentences of each row are drawn (the same one twice if there
    is no other).
    """
    random = np.random.default_rng(seed)
    names = sorted(corpora)
    shares = np.array([weights[name] for name in names])
    orders = {name: np.zeros(0, dtype=np.int64) for name in names}
    for _ in range(steps):
        name = names[random.choice(len(names), p=shares / shares.sum())]
        corpus = corpora[name]
        while len(orders[name]) < size:
            order = random.permutation(len(corpus.counts))
            orders[name] = np.concatenate((orders[name], order))
        rows, orders[name] = orders[name][:size], orders[name][size:]
        counts = corpus.counts[rows]
        first = (random.random(size) * counts).astype(np.int64)
        second = (first + 1 + (random.random(size) * (counts - 1)).astype(np.int64)) % counts
        yield Batch(
            corpus.sentences.bags(corpus.firsts[rows] + first),
            corpus.sentences.bags(corpus.firsts[rows] + second),
            corpus.targets[rows],
        )


def open_processor(path: Path) -> Any:
    """Open a SentencePiece model."""
    from sentencepiece import SentencePieceProcessor

    return SentencePieceProcessor(model_proto=path.read_bytes())


NORMALIZATION = "nmt_nfkc_cf"
"""SentencePiece's own rules: compatible characters are made equal, case is folded."""
COVERAGE = 0.9998
"""The share of characters that have a token of their own; the rest is unknown."""
SEED_TOKENS = 300_000
MIN_COUNT = 2


def train_vocabulary(sentences: Iterable[str], *, tokens: int) -> bytes:
    """Train a unigram model on counted words, which is much faster than on sentences.

    Words that occur once are left out. The only special token is the unknown one, whose id is 0.
    """
    from sentencepiece import SentencePieceTrainer

    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence.lower().split())
    with TemporaryDirectory() as folder:
        table, model = Path(folder) / "words.tsv", Path(folder) / "spm"
        lines = (
            f"{word}\t{count}\n" for word, count in sorted(counts.items()) if count >= MIN_COUNT
        )
        table.write_text("".join(lines), encoding="utf-8", newline="\n")
        try:
            SentencePieceTrainer.train(
                input=str(table),
                input_format="tsv",
                model_prefix=str(model),
                model_type="unigram",
                vocab_size=tokens,
                character_coverage=COVERAGE,
                seed_sentencepiece_size=SEED_TOKENS,
                normalization_rule_name=NORMALIZATION,
                unk_id=0,
                bos_id=-1,
                eos_id=-1,
                pad_id=-1,
                num_threads=1,
                minloglevel=2,
            )
        except RuntimeError as error:
            raise ModelError(
                f"SentencePiece cannot train a vocabulary of {tokens} tokens on these sentences "
                f"({error})",
                cure="give more text, or ask for fewer tokens",
            ) from None
        return model.with_suffix(".model").read_bytes()
