"""The loss on held-out pairs, direction by direction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tertium.training.model.batches import Batch, Example, make_batch
from tertium.training.model.corpus import Corpus, Stream
from tertium.training.model.network import surprise

PAIRS_A_DIRECTION = 200
BATCH_PAIRS = 50
TRANSLATION = "translation"


def development_batches(corpus: Corpus, tags: Mapping[str, int]) -> list[tuple[str, Batch]]:
    """Batches of the first pairs of each direction, each with its direction's name."""
    lengths = corpus.lengths
    found = []
    for stream in corpus.streams:
        pairs = corpus.pairs[stream.start : stream.end]
        step = max(1, len(pairs) // PAIRS_A_DIRECTION)  # spread over the file, which is sorted
        pairs = pairs[::step][:PAIRS_A_DIRECTION]
        pairs = pairs[lengths[pairs[:, 1]].argsort(kind="stable")]
        for start in range(0, len(pairs), BATCH_PAIRS):
            examples = [
                Example((int(source),), (int(target),), stream.target_lang)
                for source, target in pairs[start : start + BATCH_PAIRS]
            ]
            found.append((direction_name(stream), make_batch(corpus, tags, examples)))
    return found


def direction_name(stream: Stream) -> str:
    """``de-en`` for a translation, ``copy en`` and ``paraphrase en`` within a language."""
    if stream.kind == TRANSLATION:
        return f"{stream.source_lang}-{stream.target_lang}"
    return f"{stream.kind} {stream.target_lang}"


def development_loss(network: Any, batches: list[tuple[str, Batch]]) -> dict[str, float]:
    """Nats a piece for each direction; ``translation`` is the mean of those between languages."""
    totals: defaultdict[str, float] = defaultdict(float)
    counts: defaultdict[str, int] = defaultdict(int)
    network.eval()
    for name, batch in batches:
        totals[name] += float(surprise(network, batch).double().sum())
        counts[name] += batch.tokens
    network.train()
    losses = {name: totals[name] / counts[name] for name in totals}
    between = [loss for name, loss in losses.items() if "-" in name]
    if between:
        losses = {TRANSLATION: sum(between) / len(between), **losses}
    return losses
