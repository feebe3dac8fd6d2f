"""The models that measures query, and their queries, independent of the engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, Self, runtime_checkable

from tertium.errors import InputError, ModelError, SettingError
from tertium.models.languages import LanguageSet
from tertium.text import Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


BEAM_SIZE = 5
SAMPLING = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "epsilon": 0.0}
"""What narrows the distribution that tokens are drawn from; by default, nothing."""


@dataclass(frozen=True, slots=True)
class Search:
    """How candidates are found: by beam search, or by sampling.

    >>> Search(count=3).settings
    {'count': 3, 'beam_size': 5}
    >>> Search(count=3, sampling=True, epsilon=0.02).settings
    {'count': 3, 'sampling': True, 'epsilon': 0.02, 'seed': 0}
    """

    count: int = 1
    """Candidates per source. Sampling may return the same text several times."""
    beam_size: int = BEAM_SIZE
    sampling: bool = False
    """Draw each token from the model's distribution instead of searching for the best."""
    temperature: float = 1.0
    """Divides the logits: below 1, probable tokens are drawn more often."""
    top_k: int = 0
    """Draw only from so many of the most probable tokens; 0: from all."""
    top_p: float = 1.0
    """Draw only from the most probable tokens that together have this probability."""
    epsilon: float = 0.0
    """Draw no token whose probability is lower (Hewitt et al. 2022); if all are, the best one."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("count", 1), ("beam_size", 1), ("top_k", 0), ("seed", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise SettingError(f"{name}={value!r}: it must be a whole number from {least}")
        if not 0 < self.temperature < float("inf"):
            raise SettingError(f"temperature={self.temperature!r}: it must be greater than 0")
        if not 0 < self.top_p <= 1:
            raise SettingError(f"top_p={self.top_p!r}: it must be greater than 0 and at most 1")
        if not 0 <= self.epsilon < 1:
            raise SettingError(f"epsilon={self.epsilon!r}: it must be from 0 to less than 1")
        if not self.sampling:
            for name, default in SAMPLING.items():
                if getattr(self, name) != default:
                    raise SettingError(f"{name} is a setting of sampling; use sampling too")
            if self.count > self.beam_size:
                raise SettingError(
                    f"beam_size={self.beam_size}: beam search for {self.count} candidates needs "
                    f"a beam size of at least {self.count}"
                )
        elif self.epsilon and (self.top_k or self.top_p < 1):
            raise SettingError("epsilon cannot be combined with top_k or top_p; use one of them")

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that can change the candidates, for signatures and records of runs."""
        if not self.sampling:
            return {"count": self.count, "beam_size": self.beam_size}
        narrowed = {
            name: getattr(self, name)
            for name, default in SAMPLING.items()
            if getattr(self, name) != default
        }
        return {"count": self.count, "sampling": True, **narrowed, "seed": self.seed}


BEAM_SEARCH = Search()
"""The best translation by beam search."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate translation with its log-probability under the model.

    >>> Candidate("Hello.", -1.5, 3).H
    -0.5
    """

    text: str
    log_prob: float
    """The natural-log probability of the token sequence, with its end, without language tag."""
    length: int
    """The number of tokens, including the end of the sentence."""
    cut: bool = False
    """Whether the source was truncated, or the translation did not end."""

    @property
    def H(self) -> float:  # noqa: N802
        """The mean token log-probability, by which candidates are ordered."""
        return self.log_prob / max(1, self.length)


Languages = str | None | Sequence[str | None]
"""One language for all texts, or one per text."""

MANY = 6
"""So many languages are listed; of more, the number is given."""
Progress = Callable[[str, int, int], None]
"""Called with the name of a task, the number of items done, and the total number."""


@dataclass(frozen=True, slots=True)
class TokenScores:
    """The tokens of a target, and the natural-log probability of each given those before it.

    The end-of-sentence token is included, the language tag is not. A target that exceeds the
    model's maximum length is truncated: its beginning is scored, without an end-of-sentence token.

    >>> scores = TokenScores(("▁Hi", "</s>"), (-0.5, -0.1))
    >>> round(scores.H, 3), round(scores.G, 3)
    (-0.3, -0.6)
    """

    tokens: tuple[str, ...]
    log_probs: tuple[float, ...]
    target_cut: bool = False
    source_cut: bool = False

    @property
    def cut(self) -> bool:
        """Whether a text was truncated."""
        return self.target_cut or self.source_cut

    @property
    def G(self) -> float:  # noqa: N802
        """The log-probability of the sequence (Prism, section 3)."""
        return sum(self.log_probs)

    @property
    def H(self) -> float:  # noqa: N802
        """The mean token log-probability (Prism, section 3)."""
        return self.G / len(self.log_probs)


@dataclass(frozen=True, slots=True)
class Translation:
    """A translation; ``cut`` if its source was truncated, or if it did not end."""

    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token that the model predicts at a position, and its natural-log probability there."""

    token: str
    log_prob: float


class Query(NamedTuple):
    """A target and the source that it is scored with; to translate, the target is left empty.

    >>> Query("Hallo!", "Hello!", "de")
    Query(target='Hallo!', source='Hello!', target_lang='de', source_lang=None)
    """

    target: str
    source: str
    target_lang: str | None = None
    source_lang: str | None = None

    @classmethod
    def between(cls, target: Text, source: Text) -> Self:
        """How probable is ``target``, given ``source``?"""
        return cls(target.text, source.text, target.lang, source.lang)


def make_queries(
    targets: Sequence[str],
    sources: Sequence[str],
    *,
    target_lang: Languages,
    source_lang: Languages = None,
) -> list[Query]:
    """Put targets and sources together; a language is that of all texts, or there is one for each.

    >>> make_queries(["Hallo!", "Ja."], ["Hello!", "Yes."], target_lang="de")[1]
    Query(target='Ja.', source='Yes.', target_lang='de', source_lang=None)
    """
    if len(targets) != len(sources):
        raise InputError(f"{len(targets)} targets for {len(sources)} sources; give one for each")
    columns = (per_row(langs, len(targets)) for langs in (target_lang, source_lang))
    return [Query(*row) for row in zip(targets, sources, *columns, strict=True)]


def translation_queries(
    sources: Sequence[str], *, target_lang: Languages, source_lang: Languages = None
) -> list[Query]:
    """Queries for translations, which have no targets yet."""
    blank = [""] * len(sources)
    return make_queries(blank, sources, target_lang=target_lang, source_lang=source_lang)


class Model(Protocol):
    """What all models have."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """Identifies weights and tokenizer; part of every signature and cache key."""
        ...

    @property
    def settings(self) -> Mapping[str, str]:
        """Everything else that can change a score: precision, layer, pooling, engine, version."""
        ...


class TranslationModel(ABC):
    """Computes translation probabilities, and translates.

    A model computes at least log-probabilities and candidates. What else it can compute, it
    overrides; otherwise there is one error, or nothing is suggested and no text is too long.
    """

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Identifies weights and tokenizer; part of every signature and cache key."""

    @property
    @abstractmethod
    def languages(self) -> LanguageSet: ...

    @property
    @abstractmethod
    def needs_source_language(self) -> bool: ...

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, str]:
        """Everything else that can change a score: precision, engine and version."""

    def __repr__(self) -> str:
        return describe_model(self)

    @abstractmethod
    def log_probs(
        self, queries: Sequence[Query], *, progress: Progress | None = None
    ) -> list[TokenScores]:
        """Force-decode each target from its source."""

    @abstractmethod
    def candidates(
        self,
        queries: Sequence[Query],
        *,
        search: Search = BEAM_SEARCH,
        progress: Progress | None = None,
    ) -> list[list[Candidate]]:
        """Translations of each source, the highest mean token log-probability first."""

    def translate(
        self,
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        beam_size: int = BEAM_SIZE,
        progress: Progress | None = None,
    ) -> list[Translation]:
        """Translate each source by beam search; the translation of an empty text is empty."""
        queries = translation_queries(sources, target_lang=target_lang, source_lang=source_lang)
        found = self.candidates(queries, search=Search(beam_size=beam_size), progress=progress)
        return [Translation(best.text, best.cut) for best, *_ in found]

    def top_log_probs(
        self, queries: Sequence[Query], *, above: float, progress: Progress | None = None
    ) -> list[TokenDistributions]:
        """Force-decode each target; the tokens that are listed have a probability > ``above``."""
        self.refuse("give the probabilities of other tokens than the target's")

    def alternatives(
        self,
        queries: Sequence[Query],
        *,
        places: Sequence[int],
        count: int = 3,
        progress: Progress | None = None,
    ) -> list[list[list[Alternative]]]:
        """The most probable tokens at some positions of each target, best first, if known."""
        return [[[] for _ in places] for _ in queries]

    def translates(self, source_lang: str | None, target_lang: str | None) -> bool:
        """Whether the model translates from one language into the other.

        >>> import tertium
        >>> mini = tertium.load_model(cache=False)
        >>> mini.translates("de", "en"), mini.translates("de", "ru")
        (True, False)
        """
        return (
            source_lang is not None
            and target_lang is not None
            and self.languages.resolve(source_lang) in self.languages.source
            and self.languages.resolve(target_lang) in self.languages.target
        )

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text is longer than the model reads, if that is known beforehand."""
        return [False] * len(texts)

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text as a target."""
        self.refuse("count the tokens of long texts; use long=cut")

    def own_encoder(self) -> SentenceEncoder:
        """The encoder of this model, which can align the sentences of long texts."""
        self.refuse("align the sentences of long texts; use long=cut")

    def prepare(self, texts: Sequence[str]) -> None:  # noqa: B027
        """Do in advance, in another thread, what needs no engine."""

    def engine(self, source_lang: str, target_lang: str) -> TranslationModel:
        """The model that computes this direction in the end: that which a cache or a pair asks."""
        return self

    def target_tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Tokenize texts as targets; asked of :meth:`engine`."""
        self.refuse("tokenize targets")

    @property
    def target_vocabulary(self) -> Sequence[str]:
        """All tokens of targets; asked of :meth:`engine`."""
        self.refuse("list the tokens of its vocabulary")

    def candidates_without(
        self,
        queries: Sequence[Query],
        blocked: Sequence[Sequence[Sequence[str]]],
        *,
        search: Search,
        progress: Progress | None = None,
    ) -> list[list[Candidate]]:
        """Candidates without the blocked token sequences of each; asked of :meth:`engine`."""
        self.refuse("exclude sequences of tokens from its translations")

    def refuse(self, operation: str) -> NoReturn:
        """Raise the error for an operation that the model does not support."""
        raise ModelError(f"{self.name} cannot {operation}")


@runtime_checkable
class LanguageModel(Model, Protocol):
    """A causal language model: computes the probability of a text, after a prompt or alone."""

    def text_log_probs(
        self,
        texts: Sequence[str],
        *,
        prompts: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        """Score each text, after its prompt if there are prompts."""
        ...


@dataclass(frozen=True, slots=True)
class TokenDistributions:
    """The scores of a target, and at each position the tokens that were most probable there."""

    scores: TokenScores
    top: tuple[tuple[float, ...], ...]
    """At each position, natural-log probabilities in descending order: those above a limit and the
    next one."""


def describe_model(model: Any) -> str:
    """The ``repr`` of a model: its name, its languages if it has any, fingerprint and settings."""
    facts = [repr(model.name)]
    if (languages := getattr(model, "languages", None)) is not None:
        codes = sorted(languages.all)
        facts.append(f"languages={'+'.join(codes) if len(codes) <= MANY else len(codes)}")
    facts.append(f"fingerprint={model.fingerprint[:12]}")
    facts += [f"{name}={value}" for name, value in getattr(model, "settings", {}).items()]
    return f"{type(model).__name__}({', '.join(facts)})"


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The tokens of a text, their vectors, and which of them are special tokens."""

    tokens: tuple[str, ...]
    vectors: NDArray[np.float32]
    """Shape (tokens, dimensions)."""
    framing: tuple[bool, ...]
    """True for special tokens that the tokenizer adds: [CLS], [SEP], <s>, </s>, language tags."""
    cut: bool = False


@dataclass(frozen=True, slots=True)
class SentenceVectors:
    """One unit vector per text, and which of the texts were truncated.

    A text without tokens has a vector of zeros.
    """

    vectors: NDArray[np.float32]
    cut: tuple[bool, ...]


@runtime_checkable
class LimitedModel(Protocol):
    """A translation model or an encoder that says which texts it would truncate."""

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text is longer than the model reads."""
        ...


@runtime_checkable
class SentenceEncoder(Model, Protocol):
    """Encodes a text as one vector."""

    def sentence_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> SentenceVectors:
        """Encode each text as one vector."""
        ...


@runtime_checkable
class TextEncoder(SentenceEncoder, Protocol):
    """A sentence encoder that also returns one vector per token."""

    def token_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> list[TokenVectors]:
        """Encode each text as one vector per token."""
        ...


@dataclass(frozen=True, slots=True)
class Detections:
    """P(paraphrase) of each pair, and which of the pairs were truncated."""

    probabilities: tuple[float, ...]
    cut: tuple[bool, ...]


@runtime_checkable
class ParaphraseDetector(Model, Protocol):
    """Computes the probability that two texts are paraphrases of each other."""

    def detect(
        self,
        first: Sequence[str],
        second: Sequence[str],
        *,
        lang: Languages = None,
        progress: Progress | None = None,
    ) -> Detections:
        """Classify pairs of texts in one language."""
        ...


def per_row(languages: Languages, count: int) -> list[str | None]:
    """Repeat one language for ``count`` rows, or check that there is one per row."""
    if languages is None or isinstance(languages, str):
        return [languages] * count
    if len(languages) != count:
        raise InputError(f"{len(languages)} languages for {count} texts; give one, or one per text")
    return list(languages)
