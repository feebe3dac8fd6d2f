"""Which pieces of two texts belong together, by the vectors of an encoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tertium.text import Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tertium.measures.bertscore import BertScore, Match
    from tertium.measures.movers import WordMoversDistance


@dataclass(frozen=True)
class Alignment:
    """What BERTScore sees: the cosine of every piece with every other."""

    hypothesis: tuple[str, ...]
    reference: tuple[str, ...]
    cosines: NDArray[np.float64]
    """A row a piece of the hypothesis, a column a piece of the reference."""
    match: Match


@dataclass(frozen=True)
class Transport:
    """What Word Mover's Distance does: how much of which piece becomes which."""

    hypothesis: tuple[str, ...]
    reference: tuple[str, ...]
    plan: NDArray[np.float64]
    """A row a piece of the hypothesis, a column a piece of the reference; all sum to 1."""
    costs: NDArray[np.float64]
    work: float
    """What it takes altogether; WMD is this, negated."""


def align(a: Text, b: Text, measure: BertScore) -> Alignment:
    """Compare every piece of ``a`` with every piece of ``b``.

    >>> import tertium
    >>> found = align(Text("A cat"), Text("A dog"), tertium.load("bertscore"))
    >>> found.reference, found.cosines.shape
    (('▁A', '▁dog', '</s>'), (3, 3))
    """
    from tertium.measures.bertscore import cosine_matrix

    [x], [y], _ = measure.token_vectors([a], [b], None)
    [match], _ = measure.matches([a], [b])
    return Alignment(x.tokens, y.tokens, cosine_matrix(x, y), match)


def move(a: Text, b: Text, measure: WordMoversDistance) -> Transport:
    """Find the plan of the least work that turns ``b`` into ``a``.

    >>> import tertium
    >>> found = move(Text("A cat"), Text("A dog"), tertium.load("wmd"))
    >>> found.plan.round(2).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    from tertium.measures.embedding import inner

    [x], [y], _ = measure.token_vectors([a], [b], None)
    x, y = inner(x), inner(y)
    work, plan = measure.moves(x, y, measure.weighting([y]))
    return Transport(x.tokens, y.tokens, plan.T, measure.costs(y, x).T, work)
