"""What clients are told."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field


class MeasureScores(BaseModel):
    """The scores by one measure; higher is better, always."""

    system: float
    segments: list[float]
    reading: str
    """The system score in plain words."""
    signature: str
    short_signature: str


class ScoreAnswer(BaseModel):
    """The scores by every measure, in the order of the pairs."""

    measures: dict[str, MeasureScores]
    cut: list[bool]
    """True where a text was too long for the model, so that only its beginning counted."""


class AlternativeAnswer(BaseModel):
    """What the model would rather have said."""

    token: str
    log_prob: float


class TokenAnswer(BaseModel):
    """A piece of the target, and its natural-log probability."""

    token: str
    log_prob: float
    alternatives: list[AlternativeAnswer]


class DirectionAnswer(BaseModel):
    """One text read as a translation or paraphrase of the other."""

    target: str
    source: str
    target_lang: str | None
    source_lang: str | None
    tokens: list[TokenAnswer]
    H: float
    G: float
    cut: bool


class TokensAnswer(BaseModel):
    """Both directions, and the measures that follow from them."""

    directions: list[DirectionAnswer]
    prism_ref: float
    direct: float


class IntermediateAnswer(BaseModel):
    """By way of what a measure compares: both texts in a third language."""

    measure: Literal["cross", "pivot"]
    lang: str
    hypothesis: str
    reference: str


class AlignmentAnswer(BaseModel):
    """The pieces of both texts and how alike they are: a row a piece of the hypothesis."""

    hypothesis: list[str]
    reference: list[str]
    cosines: list[list[float]]
    precision: float
    recall: float
    f1: float


class TransportAnswer(BaseModel):
    """How much of each piece of the hypothesis comes from which of the reference, and its cost."""

    hypothesis: list[str]
    reference: list[str]
    plan: list[list[float]]
    costs: list[list[float]]
    work: float


class ExplainAnswer(BaseModel):
    """The parts that were asked for."""

    model: str
    encoder: str
    tokens: TokensAnswer | None = None
    translations: list[IntermediateAnswer] | None = None
    alignment: AlignmentAnswer | None = None
    transport: TransportAnswer | None = None


class TranslationAnswer(BaseModel):
    """A translation; ``cut`` if its source was too long, or it had no end."""

    text: str
    cut: bool


class TranslateAnswer(BaseModel):
    """The translations, in the order of the texts."""

    model: str
    fingerprint: str
    translations: list[TranslationAnswer]


class ModelAnswer(BaseModel):
    """A model that is loaded. There are no others."""

    role: Literal["translation", "tokens", "sentences"]
    name: str
    fingerprint: str
    settings: dict[str, str]
    source_languages: list[str] = []
    target_languages: list[str] = []
    needs_source_language: bool = False


class ModelsAnswer(BaseModel):
    """The models that were loaded when the server started."""

    models: list[ModelAnswer]


class MeasureAnswer(BaseModel):
    """A measure that can be asked for; sums of them too, such as sss+wmd."""

    name: str
    about: str
    compares_with: Literal["reference", "source"]
    model: Literal["translation", "tokens", "sentences"] | None
    low: float | None
    high: float | None
    """Between which numbers its scores lie, for the most part; null where there is no such end."""
    needs_languages: bool
    settings: list[str]


class LimitsAnswer(BaseModel):
    """How much a request may ask for."""

    body_bytes: int
    pairs: int
    text_characters: int
    characters: int
    explained_characters: int
    references: int
    measures: int
    ter_words: int
    seconds: float


class MeasuresAnswer(BaseModel):
    """The measures, and how much may be asked of them at a time."""

    version: str
    default: str
    measures: list[MeasureAnswer]
    limits: LimitsAnswer


class HealthAnswer(BaseModel):
    """Whether the engines are at work, and how many requests they have."""

    status: Literal["ok"]
    waiting: Annotated[int, Field(ge=0)]


class ErrorAnswer(BaseModel):
    """What is wrong, in one line."""

    detail: str
