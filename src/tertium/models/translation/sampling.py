"""Sampling of translations with CTranslate2, reproducible source by source.

CTranslate2 seeds the random generator of a worker when the worker first samples, and never again.
What a batch draws depends on everything that its worker has drawn before, and on the other rows of
the batch. Here every source is sampled by a worker of its own, in a batch of its own, with a seed
of its own. Its candidates depend on the model, the source, the settings and the seed, and on
nothing else: neither on the other sources, nor on threads, nor on what was sampled before. Opening
a worker takes about a tenth of the time that 16 samples take.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tertium.models.base import Search
from tertium.models.tokenizer import END

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_WORKERS = 4
"""Workers that sample at the same time; each holds the weights of the model."""
_SEEDING = threading.Lock()
"""The seed that new workers read is one for the whole process."""


@dataclass(frozen=True)
class Source:
    """A source to translate: its tokens, the tokens that every target begins with, and limits."""

    tokens: Sequence[str]
    prefix: Sequence[str]
    longest: int
    blocked: Sequence[Sequence[str]] = ()
    """Sequences of tokens that the targets of a beam search must not contain."""


@dataclass
class Sample:
    """A translation that is being drawn."""

    tokens: list[str] = field(default_factory=list)
    """Without prefix; the last one is the end-of-sentence token, unless the limit was reached."""
    log_probs: list[float] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        return bool(self.tokens) and self.tokens[-1] == END


def sample_all(
    sources: Sequence[Source],
    search: Search,
    open_worker: Callable[[], Any],
    vocabulary: Callable[[], Sequence[str]],
    threads: int,
) -> Iterator[list[Sample]]:
    """Sample translations of each source, in order."""

    def sample(source: Source) -> list[Sample]:
        return SourceSampler(source, search, open_worker(), vocabulary).sample()

    with ThreadPoolExecutor(min(threads, MOST_WORKERS)) as pool:
        yield from pool.map(sample, sources)


@dataclass
class SourceSampler:
    """Samples translations of one source with a worker that has drawn nothing yet."""

    source: Source
    search: Search
    worker: Any
    vocabulary: Callable[[], Sequence[str]]

    def sample(self) -> list[Sample]:
        """Draw the translations, the highest mean token log-probability first."""
        seed = source_seed(self.source, self.search.seed)
        self._seed(seed)
        samples = self._drawn([Sample() for _ in range(self.search.count)])
        if self.search.epsilon:
            self._replace_improbable(samples, seed)
        return sorted(samples, key=lambda each: -sum(each.log_probs) / max(1, len(each.log_probs)))

    def _seed(self, seed: int) -> None:
        """Draw one token, so that the worker reads its seed."""
        import ctranslate2

        with _SEEDING:
            ctranslate2.set_random_seed(seed)
            self.worker.translate_batch(
                [list(self.source.tokens)],
                [list(self.source.prefix)],
                beam_size=1,
                sampling_topk=0,
                max_input_length=0,
                max_decoding_length=len(self.source.prefix) + 1,
            )

    def _drawn(self, samples: Sequence[Sample]) -> list[Sample]:
        """Draw the rest of each sample, and score all of its tokens."""
        prefix = list(self.source.prefix)
        begun = any(sample.tokens for sample in samples)
        count = len(samples)
        results = self.worker.translate_batch(
            [list(self.source.tokens)] * (count if begun else 1),
            [[*prefix, *sample.tokens] for sample in samples[: count if begun else 1]],
            beam_size=1,
            num_hypotheses=1 if begun else count,
            sampling_topk=self.search.top_k,
            sampling_topp=self.search.top_p,
            sampling_temperature=self.search.temperature,
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=self.source.longest,
            return_end_token=True,
        )
        drawn = [tokens[len(prefix) :] for result in results for tokens in result.hypotheses]
        bodies = [tokens[:-1] if tokens[-1:] == [END] else tokens for tokens in drawn]
        scored = self.worker.score_batch(
            [list(self.source.tokens)] * count,
            [[*prefix, *body] for body in bodies],
            max_input_length=0,
        )
        for sample, tokens, result in zip(samples, drawn, scored, strict=True):
            sample.tokens = list(tokens)
            sample.log_probs = list(result.log_probs[len(prefix) : len(prefix) + len(tokens)])
        return list(samples)

    def _replace_improbable(self, samples: Sequence[Sample], seed: int) -> None:
        """Replace a token less probable than epsilon, and draw what follows it again.

        A token that turns out to be improbable is drawn again from the probable ones. That is the
        same as drawing from these alone.
        """
        import numpy as np

        lowest = float(np.log(self.search.epsilon))
        generator = np.random.default_rng(seed)
        room = self.source.longest - len(self.source.prefix)
        checked = {id(sample): 0 for sample in samples}
        pending = list(samples)
        while pending:
            improbable = []
            for sample in pending:
                places = range(checked[id(sample)], len(sample.tokens))
                place = next((p for p in places if sample.log_probs[p] < lowest), None)
                if place is not None:
                    del sample.tokens[place:], sample.log_probs[place:]
                    improbable.append(sample)
            for sample, log_probs in zip(improbable, self._next_log_probs(improbable), strict=True):
                token = self._probable(log_probs, lowest, generator)
                sample.tokens.append(self.vocabulary()[token])
                sample.log_probs.append(float(log_probs[token]))
                checked[id(sample)] = len(sample.tokens)
            pending = [
                sample for sample in improbable if not sample.ended and len(sample.tokens) < room
            ]
            if pending:
                self._drawn(pending)

    def _probable(
        self, log_probs: NDArray[np.float64], lowest: float, generator: np.random.Generator
    ) -> int:
        """Draw a token from those that are probable enough; the best one if there is none."""
        import numpy as np

        allowed = np.flatnonzero(log_probs >= lowest)
        if not allowed.size:
            return int(log_probs.argmax())
        scaled = log_probs[allowed] / self.search.temperature
        weights = np.exp(scaled - scaled.max())
        return int(generator.choice(allowed, p=weights / weights.sum()))

    def _next_log_probs(self, samples: Sequence[Sample]) -> list[NDArray[np.float64]]:
        """The log-probability of every token of the vocabulary after each sample."""
        import numpy as np

        if not samples:
            return []
        forced = [[*self.source.prefix, *sample.tokens] for sample in samples]
        results = self.worker.translate_batch(
            [list(self.source.tokens)] * len(samples),
            forced,
            beam_size=1,
            return_logits_vocab=True,
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=max(map(len, forced)) + 1,
        )
        found = []
        for tokens, result in zip(forced, results, strict=True):
            logits = np.array(result.logits[0][len(tokens)], np.float64).ravel()
            found.append(logits - np.logaddexp.reduce(logits))
        return found


def source_seed(source: Source, seed: int) -> int:
    """The seed of one source: 31 bits of a hash of the seed and the source.

    >>> source_seed(Source(["a"], [], 9), 1) == source_seed(Source(["b"], [], 9), 1)
    False
    """
    content = json.dumps([seed, list(source.tokens), list(source.prefix)])
    digest = hashlib.blake2b(content.encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little") >> 1
