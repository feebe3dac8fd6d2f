"""What a measure may ask of a model, and nothing about how the model answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from tertium.errors import InputError
from tertium.models.languages import LanguageSet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Languages = str | None | Sequence[str | None]
"""One language for all texts, or one for each."""

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class TokenScores:
    """A target's pieces, and the natural-log probability of each given what stands before it.

    The end-of-sentence piece is counted, the language tag is not. A text that is longer than the
    model reads is cut: of such a target the beginning is scored, without an end-of-sentence piece.

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
        """Whether only a part of the question was answered."""
        return self.target_cut or self.source_cut

    @property
    def G(self) -> float:  # noqa: N802
        """The log-probability of the sequence (Prism, section 3)."""
        return sum(self.log_probs)

    @property
    def H(self) -> float:  # noqa: N802
        """The mean log-probability of a token (Prism, section 3)."""
        return self.G / len(self.log_probs)


@dataclass(frozen=True, slots=True)
class Translation:
    """A translation; ``cut`` if its source was longer than the model reads, or it had no end."""

    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Alternative:
    """A piece that the model would have put in a place, and its natural-log probability there."""

    token: str
    log_prob: float


@runtime_checkable
class TranslationModel(Protocol):
    """Gives the probability of a translation, and translates."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """What the weights and the tokenizer are; part of every signature and cache key."""
        ...

    @property
    def languages(self) -> LanguageSet: ...

    @property
    def needs_source_language(self) -> bool: ...

    @property
    def settings(self) -> Mapping[str, str]:
        """What else can change a number: precision, engine and its version."""
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
class SuggestingModel(Protocol):
    """A model that can also tell what it would have put in the place of a piece."""

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
        """The best pieces at some places of a target, best first."""
        ...


@runtime_checkable
class StepwiseModel(Protocol):
    """A model that can also be asked for one more piece, so that a search can be built on it."""

    @property
    def languages(self) -> LanguageSet: ...

    @property
    def target_vocabulary(self) -> Sequence[str]:
        """The pieces that the last axis of :meth:`next_log_probs` stands for."""
        ...

    def target_pieces(self, texts: Sequence[str]) -> list[list[str]]:
        """Cut texts into pieces, as targets are cut."""
        ...

    def target_text(self, pieces: Sequence[str]) -> str:
        """Put pieces together again."""
        ...

    def forced_pieces(self, target_lang: str) -> int:
        """How many pieces, such as a language tag, stand before the first of a target."""
        ...

    def longest_translation(self, source: str) -> int:
        """After how many pieces, those that are forced included, a search should give up."""
        ...

    def next_log_probs(
        self,
        sources: Sequence[str],
        prefixes: Sequence[Sequence[str]],
        *,
        target_lang: str,
        source_lang: str | None = None,
    ) -> NDArray[np.float32]:
        """The natural-log probability of every piece after each prefix: one row a prefix."""
        ...


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """A text's pieces, the vector of each, and which of them only frame the text."""

    tokens: tuple[str, ...]
    vectors: NDArray[np.float32]
    """One row a piece."""
    framing: tuple[bool, ...]
    """True for what the tokenizer adds: [CLS], [SEP], <s>, </s>, a language tag."""
    cut: bool = False


@dataclass(frozen=True, slots=True)
class SentenceVectors:
    """One vector of length 1 a text, and which of the texts were longer than the model reads.

    A text that has no direction (no piece at all, or a vector of zeros) has a vector of zeros.
    """

    vectors: NDArray[np.float32]
    cut: tuple[bool, ...]


@runtime_checkable
class SentenceEncoder(Protocol):
    """Gives a vector for a text."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, str]:
        """What else can change a number: layer, pooling, precision, engine and its version."""
        ...

    def sentence_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> SentenceVectors:
        """Encode each text as one vector."""
        ...


@runtime_checkable
class TextEncoder(SentenceEncoder, Protocol):
    """Gives, besides, a vector for each piece of a text."""

    def token_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> list[TokenVectors]:
        """Encode each text as one vector a piece."""
        ...


@dataclass(frozen=True, slots=True)
class Detections:
    """P(paraphrase) of each pair, and which of the pairs were longer than the model reads."""

    probabilities: tuple[float, ...]
    cut: tuple[bool, ...]


@runtime_checkable
class ParaphraseDetector(Protocol):
    """Gives the probability that two texts are paraphrases of each other."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, str]:
        """What else can change a number: the order of the texts, precision, engine and so on."""
        ...

    def detect(
        self,
        first: Sequence[str],
        second: Sequence[str],
        *,
        lang: Languages = None,
        progress: Progress | None = None,
    ) -> Detections:
        """Judge each pair of texts, both in one language."""
        ...


def per_row(languages: Languages, count: int) -> list[str | None]:
    """Spread one language over ``count`` rows, or check that there is one for each."""
    if languages is None or isinstance(languages, str):
        return [languages] * count
    if len(languages) != count:
        raise InputError(f"{len(languages)} languages for {count} texts; give one, or one for each")
    return list(languages)
