"""The cache of model results, and translation models with a cache."""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Protocol, TypeVar

from cachetools import LRUCache

from tertium.errors import ModelError, SettingError
from tertium.models.base import (
    Alternative,
    DistributionModel,
    Languages,
    Progress,
    SuggestingModel,
    TokenDistributions,
    TokenScores,
    Translation,
    TranslationModel,
    per_row,
)
from tertium.models.candidates import BEAM_SEARCH, Candidate, Search, candidate_model
from tertium.models.proxy import ModelProxy

Result = TypeVar("Result")

MEMORY_BYTES = 64 << 20
ENTRY_BYTES = 400
"""The memory of a cached result in addition to its value (measured: 300 to 350 bytes)."""
EDITION = 2
"""Part of every key; increase it whenever the meaning or layout of a result changes."""


class ResultStore(Protocol):
    """A store of results across runs."""

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]: ...

    def put(self, results: Mapping[bytes, bytes]) -> None: ...


@dataclass
class Tally:
    """The number of queries, of distinct queries, and of those whose result was in the store."""

    queries: int = 0
    distinct: int = 0
    from_cache: int = 0

    def __str__(self) -> str:
        """Format the tally for the summary of a run.

        >>> print(Tally(4812, 1930, 0))
        4 812 queries, 1 930 distinct, 0 from cache
        """
        queries, distinct, from_cache = (
            f"{number:,}".replace(",", " ")
            for number in (self.queries, self.distinct, self.from_cache)
        )
        return f"{queries} queries, {distinct} distinct, {from_cache} from cache"


class Caching:
    """The cache itself: results by query, in memory and in a store.

    The results of one call are stored together or not at all. At each call, a resumed run
    therefore has the same cached results as an uninterrupted run, sends the same queries to the
    engine in the same batches, and gets the same numbers.
    """

    name: str
    fingerprint: str
    settings: Mapping[str, str]

    def __init__(self, store: ResultStore | None) -> None:
        self.store = store
        self.tally = Tally()
        self._memory: LRUCache[bytes, bytes] = LRUCache(
            MEMORY_BYTES, getsizeof=lambda value: ENTRY_BYTES + len(value)
        )

    def _results(
        self,
        operation: tuple[str | int | float, ...],
        queries: Sequence[tuple[str | None, ...]],
        compute: Callable[[Sequence[int]], list[Result]],
        pack: Callable[[Result], bytes],
        unpack: Callable[[bytes], Result | None],
    ) -> list[Result]:
        head = [EDITION, self.fingerprint, sorted(self.settings.items()), operation]
        keys = [query_key([*head, query]) for query in queries]
        first = {key: index for index, key in reversed(list(enumerate(keys)))}
        results: dict[bytes, Result] = {}
        for key in first:
            if (value := self._memory.get(key)) is not None:
                result = unpack(value)
                if result is not None:
                    results[key] = result
        missing = sorted((key for key in first if key not in results), key=first.__getitem__)
        if self.store is not None and missing:
            for key, value in self.store.get(missing).items():
                result = unpack(value)  # None if it is damaged: then compute it again
                if result is not None:
                    results[key] = result
                    self._remember(key, value)
        pending = [key for key in missing if key not in results]
        self.tally.queries += len(keys)
        self.tally.distinct += len(missing)
        self.tally.from_cache += len(missing) - len(pending)
        if pending:
            packed: dict[bytes, bytes] = {}
            computed = compute([first[key] for key in pending])
            for key, result in zip(pending, computed, strict=True):
                results[key] = result
                packed[key] = pack(result)
                if unpack(packed[key]) is None:
                    query = queries[first[key]]
                    raise ModelError(f"{self.name} returns no number for {query!r}")
            if self.store is not None:
                self.store.put(packed)
            for key, value in packed.items():
                self._remember(key, value)
        return [results[key] for key in keys]

    def _remember(self, key: bytes, value: bytes) -> None:
        if ENTRY_BYTES + len(value) <= self._memory.maxsize:
            self._memory[key] = value


class Memo(Caching, ModelProxy):
    """A translation model with a cache: same protocol, same results, each query computed once."""

    def __init__(self, model: TranslationModel, store: ResultStore | None = None) -> None:
        ModelProxy.__init__(self, model)
        Caching.__init__(self, store)

    def log_probs(
        self,
        targets: Sequence[str],
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        count = len(targets)
        target_langs = self._resolved(target_lang, count)
        source_langs = self._source_languages(source_lang, count)
        queries = list(zip(sources, source_langs, targets, target_langs, strict=True))

        def compute(indices: Sequence[int]) -> list[TokenScores]:
            return self.model.log_probs(
                [targets[index] for index in indices],
                [sources[index] for index in indices],
                target_lang=[target_langs[index] for index in indices],
                source_lang=[source_langs[index] for index in indices],
                progress=progress,
            )

        return self._results(("log_probs",), queries, compute, pack_scores, unpack_scores)

    def translate(
        self,
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        beam_size: int = 5,
        progress: Progress | None = None,
    ) -> list[Translation]:
        count = len(sources)
        target_langs = self._resolved(target_lang, count)
        source_langs = self._source_languages(source_lang, count)
        queries = list(zip(sources, source_langs, target_langs, strict=True))

        def compute(indices: Sequence[int]) -> list[Translation]:
            return self.model.translate(
                [sources[index] for index in indices],
                target_lang=[target_langs[index] for index in indices],
                source_lang=[source_langs[index] for index in indices],
                beam_size=beam_size,
                progress=progress,
            )

        operation = ("translate", beam_size)
        return self._results(operation, queries, compute, pack_translation, unpack_translation)

    def top_log_probs(
        self,
        targets: Sequence[str],
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        above: float,
        progress: Progress | None = None,
    ) -> list[TokenDistributions]:
        model = self.model
        if not isinstance(model, DistributionModel):
            raise SettingError(f"{self.name} does not give the probabilities of other tokens")
        count = len(targets)
        target_langs = self._resolved(target_lang, count)
        source_langs = self._source_languages(source_lang, count)
        queries = list(zip(sources, source_langs, targets, target_langs, strict=True))

        def compute(indices: Sequence[int]) -> list[TokenDistributions]:
            return model.top_log_probs(
                [targets[index] for index in indices],
                [sources[index] for index in indices],
                target_lang=[target_langs[index] for index in indices],
                source_lang=[source_langs[index] for index in indices],
                above=above,
                progress=progress,
            )

        operation = ("top_log_probs", above)
        return self._results(operation, queries, compute, pack_distributions, unpack_distributions)

    def candidates(
        self,
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        search: Search = BEAM_SEARCH,
        progress: Progress | None = None,
    ) -> list[list[Candidate]]:
        """The candidates of each source; an error if the model is no :class:`CandidateModel`."""
        model = candidate_model(self.model)
        count = len(sources)
        target_langs = self._resolved(target_lang, count)
        source_langs = self._source_languages(source_lang, count)
        queries = list(zip(sources, source_langs, target_langs, strict=True))

        def compute(indices: Sequence[int]) -> list[list[Candidate]]:
            return model.candidates(
                [sources[index] for index in indices],
                target_lang=[target_langs[index] for index in indices],
                source_lang=[source_langs[index] for index in indices],
                search=search,
                progress=progress,
            )

        operation = ("candidates", *(f"{name}={value}" for name, value in search.settings.items()))
        return self._results(operation, queries, compute, pack_candidates, unpack_candidates)

    def alternatives(
        self,
        target: str,
        source: str,
        places: Sequence[int],
        *,
        target_lang: str,
        source_lang: str | None = None,
        count: int = 3,
    ) -> list[list[Alternative]]:
        """Delegate to the model, without a cache; empty if it is not a :class:`SuggestingModel`."""
        if not isinstance(self.model, SuggestingModel):
            return [[] for _ in places]
        return self.model.alternatives(
            target, source, places, target_lang=target_lang, source_lang=source_lang, count=count
        )

    def _resolved(self, languages: Languages, count: int) -> list[str | None]:
        """Resolve aliases, so that all codes of a language give the same query."""
        resolve = self.languages.resolve
        return [lang and resolve(lang) for lang in per_row(languages, count)]

    def _source_languages(self, languages: Languages, count: int) -> list[str | None]:
        """The source languages, or None if the model ignores them, so that queries are the same."""
        used = self.needs_source_language or not self.languages.symmetric
        return self._resolved(languages if used else None, count)


def query_key(query: object) -> bytes:
    """Hash a structured query; different queries have different JSON, whatever their texts.

    >>> query_key(["a_b", "c"]) == query_key(["a", "b_c"])
    False
    """
    text = json.dumps(query, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("ascii"), digest_size=20).digest()


def pack_scores(scores: TokenScores) -> bytes:
    """Write scores as a line of JSON, followed by the log-probabilities in binary.

    Engines compute in float32, which takes half the space; float64 is used where necessary.
    """
    numbers = array("f", scores.log_probs)
    if tuple(numbers) != scores.log_probs:
        numbers = array("d", scores.log_probs)
    head = [numbers.typecode, scores.target_cut, scores.source_cut, scores.tokens]
    return json.dumps(head, separators=(",", ":")).encode("ascii") + b"\n" + numbers.tobytes()


def unpack_scores(value: bytes) -> TokenScores | None:
    """Undo :func:`pack_scores`; None if the value is malformed or holds a non-finite number."""
    head, _, numbers = value.partition(b"\n")
    try:
        typecode, target_cut, source_cut, tokens = json.loads(head)
        log_probs = array(typecode, numbers)
    except (TypeError, ValueError):
        return None
    if len(log_probs) != len(tokens) or not all(map(math.isfinite, log_probs)):
        return None
    return TokenScores(tuple(tokens), tuple(log_probs), target_cut, source_cut)


def pack_distributions(distributions: TokenDistributions) -> bytes:
    """Write the scores as :func:`pack_scores` does, then the rest as JSON, after its length."""
    scores = pack_scores(distributions.scores)
    top = json.dumps(distributions.top, separators=(",", ":")).encode("ascii")
    return b"%d\n" % len(scores) + scores + top


def unpack_distributions(value: bytes) -> TokenDistributions | None:
    """Undo :func:`pack_distributions`; None if the value is malformed or holds no number."""
    length, _, rest = value.partition(b"\n")
    try:
        end = int(length)
        top = tuple(tuple(map(float, numbers)) for numbers in json.loads(rest[end:]))
    except (TypeError, ValueError):
        return None
    scores = unpack_scores(rest[:end])
    if scores is None or len(top) != len(scores.tokens):
        return None
    if not all(math.isfinite(number) for numbers in top for number in numbers):
        return None
    return TokenDistributions(scores, top)


def pack_translation(translation: Translation) -> bytes:
    """Write a translation as JSON."""
    return json.dumps([translation.cut, translation.text]).encode("ascii")


def unpack_translation(value: bytes) -> Translation | None:
    """Undo :func:`pack_translation`; None if the value is malformed."""
    try:
        cut, text = json.loads(value)
    except (TypeError, ValueError):
        return None
    return Translation(text, cut)


def pack_candidates(candidates: list[Candidate]) -> bytes:
    """Write candidates as JSON."""
    return json.dumps([astuple(candidate) for candidate in candidates]).encode("ascii")


def unpack_candidates(value: bytes) -> list[Candidate] | None:
    """Undo :func:`pack_candidates`; None if the value is malformed or holds no finite number."""
    try:
        candidates = [Candidate(*fields) for fields in json.loads(value)]
    except (TypeError, ValueError):
        return None
    return candidates if all(math.isfinite(each.log_prob) for each in candidates) else None
