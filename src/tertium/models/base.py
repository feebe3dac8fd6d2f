"""Protocols of the models that measures query, independent of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tertium.errors import InputError
from tertium.models.languages import LanguageSet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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


@runtime_checkable
class TranslationModel(Protocol):
    """Computes translation probabilities, and translates."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """Identifies weights and tokenizer; part of every signature and cache key."""
        ...

    @property
    def languages(self) -> LanguageSet: ...

    @property
    def needs_source_language(self) -> bool: ...

    @property
    def settings(self) -> Mapping[str, str]:
        """Everything else that can change a score: precision, engine and version."""
        ...

    def log_probs(
        self,
        targets: Sequence[str],
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        """Force-decode each target from its source."""
        ...

    def translate(
        self,
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        beam_size: int = 5,
        progress: Progress | None = None,
    ) -> list[Translation]:
        """Translate each source by beam search."""
        ...


@runtime_checkable
class LanguageModel(Protocol):
    """A causal language model: computes the probability of a text, after a prompt or alone."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, str]:
        """Everything else that can change a score: precision, engine and version."""
        ...

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


@runtime_checkable
class DistributionModel(Protocol):
    """A translation model that also gives the probabilities of other tokens than the target's."""

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
        """Force-decode each target; the tokens that are listed have a probability > ``above``."""
        ...


@runtime_checkable
class SuggestingModel(Protocol):
    """A model that also returns the tokens that it predicts at a position."""

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
        """The most probable tokens at some positions of a target, best first."""
        ...


@runtime_checkable
class StepwiseModel(Protocol):
    """A model that also returns next-token probabilities, as custom search algorithms need them."""

    @property
    def languages(self) -> LanguageSet: ...

    @property
    def target_vocabulary(self) -> Sequence[str]:
        """The tokens along the last axis of :meth:`next_log_probs`."""
        ...

    def target_tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Tokenize texts as targets."""
        ...

    def target_text(self, tokens: Sequence[str]) -> str:
        """Join tokens to text."""
        ...

    def forced_tokens(self, target_lang: str) -> int:
        """The number of tokens before the first token of a target, such as a language tag."""
        ...

    def longest_translation(self, source: str) -> int:
        """The number of tokens, forced ones included, after which a search should stop."""
        ...

    def next_log_probs(
        self,
        sources: Sequence[str],
        prefixes: Sequence[Sequence[str]],
        *,
        target_lang: str,
        source_lang: str | None = None,
    ) -> NDArray[np.float32]:
        """Natural-log probabilities of the next token: shape (prefixes, vocabulary)."""
        ...


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
class SentenceEncoder(Protocol):
    """Encodes a text as one vector."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, str]:
        """Everything else that can change a score: layer, pooling, precision and engine."""
        ...

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
class ParaphraseDetector(Protocol):
    """Computes the probability that two texts are paraphrases of each other."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, str]:
        """Everything else that can change a score: order of the texts, precision and engine."""
        ...

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
