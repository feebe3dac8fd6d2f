"""Evaluation on the development set: loss and chrF for each direction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium.training.model.batches import Batch, Example, frame, make_batch, padded
from tertium.training.model.bitext import Pair
from tertium.training.model.contrasts import wrong_target
from tertium.training.model.corpus import Corpus, Kind
from tertium.training.model.lexicon import Lexicon
from tertium.training.model.network import negative_log_likelihoods, sentence_vectors
from tertium.training.model.tokenizer import END, PAD, Tokenizer

if TYPE_CHECKING:
    from torch import Tensor

PAIRS_PER_DIRECTION = 200
CONTRASTS_PER_DIRECTION = 10
BATCH_PAIRS = 50
TRANSLATION = "translation"
MAX_EXTRA_LENGTH = 20
"""A translation may have this many tokens more than twice its source."""

Decode = Callable[[Sequence[int]], str]


class Direction(NamedTuple):
    """What a score is about: a direction between languages, or a kind of pairs within one."""

    kind: Kind
    source_lang: str
    target_lang: str
    domain: str = ""
    """The name of the development set, if it has one."""

    @property
    def between_languages(self) -> bool:
        return self.kind == TRANSLATION

    def __str__(self) -> str:
        """Return ``de-en`` for a translation, ``copy en`` within a language, ``news de-en``."""
        if self.between_languages:
            name = f"{self.source_lang}-{self.target_lang}"
        else:
            name = f"{self.kind} {self.target_lang}"
        return in_domain(self.domain, name)


class Contrast(NamedTuple):
    """Correct targets, and the same ones with an error."""

    name: str
    right: Batch
    wrong: Batch


Batches = Iterable[tuple[Direction, Batch]]


def in_domain(domain: str, name: str) -> str:
    return f"{domain} {name}" if domain else name


def development_batches(
    corpus: Corpus, tags: Mapping[str, int], domain: str = ""
) -> list[tuple[Direction, Batch]]:
    """Return batches of some pairs of each direction."""
    lengths = corpus.lengths
    batches = []
    for stream in corpus.streams:
        pairs = corpus.pairs[stream.start : stream.end]
        step = max(1, len(pairs) // PAIRS_PER_DIRECTION)  # spread over the file, which is sorted
        pairs = pairs[::step][:PAIRS_PER_DIRECTION]
        pairs = pairs[lengths[pairs[:, 1]].argsort(kind="stable")]
        direction = Direction(stream.kind, stream.source_lang, stream.target_lang, domain)
        for start in range(0, len(pairs), BATCH_PAIRS):
            examples = [
                Example((int(source),), (int(target),), stream.target_lang)
                for source, target in pairs[start : start + BATCH_PAIRS]
            ]
            batches.append((direction, make_batch(corpus, tags, examples)))
    return batches


def contrast_batches(
    pairs: Iterable[Pair],
    lexicon: Lexicon | None,
    tokenizer: Tokenizer,
    *,
    max_tokens: int,
    domain: str = "",
    seed: int = 0,
) -> list[Contrast]:
    """Make errors in the targets of some pairs of each direction, an equal number of each kind."""
    generator = np.random.default_rng([seed, 5])
    counts: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    chosen: defaultdict[tuple[str, str], list[tuple[Pair, Pair]]] = defaultdict(list)
    others: dict[str, str] = {}
    for lang_a, lang_b, a, b in pairs:
        for pair in (Pair(lang_a, lang_b, a, b), Pair(lang_b, lang_a, b, a)):
            error = wrong_target(pair, lexicon, generator, other=others.get(pair.lang_b))
            others[pair.lang_b] = pair.b
            if error is None:
                continue
            kind, text = error
            direction = (kind, pair.lang_a, pair.lang_b)
            if counts[direction] < CONTRASTS_PER_DIRECTION:
                counts[direction] += 1
                chosen[kind, pair.lang_b].append((pair, pair._replace(b=text)))
    contrasts = []
    for (kind, target_lang), some in sorted(chosen.items()):
        tokens = [tokenizer.encode([right.a, right.b, wrong.b]) for right, wrong in some]
        rows = [
            [np.array(ids, np.int32) for ids in encoded]
            for encoded in tokens
            if max(map(len, encoded)) <= max_tokens
        ]
        rows.sort(key=lambda row: len(row[1]))
        for start in range(0, len(rows), BATCH_PAIRS):
            part = rows[start : start + BATCH_PAIRS]
            tags = [tokenizer.tags[target_lang]] * len(part)
            right_batch, wrong_batch = (
                frame([row[0] for row in part], [row[side] for row in part], tags)
                for side in (1, 2)
            )
            contrasts.append(Contrast(in_domain(domain, kind), right_batch, wrong_batch))
    return contrasts


def development_loss(network: Any, batches: Batches) -> dict[str, float]:
    """Return nats per token for each direction; ``translation`` is the mean across languages."""
    totals: defaultdict[Direction, float] = defaultdict(float)
    counts: defaultdict[Direction, int] = defaultdict(int)
    network.eval()
    for direction, batch in batches:
        totals[direction] += float(negative_log_likelihoods(network, batch).double().sum())
        counts[direction] += batch.count
    network.train()
    return _with_means({direction: totals[direction] / counts[direction] for direction in totals})


def contrast_accuracy(network: Any, contrasts: Iterable[Contrast]) -> dict[str, float]:
    """Return how often H, the mean log-probability of a target's tokens, falls if it is wrong."""
    network.eval()
    falls: defaultdict[str, list[bool]] = defaultdict(list)
    for name, right, wrong in contrasts:
        before, after = (mean_log_probs(network, batch) for batch in (right, wrong))
        falls[name] += (after < before).tolist()
    network.train()
    return {name: sum(all_falls) / len(all_falls) for name, all_falls in sorted(falls.items())}


def mean_log_probs(network: Any, batch: Batch) -> NDArray[np.float64]:
    """Return H of each row of a batch."""
    counts = (batch.labels != PAD).sum(axis=1)
    losses = negative_log_likelihoods(network, batch).double().cpu().numpy()
    means: NDArray[np.float64] = -np.add.reduceat(losses, np.cumsum(counts) - counts) / counts
    return means


def retrieval_accuracy(network: Any, batches: Batches) -> dict[str, float]:
    """Return the share of pairs whose sentence vectors are mutual nearest neighbours.

    Vectors are means of encoder states; the candidates are the pairs of the same direction.
    """
    import torch

    vectors: defaultdict[Direction, list[list[Tensor]]] = defaultdict(lambda: [[], []])
    network.eval()
    with torch.no_grad():
        for direction, batch in batches:
            if direction.between_languages and direction.source_lang < direction.target_lang:
                for side, ids in enumerate((batch.sources, batch.labels)):
                    vectors[direction][side].append(sentence_vectors(network, ids))
    network.train()
    scores = {}
    for direction, sides in vectors.items():
        a, b = (torch.nn.functional.normalize(torch.cat(side)) for side in sides)
        similarities = a @ b.T
        there, back = similarities.argmax(dim=1), similarities.argmax(dim=0)
        places = torch.arange(len(a), device=there.device)
        mutual = (there == places) & (back == places)
        scores[direction] = float(mutual.double().mean())
    return _with_means(scores)


class Sentence(NamedTuple):
    """A source with its end token, the tag of the target language, and the target."""

    source: NDArray[np.int64]
    tag: int
    target: NDArray[np.int64]


def development_chrf(
    network: Any, batches: Batches, decode: Decode, *, sentences: int
) -> dict[str, float]:
    """Return chrF of greedy translations for each direction; ``translation`` is the mean."""
    from sacrebleu.metrics.chrf import CHRF

    network.eval()
    scores = {}
    for direction, chosen in choose_sentences(batches, sentences).items():
        translations = translate_greedily(network, chosen, decode)
        references = [decode(sentence.target.tolist()) for sentence in chosen]
        scores[direction] = float(CHRF().corpus_score(translations, [references]).score)
    network.train()
    return _with_means(scores)


def choose_sentences(batches: Batches, count: int) -> dict[Direction, list[Sentence]]:
    """Choose ``count`` sentences of each direction between languages, of all lengths."""
    rows: defaultdict[Direction, list[Sentence]] = defaultdict(list)
    for direction, batch in batches:
        if direction.between_languages:
            for source, target, labels in zip(
                batch.sources, batch.targets, batch.labels, strict=True
            ):
                tokens = labels[(labels != PAD) & (labels != END)]
                rows[direction].append(Sentence(source[source != PAD], int(target[1]), tokens))
    return {
        direction: some[:: max(1, len(some) // count)][:count] for direction, some in rows.items()
    }


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


def _with_means(scores: Mapping[Direction, float]) -> dict[str, float]:
    """Put means over the directions between languages first: of all, and of each domain."""
    means: dict[str, float] = {}
    between = {
        direction: score for direction, score in scores.items() if direction.between_languages
    }
    for domain in {"": None, **{direction.domain: None for direction in between}}:
        some = [score for direction, score in between.items() if domain in ("", direction.domain)]
        if some:
            means[in_domain(domain, TRANSLATION)] = sum(some) / len(some)
    return means | {str(direction): score for direction, score in scores.items()}
