"""What clients may say: the whole of it, since nothing else is let in."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

LONGEST_BEAM = 10
Lang = Annotated[
    str | None,
    Field(max_length=32, description="ISO 639, or as the model spells it.", examples=["en"]),
]
Beam = Annotated[int, Field(ge=1, le=LONGEST_BEAM)]
MeasureName = Annotated[str, Field(min_length=1, max_length=100, examples=["cross"])]


class Said(BaseModel):
    """A part of a request."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Settings(Said):
    """Settings of measures; each goes to those that have it, and one that none has is refused.

    Those that name files, or tokenizers that are fetched, are not among them.
    """

    against: Literal["reference", "source"] | None = None
    aggregate: Literal["H", "G"] | None = None
    references: Literal["max", "mean"] | None = None
    normalized: bool | None = None
    both_directions: bool | None = None
    base: Literal["e", "2"] | None = None
    pivot_lang: Lang = None
    target_lang: Lang = None
    beam_size: Beam | None = None
    part: Literal["F1", "P", "R"] | None = None
    idf: bool | None = None
    distance: Literal["euclidean", "cosine"] | None = None
    mass: Literal["frequency", "uniform", "idf"] | None = None
    delta: Annotated[float, Field(ge=0, le=100)] | None = None
    weights: Annotated[list[Annotated[float, Field(gt=0, le=1e6)]], Field(max_length=16)] | None = (
        None
    )
    scale: Literal["fixed", "corpus"] | None = None
    tokenize: Literal["13a", "intl", "char", "zh", "none"] | None = None
    lowercase: bool | None = None

    def said(self) -> dict[str, object]:
        """Those that were given."""
        found: dict[str, object] = self.model_dump(exclude_none=True)
        if self.weights is not None:
            found["weights"] = tuple(self.weights)
        return found


class Pair(Said):
    """A hypothesis, and what it is compared with: a reference, several, or (and) a source."""

    hypothesis: str
    reference: str | Annotated[list[str], Field(min_length=1)] | None = None
    source: str | None = None
    lang: Lang = None
    reference_lang: Lang = None
    source_lang: Lang = None

    @property
    def references(self) -> list[str]:
        if self.reference is None:
            return []
        return [self.reference] if isinstance(self.reference, str) else self.reference


class ScoreRequest(Said):
    """Pairs to score; a language of a pair goes before that of the whole."""

    pairs: Annotated[list[Pair], Field(min_length=1)]
    measures: Annotated[list[MeasureName], Field(min_length=1)] = ["cross"]
    lang: Lang = None
    reference_lang: Lang = None
    source_lang: Lang = None
    settings: Settings = Settings()

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "pairs": [{"hypothesis": "I see a dog.", "reference": "I see a cat."}],
                    "measures": ["cross", "chrf"],
                    "lang": "en",
                }
            ]
        }
    )


class ExplainRequest(Said):
    """Two texts whose difference is to be seen."""

    hypothesis: str
    reference: str
    lang: Lang = None
    reference_lang: Lang = None
    parts: Annotated[
        list[Literal["tokens", "translations", "alignment", "transport"]],
        Field(
            min_length=1,
            max_length=4,
            description="tokens: log-probabilities both ways, for which both languages are needed; "
            "translations: what cross and pivot compare by way of; alignment: the cosines that "
            "bertscore matches; transport: the plan of wmd.",
        ),
    ] = ["tokens", "translations", "alignment", "transport"]
    worst: Annotated[int, Field(ge=0, le=20)] = 3
    settings: Settings = Settings()

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"hypothesis": "I see a dog.", "reference": "I see a cat.", "lang": "en"}]
        }
    )


class TranslateRequest(Said):
    """Texts to translate."""

    texts: Annotated[list[str], Field(min_length=1)]
    target_lang: Annotated[str, Field(min_length=1, max_length=32, examples=["de"])]
    source_lang: Lang = None
    beam_size: Beam = 5
