"""Where two texts differ, by one or several methods, for any number of pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from tertium.errors import LanguageError, SettingError
from tertium.explanation.alignment import (
    DELETION_THRESHOLD,
    DIFFERENCE,
    DIFFERENCE_THRESHOLD,
    word_deletions,
    word_differences,
)
from tertium.explanation.changes import changes, in_one_language
from tertium.explanation.counterparts import counterparts
from tertium.explanation.coverage import (
    ADDITION,
    OMISSION,
    CoverageSettings,
    coverage_candidates,
    coverage_gains,
)
from tertium.explanation.decisions import (
    FALSE_ALARMS,
    PARAPHRASES,
    TRANSLATIONS,
    Decisions,
    LearnedDecisions,
    check_rate,
    decisions_for,
)
from tertium.explanation.flags import flag
from tertium.explanation.hallucination import HALLUCINATION_THRESHOLD, hallucinations
from tertium.explanation.likelihood import (
    CONTRAST_THRESHOLD,
    UNLIKELY_THRESHOLD,
    TranslationDirection,
    directions,
    word_contrasts,
    word_losses,
)
from tertium.explanation.opposites import (
    CHANGE,
    MARGINS,
    NEGATION,
    OPPOSITE,
    SURE,
    opposites,
    reported_opposites,
)
from tertium.explanation.spans import (
    A,
    B,
    Severity,
    Span,
    WordScores,
    mark_words,
    severity_of,
    strongest,
    worst,
)
from tertium.models.base import Progress, TextEncoder, TranslationModel
from tertium.models.languages import supported_language
from tertium.report.tables import data_frame
from tertium.text import Text

COVERAGE, HALLUCINATION, FLAGS, DIRECTION = "coverage", "hallucination", "flags", "direction"
OPPOSITES = "opposites"
UNLIKELY, CONTRAST, DIFFERENCES, DELETION = "unlikely", "contrast", "differences", "deletion"
METHODS = {
    COVERAGE: "omissions and additions",
    OPPOSITES: "negations and opposites; in one language, all words that differ",
    UNLIKELY: "words that are unlikely given the other text",
    CONTRAST: "words that the other text explains no better than an unrelated one",
    DIFFERENCES: "words without a similar word on the other side",
    DELETION: "words without which the texts are more similar",
    HALLUCINATION: "a hypothesis that its source does not explain",
    DIRECTION: "which text is the original",
    FLAGS: "numbers, names, untranslated parts, placeholders, copy, wrong language, truncation",
}
DEFAULT_METHODS = (COVERAGE, OPPOSITES, HALLUCINATION, FLAGS)
NEED_MODEL = frozenset({COVERAGE, OPPOSITES, UNLIKELY, CONTRAST, HALLUCINATION, DIRECTION})
NEED_ENCODER = frozenset({DIFFERENCES, DELETION})
THRESHOLDS = {
    COVERAGE: CoverageSettings.threshold,
    UNLIKELY: UNLIKELY_THRESHOLD,
    CONTRAST: CONTRAST_THRESHOLD,
    DIFFERENCES: DIFFERENCE_THRESHOLD,
    DELETION: DELETION_THRESHOLD,
    HALLUCINATION: HALLUCINATION_THRESHOLD,
    **MARGINS,
}
"""The scores from which something is reported, where nothing was learned for the model."""
KINDS = {
    COVERAGE: (OMISSION, ADDITION),
    OPPOSITES: (NEGATION, OPPOSITE, CHANGE),
    **{name: (name,) for name in (UNLIKELY, CONTRAST, DIFFERENCES, DELETION, HALLUCINATION)},
}
"""The kinds of evidence of each method, which have thresholds of their own."""
METHOD_OF = {kind: method for method, kinds in KINDS.items() for kind in kinds}
WORD_METHODS = {UNLIKELY: UNLIKELY, **dict.fromkeys((CONTRAST, DIFFERENCES, DELETION), DIFFERENCE)}
"""Methods that give every word a score, and the kinds of their spans."""

Pair = tuple[Text, Text]


@dataclass(frozen=True)
class PairReview:
    """The spans and flags of a pair; ``a`` is the hypothesis, ``b`` the reference or the source."""

    a: Text
    b: Text
    spans: tuple[Span, ...] = ()
    flags: tuple[str, ...] = ()
    direction: TranslationDirection | None = None
    error_probability: float | None = None
    """Of an error at all, where half of the rows have one; None if it was not learned."""
    false_alarms: float | None = None
    """The share of right rows that are reported at most; None without learned thresholds."""

    @property
    def score(self) -> float | None:
        """From 0 to 100, as in ESA: 100 times the probability that there is no error."""
        return None if self.error_probability is None else 100 * (1 - self.error_probability)

    @property
    def error_free(self) -> bool:
        """Whether nothing is reported."""
        return not self.spans and not self.flags

    @property
    def severity(self) -> Severity | None:
        """The severity of the worst span; a flag without a span is major."""
        placeless = set(self.flags) - {span.kind for span in self.spans}
        severity = worst(self.spans)
        return "major" if placeless and severity != "critical" else severity

    @property
    def changes(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """The characters of both texts in words that differ, if they are in one language."""
        if not in_one_language(self.a, self.b):
            return [], []
        found = changes(self.a.text, self.b.text)
        return (
            [(each.a_start, each.a_end) for each in found if each.a_start < each.a_end],
            [(each.b_start, each.b_end) for each in found if each.b_start < each.b_end],
        )

    def of_side(self, side: str) -> list[Span]:
        """The spans of one text, in order."""
        return sorted(
            (span for span in self.spans if span.side == side), key=lambda span: span.start
        )

    def to_dict(self) -> dict[str, Any]:
        """The review as an object of JSON."""
        result: dict[str, Any] = {
            "spans": [span.to_dict() for span in self.spans],
            "flags": list(self.flags),
            "severity": self.severity,
        }
        if self.direction is not None:
            result["direction"] = self.direction.score
        if self.error_probability is not None:
            result["error_probability"] = round(self.error_probability, 4)
        return result

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` returned, with the texts; of directions, nothing is kept."""
        return cls(
            Text(*fields["a"]),
            Text(*fields["b"]),
            tuple(map(Span.from_dict, fields["spans"])),
            tuple(fields["flags"]),
            error_probability=fields.get("error_probability"),
        )

    def _repr_html_(self) -> str:
        """Both texts with their spans marked, for notebooks."""
        from tertium.explanation.report import review_fragment

        return review_fragment(self)


class PairReviews(list[PairReview]):
    """The reviews of several pairs, in order, which can become a data frame."""

    def to_pandas(self) -> Any:
        """A data frame with one row per pair: both texts, spans, flags and severity."""
        return data_frame({"a": each.a.text, "b": each.b.text, **each.to_dict()} for each in self)


def read_methods(methods: str | Sequence[str] | None) -> tuple[str, ...]:
    """Check the names of methods; a string may name several, separated by commas.

    >>> read_methods("flags,coverage")
    ('coverage', 'flags')
    """
    if methods is None:
        return DEFAULT_METHODS
    several = [methods] if isinstance(methods, str) else methods
    names = [name.strip() for each in several for name in each.split(",") if name.strip()]
    for name in names:
        if name not in METHODS:
            raise SettingError(f"unknown method {name!r}: use {', '.join(METHODS)}")
    if not names:
        raise SettingError(f"no method is given: use {', '.join(METHODS)}")
    return tuple(name for name in METHODS if name in names)


def read_thresholds(texts: Sequence[str], methods: Sequence[str]) -> dict[str, float]:
    """Read thresholds, METHOD=NUMBER; a number alone is that of the first method with a threshold.

    >>> read_thresholds(["unlikely=5", "0.2"], ["coverage", "unlikely"])
    {'unlikely': 5.0, 'coverage': 0.2}
    """
    read: dict[str, float] = {}
    usable = [name for name in THRESHOLDS if METHOD_OF.get(name, name) in methods]
    for text in texts:
        for part in text.split(","):
            name, equals, number = part.strip().rpartition("=")
            if not equals:
                name = next((method for method in methods if method in usable), "")
            if name not in usable:
                raise SettingError(
                    f"threshold {part!r}: use METHOD=NUMBER with one of the chosen methods that "
                    f"have a threshold ({', '.join(usable) or 'none'})"
                )
            try:
                read[name] = float(number)
            except ValueError:
                raise SettingError(f"threshold {part!r}: {number!r} is not a number") from None
    return read


@dataclass(frozen=True)
class Candidates:
    """What the methods found in a pair, whether it is reported or not."""

    spans: dict[str, list[Span]] = field(default_factory=dict)
    """By the kind of evidence."""
    flags: list[str] = field(default_factory=list)
    flagged: list[Span] = field(default_factory=list)
    direction: TranslationDirection | None = None

    @property
    def evidence(self) -> dict[str, float]:
        """The highest score of each kind."""
        return {
            kind: max(span.score for span in spans) for kind, spans in self.spans.items() if spans
        }

    @property
    def certain(self) -> bool:
        """Whether there is a flag, or nothing but a negation or an opposite differs."""
        opposed = (self.evidence.get(kind, 0.0) for kind in (NEGATION, OPPOSITE))
        return bool(self.flags) or max(opposed) >= SURE / 2


@dataclass(frozen=True)
class Reviewer:
    """Methods with their settings and models."""

    methods: tuple[str, ...] = DEFAULT_METHODS
    model: TranslationModel | None = None
    encoder: TextEncoder | None = None
    coverage: CoverageSettings = field(default_factory=CoverageSettings)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    """Those that are neither the default nor learned."""
    learned: LearnedDecisions | None = None
    """What was learned for the model, if anything."""
    aligner: TextEncoder | None = None
    """What says which words have a counterpart, if something was learned with it."""
    false_alarms: float = FALSE_ALARMS
    """The share of right rows that are reported at most, if something was learned."""

    def __post_init__(self) -> None:
        if self.model is None and (wanting := NEED_MODEL.intersection(self.methods)):
            raise SettingError(f"{', '.join(sorted(wanting))}: a translation model is needed")
        if self.encoder is None and (wanting := NEED_ENCODER.intersection(self.methods)):
            raise SettingError(f"{', '.join(sorted(wanting))}: an encoder is needed")
        check_rate(self.false_alarms)
        threshold = self.thresholds.get(COVERAGE, self.coverage.threshold)
        object.__setattr__(self, "coverage", replace(self.coverage, threshold=threshold))

    def threshold(self, method: str) -> float:
        """The score from which a method reports something, where nothing was learned."""
        if method == COVERAGE:
            return self.coverage.threshold
        return self.thresholds.get(method, THRESHOLDS[method])

    def decisions(self, pair: Pair) -> Decisions | None:
        """What was learned for pairs in as many languages."""
        if self.learned is None:
            return None
        return self.learned.decisions.get(PARAPHRASES if in_one_language(*pair) else TRANSLATIONS)

    def check_decides(self) -> None:
        """Refuse to give probabilities where nothing was learned, or with other methods."""
        if self.learned is None:
            name = "there is no model" if self.model is None else f"none were for {self.model.name}"
            raise SettingError(
                f"the probability of an error is one of learned decisions, and {name}"
            )
        for what, each in self.learned.decisions.items():
            if missing := [name for name in each.methods if name not in self.methods]:
                raise SettingError(
                    f"the probability of an error was learned for {what} with the methods "
                    f"{', '.join(each.methods)}; {', '.join(missing)} is not chosen"
                )

    def kind_thresholds(self, decisions: Decisions | None) -> dict[str, float]:
        """The score from which each kind of evidence is reported."""
        kinds = [kind for method in self.methods for kind in KINDS.get(method, ())]
        found = {
            kind: self.threshold(METHOD_OF[kind] if METHOD_OF[kind] in THRESHOLDS else kind)
            for kind in kinds
        }
        if decisions is not None:
            found |= decisions.chosen(kinds, FLAGS in self.methods, self.false_alarms)
        for kind in kinds:
            for name in (METHOD_OF[kind], kind):
                found[kind] = self.thresholds.get(name, found[kind])
        return found

    def __call__(
        self,
        pairs: Sequence[Pair],
        progress: Progress | None = None,
        numbers: Sequence[int] | None = None,
    ) -> list[PairReview]:
        """Review pairs of a hypothesis and a reference or source; errors name their numbers."""
        self.check_languages(pairs, numbers)
        by_kind = {
            decisions: self.kind_thresholds(decisions)
            for decisions in (None, *(self.learned.decisions.values() if self.learned else ()))
        }
        reviews = []
        for (a, b), found in zip(pairs, self.candidates(pairs, progress), strict=True):
            decisions = self.decisions((a, b))
            spans, flags = self._reported(found, by_kind[decisions])
            probability = None
            if decisions is not None and set(decisions.methods) <= set(self.methods):
                probability = decisions.probability(found.evidence, found.certain)
            rate = None if decisions is None else self.false_alarms
            reviews.append(PairReview(a, b, spans, flags, found.direction, probability, rate))
        return reviews

    def _reported(
        self, found: Candidates, thresholds: Mapping[str, float]
    ) -> tuple[tuple[Span, ...], tuple[str, ...]]:
        """The spans that reach their thresholds, and the flags."""
        kept = {
            kind: [span for span in spans if span.score >= thresholds[kind]]
            for kind, spans in found.spans.items()
        }
        covered = kept.pop(OMISSION, []) + kept.pop(ADDITION, [])
        opposed = [span for kind in KINDS[OPPOSITES] for span in kept.pop(kind, [])]
        hallucinated = kept.pop(HALLUCINATION, [])
        if hallucinated:  # of unrelated texts, parts say nothing
            covered, opposed = [], []
        words = [
            replace(span, severity=severity_of(span.score, thresholds[kind]))
            for kind, spans in kept.items()
            for span in spans
        ]
        flags = [HALLUCINATION for _ in hallucinated] + found.flags
        spans = [*strongest(covered), *reported_opposites(opposed), *hallucinated, *words]
        return (*spans, *found.flagged), tuple(flags)

    def candidates(
        self, pairs: Sequence[Pair], progress: Progress | None = None
    ) -> list[Candidates]:
        """What each method finds in each pair, with scores, below the thresholds as well."""
        found = [Candidates() for _ in pairs]
        if self.model is not None:
            if COVERAGE in self.methods:
                for each, spans in zip(found, self._coverage(pairs, progress), strict=True):
                    each.spans[OMISSION] = [span for span in spans if span.kind == OMISSION]
                    each.spans[ADDITION] = [span for span in spans if span.kind == ADDITION]
            if OPPOSITES in self.methods:
                tried = opposites(pairs, self.model, progress)
                for each, spans in zip(found, tried, strict=True):
                    for kind in KINDS[OPPOSITES]:
                        each.spans[kind] = [span for span in spans if span.kind == kind]
            if HALLUCINATION in self.methods:
                whole = hallucinations(pairs, self.model, -math.inf, progress=progress)
                for each, spans in zip(found, whole, strict=True):
                    each.spans[HALLUCINATION] = spans
        for method, kind in WORD_METHODS.items():
            if method in self.methods:
                scores = self.word_scores(method, pairs, progress)
                for pair, each, words in zip(pairs, found, scores, strict=True):
                    each.spans[method] = mark_words(pair, words, kind, -math.inf)
        if DIRECTION in self.methods and self.model is not None:
            asked = directions(pairs, self.model, progress)
            found = [
                replace(each, direction=direction)
                for each, direction in zip(found, asked, strict=True)
            ]
        if FLAGS in self.methods:
            for (a, b), each in zip(pairs, found, strict=True):
                names, spans = flag(a, b)
                each.flags.extend(names)
                each.flagged.extend(spans)
        return found

    def word_scores(
        self, method: str, pairs: Sequence[Pair], progress: Progress | None = None
    ) -> list[WordScores]:
        """The score of every word of both texts by one of ``WORD_METHODS``."""
        if method in NEED_ENCODER and self.encoder is not None:
            by_vectors = word_differences if method == DIFFERENCES else word_deletions
            return by_vectors(pairs, self.encoder, progress)
        assert self.model is not None  # checked when it was made
        by_model = word_losses if method == UNLIKELY else word_contrasts
        return by_model(pairs, self.model, progress)

    def _coverage(self, pairs: Sequence[Pair], progress: Progress | None) -> list[list[Span]]:
        """The phrases of both sides, or of the one that the model has the direction for."""
        assert self.model is not None  # checked when it was made
        groups: dict[tuple[tuple[str, ...], bool], list[int]] = {}
        for place, pair in enumerate(pairs):
            learned = self.decisions(pair) is not None
            groups.setdefault((sides_for(self.model, pair), learned), []).append(place)
        spans: list[list[Span]] = [[] for _ in pairs]
        for (sides, learned), places in groups.items():
            chosen = [pairs[place] for place in places]
            settings = self.coverage_settings(learned)
            covered = None
            if learned and self.aligner is not None:
                covered = counterparts(chosen, self.aligner, progress)
            gains = coverage_gains(
                *(chosen, self.model, settings),
                sides=sides,
                every=False,
                covered=covered,
                progress=progress,
            )
            for place, pair, gain in zip(places, chosen, gains, strict=True):
                spans[place] = coverage_candidates(pair, gain, settings)
        return spans

    def coverage_settings(self, learned: bool) -> CoverageSettings:
        """The settings of coverage, with those that were learned."""
        if not learned or self.learned is None:
            return self.coverage
        return replace(
            self.coverage,
            explained=-math.inf,
            factors=self.learned.factors,
            tried=self.learned.tried,
        )

    def check_languages(self, pairs: Sequence[Pair], numbers: Sequence[int] | None = None) -> None:
        """Refuse languages and directions that the model does not have, with the row."""
        needing = [method for method in self.methods if method in NEED_MODEL]
        if self.model is None or not needing:
            return
        checked: set[tuple[str | None, str | None]] = set()
        for row, (a, b) in zip(numbers or range(1, len(pairs) + 1), pairs, strict=True):
            if (a.lang, b.lang) in checked:
                continue
            checked.add((a.lang, b.lang))
            for role, text in (("the first text", a), ("the second text", b)):
                try:
                    supported_language(self.model, text.lang, role)
                except LanguageError as error:
                    cure = "use {lang}, and {reference_lang} or {source_lang} for the second text"
                    raise error.at(f"row {row}: ", cure=cure) from None
            self._check_directions(row, a, b, needing)

    def _check_directions(self, row: int, a: Text, b: Text, methods: Sequence[str]) -> None:
        """Refuse methods that need a direction which the model does not have."""
        model = self.model
        assert model is not None
        there, back = model.translates(b.lang, a.lang), model.translates(a.lang, b.lang)
        itself = all(model.translates(text.lang, text.lang) for text in (a, b))
        lacking = {
            COVERAGE: "" if there or back else f"{b.lang} to {a.lang}",
            OPPOSITES: "" if there or back else f"{b.lang} to {a.lang}",
            CONTRAST: "" if there or back else f"{b.lang} to {a.lang}",
            HALLUCINATION: "" if there else f"{b.lang} to {a.lang}",
            DIRECTION: "" if there and back else f"{b.lang} to {a.lang} and back",
            UNLIKELY: "" if there and back and itself else "both ways and a language into itself",
        }
        for method in methods:
            if lacking[method]:
                raise LanguageError(
                    f"row {row}: {method} needs a model that translates {lacking[method]} "
                    f"({model.name} {model.languages.describe()})",
                    cure=(
                        "use another {model}",
                        "a pair of models ({model:A+B})",
                        f"{{method}} without {method}",
                    ),
                )

    def description(self) -> dict[str, Any]:
        """Everything that can change a result."""
        described: dict[str, Any] = {"methods": list(self.methods)}
        if self.model is not None:
            described["model"] = [self.model.fingerprint, dict(self.model.settings)]
        if self.encoder is not None:
            described["encoder"] = [self.encoder.fingerprint, dict(self.encoder.settings)]
        if self.learned is not None and self.model is not None:
            described["learned"] = self.learned.digest
            described["false_alarms"] = self.false_alarms
        if COVERAGE in self.methods:
            described[COVERAGE] = asdict(self.coverage)
        for name in THRESHOLDS:
            if METHOD_OF.get(name, name) in self.methods and name != COVERAGE:
                described[name] = {"threshold": self.threshold(name)}
        if self.learned is not None:
            described["thresholds"] = dict(self.thresholds)
        return described


def sides_for(model: TranslationModel, pair: Pair) -> tuple[str, ...]:
    """The sides whose phrases can be deleted: the model must translate from that side."""
    a, b = (text.lang for text in pair)
    return tuple(
        side for side, source, target in ((A, a, b), (B, b, a)) if model.translates(source, target)
    )


def learned_for(
    model: TranslationModel | None, path: Path | None = None
) -> tuple[LearnedDecisions | None, TextEncoder | None]:
    """What was learned for a model, with the encoder that it needs; nothing if there is none.

    Something that was learned with another encoder than the bundled one does not count.
    """
    learned = decisions_for(model, path)
    if learned is None:
        return None, None
    from tertium.models.catalog import DEFAULT_ENCODER, load_encoder

    aligner = load_encoder(DEFAULT_ENCODER)
    return (learned, aligner) if aligner.fingerprint == learned.aligner else (None, None)


def load_reviewer(
    methods: str | Sequence[str] | None = None,
    *,
    model: str | Path | TranslationModel | None = None,
    encoder: str | Path | TextEncoder | None = None,
    thresholds: Mapping[str, float] | None = None,
    false_alarms: float | None = None,
) -> Reviewer:
    """Make a reviewer with default settings; loads the models that its methods need."""
    names = read_methods(methods)
    translation: TranslationModel | None = None
    token_encoder = None
    if NEED_MODEL.intersection(names):
        from tertium.models.catalog import DEFAULT_MODEL, load_model

        if model is None or isinstance(model, str | Path):
            translation = load_model(model or DEFAULT_MODEL)
        else:
            translation = model
    usable = [name for name in THRESHOLDS if METHOD_OF.get(name, name) in names]
    for name in thresholds or {}:
        if name not in usable:
            raise SettingError(
                f"no threshold {name!r}: these methods have {', '.join(usable) or 'none'}"
            )
    if NEED_ENCODER.intersection(names):
        from tertium.models.catalog import DEFAULT_MODEL, load_encoder

        if encoder is None:
            encoder = model if isinstance(model, str | Path) else DEFAULT_MODEL
        token_encoder = load_encoder(encoder) if isinstance(encoder, str | Path) else encoder
    learned, aligner = learned_for(translation)
    return Reviewer(
        names,
        translation,
        token_encoder,
        thresholds=thresholds or {},
        learned=learned,
        aligner=aligner,
        false_alarms=FALSE_ALARMS if false_alarms is None else false_alarms,
    )
