"""N-grams that two sequences share, counted for many pairs of sequences at once.

The longest n-grams of all sequences are packed into integers, one each, and sorted once. Those of
the same pair stand together then, and so do those that begin alike: the shorter n-grams are
prefixes. That takes a seventh of the time that counters of strings take.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Symbols = NDArray[np.uint32]
    Counts = NDArray[np.int64]
    Floats = NDArray[np.float64]

BITS = 63
"""A packed n-gram has its pair, its symbols and its side in so many bits."""
FEW = 500
"""Fewer symbols are counted without numpy, which takes longer to import."""
CELLS = 1 << 22
"""Counts of n-grams that are compared at once; a cell has four bytes."""


def shared_ngrams(sequences: Sequence[Sequence[str]], longest: int) -> list[list[list[int]]]:
    """How many n-grams the two sequences of each pair have, and how many of them they share.

    Every two sequences are a pair: texts, whose symbols are characters, or lists of words. For each
    pair and order, the result has the n-grams of the first, of the second, and those of both.

    >>> shared_ngrams(["abab", "abc"], 2), shared_ngrams([["no", "no"], ["no"]], 1)
    ([[[4, 3, 2], [3, 2, 1]]], [[[2, 1, 1]]])
    """
    lengths = list(map(len, sequences))
    if sum(lengths) < FEW:
        pairs = zip(sequences[::2], sequences[1::2], strict=True)
        return [_counted(*pair, longest) for pair in pairs]
    packed: list[list[list[int]]] = _packed(symbols(sequences), lengths, longest).tolist()
    return packed


def symbols(sequences: Sequence[Sequence[str]]) -> Symbols:
    """The symbols of all sequences, one sequence after the other, as numbers."""
    import numpy as np

    if isinstance(sequences[0], str):
        codes = "".join(map(str, sequences)).encode("utf-32-le", "surrogatepass")
        return np.frombuffer(codes, np.uint32)
    numbers = defaultdict[str, int]()
    numbers.default_factory = numbers.__len__
    words = chain.from_iterable(sequences)
    return np.fromiter(map(numbers.__getitem__, words), np.uint32)


def _packed(symbols: Symbols, lengths: Sequence[int], longest: int) -> Counts:
    import numpy as np

    sizes = np.asarray(lengths, np.int64)
    pairs, count = len(sizes) // 2, len(symbols)
    known = np.zeros(int(symbols.max(initial=0)) + 1, bool)
    known[symbols] = True
    ids = known.cumsum()  # from 1: zero follows the end of a sequence
    width = int(ids[-1]).bit_length()
    if width * longest + (pairs - 1).bit_length() + 1 > BITS:
        if pairs == 1:
            both = symbols[: lengths[0]].tolist(), symbols[lengths[0] :].tolist()
            return np.array([_counted(*both, longest)], np.int64)
        half = pairs // 2 * 2
        middle = sum(lengths[:half])
        parts = (symbols[:middle], lengths[:half]), (symbols[middle:], lengths[half:])
        return np.concatenate([_packed(*part, longest) for part in parts])
    sequence = np.repeat(np.arange(len(sizes)), sizes)
    places = np.arange(count) + sequence * (longest - 1)
    padded = np.zeros(count + len(sizes) * (longest - 1), np.int64)
    padded[places] = ids[symbols]
    keys = sequence >> 1
    for step in range(longest):
        keys = keys << width | padded[places + step]
    keys = keys << 1 | sequence & 1
    keys.sort()
    second = np.concatenate([[0], (keys & 1).cumsum()])  # those of second sequences so far
    found = np.zeros((pairs, longest, 3), np.int64)
    totals = sizes.reshape(pairs, 1, 2) - np.arange(longest).reshape(-1, 1)
    found[:, :, :2] = np.maximum(totals, 0)
    for order in range(longest):
        grams = keys >> (width * (longest - 1 - order) + 1)
        starts = np.flatnonzero(np.concatenate([[True], grams[1:] != grams[:-1]])[:count])
        ends = np.append(starts[1:], count)
        theirs = second[ends] - second[starts]
        ours = ends - starts - theirs
        grams = grams[starts]
        both = (ours > 0) & (theirs > 0) & (grams & ((1 << width) - 1) > 0)  # none over the end
        owners = grams[both] >> (width * (order + 1))
        shared = np.minimum(ours[both], theirs[both])
        found[:, order, 2] = np.bincount(owners, shared, minlength=pairs)
    return found


def _counted(first: Sequence[object], second: Sequence[object], longest: int) -> list[list[int]]:
    """The same for one pair, by counters: where there is little to count, or too much to pack."""
    found = []
    for order in range(longest):
        ours, theirs = (
            Counter(zip(*(side[start:] for start in range(order + 1)), strict=False))
            for side in (first, second)
        )
        found.append([ours.total(), theirs.total(), (ours & theirs).total()])
    return found


def numbered_ngrams(
    sequences: Sequence[Sequence[str]], longest: int
) -> Iterator[tuple[Counts, Counts]]:
    """For each order, the sequences of all n-grams, and their numbers: the same if they are equal.

    >>> [each.tolist() for each in list(numbered_ngrams(["aba", "ab"], 2))[1]]
    [[0, 0, 1], [0, 1, 0]]
    """
    import numpy as np

    sizes = np.array(list(map(len, sequences)), np.int64)
    ids = np.unique(symbols(sequences), return_inverse=True)[1]
    owners, left = np.repeat([np.arange(len(sizes)), np.cumsum(sizes)], sizes, axis=1)
    places = np.arange(len(ids))
    left = left - places
    numbers, width = ids, len(ids) + 1
    for order in range(longest):
        yield owners[places], numbers
        longer = left[places] > order + 1
        places = places[longer]
        packed = numbers[longer] * width + ids[places + order + 1]
        numbers = np.unique(packed, return_inverse=True)[1]


@dataclass(frozen=True)
class NgramTable:
    """How often each text has each n-gram."""

    sizes: Counts
    """How many n-grams of each order a text has: shape (texts, orders)."""
    orders: Counts
    """The order of each n-gram, counted from 0."""
    starts: Counts
    """The first entry of each text, and the end."""
    columns: Counts
    """The n-gram of each entry."""
    counts: NDArray[np.float32]

    @classmethod
    def of(cls, numbered: Sequence[tuple[Counts, Counts]], texts: int) -> Self:
        """Count n-grams that were numbered order by order."""
        import numpy as np

        widths = [int(numbers.max(initial=-1)) + 1 for _, numbers in numbered]
        first = np.cumsum([0, *widths])
        keys = np.concatenate(
            [
                owners * first[-1] + start + numbers
                for (owners, numbers), start in zip(numbered, first[:-1], strict=True)
            ]
        )
        entries, counts = np.unique(keys, return_counts=True)
        return cls(
            np.stack([np.bincount(owners, minlength=texts) for owners, _ in numbered], axis=1),
            np.repeat(np.arange(len(widths)), widths),
            np.searchsorted(entries, np.arange(texts + 1) * first[-1]),
            entries % max(first[-1], 1),
            counts.astype(np.float32),
        )

    def shared(self, ours: Sequence[int], theirs: Sequence[int]) -> Floats:
        """The n-grams that texts share with others: shape (ours, theirs, orders)."""
        import numpy as np

        width, orders = len(self.orders), self.sizes.shape[1]
        found = np.zeros((len(ours), len(theirs), orders))
        of_order = np.eye(orders, dtype=np.float32)[self.orders]
        step = max(1, CELLS // max(width, 1))
        for start in range(0, len(theirs), step):
            some = theirs[start : start + step]
            dense = np.zeros((width, len(some)), np.float32)
            for column, text in enumerate(some):
                entries = self._entries(text)
                dense[self.columns[entries], column] = self.counts[entries]
            for place, text in enumerate(ours):
                entries = self._entries(text)
                columns = self.columns[entries]
                least = dense[columns]
                np.minimum(least, self.counts[entries, None], out=least)
                found[place, start : start + step] = least.T @ of_order[columns]
        return found

    def _entries(self, text: int) -> slice:
        return slice(self.starts[text], self.starts[text + 1])
