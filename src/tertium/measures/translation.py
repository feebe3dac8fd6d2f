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
from types import MappingProxyType
from typing import ClassVar, Literal

from tertium.data.identify import confident_guess
from tertium.errors import LanguageError, SettingError
from tertium.measures.base import (
    CopyRule,
    EmptyRule,
    Measure,
    Part,
    Segments,
    Texts,
    check_copies,
    percent,
    unusual,
)
from tertium.measures.boosted import SMALLEST_JUMP, boosted
from tertium.measures.references import (
    COPIES,
    EMPTY_TEXT,
    LONG_TEXT,
    SEVERAL_REFERENCES,
    Long,
    over_references,
)
from tertium.measures.registry import measure
from tertium.measures.settings import setting
from tertium.measures.totals import FINGERPRINT_DIGITS
from tertium.models.base import (
    Progress,
    Query,
    Search,
    SentenceEncoder,
    TokenScores,
    TranslationModel,
)
from tertium.models.languages import supported_language, target_language
from tertium.text import Row, Text

LARGEST_EXPONENT = 700.0
"""``exp`` of more overflows; only sums (G) over broken text get there."""


Pivots = list[tuple[Text, float]]
"""Translations of a text into one language, with weights that sum to 1."""


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
        queries = list(map(Query.between, targets, sources))
        results = self.model.log_probs(queries, progress=self.progress)
        values = self._values(targets, sources, results)
        ends = [0]
        for A, _ in conditionals:
            ends.append(ends[-1] + len(A))
        return [values[start:end] for start, end in pairwise(ends)]

    def boosted_log_p(self, A: Texts, B: Texts) -> list[float]:
        """H(A|B) (or G) of every text in A, where every token has its boosted probability."""
        queries = list(map(Query.between, A, B))
        found = self.model.top_log_probs(queries, above=SMALLEST_JUMP, progress=self.progress)
        return self._values(A, B, [boosted(each) for each in found])

    def _values(self, A: Texts, B: Texts, results: Sequence[TokenScores]) -> list[float]:
        """H or G of each result; what was truncated is recorded."""
        for target, source, result in zip(A, B, results, strict=True):
            if result.target_cut:
                self.cut.add(target.text)
            if result.source_cut:
                self.cut.add(source.text)
        return [result.H if self.aggregate == "H" else result.G for result in results]

    def translations(self, *groups: Texts, into: str, search: Search) -> list[list[Pivots]]:
        """One translation or several of every text, in one call, with weights that sum to 1.

        N-best translations are weighted by their probabilities; samples, which already occur as
        often as they are probable, equally.
        """
        sources = [text for group in groups for text in group]
        queries = [Query("", source.text, into, source.lang) for source in sources]
        results = self.model.candidates(queries, search=search, progress=self.progress)
        found: list[Pivots] = []
        for source, several in zip(sources, results, strict=True):
            if any(each.cut for each in several):
                self.cut.add(source.text)
            highest = max(each.log_prob for each in several)
            weights = [
                1.0 if search.sampling else math.exp(each.log_prob - highest) for each in several
            ]
            found.append(
                [
                    (Text(each.text, into), weight / sum(weights))
                    for each, weight in zip(several, weights, strict=True)
                ]
            )
        pivots = iter(found)
        return [[next(pivots) for _ in group] for group in groups]


@dataclass(frozen=True)
class TranslationMeasure(Measure):
    """What translation-based measures share."""

    model_kind = "translation"
    usual: ClassVar[Mapping[str, object]] = MappingProxyType(
        {"empty": "worst", "long": "split", "copies": "formula"}
    )
    """Settings that are in the signature only if they have another value."""
    model: TranslationModel
    _: KW_ONLY
    aggregate: Literal["H", "G"] = setting(
        "H", "H: mean log-probability of the tokens. G: their sum, which depends on the length."
    )
    """H, the mean token log-probability, or G, the log-probability of the sequence."""
    references: Literal["max", "mean"] = setting(*SEVERAL_REFERENCES)
    empty: EmptyRule = setting(*EMPTY_TEXT)
    long: Long = setting(*LONG_TEXT)
    copies: CopyRule = setting(*COPIES)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_copies(self)
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

        try:
            return over_references(self, rows, compare, self.references, progress)
        except LanguageError as error:
            raise self._untranslatable(rows) or error from None

    def _untranslatable(self, rows: Sequence[Row]) -> LanguageError | None:
        """The error for the first text in a language that the model does not translate from."""
        languages = self.model.languages
        only = languages.describe() if not languages.symmetric else f"has {languages.describe()}"
        for row in rows:
            others = [(f"the {self.against}", text) for text in self.compared(row)]
            for role, text in (("the hypothesis", row.hypothesis), *others):
                if text.lang and languages.resolve(text.lang) not in languages.source:
                    return LanguageError(
                        f"row {row.number}: {self.name} must translate {role} ({text.lang}); "
                        f"{self.model.name} only {only}",
                        cure="choose a model or a pair of models that does (`tertium models`)",
                    )
        return None

    def prepare(self, rows: Sequence[Row]) -> None:
        texts = (text.text for row in rows for text in (row.hypothesis, *self.compared(row)))
        self.model.prepare(list(dict.fromkeys(texts)))

    def aligning_encoder(self) -> SentenceEncoder:
        return self.model.own_encoder()

    def choices(self) -> Mapping[str, object]:
        own = {
            setting.name: getattr(self, setting.name)
            for setting in fields(self)
            if setting.name not in ("model", "against", "both_directions", *self.usual)
        }
        own |= unusual(self, **self.usual)
        return {
            "model": self.model.name,
            "fingerprint": self.model.fingerprint[:FINGERPRINT_DIGITS],
            **own,
            **self.model.settings,
        }

    def reads_any_source(self) -> bool:
        """Whether the other texts may be in any language: they are read without a language tag."""
        return False

    def _check_languages(self, rows: Sequence[Row]) -> None:
        """Check that all given languages are supported, and that all needed ones are given."""
        hypothesis_needed, reference_needed = (
            target or self.model.needs_source_language for target in self.targets()
        )
        any_other = self.reads_any_source()
        for row in rows:
            texts = [("hypothesis", row.hypothesis, hypothesis_needed)]
            if not any_other:
                texts += [(self.against, text, reference_needed) for text in self.compared(row)]
            for role, text, needed in texts:
                if text.lang is None and not needed:
                    continue
                try:
                    supported_language(self.model, text.lang, f"the {role}")
                except LanguageError as error:
                    guess = confident_guess(text.text) if text.lang is None else None
                    looks = f" (it looks like {guess!r})" if guess is not None else ""
                    raise error.at(
                        f"row {row.number}: {self.name}: ",
                        cure=(
                            "give it with {lang}, and that of the other text with "
                            "{reference_lang} if it differs",
                            f"row by row{looks}",
                        ),
                    ) from None


@dataclass(frozen=True, kw_only=True)
class NMTScore(TranslationMeasure):
    """The three measures of the NMTScore paper."""

    bounds = (0.0, 1.0)
    about_bounds = True  # a ratio may exceed 1 slightly, if the other text is more probable
    references: Literal["max", "mean", "max-each-way"] = setting(  # type: ignore[assignment]
        "max",
        "Of several references, the best score or the mean; max-each-way: the best in each "
        "direction, and then the mean of the two.",
    )
    """How several references are combined; the authors' code takes the best in each direction."""
    normalized: bool = setting(True, "Relative to the score of the text itself.")
    """Divide by the score of an identical text (section 2.4)."""
    both_directions: bool = setting(True, "The mean of both directions.")
    """Average sim(A|B) and sim(B|A) (section 2.4)."""
    base: Literal["e", "2"] = setting("e", "e, or 2 as in the first release of nmtscore.")
    """e, as in the paper; 2 gives the numbers of the nmtscore package, 2 ** mean(ln p)."""

    @property
    def is_symmetric(self) -> bool:
        return self.both_directions

    @abstractmethod
    def directed(self, A: Texts, B: Texts, ask: Queries) -> list[float]:
        """The formula, one way: sim(A|B)."""

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        if self.references != "max-each-way":
            return super().segments(rows, progress)
        self._check_languages(rows)
        ask = Queries(self.model, self.aggregate, progress)

        def forth(A: Texts, B: Texts) -> tuple[list[float], set[str]]:
            return self.directed(A, B, ask), ask.cut

        def back(A: Texts, B: Texts) -> tuple[list[float], set[str]]:
            return self.directed(B, A, ask), ask.cut

        best = over_references(self, rows, forth, "max", progress)
        if not self.both_directions:
            return best
        return mean_of_directions(best, over_references(self, rows, back, "max", progress))

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


def mean_of_directions(forth: Segments, back: Segments) -> Segments:
    """The mean of two directions, of which each has chosen its own best reference."""
    scores = [(a + b) / 2 for a, b in zip(forth.scores, back.scores, strict=True)]
    chosen: list[int | None] = []
    parts: list[tuple[Part, ...]] = []
    for place, (a, b) in enumerate(
        zip(forth.best_reference or (), back.best_reference or (), strict=True)
    ):
        chosen.append(a if a == b else None)
        both = zip((forth.parts or [])[place], (back.parts or [])[place], strict=a == b)
        parts.append(
            tuple(x._replace(score=(x.score + y.score) / 2) for x, y in both) if a == b else ()
        )
    cut = [a or b for a, b in zip(forth.cut, back.cut, strict=True)]
    return Segments(scores, [(score, 1.0) for score in scores], cut, chosen, parts)


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


@dataclass(frozen=True, kw_only=True)
class ThroughTranslation(NMTScore):
    """A measure that translates texts: into one language or several, once or several times."""

    language_setting: ClassVar[str]
    """The name of the setting with the languages."""
    beam_size: int = setting(5, "Size of the beam of the translations.", low=1)
    pivots: int = setting(1, "How many translations of each text count.", low=1, served=False)
    """Translations of each text, over which the mean is taken, weighted by their probability."""
    pivot_search: Literal["beam", "sampling"] = setting(
        "beam", "How several translations are found.", served=False
    )
    """Where several translations come from: an n-best list, or ancestral sampling."""

    def __post_init__(self) -> None:
        super().__post_init__()
        given = getattr(self, self.language_setting)
        object.__setattr__(self, self.language_setting, intermediate(self.model, given))
        if type(self.pivots) is not int or self.pivots < 1:
            raise SettingError(f"pivots={self.pivots!r}: it must be a whole number from 1")
        if self.pivots == 1 and self.pivot_search != "beam":
            raise SettingError("pivot_search=sampling needs several translations: set pivots")

    @property
    def languages(self) -> list[str]:
        """The languages that texts are translated into."""
        return str(getattr(self, self.language_setting)).split(",")

    @abstractmethod
    def through(self, A: Texts, B: Texts, ask: Queries, lang: str) -> list[float]:
        """The formula, one way, with translations into one language."""

    def directed(self, A: Texts, B: Texts, ask: Queries) -> list[float]:
        """The mean over the languages."""
        by_language = [self.through(A, B, ask, lang) for lang in self.languages]
        return [sum(each) / len(each) for each in zip(*by_language, strict=True)]

    def translations(self, ask: Queries, *groups: Texts, into: str) -> list[list[Pivots]]:
        """The translations of every text of every group."""
        if self.pivot_search == "sampling":
            search = Search(self.pivots, sampling=True)
        else:
            search = Search(self.pivots, max(self.pivots, self.beam_size))
        return ask.translations(*groups, into=into, search=search)

    def log_mean(self, log_ps: Sequence[float], weights: Sequence[float]) -> float:
        """The logarithm of a weighted mean of probabilities, from their logarithms."""
        highest = max(log_ps)
        mean = sum(
            weight * self.power(log_p - highest)
            for log_p, weight in zip(log_ps, weights, strict=True)
        )
        return highest + (math.log(mean) if self.base == "e" else math.log2(mean))

    def choices(self) -> Mapping[str, object]:
        found = dict(super().choices())
        if self.pivots == 1:
            del found["pivots"], found["pivot_search"]
        languages = {self.language_setting: found.pop(self.language_setting)}
        place = list(found).index("beam_size")  # the languages come first
        items = list(found.items())
        return dict([*items[:place], *languages.items(), *items[place:]])


@measure
@dataclass(frozen=True, kw_only=True)
class Pivot(ThroughTranslation):
    """How probable A is given a translation of B into a pivot language."""

    name = "pivot"
    summary = "Probability of one text given a translation of the other into a pivot language."
    language_setting = "pivot_lang"
    pivot_lang: str = setting(
        "", "The language that pivot translates into; automatic: English, or the only one."
    )
    """Default: English, or the only target language of the model. Several with commas: their
    similarities are averaged."""

    def reading(self, score: float) -> str:
        return (
            f"by way of a third language, each text is {percent(score)} as probable from the "
            "other as from itself"
        )

    def targets(self) -> tuple[bool, bool]:
        return True, self.both_directions

    def through(self, A: Texts, B: Texts, ask: Queries, lang: str) -> list[float]:
        if not self.normalized:
            [B_] = self.translations(ask, B, into=lang)
            [AB] = self.expected(ask, (A, B_))
            return [self.power(ab) for ab in AB]  # p(A|B')
        A_, B_ = self.translations(ask, A, B, into=lang)
        AB, AA = self.expected(ask, (A, B_), (A, A_))
        return self.ratio(AB, AA)  # p(A|B') / p(A|A')

    def expected(
        self, ask: Queries, *conditionals: tuple[Texts, list[Pivots]]
    ) -> list[list[float]]:
        """For each (A, B'): the logarithm of the mean of p(A|B') over the translations B'."""
        flat = [
            (
                [a for a, pivots in zip(A, several, strict=True) for _ in pivots],
                [pivot for pivots in several for pivot, _ in pivots],
            )
            for A, several in conditionals
        ]
        result = []
        for (_, several), log_ps in zip(conditionals, ask.log_p(*flat), strict=True):
            numbers = iter(log_ps)
            result.append(
                [
                    self.log_mean([next(numbers) for _ in pivots], [w for _, w in pivots])
                    for pivots in several
                ]
            )
        return result


@measure
@dataclass(frozen=True, kw_only=True)
class Cross(ThroughTranslation):
    """How well a translation of B would do as a translation of A."""

    name = "cross"
    summary = "How well a translation of one text would do as a translation of the other."
    language_setting = "target_lang"
    target_lang: str = setting(
        "", "The language that cross translates into; automatic: English, or the only one."
    )
    """Default: English, or the only target language of the model. Several with commas: their
    similarities are averaged."""

    def reading(self, score: float) -> str:
        return (
            f"a translation of one text is {percent(score)} as probable from the other as from "
            "its own original"
        )

    def targets(self) -> tuple[bool, bool]:
        return False, False

    def through(self, A: Texts, B: Texts, ask: Queries, lang: str) -> list[float]:
        [several] = self.translations(ask, B, into=lang)
        B_ = [pivot for pivots in several for pivot, _ in pivots]
        A_, originals = (
            [text for text, pivots in zip(side, several, strict=True) for _ in pivots]
            for side in (A, B)
        )
        if not self.normalized:
            [BA] = ask.log_p((B_, A_))
            values = [self.power(ba) for ba in BA]  # p(B'|A)
        else:
            BA, BB = ask.log_p((B_, A_), (B_, originals))
            values = self.ratio(BA, BB)  # p(B'|A) / p(B'|B)
        numbers = iter(values)
        return [sum(weight * next(numbers) for _, weight in pivots) for pivots in several]


@dataclass(frozen=True, kw_only=True)
class Prism(TranslationMeasure):
    """What the two measures of Prism share: they are log-probabilities."""

    bounds = (-math.inf, 0.0)

    def lengths(self, texts: Texts) -> list[int]:
        return self.model.token_counts([text.text for text in texts])

    def whole(self, scores: Sequence[float], weights: Sequence[float]) -> float:
        """The mean log-probability; with G, the log-probability of all parts."""
        return math.fsum(scores) if self.aggregate == "G" else super().whole(scores, weights)


@measure
@dataclass(frozen=True, kw_only=True)
class PrismRef(Prism):
    """Prism against a reference: (1 - alpha) H(ref|sys) + alpha H(sys|ref), a log-probability."""

    name = "prism-ref"
    summary = "Mean log-probability of hypothesis and reference, each given the other."
    usual = MappingProxyType({"alpha": 0.5, **Prism.usual})
    alpha: float = setting(
        0.5,
        "Weight of the first text given the second; the rest is that of the reverse.",
        low=0,
        high=1,
    )
    """The weight of the hypothesis given the reference, as in figure 5 of the paper."""

    @property
    def is_symmetric(self) -> bool:
        return self.alpha == 0.5

    def reading(self, score: float) -> str:
        return (
            f"given the other text, a token has a probability of {percent(math.exp(score))} "
            "on average"
        )

    def targets(self) -> tuple[bool, bool]:
        return True, True

    def similarities(self, A: Texts, B: Texts, ask: Queries) -> list[float]:
        AB, BA = ask.log_p((A, B), (B, A))
        pairs = zip(AB, BA, strict=True)
        return [(1 - self.alpha) * ba + self.alpha * ab for ab, ba in pairs]


@measure
@dataclass(frozen=True, kw_only=True)
class PrismSrc(Prism):
    """Prism against the source, with no reference: H(sys|src)."""

    name = "prism-src"
    summary = "Mean log-probability of the hypothesis given the source; needs no reference."
    usual = MappingProxyType({"boosted": False, **Prism.usual})
    against: Literal["source"] = setting("source", "What the hypothesis is compared with.")
    boosted: bool = setting(
        False, "Whether tokens count more that the source makes probable.", served=False
    )
    """Tokens that share the top probability mass are not punished (BoostedProb)."""

    def reading(self, score: float) -> str:
        return (
            f"given the source, a token has a probability of {percent(math.exp(score))} on average"
        )

    def targets(self) -> tuple[bool, bool]:
        return True, False

    def reads_any_source(self) -> bool:
        """Table 4 of the paper has gu-en, by a model that has not seen Gujarati: it reads no tag.

        A model that reads one language can expect no other.
        """
        return not self.model.needs_source_language and len(self.model.languages.source) > 1

    def similarities(self, A: Texts, B: Texts, ask: Queries) -> list[float]:
        if self.reads_any_source():
            languages = self.model.languages
            B = [  # no tag depends on the language
                text
                if text.lang is None or languages.resolve(text.lang) in languages.source
                else text._replace(lang=None)
                for text in B
            ]
        if self.boosted:
            return ask.boosted_log_p(A, B)
        [AB] = ask.log_p((A, B))
        return AB


def intermediate(model: TranslationModel, langs: str) -> str:
    """The language to translate into: as given, the only one, or English as in the paper.

    Several languages are separated by commas.
    """
    if langs:
        codes = [target_language(model, lang.strip()) for lang in langs.split(",")]
        if len(set(codes)) < len(codes):
            raise SettingError(f"{langs}: each language may occur only once")
        return ",".join(codes)
    targets = model.languages.target
    if len(targets) == 1:
        return next(iter(targets))
    return target_language(model, "en")
