"""BoostedProb: tokens that share the top probability mass are not punished for sharing it.

Dinh and Niehues, "Are Generative Models Underconfident? Better Quality Estimation with Boosted
Model Probability" (2025, arXiv 2502.11115), with the constants of the authors' package boostedprob
0.1.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tertium.models.base import TokenDistributions, TokenScores

RELATIVE_JUMP = 0.3
SMALLEST_JUMP = 0.005
"""From one token to the next, the probability falls sharply if it falls by more than 30 % and by
more than 0.005. So a token with a probability of 0.005 or less is never followed by a fall."""


def boosted(distributions: TokenDistributions) -> TokenScores:
    """Replace the probability of every dominant token by that of all dominant tokens."""
    scores = distributions.scores
    pairs = zip(scores.log_probs, distributions.top, strict=True)
    return replace(scores, log_probs=tuple(boosted_log_prob(*pair) for pair in pairs))


def boosted_log_prob(log_prob: float, top: Sequence[float]) -> float:
    """The boosted log-probability of a token, where ``top`` are the largest, in descending order.

    Dominant are the tokens before the last sharp fall.

    >>> top = [math.log(p) for p in (0.5, 0.4, 0.05, 0.03)]
    >>> [round(math.exp(boosted_log_prob(x, top)), 2) for x in top]  # the last fall: 0.05 to 0.03
    [0.95, 0.95, 0.95, 0.03]
    """
    p = [math.exp(each) for each in top]
    falls = [p[n] - p[n + 1] for n in range(len(p) - 1)]
    sharp = [n for n, fall in enumerate(falls) if fall > max(RELATIVE_JUMP * p[n], SMALLEST_JUMP)]
    if not sharp or log_prob < top[sharp[-1]]:
        return log_prob
    return min(math.log(math.fsum(p[: sharp[-1] + 1])), 0.0)
