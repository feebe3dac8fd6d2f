"""Which questions go to the engine together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

Shape = tuple[int, ...]
"""The lengths of a question's sequences: source and target, or source alone."""

Batching = Callable[[Sequence[Shape], int], Iterator[list[int]]]

PADDED = 1.2
"""How many times the tokens of its texts a padded batch may hold. With the bundled model, 200
questions about news took 11.1 ms each so, 11.5 with no limit, and 13.1 in batches of one shape."""


def uniform_batches(shapes: Sequence[Shape], max_tokens: int) -> Iterator[list[int]]:
    """Group questions of one and the same shape, longest first.

    Such a batch has no padding, which saves work and, above all, keeps a question's answer free of
    its neighbours: padding changes the last bit of a sum, and int8 arithmetic makes much of it (we
    measured 0.05 in a log-probability). Without it the int8 answer is the same to the bit in any
    batch; in floating point it is not, with padding or without (a token differs by up to 6e-6).

    >>> list(uniform_batches([(3, 2), (5, 5), (3, 2), (3, 2)], max_tokens=8))
    [[1], [0, 2], [3]]
    """
    same: defaultdict[Shape, list[int]] = defaultdict(list)
    for index, shape in enumerate(shapes):
        same[shape].append(index)
    for shape in sorted(same, key=lambda shape: (max(shape), shape), reverse=True):
        size = max(1, max_tokens // max(1, max(shape)))
        indices = same[shape]
        for start in range(0, len(indices), size):
            yield indices[start : start + size]


def padded_batches(shapes: Sequence[Shape], max_tokens: int) -> Iterator[list[int]]:
    """Group questions of similar shape, longest first, with little padding: more rows a batch.

    >>> list(padded_batches([(3, 2), (5, 5), (4, 2), (3, 2)], max_tokens=8))
    [[1], [2, 0], [3]]
    """
    batch: list[int] = []
    filled = 0
    widest: Shape = ()
    for index in sorted(range(len(shapes)), key=lambda i: (-max(shapes[i]), shapes[i], i)):
        wider = tuple(map(max, widest or shapes[index], shapes[index]))
        rows, tokens = len(batch) + 1, filled + sum(shapes[index])
        if batch and (max(wider) * rows > max_tokens or sum(wider) * rows > PADDED * tokens):
            yield batch
            batch, tokens, wider = [], sum(shapes[index]), shapes[index]
        batch.append(index)
        filled, widest = tokens, wider
    if batch:
        yield batch


def batches_by_limit(
    limits: Sequence[int], shapes: Sequence[Shape], max_tokens: int, batching: Batching
) -> Iterator[list[int]]:
    """Group questions only with those of the same limit, the largest first.

    >>> list(batches_by_limit([9, 7, 9], [(5,), (4,), (4,)], 12, padded_batches))
    [[0, 2], [1]]
    """
    same: defaultdict[int, list[int]] = defaultdict(list)
    for index, limit in enumerate(limits):
        same[limit].append(index)
    for limit in sorted(same, reverse=True):
        indices = same[limit]
        for batch in batching([shapes[index] for index in indices], max_tokens):
            yield [indices[place] for place in batch]
