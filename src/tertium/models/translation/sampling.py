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
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Sample:
    """A translation that was drawn."""

    tokens: list[str]
    """Without prefix; the last one is the end-of-sentence token, unless the limit was reached."""
    log_probs: list[float]


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
        if self.search.epsilon:
            drawn = self._draw_probable(seed)
        else:
            [result] = self._draw([[]], self.search.count)
            drawn = [self._own(tokens) for tokens in result.hypotheses]
        samples = self._scored(drawn)
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

    def _draw(self, begun: Sequence[Sequence[str]], count: int = 1, **settings: Any) -> list[Any]:
        """Draw the rest of each target that is begun; of each, so many."""
        search = self.search
        results: list[Any] = self.worker.translate_batch(
            [list(self.source.tokens)] * len(begun),
            [[*self.source.prefix, *tokens] for tokens in begun],
            beam_size=1,
            num_hypotheses=count,
            sampling_topk=self._most_probable() if search.epsilon else search.top_k,
            sampling_topp=search.top_p,
            sampling_temperature=search.temperature,
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=self.source.longest,
            return_end_token=True,
            **settings,
        )
        return results

    def _most_probable(self) -> int:
        """How many of the most probable tokens may be probable enough; 0 for all of them."""
        most = int(1 / self.search.epsilon)
        return most if most < len(self.vocabulary()) else 0

    def _own(self, tokens: Sequence[str]) -> list[str]:
        """The tokens of a target without its prefix."""
        return list(tokens[len(self.source.prefix) :])

    def _scored(self, drawn: Sequence[list[str]]) -> list[Sample]:
        """Targets with the log-probabilities of their tokens."""
        prefix = list(self.source.prefix)
        bodies = [tokens[:-1] if tokens[-1:] == [END] else tokens for tokens in drawn]
        results = self.worker.score_batch(
            [list(self.source.tokens)] * len(drawn),
            [[*prefix, *body] for body in bodies],
            max_input_length=0,
        )
        return [
            Sample(tokens, list(result.log_probs[len(prefix) : len(prefix) + len(tokens)]))
            for tokens, result in zip(drawn, results, strict=True)
        ]

    def _draw_probable(self, seed: int) -> list[list[str]]:
        """Draw targets in which no token is less probable than epsilon.

        Drawing stops at an improbable token, which is drawn again from the probable ones: that is
        the same as drawing from these alone.
        """
        import numpy as np

        lowest = float(np.log(self.search.epsilon))
        generator = np.random.default_rng(seed)
        first, room = len(self.source.prefix), self.source.longest - len(self.source.prefix)
        drawn: list[list[str]] = [[] for _ in range(self.search.count)]
        pending = list(range(len(drawn)))
        while pending:
            begun = [drawn[place] for place in pending]
            starts = [first + len(tokens) for tokens in begun]
            stopped: dict[int, int] = {}

            def stop(
                step: Any, starts: Sequence[int] = starts, stopped: dict[int, int] = stopped
            ) -> bool:
                if step.step < starts[step.batch_id] or step.log_prob >= lowest:
                    return False
                stopped[step.batch_id] = step.step
                return True

            results = self._draw(begun, return_scores=True, return_logits_vocab=True, callback=stop)
            for row, (place, result) in enumerate(zip(pending, results, strict=True)):
                drawn[place] = self._own(result.hypotheses[0])
                if row in stopped:
                    logits = np.array(result.logits[0][stopped[row]], np.float64).ravel()
                    log_probs = logits - np.logaddexp.reduce(logits)
                    token = self.vocabulary()[self._probable(log_probs, lowest, generator)]
                    drawn[place] = [*drawn[place][: stopped[row] - first], token]
            pending = [
                place
                for row, place in enumerate(pending)
                if row in stopped and drawn[place][-1] != END and len(drawn[place]) < room
            ]
        return drawn

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


def source_seed(source: Source, seed: int) -> int:
    """The seed of one source: 31 bits of a hash of the seed and the source.

    >>> source_seed(Source(["a"], [], 9), 1) == source_seed(Source(["b"], [], 9), 1)
    False
    """
    content = json.dumps([seed, list(source.tokens), list(source.prefix)])
    digest = hashlib.blake2b(content.encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little") >> 1
