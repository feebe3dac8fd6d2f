"""Models that delegate to other models, and the cache of their results."""

from __future__ import annotations

import hashlib
import json
import math
from abc import abstractmethod
from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Generic, Protocol, TypeVar

from cachetools import LRUCache

from tertium.errors import ModelError
from tertium.models.base import (
    BEAM_SEARCH,
    Alternative,
    Candidate,
    LanguageModel,
    Model,
    Progress,
    Query,
    Search,
    SentenceEncoder,
    TokenDistributions,
    TokenScores,
    TranslationModel,
)
from tertium.models.languages import LanguageSet

ModelT = TypeVar("ModelT", bound=Model)


class Proxy(Generic[ModelT]):
    """Has the name, fingerprint and settings of the wrapped model; subclasses add the methods."""

    def __init__(self, model: ModelT) -> None:
        self.model = model

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def fingerprint(self) -> str:
        return self.model.fingerprint

    @property
    def settings(self) -> Mapping[str, str]:
        return self.model.settings


@dataclass(frozen=True)
class Operation:
    """A method of :class:`TranslationModel` that takes queries, with its settings.

    >>> from tertium import load_model
    >>> log_probs = Operation("log_probs")
    >>> [scores] = log_probs(load_model(cache=False), [Query("Hallo!", "Hello!", "de")])
    >>> scores.tokens
    ('▁Hallo', '!', '</s>')
    """

    method: str
    settings: tuple[tuple[str, Hashable], ...] = ()

    def __call__(
        self, model: TranslationModel, queries: Sequence[Query], progress: Progress | None = None
    ) -> list[Any]:
        """One result for each query."""
        results: list[Any] = getattr(model, self.method)(
            queries, **dict(self.settings), progress=progress
        )
        return results


class DelegatingModel(TranslationModel):
    """Answers every kind of query in one way, which a subclass defines."""

    @abstractmethod
    def ask(
        self, operation: Operation, queries: Sequence[Query], progress: Progress | None
    ) -> list[Any]:
        """One result for each query."""

    def log_probs(
        self, queries: Sequence[Query], *, progress: Progress | None = None
    ) -> list[TokenScores]:
        return self.ask(Operation("log_probs"), queries, progress)

    def candidates(
        self,
        queries: Sequence[Query],
        *,
        search: Search = BEAM_SEARCH,
        progress: Progress | None = None,
    ) -> list[list[Candidate]]:
        return self.ask(Operation("candidates", (("search", search),)), queries, progress)

    def top_log_probs(
        self, queries: Sequence[Query], *, above: float, progress: Progress | None = None
    ) -> list[TokenDistributions]:
        return self.ask(Operation("top_log_probs", (("above", above),)), queries, progress)

    def alternatives(
        self,
        queries: Sequence[Query],
        *,
        places: Sequence[int],
        count: int = 3,
        progress: Progress | None = None,
    ) -> list[list[list[Alternative]]]:
        settings = (("places", tuple(places)), ("count", count))
        return self.ask(Operation("alternatives", settings), queries, progress)


class ModelProxy(Proxy[TranslationModel], DelegatingModel):
    """Stands for another translation model, and answers queries in a way of its own."""

    @property
    def languages(self) -> LanguageSet:
        return self.model.languages

    @property
    def needs_source_language(self) -> bool:
        return self.model.needs_source_language

    def translates(self, source_lang: str | None, target_lang: str | None) -> bool:
        return self.model.translates(source_lang, target_lang)

    def prepare(self, texts: Sequence[str]) -> None:
        self.model.prepare(texts)

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        return self.model.too_long(texts)

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        return self.model.token_counts(texts)

    def own_encoder(self) -> SentenceEncoder:
        return self.model.own_encoder()

    def engine(self, source_lang: str, target_lang: str) -> TranslationModel:
        return self.model.engine(source_lang, target_lang)


Result = TypeVar("Result")

MEMORY_BYTES = 64 << 20
ENTRY_BYTES = 400
"""The memory of a cached result in addition to its value (measured: 300 to 350 bytes)."""
EDITION = 3
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


class ResultCache:
    """Results by query, in memory and in a store.

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
        operation: tuple[Any, ...],
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


class CachedModel(ResultCache, ModelProxy):
    """A translation model with a cache: same results, each query computed once."""

    def __init__(self, model: TranslationModel, store: ResultStore | None = None) -> None:
        ModelProxy.__init__(self, model)
        ResultCache.__init__(self, store)

    def ask(
        self, operation: Operation, queries: Sequence[Query], progress: Progress | None
    ) -> list[Any]:
        queries = self._canonical(queries)
        if operation.method not in FORMATS:  # its results are not cached
            return operation(self.model, queries, progress)

        def compute(indices: Sequence[int]) -> list[Any]:
            return operation(self.model, [queries[index] for index in indices], progress)

        settings = [(name, getattr(value, "settings", value)) for name, value in operation.settings]
        return self._results(
            (operation.method, settings), queries, compute, *FORMATS[operation.method]
        )

    def _canonical(self, queries: Sequence[Query]) -> list[Query]:
        """Resolve aliases, and drop source languages that the model ignores.

        So all ways to write a query are the same query.
        """
        languages = self.languages
        used = self.needs_source_language or not languages.symmetric
        codes = {code for query in queries for code in query[2:] if code is not None}
        resolved: dict[str | None, str | None] = {code: languages.resolve(code) for code in codes}
        resolved[None] = None
        return [
            Query(target, source, resolved[to], resolved[from_] if used else None)
            for target, source, to, from_ in queries
        ]


class CachedLanguageModel(ResultCache, Proxy[LanguageModel]):
    """A causal language model with a cache: same results, each query computed once."""

    def __init__(self, model: LanguageModel, store: ResultStore | None = None) -> None:
        Proxy.__init__(self, model)
        ResultCache.__init__(self, store)

    def text_log_probs(
        self,
        texts: Sequence[str],
        *,
        prompts: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        queries = list(zip(prompts or [""] * len(texts), texts, strict=True))

        def compute(indices: Sequence[int]) -> list[TokenScores]:
            before, after = zip(*(queries[index] for index in indices), strict=True)
            return self.model.text_log_probs(after, prompts=before, progress=progress)

        return self._results(("text_log_probs",), queries, compute, pack_scores, unpack_scores)


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


def pack_candidates(candidates: list[Candidate]) -> bytes:
    """Write candidates as JSON."""
    return json.dumps([astuple(candidate) for candidate in candidates]).encode("ascii")


def unpack_candidates(value: bytes) -> list[Candidate] | None:
    """Undo :func:`pack_candidates`; None if the value is malformed or holds no finite number."""
    try:
        candidates = [Candidate(*fields) for fields in json.loads(value)]
    except (TypeError, ValueError):
        return None
    whole = candidates and all(math.isfinite(each.log_prob) for each in candidates)
    return candidates if whole else None


FORMATS: Mapping[str, tuple[Callable[[Any], bytes], Callable[[bytes], Any]]] = {
    "log_probs": (pack_scores, unpack_scores),
    "top_log_probs": (pack_distributions, unpack_distributions),
    "candidates": (pack_candidates, unpack_candidates),
}
"""How the results of each operation are written and read."""
