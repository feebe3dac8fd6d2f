"""Where two texts differ, by one or several methods, for any number of pairs."""

from __future__ import annotations

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
from tertium.explanation.coverage import CoverageSettings, coverage
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
from tertium.explanation.spans import A, B, Severity, Span, WordScores, mark_words, worst
from tertium.models.base import Progress, TextEncoder, TranslationModel
from tertium.models.languages import supported_language
from tertium.report.tables import data_frame
from tertium.text import Text

COVERAGE, HALLUCINATION, FLAGS, DIRECTION = "coverage", "hallucination", "flags", "direction"
UNLIKELY, CONTRAST, DIFFERENCES, DELETION = "unlikely", "contrast", "differences", "deletion"
METHODS = {
    COVERAGE: "omissions and additions",
    UNLIKELY: "words that are unlikely given the other text",
    CONTRAST: "words that the other text explains no better than an unrelated one",
    DIFFERENCES: "words without a similar word on the other side",
    DELETION: "words without which the texts are more similar",
    HALLUCINATION: "a hypothesis that its source does not explain",
    DIRECTION: "which text is the original",
    FLAGS: "numbers, names, untranslated parts, placeholders, copy, wrong language, truncation",
}
DEFAULT_METHODS = (COVERAGE, HALLUCINATION, FLAGS)
NEED_MODEL = frozenset({COVERAGE, UNLIKELY, CONTRAST, HALLUCINATION, DIRECTION})
NEED_ENCODER = frozenset({DIFFERENCES, DELETION})
THRESHOLDS = {
    COVERAGE: CoverageSettings.threshold,
    UNLIKELY: UNLIKELY_THRESHOLD,
    CONTRAST: CONTRAST_THRESHOLD,
    DIFFERENCES: DIFFERENCE_THRESHOLD,
    DELETION: DELETION_THRESHOLD,
    HALLUCINATION: HALLUCINATION_THRESHOLD,
}
"""The scores from which something is reported."""
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

    @property
    def severity(self) -> Severity | None:
        """The severity of the worst span; a flag without a span is major."""
        placeless = set(self.flags) - {span.kind for span in self.spans}
        severity = worst(self.spans)
        return "major" if placeless and severity != "critical" else severity

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
        return result

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` returned, with the texts; of directions, nothing is kept."""
        return cls(
            Text(*fields["a"]),
            Text(*fields["b"]),
            tuple(map(Span.from_dict, fields["spans"])),
            tuple(fields["flags"]),
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
    for text in texts:
        for part in text.split(","):
            name, equals, number = part.strip().rpartition("=")
            if not equals:
                name = next((method for method in methods if method in THRESHOLDS), "")
            if name not in THRESHOLDS or name not in methods:
                usable = ", ".join(method for method in methods if method in THRESHOLDS)
                raise SettingError(
                    f"threshold {part!r}: use METHOD=NUMBER with one of the chosen methods that "
                    f"have a threshold ({usable or 'none'})"
                )
            try:
                read[name] = float(number)
            except ValueError:
                raise SettingError(f"threshold {part!r}: {number!r} is not a number") from None
    return read


@dataclass(frozen=True)
class Reviewer:
    """Methods with their settings and models."""

    methods: tuple[str, ...] = DEFAULT_METHODS
    model: TranslationModel | None = None
    encoder: TextEncoder | None = None
    coverage: CoverageSettings = field(default_factory=CoverageSettings)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    """Those that are not the default; that of coverage is in its settings."""

    def __post_init__(self) -> None:
        if self.model is None and (wanting := NEED_MODEL.intersection(self.methods)):
            raise SettingError(f"{', '.join(sorted(wanting))}: a translation model is needed")
        if self.encoder is None and (wanting := NEED_ENCODER.intersection(self.methods)):
            raise SettingError(f"{', '.join(sorted(wanting))}: an encoder is needed")
        if COVERAGE in self.thresholds:
            settings = replace(self.coverage, threshold=self.thresholds[COVERAGE])
            others = {name: each for name, each in self.thresholds.items() if name != COVERAGE}
            object.__setattr__(self, "coverage", settings)
            object.__setattr__(self, "thresholds", others)

    def threshold(self, method: str) -> float:
        """The score from which a method reports something."""
        if method == COVERAGE:
            return self.coverage.threshold
        return self.thresholds.get(method, THRESHOLDS[method])

    def __call__(
        self,
        pairs: Sequence[Pair],
        progress: Progress | None = None,
        numbers: Sequence[int] | None = None,
    ) -> list[PairReview]:
        """Review pairs of a hypothesis and a reference or source; errors name their numbers."""
        spans: list[list[Span]] = [[] for _ in pairs]
        flags: list[list[str]] = [[] for _ in pairs]
        found: Sequence[TranslationDirection | None] = [None] * len(pairs)
        self.check_languages(pairs, numbers)
        if self.model is not None:
            if COVERAGE in self.methods:
                _extend(spans, self._coverage(self.model, pairs, progress))
            if HALLUCINATION in self.methods:
                threshold = self.threshold(HALLUCINATION)
                marked = hallucinations(pairs, self.model, threshold, progress=progress)
                _extend(spans, marked)
                for names, more in zip(flags, marked, strict=True):
                    names += [span.kind for span in more]
            if DIRECTION in self.methods:
                found = directions(pairs, self.model, progress)
        for method, kind in WORD_METHODS.items():
            if method in self.methods:
                scores = self.word_scores(method, pairs, progress)
                threshold = self.threshold(method)
                _extend(
                    spans,
                    [
                        mark_words(pair, words, kind, threshold)
                        for pair, words in zip(pairs, scores, strict=True)
                    ],
                )
        if FLAGS in self.methods:
            for place, (a, b) in enumerate(pairs):
                names, more = flag(a, b)
                flags[place] += names
                spans[place] += more
        return [
            PairReview(a, b, tuple(own), tuple(names), direction)
            for (a, b), own, names, direction in zip(pairs, spans, flags, found, strict=True)
        ]

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

    def _coverage(
        self, model: TranslationModel, pairs: Sequence[Pair], progress: Progress | None
    ) -> list[list[Span]]:
        """Report both sides, or the one that the model has the direction for."""
        by_sides: dict[tuple[str, ...], list[int]] = {}
        for place, pair in enumerate(pairs):
            by_sides.setdefault(sides_for(model, pair), []).append(place)
        spans: list[list[Span]] = [[] for _ in pairs]
        for sides, places in by_sides.items():
            chosen = [pairs[place] for place in places]
            results = coverage(chosen, model, self.coverage, sides=sides, progress=progress)
            for place, result in zip(places, results, strict=True):
                spans[place] = result
        return spans

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
        if COVERAGE in self.methods:
            described[COVERAGE] = asdict(self.coverage)
        for name in THRESHOLDS:
            if name in self.methods and name != COVERAGE:
                described[name] = {"threshold": self.threshold(name)}
        return described


def sides_for(model: TranslationModel, pair: Pair) -> tuple[str, ...]:
    """The sides whose phrases can be deleted: the model must translate from that side."""
    a, b = (text.lang for text in pair)
    return tuple(
        side for side, source, target in ((A, a, b), (B, b, a)) if model.translates(source, target)
    )


def load_reviewer(
    methods: str | Sequence[str] | None = None,
    *,
    model: str | Path | TranslationModel | None = None,
    encoder: str | Path | TextEncoder | None = None,
    thresholds: Mapping[str, float] | None = None,
) -> Reviewer:
    """Make a reviewer with default settings; loads the models that its methods need."""
    names = read_methods(methods)
    translation = token_encoder = None
    if NEED_MODEL.intersection(names):
        from tertium.models.catalog import DEFAULT_MODEL, load_model

        by_name = model is None or isinstance(model, str | Path)
        translation = load_model(model or DEFAULT_MODEL) if by_name else model  # type: ignore[arg-type]
    for name in thresholds or {}:
        if name not in THRESHOLDS or name not in names:
            usable = ", ".join(each for each in names if each in THRESHOLDS)
            raise SettingError(f"no threshold {name!r}: these methods have {usable or 'none'}")
    if NEED_ENCODER.intersection(names):
        from tertium.models.catalog import DEFAULT_MODEL, load_encoder

        if encoder is None:
            encoder = model if isinstance(model, str | Path) else DEFAULT_MODEL
        token_encoder = load_encoder(encoder) if isinstance(encoder, str | Path) else encoder
    return Reviewer(names, translation, token_encoder, thresholds=thresholds or {})  # type: ignore[arg-type]


def _extend(spans: list[list[Span]], more: Sequence[Sequence[Span]]) -> None:
    for own, new in zip(spans, more, strict=True):
        own += new
