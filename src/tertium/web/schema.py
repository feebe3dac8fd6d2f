"""The JSON of requests and responses; a request with anything else in it is refused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tertium.explanation.explain import Intermediate
from tertium.models.base import Alternative
from tertium.web.limits import Limits

MAX_BEAM_SIZE = 10
Role = Literal["translation", "tokens", "sentences"]
"""The kinds of models that a server has."""
Lang = Annotated[
    str | None,
    Field(max_length=32, description="ISO 639, or the model's own code.", examples=["en"]),
]
Beam = Annotated[int, Field(ge=1, le=MAX_BEAM_SIZE)]
MeasureName = Annotated[str, Field(min_length=1, max_length=100, examples=["cross"])]


class RequestModel(BaseModel):
    """A request, or a part of one."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Settings(RequestModel):
    """Settings of measures; each is used by the measures that have it.

    Settings that name files, and tokenizers that would be downloaded, are not available.
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

    def given(self) -> dict[str, object]:
        """Return the settings that the request contains."""
        settings: dict[str, object] = self.model_dump(exclude_none=True)
        if self.weights is not None:
            settings["weights"] = tuple(self.weights)
        return settings


class TextPair(RequestModel):
    """A hypothesis with one or several references, a source, or both."""

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


class ScoreRequest(RequestModel):
    """Pairs to score; the languages of a pair override those of the request."""

    pairs: Annotated[list[TextPair], Field(min_length=1)]
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


class ExplainRequest(RequestModel):
    """Two texts whose scores are to be explained."""

    hypothesis: str
    reference: str
    lang: Lang = None
    reference_lang: Lang = None
    parts: Annotated[
        list[Literal["tokens", "translations", "alignment", "transport"]],
        Field(
            min_length=1,
            max_length=4,
            description="tokens: log-probabilities in both directions, which need both languages; "
            "translations: the intermediate translations of cross and pivot; alignment: the "
            "cosines that bertscore matches; transport: the plan of wmd.",
        ),
    ] = ["tokens", "translations", "alignment", "transport"]
    worst: Annotated[int, Field(ge=0, le=20)] = 3
    settings: Settings = Settings()

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"hypothesis": "I see a dog.", "reference": "I see a cat.", "lang": "en"}]
        }
    )


class TranslateRequest(RequestModel):
    """Texts to translate."""

    texts: Annotated[list[str], Field(min_length=1)]
    target_lang: Annotated[str, Field(min_length=1, max_length=32, examples=["de"])]
    source_lang: Lang = None
    beam_size: Beam = 5


class MeasureScores(BaseModel):
    """The scores by one measure; higher is always better."""

    system: float
    segments: list[float]
    reading: str
    """The system score in plain words."""
    signature: str
    short_signature: str


class ScoreResponse(BaseModel):
    """The scores by every measure, in the order of the pairs."""

    measures: dict[str, MeasureScores]
    cut: list[bool]
    """True where a text was too long for the model, so that only its beginning was scored."""
    marks: list[list[str]]
    """What is wrong with the texts of each pair: cut, empty, unknown, language, copy."""


class TokenResponse(BaseModel):
    """A token of the target, and its natural-log probability."""

    token: str
    log_prob: float
    alternatives: list[Alternative]


class DirectionResponse(BaseModel):
    """One text scored as a translation or paraphrase of the other."""

    target: str
    source: str
    target_lang: str | None
    source_lang: str | None
    tokens: list[TokenResponse]
    H: float
    G: float
    cut: bool


class TokensResponse(BaseModel):
    """Both directions, and the scores that follow from them."""

    directions: list[DirectionResponse]
    prism_ref: float
    direct: float | None


class AlignmentResponse(BaseModel):
    """The tokens of both texts and their cosines; one row per token of the hypothesis."""

    hypothesis: list[str]
    reference: list[str]
    cosines: list[list[float]]
    precision: float
    recall: float
    f1: float


class TransportResponse(BaseModel):
    """How much of each token of the hypothesis comes from which of the reference, and its cost."""

    hypothesis: list[str]
    reference: list[str]
    plan: list[list[float]]
    costs: list[list[float]]
    work: float


class ExplainResponse(BaseModel):
    """The parts that were requested."""

    model: str
    encoder: str
    tokens: TokensResponse | None = None
    translations: list[Intermediate] | None = None
    alignment: AlignmentResponse | None = None
    transport: TransportResponse | None = None


class TranslationResponse(BaseModel):
    """A translation; ``cut`` if its source was too long, or the translation has no end."""

    text: str
    cut: bool


class TranslateResponse(BaseModel):
    """The translations, in the order of the texts."""

    model: str
    fingerprint: str
    translations: list[TranslationResponse]


class ModelResponse(BaseModel):
    """A loaded model."""

    role: Role
    name: str
    fingerprint: str
    settings: dict[str, str]
    source_languages: list[str] = []
    target_languages: list[str] = []
    needs_source_language: bool = False


class ModelsResponse(BaseModel):
    """The models that were loaded when the server started."""

    models: list[ModelResponse]


class MeasureResponse(BaseModel):
    """An available measure, or a sum of measures such as sss+wmd."""

    name: str
    about: str
    compares_with: Literal["reference", "source"]
    model: Role | None
    low: float | None
    high: float | None
    """The usual range of its scores; null where there is no bound."""
    needs_languages: bool
    settings: list[str]


class MeasuresResponse(BaseModel):
    """The available measures, and the limits of a request."""

    version: str
    default: str
    measures: list[MeasureResponse]
    limits: Limits


class HealthResponse(BaseModel):
    """Whether the engines are running, and the number of requests in progress or waiting."""

    status: Literal["ok"]
    waiting: Annotated[int, Field(ge=0)]


class ErrorResponse(BaseModel):
    """What is wrong, in one line."""

    detail: str
