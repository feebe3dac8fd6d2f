"""How well held-out pairs are translated, direction by direction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium.training.model.batches import Batch
from tertium.training.model.development import TRANSLATION
from tertium.training.model.pieces import END, PAD

ROOM = 20
"""A translation may be twice as long as its source, and this much longer."""

Decode = Callable[[Sequence[int]], str]


class Sentence(NamedTuple):
    """A source with its end, the tag of the target's language, and the target."""

    source: NDArray[np.int64]
    tag: int
    target: NDArray[np.int64]


def development_chrf(
    network: Any, batches: Iterable[tuple[str, Batch]], decode: Decode, *, sentences: int
) -> dict[str, float]:
    """chrF of greedy translations of some sentences a direction; ``translation`` is the mean."""
    from sacrebleu.metrics.chrf import CHRF

    network.eval()
    scores = {}
    for name, some in chosen_sentences(batches, sentences).items():
        found = translate_greedily(network, some, decode)
        references = [decode(sentence.target.tolist()) for sentence in some]
        scores[name] = float(CHRF().corpus_score(found, [references]).score)
    network.train()
    if scores:
        scores = {TRANSLATION: sum(scores.values()) / len(scores), **scores}
    return scores


def chosen_sentences(batches: Iterable[tuple[str, Batch]], count: int) -> dict[str, list[Sentence]]:
    """Of each direction between languages, ``count`` sentences spread over all lengths."""
    rows: defaultdict[str, list[Sentence]] = defaultdict(list)
    for name, batch in batches:
        if "-" in name:
            for source, target, labels in zip(
                batch.sources, batch.targets, batch.labels, strict=True
            ):
                said = labels[(labels != PAD) & (labels != END)]
                rows[name].append(Sentence(source[source != PAD], int(target[1]), said))
    return {name: some[:: max(1, len(some) // count)][:count] for name, some in rows.items()}


def translate_greedily(network: Any, sentences: Sequence[Sentence], decode: Decode) -> list[str]:
    """Take the likeliest piece, one after another, for sentences into one language."""
    import torch

    longest = max(len(sentence.source) for sentence in sentences)
    sources = np.full((len(sentences), longest), PAD, np.int64)
    for row, sentence in zip(sources, sentences, strict=True):
        row[: len(sentence.source)] = sentence.source
    ids = torch.from_numpy(sources).to(network.device)
    with torch.no_grad():
        output = network.generate(
            input_ids=ids,
            attention_mask=(ids != PAD).long(),
            forced_bos_token_id=sentences[0].tag,
            num_beams=1,
            do_sample=False,
            max_length=min(2 * longest + ROOM, network.config.max_position_embeddings),
        )
    return [decode(until_end(row)) for row in output[:, 2:].tolist()]


def until_end(ids: Sequence[int]) -> list[int]:
    """What stands before the first end.

    >>> until_end([7, 8, 2, 1, 1])
    [7, 8]
    """
    return list(ids[: ids.index(END)] if END in ids else ids)
