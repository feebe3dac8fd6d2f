"""Similarity from translation probability: NMTScore and Prism.

NMTScore: Vamvas and Sennrich, "NMTScore: A Multilingual Analysis of Translation-based Text
Similarity Measures" (2022). Prism: Thompson and Post, "Automatic Machine Translation Evaluation in
Many Languages via Zero-Shot Paraphrasing" (2020).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from itertools import pairwise
from typing import Literal

from tertium.data.identify import confident_guess
from tertium.errors import LanguageError, SettingError
from tertium.measures.base import (
    EmptyRule,
    Measure,
    Segments,
    Texts,
    check_settings,
    percent,
    unusual,
)
from tertium.measures.long import LONG, Long
from tertium.measures.references import over_references
from tertium.measures.registry import measure
from tertium.measures.signature import FINGERPRINT_DIGITS
from tertium.models.base import (
    LimitedTranslationModel,
    Progress,
    SentenceEncoder,
    TranslationModel,
)
from tertium.models.languages import supported_language, target_language
from tertium.text import Row, Text

LARGEST_EXPONENT = 700.0
"""``exp`` of more overflows; only sums (G) over broken text get there."""


@dataclass
class Queries:
    """Queries a model for a measure, and records which texts were truncated."""

    model: TranslationModel
    aggregate: Literal["H", "G"]
    progress: Progress | None
    cut: set[str] = field(default_factory=set)

    def log_p(self, *conditionals: tuple[Texts, Texts]) -> list[list[float]]:
        """For each (A, B): the log-probabilities H(A|B) (or G) of every text in A, in one call."""
        targets = [text for A, _ in conditionals for text in A]
        sources = [text for _, B in conditionals for text in B]
        results = self.model.log_probs(
            [target.text for target in targets],
            [source.text for source in sources],
            target_lang=[target.lang for target in targets],
            source_lang=[source.lang for source in sources],
            progress=self.progress,
        )
        for target, source, result in zip(targets, sources, results, strict=True):
            if result.target_cut:
                self.cut.add(target.text)
            if result.source_cut:
                self.cut.add(source.text)
        values = [result.H if self.aggregate == "H" else result.G for result in results]
        ends = [0]
        for A, _ in conditionals:
            ends.append(ends[-1] + len(A))
        return [values[start:end] for start, end in pairwise(ends)]

    def translations(self, *groups: Texts, into: str, beam_size: int) -> list[list[Text]]:
        """The translations of every text of every group, in one call."""
        sources = [text for group in groups for text in group]
        results = self.model.translate(
            [source.text for source in sources],
            target_lang=into,
            source_lang=[source.lang for source in sources],
            beam_size=beam_size,
            progress=self.progress,
        )
        for source, result in zip(sources, results, strict=True):
            if result.cut:
                self.cut.add(source.text)
        translations = iter([Text(result.text, into) for result in results])
        return [[next(translations) for _ in group] for group in groups]


@dataclass(frozen=True)
class TranslationMeasure(Measure):
    """What translation-based measures share."""

    model_kind = "translation"
    model: TranslationModel
    _: KW_ONLY
    aggregate: Literal["H", "G"] = "H"
    """H, the mean token log-probability, or G, the log-probability of the sequence."""
    references: Literal["max", "mean"] = "max"
    """How several references are combined."""
    empty: EmptyRule = "worst"
    """The score of an empty text: the worst of the measure, or that of the formula."""
    long: Long = "split"
    """Texts beyond the model's length are split into sentences, or cut; ``always`` splits all."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_settings(self, ALLOWED)
        beam_size = getattr(self, "beam_size", 1)
        if type(beam_size) is not int or beam_size < 1:
            raise SettingError(f"beam_size={beam_size!r}: it must be a whole number from 1")

    @abstractmethod
    def similarities(self, A: Texts, B: Texts, ask: Queries) -> list[float]:
        """The formula."""

    @abstractmethod
    def targets(self) -> tuple[bool, bool]:
        """Whether hypotheses are targets of the model, and whether the other texts are."""

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        self._check_languages(rows)
        ask = Queries(self.model, self.aggregate, progress)

        def compare(A: Texts, B: Texts) -> tuple[list[float], set[str]]:
            return self.similarities(A, B, ask), ask.cut

        return over_references(self, rows, compare, self.references, progress)

    def aligning_encoder(self) -> SentenceEncoder:
        return self._limited.own_encoder()

    @property
    def _limited(self) -> LimitedTranslationModel:
        if not isinstance(self.model, LimitedTranslationModel):
            raise SettingError(f"{self.model.name} cannot split long texts; use long=cut")
        return self.model

    def choices(self) -> Mapping[str, object]:
        own = {
            setting.name: getattr(self, setting.name)
            for setting in fields(self)
            if setting.name not in ("model", "against", "both_directions", "empty", "long")
        }
        own |= unusual(self, empty="worst", long="split")
        return {
            "model": self.model.name,
            "fingerprint": self.model.fingerprint[:FINGERPRINT_DIGITS],
            **own,
            **self.model.settings,
        }

    def _check_languages(self, rows: Sequence[Row]) -> None:
        """Check that all given languages are supported, and that all needed ones are given."""
        hypothesis_needed, reference_needed = (
            target or self.model.needs_source_language for target in self.targets()
        )
        for row in rows:
            texts = [("hypothesis", row.hypothesis, hypothesis_needed)]
            texts += [(self.against, text, reference_needed) for text in self.compared(row)]
            for role, text, needed in texts:
                if text.lang is None and not needed:
                    continue
                try:
                    supported_language(self.model, text.lang, f"the {role}")
                except LanguageError as error:
                    guess = confident_guess(text.text) if text.lang is None else None
                    looks = f" (it looks like {guess!r})" if guess is not None else ""
                    raise LanguageError(
                        f"row {row.number}: {self.name}: {error}; "
                        f"give it with lang= (--lang), or row by row{looks}"
                    ) from None


@dataclass(frozen=True, kw_only=True)
class NMTScore(TranslationMeasure):
    """The three measures of the NMTScore paper."""

    bounds = (0.0, 1.0)  # a ratio may exceed 1 slightly, if the other text is more probable
    normalized: bool = True
    """Divide by the score of an identical text (section 2.4)."""
    both_directions: bool = True
    """Average sim(A|B) and sim(B|A) (section 2.4)."""
    base: Literal["e", "2"] = "e"
    """e, as in the paper; 2 gives the numbers of the nmtscore package, 2 ** mean(ln p)."""

    @property
    def is_symmetric(self) -> bool:
        return self.both_directions

    @abstractmethod
    def directed(self, A: Texts, B: Texts, ask: Queries) -> list[float]:
        """The formula, one way: sim(A|B)."""

    def similarities(self, A: Texts, B: Texts, ask: Queries) -> list[float]:
        if not self.both_directions:
            return self.directed(A, B, ask)
        count = len(A)
        both = self.directed([*A, *B], [*B, *A], ask)
        return [
            (ab + ba) / 2 for ab, ba in zip(both[:count], both[count:], strict=True)
        ]  # sim(A, B) = (sim(A|B) + sim(B|A)) / 2

    def ratio(self, numerator: Sequence[float], denominator: Sequence[float]) -> list[float]:
        """p / q from their logarithms."""
        return [self.power(p - q) for p, q in zip(numerator, denominator, strict=True)]

    def power(self, log_p: float) -> float:
        """e ** x as in the paper, or 2 ** x as in the nmtscore package."""
        exponent = min(log_p, LARGEST_EXPONENT)
        return math.exp(exponent) if self.base == "e" else 2.0**exponent

    def choices(self) -> Mapping[str, object]:
        directions = "both" if self.both_directions else "hyp-given-ref"
        return {**super().choices(), "directions": directions}


@measure
@dataclass(frozen=True, kw_only=True)
class Direct(NMTScore):
    """How probable A is as a translation (or, in one language, as a paraphrase) of B."""

    name = "direct"
    summary = (
        "Probability of one text as a translation or paraphrase of the other, relative to itself."
    )

    def reading(self, score: float) -> str:
        return f"each text is {percent(score)} as probable, given the other, as given itself"

    def targets(self) -> tuple[bool, bool]:
        return True, self.both_directions

    def directed(self, A: Texts, B: Texts, ask: Queries) -> list[float]:
        if not self.normalized:
            [AB] = ask.log_p((A, B))
            return [self.power(ab) for ab in AB]  # p(A|B)
        AB, AA = ask.log_p((A, B), (A, A))
        return self.ratio(AB, AA)  # p(A|B) / p(A|A)


@measure
@dataclass(frozen=True, kw_only=True)
class Pivot(NMTScore):
    """How probable A is given a translation of B into a pivot language."""

    name = "pivot"
    summary = "Probability of one text given a translation of the other into a pivot language."
    pivot_lang: str = ""
    """Default: English, or the only target language of the model."""
    beam_size: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "pivot_lang", intermediate(self.model, self.pivot_lang))

    def reading(self, score: float) -> str:
        return (
            f"by way of a third language, each text is {percent(score)} as probable from the "
            "other as from itself"
        )

    def targets(self) -> tuple[bool, bool]:
        return True, self.both_directions

    def directed(self, A: Texts, B: Texts, ask: Queries) -> list[float]:
        into, beam_size = self.pivot_lang, self.beam_size
        if not self.normalized:
            [B_] = ask.translations(B, into=into, beam_size=beam_size)
            [AB] = ask.log_p((A, B_))
            return [self.power(ab) for ab in AB]  # p(A|B')
        A_, B_ = ask.translations(A, B, into=into, beam_size=beam_size)
        AB, AA = ask.log_p((A, B_), (A, A_))
        return self.ratio(AB, AA)  # p(A|B') / p(A|A')


@measure
@dataclass(frozen=True, kw_only=True)
class Cross(NMTScore):
    """How well a translation of B would do as a translation of A."""

    name = "cross"
    summary = "How well a translation of one text would do as a translation of the other."
    target_lang: str = ""
    """Default: English, or the only target language of the model."""
    beam_size: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "target_lang", intermediate(self.model, self.target_lang))

    def reading(self, score: float) -> str:
        return (
            f"a translation of one text is {percent(score)} as probable from the other as from "
            "its own original"
        )

    def targets(self) -> tuple[bool, bool]:
        return False, False

    def directed(self, A: Texts, B: Texts, ask: Queries) -> list[float]:
        [B_] = ask.translations(B, into=self.target_lang, beam_size=self.beam_size)
        if not self.normalized:
            [BA] = ask.log_p((B_, A))
            return [self.power(ba) for ba in BA]  # p(B'|A)
        BA, BB = ask.log_p((B_, A), (B_, B))
        return self.ratio(BA, BB)  # p(B'|A) / p(B'|B)


@dataclass(frozen=True, kw_only=True)
class Prism(TranslationMeasure):
    """What the two measures of Prism share: they are log-probabilities."""

    bounds = (-math.inf, 0.0)

    def lengths(self, texts: Texts) -> list[int]:
        return self._limited.token_counts([text.text for text in texts])

    def whole(self, scores: Sequence[float], weights: Sequence[float]) -> float:
        """The mean log-probability; with G, the log-probability of all parts."""
        return math.fsum(scores) if self.aggregate == "G" else super().whole(scores, weights)


@measure
@dataclass(frozen=True, kw_only=True)
class PrismRef(Prism):
    """Prism against a reference: (H(sys|ref) + H(ref|sys)) / 2, a mean log-probability."""

    name = "prism-ref"
    summary = "Mean log-probability of hypothesis and reference, each given the other."

    @property
    def is_symmetric(self) -> bool:
        return True

    def reading(self, score: float) -> str:
        return (
            f"given the other text, a token has a probability of {percent(math.exp(score))} "
            "on average"
        )

    def targets(self) -> tuple[bool, bool]:
        return True, True

    def similarities(self, A: Texts, B: Texts, ask: Queries) -> list[float]:
        AB, BA = ask.log_p((A, B), (B, A))
        return [(ab + ba) / 2 for ab, ba in zip(AB, BA, strict=True)]


@measure
@dataclass(frozen=True, kw_only=True)
class PrismSrc(Prism):
    """Prism against the source, with no reference: H(sys|src)."""

    name = "prism-src"
    summary = "Mean log-probability of the hypothesis given the source; needs no reference."
    against: Literal["source"] = "source"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_settings(self, {"against": ("source",)})

    def reading(self, score: float) -> str:
        return (
            f"given the source, a token has a probability of {percent(math.exp(score))} on average"
        )

    def targets(self) -> tuple[bool, bool]:
        return True, False

    def similarities(self, A: Texts, B: Texts, ask: Queries) -> list[float]:
        [AB] = ask.log_p((A, B))
        return AB


def intermediate(model: TranslationModel, lang: str) -> str:
    """The language to translate into: as given, the only one, or English as in the paper."""
    if lang:
        return target_language(model, lang)
    targets = model.languages.target
    if len(targets) == 1:
        return next(iter(targets))
    return target_language(model, "en")


ALLOWED: dict[str, tuple[object, ...]] = {
    "aggregate": ("H", "G"),
    "references": ("max", "mean"),
    "empty": ("worst", "formula"),
    "long": LONG,
    "base": ("e", "2"),
    "normalized": (True, False),
    "both_directions": (True, False),
}
