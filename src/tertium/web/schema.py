"""The JSON of requests and responses; a request with anything else in it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from tertium.explanation.explain import Intermediate
from tertium.measures.loading import known_settings
from tertium.measures.settings import Setting
from tertium.models.base import Alternative
from tertium.stats.conventions import SAMPLES
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
ColumnName = Annotated[str | None, Field(max_length=200)]
LanguageRole = Literal["lang", "reference_lang", "source_lang"]
MAX_SYSTEMS = 16


def _about(text: str) -> Any:
    """A setting that is not given, and what it means."""
    return Field(default=None, description=text)


class RequestModel(BaseModel):
    """A request, or a part of one."""

    model_config = ConfigDict(extra="forbid", strict=True)


class DescribedSettings(RequestModel):
    """Settings of measures; each is used by the measures that have it.

    Settings that name files, and tokenizers that would be downloaded, are not available.
    """

    def given(self) -> dict[str, object]:
        """Return the settings that the request contains."""
        settings: dict[str, object] = self.model_dump(exclude_none=True)
        if "weights" in settings:
            settings["weights"] = tuple(cast("list[float]", settings["weights"]))
        return settings


def _type_of(setting: Setting) -> Any:
    """The type of a setting in a request."""
    if setting.name in LIMITED:
        return LIMITED[setting.name]
    if isinstance(setting.default, bool):
        return bool
    if setting.choices:
        return Literal[setting.choices]
    kind = type(setting.default)
    return Annotated[kind, Field(ge=setting.low, le=setting.high)]


LanguageCode = Annotated[
    str, Field(max_length=32, description="ISO 639, or the model's own code.", examples=["en"])
]
LIMITED: dict[str, Any] = {
    "against": Literal["reference", "source"],
    "pivot_lang": LanguageCode,
    "target_lang": LanguageCode,
    "beam_size": Beam,
    "delta": Annotated[float, Field(ge=0, le=100)],
    "weights": Annotated[list[Annotated[float, Field(gt=0, le=1e6)]], Field(max_length=16)],
    "tokenize": Literal["13a", "intl", "char", "zh", "none"],
    "char_order": Annotated[int, Field(ge=1, le=10)],
    "word_order": Annotated[int, Field(ge=0, le=4)],
    "beta": Annotated[int, Field(ge=1, le=10)],
}
"""Settings that a request may have in narrower limits than a user of this machine."""


def _served() -> dict[str, Setting]:
    """The settings of all measures that requests may have."""
    found: dict[str, Setting] = {}
    for name in (
        "cross",
        "pivot",
        "prism-ref",
        "bertscore",
        "wmdo",
        "sss+wmd",
        "bleu",
        "chrf",
        "ter",
    ):
        for setting in known_settings(name).values():
            if setting.served:
                found.setdefault(setting.name, setting)
    return found


if TYPE_CHECKING:
    Settings = DescribedSettings
else:
    Settings = create_model(
        "Settings",
        __base__=DescribedSettings,
        __doc__=DescribedSettings.__doc__,
        **{
            name: (_type_of(setting) | None, _about(setting.meaning))
            for name, setting in _served().items()
        },
    )


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


class Options(RequestModel):
    """Measures with their settings, and the languages of texts that have none of their own."""

    measures: Annotated[list[MeasureName], Field(min_length=1)] = ["cross"]
    lang: Lang = None
    reference_lang: Lang = None
    source_lang: Lang = None
    settings: Settings = Settings()


class ScoreRequest(Options):
    """Pairs to score; the languages of a pair override those of the request."""

    pairs: Annotated[list[TextPair], Field(min_length=1)]


class FileContent(RequestModel):
    """A file: its name, and its content as text or, if it may not be UTF-8, in base64."""

    name: Annotated[str, Field(min_length=1, max_length=200, examples=["pairs.tsv"])]
    text: str | None = None
    base64: str | None = None

    @model_validator(mode="after")
    def _has_one_content(self) -> Self:
        if (self.text is None) == (self.base64 is None):
            raise ValueError("give either text or base64")
        return self


class Columns(RequestModel):
    """The columns of a table, by name; without a header they are called 1, 2 and so on."""

    hyp: ColumnName = None
    refs: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=16)] = []
    src: ColumnName = None
    lang: ColumnName = None
    ref_lang: ColumnName = None
    src_lang: ColumnName = None


class FileRequest(RequestModel):
    """A table (TSV, CSV, JSON Lines) with one pair per row, and how to read it."""

    file: FileContent
    header: Annotated[
        bool | None,
        Field(description="null: there is a header if a name in the first line is recognised."),
    ] = None
    quoting: bool | None = None
    replace_invalid: Annotated[
        bool, Field(description="Replace bytes that are not UTF-8 instead of refusing the file.")
    ] = False
    columns: Columns = Columns()


class FileScoreRequest(FileRequest, Options):
    """A file to score. The languages are for rows of a file without languages."""


class CompareRequest(Options):
    """Outputs of two or more systems: a table with a column for each, or a file for each."""

    table: FileContent | None = None
    systems: Annotated[list[FileContent], Field(max_length=MAX_SYSTEMS)] = []
    references: Annotated[list[FileContent], Field(max_length=16)] = []
    source: FileContent | None = None
    replace_invalid: bool = False
    baseline: Annotated[str | None, Field(max_length=200)] = None
    samples: Annotated[int, Field(ge=1, le=SAMPLES)] = SAMPLES
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0
    shown: Annotated[int, Field(ge=0, le=100, description="Segments to show.")] = 10

    @model_validator(mode="after")
    def _has_outputs(self) -> Self:
        if (self.table is None) == (not self.systems):
            raise ValueError("give either a table, or one file for each system")
        if self.table is None and not self.references and self.source is None:
            raise ValueError("give references or a source")
        return self


class SpansRequest(RequestModel):
    """Two texts whose differences are to be marked."""

    hypothesis: str
    reference: str
    lang: Lang = None
    reference_lang: Lang = None
    methods: Annotated[
        list[
            Literal[
                "coverage",
                "opposites",
                "unlikely",
                "differences",
                "hallucination",
                "direction",
                "flags",
            ]
        ],
        Field(
            min_length=1,
            max_length=7,
            description="coverage: omissions and additions; opposites: negations and opposites; "
            "unlikely: improbable words; hallucination: a text that the other does not explain; "
            "direction: which text is the original (these five need both languages); differences: "
            "words without a similar word; flags: copies, numbers, names and others.",
        ),
    ] = ["coverage", "differences", "flags"]
    matches: Annotated[
        bool, Field(description="Return the phrases that match, and a verdict as well.")
    ] = False


class IdentifyRequest(RequestModel):
    """Texts whose languages are to be identified."""

    texts: Annotated[list[str], Field(min_length=1, max_length=100)]


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


class RowPreview(BaseModel):
    """A row as it was read."""

    row: int
    hypothesis: str
    references: list[str]
    source: str | None
    lang: str | None
    reference_lang: str | None
    source_lang: str | None
    error: str | None = None


class GuessResponse(BaseModel):
    """A language that was identified, and its probability; ``supported`` by the model or not."""

    lang: str
    probability: float
    supported: bool


class FileRoles(BaseModel):
    """The column of each role."""

    hyp: str
    refs: list[str]
    src: str | None
    lang: str | None
    ref_lang: str | None
    src_lang: str | None


class ReadResponse(BaseModel):
    """How a file was read."""

    name: str
    format: str
    header: bool
    rows: int
    columns: list[str]
    roles: FileRoles
    preview: list[RowPreview]
    refused: int
    """Rows that cannot be scored."""
    guesses: dict[LanguageRole, GuessResponse | None]
    """Of the texts whose language the file does not name, by role."""


class IdentifyResponse(BaseModel):
    """A guess for each text; null if there is none."""

    guesses: list[GuessResponse | None]


class SpanResponse(BaseModel):
    """Characters ``start`` to ``end`` (Unicode code points) of one text, and what is wrong.

    Side ``a`` is the hypothesis, ``b`` the reference.
    """

    side: Literal["a", "b"]
    start: int
    end: int
    text: str
    kind: str
    score: float
    severity: Literal["minor", "major", "critical"]
    evidence: str
    reason: str
    """The same in plain words."""


class MatchResponse(BaseModel):
    """Characters of both texts, from a start to an end, that match or, if ``differs``, do not."""

    a: tuple[int, int]
    b: tuple[int, int]
    differs: bool


class ApartResponse(BaseModel):
    """A word that carries meaning, and has no close counterpart in the other text."""

    side: Literal["a", "b"]
    start: int
    end: int
    text: str


class VerdictResponse(BaseModel):
    """Whether two texts mean the same, in one sentence."""

    level: Literal["same", "unsure", "different", "unknown"]
    sentence: str
    score: float | None
    """From 0 (an error) to 100 (none), where half of the texts have an error."""


class SpansResponse(BaseModel):
    """Where two texts differ."""

    spans: list[SpanResponse]
    flags: list[str]
    severity: Literal["minor", "major", "critical"] | None
    direction: float | None = None
    """Above 0, the reference is more likely the original."""
    error_probability: float | None = None
    """Where half of the texts have an error; with default methods, where it was learned."""
    matches: list[MatchResponse] | None = None
    apart: list[ApartResponse] | None = None
    verdict: VerdictResponse | None = None


class CompareResponse(BaseModel):
    """The comparison, as ``tertium compare`` prints it in JSON."""

    systems: list[str]
    left_out: list[str]
    unpaired: dict[str, int]
    segments: int
    baseline: str | None
    samples: int
    seed: int
    alpha: float
    tail: str
    caution: str | None
    measures: dict[str, dict[str, Any]]


class ModelResponse(BaseModel):
    """A loaded model."""

    role: Role
    name: str
    fingerprint: str
    settings: dict[str, str]
    source_languages: list[str] = []
    target_languages: list[str] = []
    needs_source_language: bool = False
    note: str = ""
    """What to know about its scores."""


class ModelsResponse(BaseModel):
    """The models that were loaded when the server started."""

    models: list[ModelResponse]


class SettingResponse(BaseModel):
    """A setting of a measure."""

    name: str
    about: str
    kind: Literal["choice", "yes or no", "number", "language", "numbers"]
    default: str
    values: list[str] = []
    """Of a choice."""
    low: float | None = None
    high: float | None = None


class MeasureResponse(BaseModel):
    """An available measure, or a sum of measures such as sss+wmd."""

    name: str
    about: str
    group: Literal["translation", "embeddings", "surface"]
    range: str
    compares_with: Literal["reference", "source"]
    model: Role | None
    low: float | None
    high: float | None
    """The usual range of its scores; null where there is no bound."""
    needs_languages: bool
    settings: list[SettingResponse]
    scale: dict[str, float]
    """Scores of known pairs by the loaded model: identical, paraphrase, near miss, unrelated."""


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
