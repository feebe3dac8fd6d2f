"""Word alignment from a matrix of similarities: SimAlign's argmax, itermax and match.

Jalili Sabet, Dufter, Yvon and Schütze (2020), "SimAlign: High Quality Word Alignments Without
Parallel Training Data Using Static and Contextualized Embeddings".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tertium.errors import SettingError

Similarities = NDArray[np.float64]
"""Shape (source, target); not negative."""
Links = NDArray[np.bool_]
"""The same shape: which are aligned."""
AlignmentMethod = Literal["argmax", "itermax", "match"]
METHODS: tuple[AlignmentMethod, ...] = get_args(AlignmentMethod)
DISCOUNT = 0.9
"""Of the similarities of what has a link already (alpha of the paper)."""
ROUNDS = 2
"""Of itermax (n_max of the paper)."""


def aligned(similarities: Similarities, method: AlignmentMethod = "itermax") -> Links:
    """Align the rows of a matrix with its columns.

    >>> similarities = np.array([[0.9, 0.6], [0.8, 0.1]])
    >>> [aligned(similarities, method).astype(int).tolist() for method in METHODS]
    [[[1, 0], [0, 0]], [[1, 1], [1, 0]], [[0, 1], [1, 0]]]
    """
    if method not in _METHODS:
        raise SettingError(f"alignment method {method!r}: use {', '.join(METHODS)}")
    if not similarities.size:
        return np.zeros(similarities.shape, bool)
    return _METHODS[method](similarities)


def argmax(similarities: Similarities) -> Links:
    """Pairs of which each is the most similar one of the other."""
    rows, columns = similarities.argmax(axis=1), similarities.argmax(axis=0)
    links = np.zeros(similarities.shape, bool)
    places = np.arange(len(rows))
    mutual = np.flatnonzero(columns[rows] == places)
    links[mutual, rows[mutual]] = True
    return links


def itermax(similarities: Similarities) -> Links:
    """Argmax, then again for what has no link: algorithm 1 of the paper.

    Similarities count in full where neither side has a link, discounted where one has, and not at
    all where both have.
    """
    links = argmax(similarities)
    for _ in range(ROUNDS - 1):
        linked = np.add.outer(links.any(axis=1).astype(int), links.any(axis=0).astype(int))
        mask = np.select([linked == 0, linked == 1], [1.0, DISCOUNT], 0.0)
        more = argmax(similarities * mask) & (similarities * mask > 0) & ~links
        if not more.any():
            break
        links |= more
    return links


def match(similarities: Similarities) -> Links:
    """One to one, with the highest sum of similarities; the shorter side is aligned completely."""
    turned = similarities.shape[0] > similarities.shape[1]
    matrix = similarities.T if turned else similarities
    links = np.zeros(matrix.shape, bool)
    links[np.arange(len(matrix)), _assigned(-matrix)] = True
    return links.T if turned else links


def _assigned(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """The column of each row with the lowest sum, for at least as many columns as rows.

    The shortest augmenting paths of Jonker and Volgenant (1987), without their initialization.
    """
    rows, columns = costs.shape
    row_prices, column_prices = np.zeros(rows), np.zeros(columns)
    owner = np.full(columns, -1)
    for row in range(rows):
        distances, previous = np.full(columns, np.inf), np.full(columns, -1)
        done = np.zeros(columns, bool)
        current, column, length = row, -1, 0.0
        while current >= 0:
            reduced = length + costs[current] - row_prices[current] - column_prices
            better = ~done & (reduced < distances)
            distances[better], previous[better] = reduced[better], column
            column = int(np.where(done, np.inf, distances).argmin())
            length = float(distances[column])
            done[column] = True
            current = int(owner[column])
        reached = done.copy()
        reached[column] = False
        row_prices[row] += length
        row_prices[owner[reached]] += length - distances[reached]
        column_prices[reached] -= length - distances[reached]
        while column >= 0:
            before = int(previous[column])
            owner[column] = row if before < 0 else owner[before]
            column = before
    result = np.empty(rows, np.int64)
    result[owner[owner >= 0]] = np.flatnonzero(owner >= 0)
    return result


_METHODS: dict[str, Callable[[Similarities], Links]] = {
    "argmax": argmax,
    "itermax": itermax,
    "match": match,
}
