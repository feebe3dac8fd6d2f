"""Batches: which pairs they have, and the padded arrays that the network reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tertium.training.model.bitext import Pair
from tertium.training.model.contrasts import wrong_target
from tertium.training.model.corpus import Corpus, Kind, Stream
from tertium.training.model.lexicon import Lexicon
from tertium.training.model.names import NameReplacer
from tertium.training.model.plan import Mixture
from tertium.training.model.tokenizer import END, PAD, Tokenizer

BLOCK_BATCHES = 512
BAND_WIDTH = 1.15
"""Ratio of the longest to the shortest target among the pairs that batches are cut from."""
NONE = -1
RANKED_EVERY = 4
"""Of so many batches, one has a ranking loss, which takes another pass of the encoder."""
CONTRASTED_EVERY = 2
"""Of so many batches, one has wrong targets, which take another pass of the decoder."""
MAX_JOINED = 16
"""Pairs that are joined at most."""


@dataclass(frozen=True, slots=True)
class Example:
    """Concatenated sentences of one direction: usually one pair, sometimes several."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    target_lang: str


@dataclass(frozen=True, slots=True)
class WrongTargets:
    """Wrong targets and their labels for some rows of a batch, which are given by number."""

    rows: NDArray[np.int64]
    targets: NDArray[np.int64]
    labels: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Sources: tokens, end. Targets: end, tag, tokens. Labels: tokens, end, without the tag.

    This is Prism's format. The tag is forced, so it is not predicted.
    """

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    labels: NDArray[np.int64]
    ranked: bool = False
    """Whether the ranking loss is computed, if there is one."""
    wrong: WrongTargets | None = None
    """What the contrast loss compares with, if there is one."""

    @property
    def count(self) -> int:
        """The number of labels without padding."""
        return int((self.labels != PAD).sum())

    @property
    def copies(self) -> NDArray[np.bool_]:
        """Which rows have the same source and target."""
        width = min(self.sources.shape[1], self.labels.shape[1])
        alike = (self.sources[:, :width] == self.labels[:, :width]).all(axis=1)
        lengths = [(rows != PAD).sum(axis=1) for rows in (self.sources, self.labels)]
        return np.asarray(alike & (lengths[0] == lengths[1]))

    def part(self, part: int, parts: int) -> Batch:
        """Return every ``parts``-th row, starting at ``part``, without excess padding.

        >>> rows = np.array([[7, 8, 2], [9, 2, PAD], [2, PAD, PAD]])
        >>> Batch(rows, rows, rows).part(1, 2).labels
        array([[9, 2]])
        """
        if parts == 1:
            return self
        chosen = [rows[part::parts] for rows in (self.sources, self.targets, self.labels)]
        sources, targets, labels = map(trimmed, chosen)
        wrong = None
        if self.wrong is not None and (mine := self.wrong.rows % parts == part).any():
            wrong = WrongTargets(
                self.wrong.rows[mine] // parts,
                trimmed(self.wrong.targets[mine]),
                trimmed(self.wrong.labels[mine]),
            )
        return Batch(sources, targets, labels, self.ranked, wrong)


def make_batch(
    corpus: Corpus | Block, tags: Mapping[str, int], examples: Sequence[Example]
) -> Batch:
    """Add ends and tags to the examples, and pad them."""
    sources, targets, tags_of = [], [], []
    for example in examples:
        sources.append(np.concatenate([corpus.sentence(number) for number in example.sources]))
        targets.append(np.concatenate([corpus.sentence(number) for number in example.targets]))
        tags_of.append(tags[example.target_lang])
    return frame(sources, targets, tags_of)


def frame(
    sources: Sequence[NDArray[np.int32]],
    targets: Sequence[NDArray[np.int32]],
    tags: Sequence[int],
) -> Batch:
    """Add ends and tags to tokenized sources and targets, and pad them."""
    return Batch(
        padded([np.concatenate([tokens, [END]]) for tokens in sources]),
        padded([np.concatenate([[END, tag], row]) for tag, row in zip(tags, targets, strict=True)]),
        padded([np.concatenate([tokens, [END]]) for tokens in targets]),
    )


def stream_probabilities(mixture: Mixture, streams: Sequence[Stream]) -> NDArray[np.float64]:
    """Return the probability of each stream: by kind, then by direction, then by weight.

    >>> streams = [Stream("translation", "de", "en", 1.0, 0, 90),
    ...            Stream("translation", "fr", "en", 1.0, 90, 100)]
    >>> stream_probabilities(Mixture(temperature=2), streams).round(2).tolist()
    [0.75, 0.25]
    """
    sizes = [stream.weight * stream.size for stream in streams]
    directions = [(stream.kind, stream.source_lang, stream.target_lang) for stream in streams]
    amounts: defaultdict[tuple[Kind, str, str], float] = defaultdict(float)
    for direction, size in zip(directions, sizes, strict=True):
        amounts[direction] += size
    smoothed = {key: amount ** (1 / mixture.temperature) for key, amount in amounts.items()}
    totals: defaultdict[Kind, float] = defaultdict(float)
    for (kind, _, _), amount in smoothed.items():
        totals[kind] += amount
    wanted: dict[Kind, float] = {
        "paraphrase": mixture.paraphrases,
        "copy": mixture.copies,
        "names": mixture.names,
    }
    shares: dict[Kind, float] = {kind: wanted[kind] for kind in wanted if kind in totals}
    shares["text" if "text" in totals else "translation"] = 1 - sum(shares.values())
    return np.array(
        [
            shares[direction[0]]
            * smoothed[direction]
            / totals[direction[0]]
            * (size / amounts[direction])
            for direction, size in zip(directions, sizes, strict=True)
        ]
    )


class Block:
    """Batches that are drawn together, and the sentences that were made for them.

    The sentences of the corpus are numbered first, then those that were made.
    """

    def __init__(self, corpus: Corpus, lengths: NDArray[np.int64]) -> None:
        self._corpus = corpus
        self._lengths = lengths
        self._made: list[NDArray[np.int32]] = []
        self.batches: list[NDArray[np.int64]] = []

    def add(self, tokens: NDArray[np.int32]) -> int:
        """Add a sentence, and return its number."""
        self._made.append(tokens)
        return len(self._lengths) + len(self._made) - 1

    def sentence(self, number: int) -> NDArray[np.int32]:
        made = number - len(self._lengths)
        return self._corpus.sentence(number) if made < 0 else self._made[made]

    def lengths(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of tokens of each sentence; NONE has none."""
        made = np.array([len(tokens) for tokens in self._made], np.int64)
        total = len(self._lengths)
        lengths = self._lengths[np.minimum(numbers, total - 1)]
        if len(made):
            lengths = np.where(numbers < total, lengths, made[np.maximum(numbers - total, 0)])
        return np.where(numbers == NONE, 0, lengths)

    def with_ends(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of tokens of source and target of each row, including the ends."""
        lengths = self.lengths(rows[:, :-1])
        return np.stack([lengths[:, 0::2].sum(axis=1), lengths[:, 1::2].sum(axis=1)]) + 1


class Contraster:
    """Makes wrong targets for the rows of a batch."""

    def __init__(self, lexicon: Lexicon | None, tokenizer: Tokenizer, *, max_tokens: int) -> None:
        self._lexicon = lexicon
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens

    def wrong_targets(
        self,
        batch: Batch,
        directions: Sequence[tuple[str, str]],
        generator: np.random.Generator,
    ) -> WrongTargets | None:
        """Return a wrong target for each row that allows one; None if no row does."""
        rows, texts, tags = [], [], []
        others: dict[str, str] = {}
        for row, (source_lang, target_lang) in enumerate(directions):
            source, target = (
                self._tokenizer.decode(ids[ids > END].tolist())
                for ids in (batch.sources[row], batch.labels[row])
            )
            error = wrong_target(
                Pair(source_lang, target_lang, source, target),
                self._lexicon,
                generator,
                other=others.get(target_lang),
            )
            others[target_lang] = target
            if error is not None:
                rows.append(row)
                texts.append(error[1])
                tags.append(self._tokenizer.tags[target_lang])
        tokens = [np.array(ids, np.int32) for ids in self._tokenizer.encode(texts)]
        fitting = [place for place, ids in enumerate(tokens) if len(ids) <= self._max_tokens]
        if not fitting:
            return None
        targets = [tokens[place] for place in fitting]
        framed = frame(targets, targets, [tags[place] for place in fitting])
        return WrongTargets(
            np.array([rows[place] for place in fitting]), framed.targets, framed.labels
        )


class Sampler:
    """Draws blocks of pairs, sorts each by length and cuts it into batches of equal work.

    Block k takes, of each stream, the pairs from ``floor(k n p)`` to ``floor((k + 1) n p)`` of an
    endless sequence of permutations: so a batch depends on nothing but the seed and its number,
    each stream is sampled without replacement, and its share is exact to within one pair.
    """

    def __init__(
        self,
        corpus: Corpus,
        mixture: Mixture,
        tags: Mapping[str, int],
        *,
        batch_tokens: int,
        max_tokens: int,
        seed: int,
        replacer: NameReplacer | None = None,
        contraster: Contraster | None = None,
    ) -> None:
        self._corpus = corpus
        self._tags = tags
        self.seed = seed
        self._joined = mixture.joined
        self._joined_tokens = mixture.joined_tokens
        self._max_tokens = max_tokens
        self._replacer = replacer
        self._contraster = contraster
        self._lengths = corpus.lengths
        self._probabilities = stream_probabilities(mixture, corpus.streams)
        means = [
            self._lengths[corpus.pairs[stream.start : stream.end, 1]].mean() + 1
            for stream in corpus.streams
        ]
        self._block_pairs = max(
            2 * BLOCK_BATCHES,
            round(BLOCK_BATCHES * batch_tokens / float(self._probabilities @ np.array(means))),
        )
        self._permutation = lru_cache(maxsize=2 * len(corpus.streams))(self._new_permutation)
        self._block = lru_cache(maxsize=2)(self._new_block)

    def batch(self, number: int) -> Batch:
        """Return a batch by its number."""
        block, rows = self._rows(number)
        examples = []
        for *numbers, stream in rows.tolist():
            present = [number for number in numbers if number != NONE]
            target_lang = self._corpus.streams[stream].target_lang
            examples.append(Example(tuple(present[0::2]), tuple(present[1::2]), target_lang))
        batch = make_batch(block, self._tags, examples)
        wrong = None
        if self._contraster is not None and number % CONTRASTED_EVERY == 0:
            generator = np.random.default_rng([self.seed, 6, number])
            streams = [self._corpus.streams[stream] for stream in rows[:, -1].tolist()]
            directions = [(stream.source_lang, stream.target_lang) for stream in streams]
            wrong = self._contraster.wrong_targets(batch, directions, generator)
        return replace(batch, ranked=number % RANKED_EVERY == 0, wrong=wrong)

    def count(self, number: int) -> int:
        """Return the number of labels of a batch without making it."""
        block, rows = self._rows(number)
        return int(block.with_ends(rows)[1].sum())

    def _rows(self, number: int) -> tuple[Block, NDArray[np.int64]]:
        of_block, place = divmod(number, BLOCK_BATCHES)
        block = self._block(of_block)
        return block, block.batches[place]

    def _new_permutation(self, stream: int, epoch: int) -> NDArray[np.int64]:
        generator = np.random.default_rng([self.seed, 0, stream, epoch])
        return generator.permutation(self._corpus.streams[stream].size)

    def _new_block(self, number: int) -> Block:
        """Make a block; a row has the numbers of source and target, alternately, and the stream."""
        block = Block(self._corpus, self._lengths)
        rows = np.concatenate(
            [
                self._draw(block, stream, int(number * share), int((number + 1) * share))
                for stream, share in enumerate(self._probabilities * self._block_pairs)
            ]
        )
        generator = np.random.default_rng([self.seed, 1, number])
        generator.shuffle(rows)
        sources, targets = block.with_ends(rows)
        band = (np.log(targets) / np.log(BAND_WIDTH)).astype(np.int64)
        # Alternately ascending and descending, so that lengths are alike where two bands meet.
        order = np.lexsort([np.where(band % 2, sources, -sources), band])
        work = np.cumsum((sources + targets)[order])
        cuts = np.searchsorted(work, work[-1] * np.arange(1, BLOCK_BATCHES) / BLOCK_BATCHES)
        batches = np.split(rows[order], cuts)
        block.batches = [batches[index] for index in generator.permutation(BLOCK_BATCHES)]
        return block

    def _draw(self, block: Block, stream: int, start: int, end: int) -> NDArray[np.int64]:
        """Take pairs of one stream; some are joined, if the result is not too long."""
        about = self._corpus.streams[stream]
        epochs, places = np.divmod(np.arange(start, end), about.size)
        chosen = np.concatenate(
            [np.empty(0, np.int64)]
            + [
                self._permutation(stream, int(epoch))[places[epochs == epoch]]
                for epoch in np.unique(epochs)
            ]
        )
        pairs = self._corpus.pairs[about.start + chosen].astype(np.int64)
        if about.kind == "names" and self._replacer is not None:
            generator = np.random.default_rng([self.seed, 3, stream, start])
            tokens = (
                (self._corpus.sentence(source).tolist(), self._corpus.sentence(target).tolist())
                for source, target in pairs
            )
            changed = self._replacer.replace(
                about.source_lang, about.target_lang, tokens, generator
            )
            for place, (source, target) in changed.items():
                pairs[place] = block.add(source), block.add(target)
        lengths = block.lengths(pairs)
        if self._joined_tokens is None:
            groups = join_two(lengths, share=self._joined, max_tokens=self._max_tokens)
        else:
            generator = np.random.default_rng([self.seed, 4, stream, start])
            groups = join_several(
                lengths, share=self._joined, max_tokens=self._joined_tokens, generator=generator
            )
        rows = np.full((len(groups), 2 * self._width + 1), NONE)
        rows[:, -1] = stream
        for place in range(self._width):
            filled = groups[:, place] != NONE
            rows[filled, 2 * place : 2 * place + 2] = pairs[groups[filled, place]]
        return rows

    @property
    def _width(self) -> int:
        """The number of pairs that may be joined."""
        return 2 if self._joined_tokens is None else MAX_JOINED


def join_two(lengths: NDArray[np.int64], *, share: float, max_tokens: int) -> NDArray[np.int64]:
    """Group a share of the pairs in twos, where both sides fit; ``lengths`` are of both sides.

    >>> join_two(np.array([[3, 3], [9, 9], [4, 4], [4, 4]]), share=1, max_tokens=10).tolist()
    [[1, -1], [3, -1], [0, 2]]
    """
    joins = int(len(lengths) * share / 2)
    first, second = np.arange(joins), np.arange(joins, 2 * joins)
    fits = (lengths[first] + lengths[second]).max(axis=1, initial=0) <= max_tokens
    alone = np.concatenate([np.arange(2 * joins, len(lengths)), first[~fits], second[~fits]])
    single = np.stack([alone, np.full(len(alone), NONE)], axis=1)
    return np.concatenate([single, np.stack([first[fits], second[fits]], axis=1)])


def join_several(
    lengths: NDArray[np.int64], *, share: float, max_tokens: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Group a share of the pairs, each group up to a length between a quarter and the whole.

    >>> lengths = np.array([[3, 4]] * 5)
    >>> generator = np.random.default_rng(1)
    >>> join_several(lengths, share=0.8, max_tokens=20, generator=generator)[:, :4].tolist()
    [[0, 1, 2, -1], [3, -1, -1, -1], [4, -1, -1, -1]]
    """
    joins = int(len(lengths) * share)
    limits = generator.integers(max_tokens // 4, max_tokens + 1, joins).tolist()
    groups: list[list[int]] = []
    source = target = 0
    for place, (more_source, more_target) in enumerate(lengths[:joins].tolist()):
        fits = max(source + more_source, target + more_target) <= limits[len(groups) - 1]
        if groups and fits and len(groups[-1]) < MAX_JOINED:
            groups[-1].append(place)
            source, target = source + more_source, target + more_target
        else:
            groups.append([place])
            source, target = more_source, more_target
    groups += [[place] for place in range(joins, len(lengths))]
    result = np.full((len(groups), MAX_JOINED), NONE)
    for row, group in zip(result, groups, strict=True):
        row[: len(group)] = group
    return result


def trimmed(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Remove the columns that have only padding."""
    return rows[:, (rows != PAD).any(axis=0)]


def padded(rows: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Pad rows to the length of the longest."""
    array = np.full((len(rows), max(map(len, rows), default=0)), PAD, np.int64)
    for place, row in enumerate(rows):
        array[place, : len(row)] = row
    return array
