"""Evaluation on the development set: loss and chrF for each direction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium.training.model.batches import Batch, Example, make_batch, padded
from tertium.training.model.corpus import Corpus, Stream
from tertium.training.model.network import negative_log_likelihoods
from tertium.training.model.tokenizer import END, PAD

PAIRS_PER_DIRECTION = 200
BATCH_PAIRS = 50
TRANSLATION = "translation"
MAX_EXTRA_LENGTH = 20
"""A translation may have this many tokens more than twice its source."""

Decode = Callable[[Sequence[int]], str]


def development_batches(corpus: Corpus, tags: Mapping[str, int]) -> list[tuple[str, Batch]]:
    """Return batches of some pairs of each direction, with the name of the direction."""
    lengths = corpus.lengths
    batches = []
    for stream in corpus.streams:
        pairs = corpus.pairs[stream.start : stream.end]
        step = max(1, len(pairs) // PAIRS_PER_DIRECTION)  # spread over the file, which is sorted
        pairs = pairs[::step][:PAIRS_PER_DIRECTION]
        pairs = pairs[lengths[pairs[:, 1]].argsort(kind="stable")]
        for start in range(0, len(pairs), BATCH_PAIRS):
            examples = [
                Example((int(source),), (int(target),), stream.target_lang)
                for source, target in pairs[start : start + BATCH_PAIRS]
            ]
            batches.append((direction_name(stream), make_batch(corpus, tags, examples)))
    return batches


def direction_name(stream: Stream) -> str:
    """``de-en`` for a translation, ``copy en`` and ``paraphrase en`` within a language."""
    if stream.kind == TRANSLATION:
        return f"{stream.source_lang}-{stream.target_lang}"
    return f"{stream.kind} {stream.target_lang}"


def development_loss(network: Any, batches: Iterable[tuple[str, Batch]]) -> dict[str, float]:
    """Return nats per token for each direction; ``translation`` is the mean across languages."""
    totals: defaultdict[str, float] = defaultdict(float)
    counts: defaultdict[str, int] = defaultdict(int)
    network.eval()
    for name, batch in batches:
        totals[name] += float(negative_log_likelihoods(network, batch).double().sum())
        counts[name] += batch.count
    network.train()
    return _with_mean({name: totals[name] / counts[name] for name in totals})


class Sentence(NamedTuple):
    """A source with its end token, the tag of the target language, and the target."""

    source: NDArray[np.int64]
    tag: int
    target: NDArray[np.int64]


def development_chrf(
    network: Any, batches: Iterable[tuple[str, Batch]], decode: Decode, *, sentences: int
) -> dict[str, float]:
    """Return chrF of greedy translations for each direction; ``translation`` is the mean."""
    from sacrebleu.metrics.chrf import CHRF

    network.eval()
    scores = {}
    for name, chosen in choose_sentences(batches, sentences).items():
        translations = translate_greedily(network, chosen, decode)
        references = [decode(sentence.target.tolist()) for sentence in chosen]
        scores[name] = float(CHRF().corpus_score(translations, [references]).score)
    network.train()
    return _with_mean(scores)


def choose_sentences(batches: Iterable[tuple[str, Batch]], count: int) -> dict[str, list[Sentence]]:
    """Choose ``count`` sentences of each direction between languages, of all lengths."""
    rows: defaultdict[str, list[Sentence]] = defaultdict(list)
    for name, batch in batches:
        if "-" in name:
            for source, target, labels in zip(
                batch.sources, batch.targets, batch.labels, strict=True
            ):
                tokens = labels[(labels != PAD) & (labels != END)]
                rows[name].append(Sentence(source[source != PAD], int(target[1]), tokens))
    return {name: some[:: max(1, len(some) // count)][:count] for name, some in rows.items()}


def translate_greedily(network: Any, sentences: Sequence[Sentence], decode: Decode) -> list[str]:
    """Translate sentences into one language by greedy search."""
    import torch

    sources = padded([sentence.source for sentence in sentences])
    ids = torch.from_numpy(sources).to(network.device)
    with torch.no_grad():
        output = network.generate(
            input_ids=ids,
            attention_mask=(ids != PAD).long(),
            forced_bos_token_id=sentences[0].tag,
            num_beams=1,
            do_sample=False,
            max_length=min(
                2 * sources.shape[1] + MAX_EXTRA_LENGTH, network.config.max_position_embeddings
            ),
        )
    return [decode(until_end(row)) for row in output[:, 2:].tolist()]


def until_end(ids: Sequence[int]) -> list[int]:
    """Return the ids before the first end token.

    >>> until_end([7, 8, 2, 1, 1])
    [7, 8]
    """
    return list(ids[: ids.index(END)] if END in ids else ids)


def _with_mean(scores: dict[str, float]) -> dict[str, float]:
    """Put the mean over the directions between languages first."""
    between = [score for name, score in scores.items() if "-" in name]
    return {TRANSLATION: sum(between) / len(between), **scores} if between else scores
