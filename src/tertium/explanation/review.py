"""Where two texts differ, by one or several methods, for any number of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tertium.errors import LanguageError, SettingError
from tertium.explanation.alignment import DifferenceSettings, differences
from tertium.explanation.coverage import CoverageSettings, coverage
from tertium.explanation.flags import flag
from tertium.explanation.likelihood import (
    TranslationDirection,
    UnlikelySettings,
    directions,
    unlikely,
)
from tertium.explanation.spans import A, B, Severity, Span, worst
from tertium.models.base import Progress, TextEncoder, TranslationModel
from tertium.models.languages import supported_language
from tertium.text import Text

COVERAGE, UNLIKELY, DIFFERENCES = "coverage", "unlikely", "differences"
DIRECTION, FLAGS = "direction", "flags"
METHODS = {
    COVERAGE: "omissions and additions",
    UNLIKELY: "words that are unlikely given the other text",
    DIFFERENCES: "words without a similar word on the other side",
    DIRECTION: "which text is the original",
    FLAGS: "copy, truncation, repetition, missing numbers and names",
}
DEFAULT_METHODS = (COVERAGE, FLAGS)
NEED_MODEL = frozenset({COVERAGE, UNLIKELY, DIRECTION})

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
        return "major" if placeless else worst(self.spans)

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

    def _repr_html_(self) -> str:
        """Both texts with their spans marked, for notebooks."""
        from tertium.explanation.report import review_fragment

        return review_fragment(self)


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


@dataclass(frozen=True)
class Reviewer:
    """Methods with their settings and models."""

    methods: tuple[str, ...] = DEFAULT_METHODS
    model: TranslationModel | None = None
    encoder: TextEncoder | None = None
    coverage: CoverageSettings = field(default_factory=CoverageSettings)
    unlikely: UnlikelySettings = field(default_factory=UnlikelySettings)
    differences: DifferenceSettings = field(default_factory=DifferenceSettings)

    def __post_init__(self) -> None:
        if self.model is None and NEED_MODEL.intersection(self.methods):
            raise SettingError("coverage, unlikely and direction need a translation model")
        if self.encoder is None and DIFFERENCES in self.methods:
            raise SettingError("differences needs an encoder")

    def __call__(
        self, pairs: Sequence[Pair], progress: Progress | None = None, first_row: int = 1
    ) -> list[PairReview]:
        """Review pairs of a hypothesis and a reference or source."""
        spans: list[list[Span]] = [[] for _ in pairs]
        flags: list[list[str]] = [[] for _ in pairs]
        found: Sequence[TranslationDirection | None] = [None] * len(pairs)
        if self.model is not None and NEED_MODEL.intersection(self.methods):
            self._check_languages(pairs, first_row)
            if COVERAGE in self.methods:
                _extend(spans, self._coverage(self.model, pairs, progress))
            if UNLIKELY in self.methods:
                _extend(spans, unlikely(pairs, self.model, self.unlikely, progress=progress))
            if DIRECTION in self.methods:
                found = directions(pairs, self.model, progress)
        if self.encoder is not None and DIFFERENCES in self.methods:
            _extend(spans, differences(pairs, self.encoder, self.differences, progress=progress))
        if FLAGS in self.methods:
            for place, (a, b) in enumerate(pairs):
                flags[place], more = flag(a, b)
                spans[place] += more
        return [
            PairReview(a, b, tuple(own), tuple(names), direction)
            for (a, b), own, names, direction in zip(pairs, spans, flags, found, strict=True)
        ]

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

    def _check_languages(self, pairs: Sequence[Pair], first_row: int) -> None:
        assert self.model is not None
        checked: set[tuple[str | None, str | None]] = set()
        for row, (a, b) in enumerate(pairs, first_row):
            if (a.lang, b.lang) in checked:
                continue
            checked.add((a.lang, b.lang))
            for role, text in (("the first text", a), ("the second text", b)):
                try:
                    supported_language(self.model, text.lang, role)
                except LanguageError as error:
                    raise LanguageError(
                        f"row {row}: {error}; use --lang, and --ref-lang or --src-lang for the "
                        "second text"
                    ) from None

    def description(self) -> dict[str, Any]:
        """Everything that can change a result."""
        described: dict[str, Any] = {"methods": list(self.methods)}
        if self.model is not None:
            described["model"] = [self.model.fingerprint, dict(self.model.settings)]
        if self.encoder is not None:
            described["encoder"] = [self.encoder.fingerprint, dict(self.encoder.settings)]
        for name in (COVERAGE, UNLIKELY, DIFFERENCES):
            if name in self.methods:
                described[name] = asdict(getattr(self, name))
        return described


def sides_for(model: TranslationModel, pair: Pair) -> tuple[str, ...]:
    """The sides whose phrases can be deleted: the model must translate from that side."""
    languages = model.languages
    a, b = (languages.resolve(text.lang or "") for text in pair)
    sides = []
    if a in languages.source and b in languages.target:
        sides.append(A)
    if b in languages.source and a in languages.target:
        sides.append(B)
    if not sides:
        raise LanguageError(f"{model.name} {languages.describe()}, not {a} to {b} or {b} to {a}")
    return tuple(sides)


def load_reviewer(
    methods: str | Sequence[str] | None = None,
    *,
    model: str | Path | TranslationModel | None = None,
    encoder: str | Path | TextEncoder | None = None,
) -> Reviewer:
    """Make a reviewer with default settings; loads the models that its methods need."""
    names = read_methods(methods)
    translation = token_encoder = None
    if NEED_MODEL.intersection(names):
        from tertium.models.catalog import DEFAULT_MODEL, load_model

        by_name = model is None or isinstance(model, str | Path)
        translation = load_model(model or DEFAULT_MODEL) if by_name else model  # type: ignore[arg-type]
    if DIFFERENCES in names:
        from tertium.models.catalog import DEFAULT_MODEL
        from tertium.models.encoders.catalog import load_encoder

        if encoder is None:
            encoder = model if isinstance(model, str | Path) else DEFAULT_MODEL
        token_encoder = load_encoder(encoder) if isinstance(encoder, str | Path) else encoder
    return Reviewer(names, translation, token_encoder)  # type: ignore[arg-type]


def _extend(spans: list[list[Span]], more: Sequence[Sequence[Span]]) -> None:
    for own, new in zip(spans, more, strict=True):
        own += new
