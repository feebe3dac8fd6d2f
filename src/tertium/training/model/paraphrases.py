"""Paraphrases from bitext: two sentences of one language that share a translation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import TypeVar

Sentence = TypeVar("Sentence", bound=Hashable)

MAX_RENDERINGS = 8
MAX_PARTNERS = 3


def pivot_paraphrases(
    pairs: Iterable[tuple[Sentence, Hashable]],
    *,
    max_renderings: int = MAX_RENDERINGS,
    max_partners: int = MAX_PARTNERS,
) -> list[tuple[Sentence, Sentence]]:
    """Pair the renderings of each pivot in a ring; ``pairs`` are (sentence, pivot).

    A pivot with more than ``max_renderings`` says too little ("Go!") and is ignored; a sentence
    is paired with at most ``max_partners`` others, so that frequent ones do not fill the data.

    >>> pivot_paraphrases([(1, 9), (2, 9), (3, 9), (4, 8)])
    [(1, 2), (2, 3), (3, 1)]
    """
    renderings: defaultdict[Hashable, dict[Sentence, None]] = defaultdict(dict)
    for sentence, pivot in pairs:
        renderings[pivot][sentence] = None
    partners: defaultdict[Sentence, set[Sentence]] = defaultdict(set)
    found = []
    for ring in renderings.values():
        if not 2 <= len(ring) <= max_renderings:
            continue
        sentences = list(ring)
        for a, b in zip(sentences, [*sentences[1:], sentences[0]], strict=True):
            if b not in partners[a] and len(partners[a]) < max_partners:
                partners[a].add(b)
                found.append((a, b))
    return found
