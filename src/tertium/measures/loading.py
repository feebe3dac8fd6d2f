"""The one path from a measure's name to a ready measure.

A measure is written as ``NAME``, ``NAME@MODEL`` or ``NAME@MODEL:SETTING=VALUE,SETTING=VALUE``::

    chrf:word_order=2
    cross@m2m100_418M:beam_size=1
    sss+wmd
    sentsim@xlm-roberta-base:sentence_encoder=LaBSE

The command line, the studies, the web service, Ray workers and :func:`tertium.load` all come
through :func:`make_measure`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

from tertium.data.codes import primary
from tertium.errors import InputError, SettingError, did_you_mean
from tertium.measures.base import Measure, ModelKind, is_nothing
from tertium.measures.inputs import Column, References, refuse_streams, repeatable
from tertium.measures.registry import (
    DEFAULT_MEASURE,
    LINEAR,
    SUMS,
    SYNONYMS,
    VARIANTS,
    check_measure_extras,
    is_measure,
    kinds_of,
    measure_class,
    parts_of,
    settings_of,
    sum_settings,
)
from tertium.measures.scores import SYSTEM, Scores, ScoreTable
from tertium.measures.settings import Setting
from tertium.measures.totals import spell
from tertium.measures.words import LANGUAGE_TOKENIZERS
from tertium.models.base import (
    LanguageModel,
    Languages,
    Progress,
    SentenceEncoder,
    TextEncoder,
    TranslationModel,
)
from tertium.models.catalog import DEFAULT_ENCODER, DEFAULT_MODEL, load_model

if TYPE_CHECKING:
    from tertium.models.cached import Tally

log = logging.getLogger(__name__)

ENCODER_SETTINGS = {
    "layer": Setting("layer", 0, "Layer of the encoder; automatic: the last.", served=False),
    "sentence_encoder": Setting(
        "sentence_encoder", "", "Another encoder for sentence vectors.", served=False
    ),
}
"""Settings of the encoder, not of the measure."""
WHOLE = 0
"""Instead of a layer: that which the encoder has by itself, whatever the settings say."""
LANGUAGE_SETTINGS = {
    "language_model": Setting("language_model", "", "The causal language model.", served=False)
}
"""Of sums with two kinds of models."""
PARAMETERS = (
    "measure",
    "model",
    "encoder",
    "sentence_encoder",
    "sources",
    "lang",
    "reference_lang",
    "source_lang",
    "progress",
)
"""Parameters that are no settings of a measure: what a wrong name may be meant for."""
YES, NO = ("yes", "true", "1"), ("no", "false", "0")

AnyModel = str | Path | TranslationModel | SentenceEncoder | LanguageModel
ModelSource = Callable[[ModelKind, str | None, int | None], Any]
"""Gives the model of a kind: by its name (None: the default), and an encoder up to a layer."""
PROTOCOLS: dict[ModelKind, tuple[type, str]] = {
    "translation": (TranslationModel, "a translation model"),
    "tokens": (TextEncoder, "an encoder that gives token vectors"),
    "sentences": (SentenceEncoder, "an encoder that gives sentence vectors"),
    "language": (LanguageModel, "a causal language model"),
}


@dataclass(frozen=True)
class MeasureSpec:
    """A measure by name, with a model and settings where they are not the default.

    >>> MeasureSpec.parse("Direct@prism:normalized=no")
    MeasureSpec(measure='direct', model='prism', settings={'normalized': False})
    >>> str(MeasureSpec("pivot", settings={"beam_size": 1}))
    'pivot:beam_size=1'
    """

    measure: str
    model: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    label: str = field(default="", repr=False, compare=False)
    """The name of its column, if it differs from the name of the measure."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a spec: NAME, then @MODEL, then :SETTING=VALUE,SETTING=VALUE.

        A value may hold commas: what has no equals sign belongs to the value before.
        """
        head, _, tail = text.partition(":") if "=" in text else (text, "", "")
        name, _, model = head.partition("@")
        name, model = name.strip().lower(), model.strip()
        label = ""
        variant: dict[str, object] = {}
        if name in VARIANTS:
            name, variant = VARIANTS[name]
            label = f"{name}++"
        name = SYNONYMS.get(name, name)
        kinds = kinds_of(name)  # a name that is unknown is refused here
        if model and not kinds:
            raise SettingError(f"{text}: {name} takes no model")
        values: dict[str, str] = {}
        for part in filter(None, tail.split(",")):
            setting, equals, value = part.partition("=")
            if equals:
                last = setting.strip().replace("-", "_")
                values[last] = value
            elif values:
                values[last] += f",{part}"
            else:
                raise SettingError(f"{text}: {part!r} is not a setting; write SETTING=VALUE")
        settings = {
            each: parse_setting(each, value, setting_of(name, each).default)
            for each, value in values.items()
        }
        if settings:
            label = str(cls(label or name, settings=settings))
        return cls(name, model or None, {**variant, **settings}, label)

    def __str__(self) -> str:
        model = f"@{self.model}" if self.model else ""
        settings = ",".join(f"{name}={spell(value)}" for name, value in self.settings.items())
        return f"{self.measure}{model}{':' if settings else ''}{settings}"

    @property
    def column(self) -> str:
        """The name of its column: with the settings that are written with it."""
        return self.label or self.measure

    def with_defaults(self, settings: Mapping[str, object]) -> MeasureSpec:
        """Add those of ``settings`` that the measure has and that are not given yet."""
        known = known_settings(self.measure)
        more = {name: value for name, value in settings.items() if name in known}
        return replace(self, settings={**more, **self.settings})


@dataclass(frozen=True)
class ModelSettings:
    """The models that measures use unless their spec names another, and how models are run."""

    model: str = DEFAULT_MODEL
    encoder: str | None = None
    sentence_encoder: str | None = None
    layer: int | None = None
    compute_type: str = "auto"
    threads: int | None = None
    cache: bool | Path = True
    device: str = "cpu"


class ModelPool:
    """Loads models by name, each once, so that measures share them and their cached results."""

    def __init__(self, settings: ModelSettings | None = None) -> None:
        self.settings = settings or ModelSettings()
        self.tally: Tally | None = None
        """How many queries the models with a cache were given; None before one is loaded."""
        self._loaded: dict[tuple[object, ...], Any] = {}

    def __call__(self, kind: ModelKind, name: str | None = None, layer: int | None = None) -> Any:
        """Load the model of a kind, or return the one that is loaded."""
        if name is None:
            name, layer = self._default(kind, layer)
        layer = None if layer == WHOLE else layer
        key = (kind if kind in ("translation", "language") else "encoder", name, layer)
        if key not in self._loaded:
            self._loaded[key] = self._load(kind, name, layer)
        return self._loaded[key]

    def _default(self, kind: ModelKind, layer: int | None) -> tuple[str, int | None]:
        settings = self.settings
        if kind in ("translation", "language"):
            return settings.model, None
        if kind == "sentences" and settings.sentence_encoder:
            return settings.sentence_encoder, layer
        layer = settings.layer if layer is None else layer
        if settings.encoder:
            return settings.encoder, layer
        if settings.model == DEFAULT_MODEL:
            return default_encoder(kind, layer), layer
        return settings.model, layer

    def _load(self, kind: ModelKind, name: str, layer: int | None) -> Any:
        settings = self.settings
        log.info("loading %s model %s", kind, name)
        if kind == "translation":
            model = load_model(
                name,
                compute_type=settings.compute_type,  # type: ignore[arg-type]  # checked there
                device=settings.device,  # type: ignore[arg-type]  # checked there
                threads=settings.threads,
                cache=settings.cache,
            )
            self.tally = model.tally = self.tally or model.tally
            return model
        if kind == "language":
            from tertium.models.catalog import load_language_model

            judge = load_language_model(
                name,
                compute_type=settings.compute_type,  # type: ignore[arg-type]  # checked there
                threads=settings.threads,
                cache=settings.cache,
            )
            self.tally = judge.tally = self.tally or judge.tally
            return judge
        from tertium.models.catalog import load_encoder

        return load_encoder(
            name,
            layer=layer,
            compute_type=settings.compute_type,  # type: ignore[arg-type]
            threads=settings.threads,
        )


@dataclass(frozen=True)
class MeasureLoader:
    """Measures that were requested, and their models, to be loaded in this process or another."""

    specs: tuple[MeasureSpec, ...]
    models: ModelSettings = field(default_factory=ModelSettings)
    lang: str | None = None
    """The language of all hypotheses, if there is one: BLEU takes its tokenizer from it."""

    @property
    def columns(self) -> list[str]:
        """The names of the measures' columns."""
        return [spec.column for spec in self.specs]

    @property
    def request(self) -> dict[str, Any]:
        """What was asked for, as far as it can change a number, as JSON."""
        return {
            "measures": [str(spec) for spec in self.specs],
            "models": asdict(replace(self.models, threads=None, cache=True)),
            "lang": self.lang,
        }

    def load(self, *, threads: int | None = None) -> tuple[list[Measure], ModelPool]:
        """Make the measures, and return them with the models that they share."""
        models = self.models if threads is None else replace(self.models, threads=threads)
        pool = ModelPool(models)
        return [make_measure(spec, pool, lang=self.lang) for spec in self.specs], pool


def outline(spec: MeasureSpec) -> Measure:
    """A measure without its models: it tells what it reads and how, and scores nothing."""
    parts = []
    for part in parts_of(spec.measure):
        cls = measure_class(part)
        made = object.__new__(cls)
        settings = _settings_of_part(spec.settings, part)
        for each in fields(cls):
            value = settings.get(each.name, each.default)
            object.__setattr__(made, each.name, None if value is MISSING else value)
        parts.append(made)
    return _whole(spec, parts)


def read_specs(
    texts: Sequence[str],
    *,
    given: Mapping[str, object] | None = None,
    written: Sequence[str] = (),
) -> tuple[MeasureSpec, ...]:
    """Read specs, and give each the common settings that it has; each spec may occur once.

    The same measure with different settings or models gets a column for each, named after the spec.

    ``given`` are settings with values (None: not given), ``written`` are settings as text,
    NAME=VALUE. A common setting that none of the measures has is an error.
    """
    texts = [part for text in texts for part in split_specs(text)]
    specs = [MeasureSpec.parse(text) for text in texts]
    columns = [spec.column for spec in specs]
    specs = [
        replace(spec, label=str(spec)) if columns.count(column) > 1 else spec
        for spec, column in zip(specs, columns, strict=True)
    ]
    common: dict[str, object] = {
        name: value for name, value in (given or {}).items() if value is not None
    }
    as_text = dict(_split(setting) for setting in written)
    for setting in [*common, *as_text]:
        if not any(setting in known_settings(spec.measure) for spec in specs):
            known = sorted({name for spec in specs for name in known_settings(spec.measure)})
            names = ", ".join(spec.measure for spec in specs)
            verb = "has" if len(specs) == 1 else "have"
            near = did_you_mean(setting, [*PARAMETERS, *known])
            raise SettingError(
                f"{names} {verb} no setting {setting}{near}; there are {', '.join(known)}"
            )
    result = []
    for spec in specs:
        known_here = known_settings(spec.measure)
        parsed = {
            name: parse_setting(name, value, known_here[name].default)
            for name, value in as_text.items()
            if name in known_here
        }
        result.append(spec.with_defaults({**common, **parsed}))
    names_read = [str(spec) for spec in result]
    for name in names_read:
        if names_read.count(name) > 1:
            raise SettingError(f"measure {name} is given twice")
    return tuple(result)


def guarded(specs: Sequence[MeasureSpec]) -> tuple[MeasureSpec, ...]:
    """Give copies of the source the lowest score, in measures that compare with nothing else.

    For what chooses texts by a score: reranking, filtering. A setting that is given stays.

    >>> [str(spec) for spec in guarded(read_specs(["prism-src", "chrf"]))]
    ['prism-src:copies=worst', 'chrf']
    """
    return tuple(
        spec.with_defaults({"copies": "worst"})
        if len(parts_of(spec.measure)) == 1 and outline(spec).reads == ("source",)
        else spec
        for spec in specs
    )


def split_specs(text: str) -> list[str]:
    """Split several specs at the commas between them; commas also separate settings.

    >>> split_specs("bleu,chrf"), split_specs("sss+wmd:weights=0.7,0.3,chrf:beta=1,word_order=2")
    (['bleu', 'chrf'], ['sss+wmd:weights=0.7,0.3', 'chrf:beta=1,word_order=2'])
    """
    specs: list[str] = []
    for part in text.split(","):
        if not specs or is_measure(part.strip()):
            specs.append(part.lstrip())  # a template may end with a space
        else:
            specs[-1] += f",{part}"
    return specs


def make_measure(spec: MeasureSpec, models: ModelSource, *, lang: str | None = None) -> Measure:
    """Make a measure from its spec: the only place that does.

    ``lang`` is the language of the hypotheses, where it is known: BLEU takes its tokenizer from it.
    """
    for name in spec.settings:
        setting_of(spec.measure, name)
    check_measure_extras([spec.measure])
    common: dict[str, Any] = dict(spec.settings)
    if "tokenize" in settings_of(spec.measure) and primary(lang or "") in LANGUAGE_TOKENIZERS:
        common.setdefault("tokenize", LANGUAGE_TOKENIZERS[primary(lang or "")])
    kinds = kinds_of(spec.measure)
    parts = []
    for part in parts_of(spec.measure):
        cls = measure_class(part)
        names = {setting.name for setting in fields(cls)}
        settings = _settings_of_part(common, part)
        own = {name: value for name, value in settings.items() if name in names}
        if (kind := cls.model_kind) is not None:
            layer = settings.get("layer")
            if kind == "sentences" and "tokens" in kinds:  # of a sum, the layer is that of tokens
                layer = common.get(f"{part}.layer", WHOLE)
            named = {
                "sentences": settings.get("sentence_encoder"),
                "language": settings.get("language_model"),
            }.get(kind)
            model = models(kind, *((named, None) if named else (spec.model, layer)))
            own["model"] = _checked(model, kind, part)
        parts.append(cls(**own))
    return _whole(spec, parts)


def _settings_of_part(settings: Mapping[str, Any], part: str) -> dict[str, Any]:
    """The settings of a part of a sum: those of all parts, and those that name it."""
    return dict(settings) | {
        name.removeprefix(f"{part}."): value
        for name, value in settings.items()
        if name.startswith(f"{part}.")
    }


def _whole(spec: MeasureSpec, parts: Sequence[Measure]) -> Measure:
    """The sum of the parts, if there are several, with the name of its column."""
    made = parts[0]
    if len(parts) > 1:
        from tertium.measures.compound import Compound, CosineAndFluency

        names = sum_settings(spec.measure)
        own: dict[str, Any] = {name: spec.settings[name] for name in names if name in spec.settings}
        combine = CosineAndFluency if spec.measure in LINEAR else Compound
        made = combine(tuple(parts), title=spec.measure if spec.measure in SUMS else "", **own)
    return made.labelled(spec.label) if spec.label else made


def load(
    measure: str = DEFAULT_MEASURE,
    *,
    model: AnyModel | None = None,
    encoder: str | Path | SentenceEncoder | None = None,
    sentence_encoder: str | Path | SentenceEncoder | None = None,
    layer: int | None = None,
    lang: str | None = None,
    **settings: object,
) -> Measure:
    """Make a measure, or a sum of measures, from its name and its settings.

    ``model`` is the translation model and, unless ``encoder`` is given, the encoder of
    embedding-based measures; ``sentence_encoder`` gives ``sss`` an encoder of its own; ``layer`` is
    the encoder's. ``lang`` is the language of the hypotheses: in Chinese, Japanese and Korean, BLEU
    has another tokenizer, unless one is given.

    >>> import tertium
    >>> direct = tertium.load("direct", model="tertium-mini", base="e")
    >>> direct("The same.", "The same.", lang="en")
    1.0
    >>> tertium.load("chrF:word_order=2").word_order
    2
    >>> both = tertium.load("sss+chrf", weights=(0.7, 0.3))
    >>> both.name, round(both("The same.", "The same."), 4)
    ('sss+chrf', 2.7183)
    """
    if layer is not None:
        settings["layer"] = layer
    spec = MeasureSpec.parse(measure)
    spec = replace(spec, settings={**spec.settings, **settings})
    if not kinds_of(spec.measure) and not (model is encoder is sentence_encoder is None):
        raise SettingError(f"{spec.measure} compares the surface and takes no model")
    return make_measure(spec, model_source(model, encoder, sentence_encoder), lang=lang)


def default_encoder(kind: ModelKind, layer: int | None) -> str:
    """The bundled model of a kind; a static encoder of sentences has no layers to choose from."""
    return DEFAULT_ENCODER if kind == "sentences" and not layer else DEFAULT_MODEL


def model_source(
    model: AnyModel | None = None,
    encoder: str | Path | SentenceEncoder | None = None,
    sentence_encoder: str | Path | SentenceEncoder | None = None,
) -> ModelSource:
    """Models that are given by name or as they are; those by name are loaded once."""
    given: dict[ModelKind, AnyModel | None] = {
        "translation": model,
        "tokens": encoder if encoder is not None else model,
        "sentences": next((m for m in (sentence_encoder, encoder, model) if m is not None), None),
        "language": model,
    }
    pool = ModelPool()

    def source(kind: ModelKind, name: str | None, layer: int | None) -> Any:
        wanted = name or given[kind] or default_encoder(kind, layer)
        if not isinstance(wanted, str | Path):
            return wanted
        separate = kind == "sentences" and sentence_encoder is not None
        return pool(kind, str(wanted), None if separate else layer)

    return source


@overload
def score(  # type: ignore[overload-overlap]  # a string is also a sequence of strings
    hypotheses: str,
    references: References | None = ...,
    *,
    measure: str = ...,
    model: AnyModel | None = ...,
    sources: str | None = ...,
    lang: Languages = ...,
    reference_lang: Languages = ...,
    source_lang: Languages = ...,
    progress: bool | Progress | None = ...,
    **settings: object,
) -> float: ...
@overload
def score(  # type: ignore[overload-overlap]  # a dictionary is also an iterable of strings
    hypotheses: Mapping[str, Column],
    references: References | None = ...,
    *,
    measure: str | Sequence[str] = ...,
    model: AnyModel | None = ...,
    sources: Column | None = ...,
    lang: Languages = ...,
    reference_lang: Languages = ...,
    source_lang: Languages = ...,
    progress: bool | Progress | None = ...,
    **settings: object,
) -> ScoreTable: ...
@overload
def score(  # type: ignore[overload-overlap]  # as above
    hypotheses: Column,
    references: References | None = ...,
    *,
    measure: str = ...,
    model: AnyModel | None = ...,
    sources: Column | None = ...,
    lang: Languages = ...,
    reference_lang: Languages = ...,
    source_lang: Languages = ...,
    progress: bool | Progress | None = ...,
    **settings: object,
) -> Scores: ...
@overload
def score(
    hypotheses: Column,
    references: References | None = ...,
    *,
    measure: Sequence[str],
    model: AnyModel | None = ...,
    sources: Column | None = ...,
    lang: Languages = ...,
    reference_lang: Languages = ...,
    source_lang: Languages = ...,
    progress: bool | Progress | None = ...,
    **settings: object,
) -> ScoreTable: ...
def score(
    hypotheses: str | Column | Mapping[str, Column],
    references: References | None = None,
    *,
    measure: str | Sequence[str] = DEFAULT_MEASURE,
    model: AnyModel | None = None,
    sources: str | Column | None = None,
    lang: Languages = None,
    reference_lang: Languages = None,
    source_lang: Languages = None,
    progress: bool | Progress | None = None,
    **settings: object,
) -> float | Scores | ScoreTable:
    """Score hypotheses against references, by any measure; higher is better.

    One string in, one number out; a list (or a generator, an array, a column of pandas or polars)
    in, :class:`Scores` out: the sequence of the segment scores, with the ``system`` score, the
    ``signature`` and ``marks``. With a list of measures (of one, too), or with several systems as a
    dictionary from names to hypotheses, a :class:`ScoreTable` of :class:`Scores`. ``progress=True``
    prints what is done; a function is called with it. ``settings`` are those of :func:`load`; of
    several measures, each gets the settings that it has.

    >>> import tertium
    >>> tertium.score("Good morning!", "Good morning!", measure="cross")
    1.0
    >>> scores = tertium.score(["Good morning!", "Bye."], ["Good morning!", "Bye!"], measure="chrf")
    >>> scores
    Scores(chrf 94.71, 2 segments: 100.00, 47.92)
    >>> max(scores), round(scores.system, 2)
    (100.0, 94.71)
    >>> table = tertium.score(["A dog."], ["A dog!"], measure=["chrf", "bleu"])
    >>> table
    system       chrf  bleu
    hypotheses  54.33  0.00
    >>> table["chrf"]
    Scores(chrf 54.33, 1 segment: 54.33)
    """
    languages: dict[str, Any] = {
        "lang": lang,
        "reference_lang": reference_lang,
        "source_lang": source_lang,
    }
    common = lang if isinstance(lang, str) else None
    if isinstance(measure, str) and not isinstance(hypotheses, Mapping):
        made = load(measure, model=model, lang=common, **settings)  # type: ignore[arg-type]
        outputs, references = repeatable(hypotheses), repeatable(references)
        if is_nothing(outputs) and (references is None or is_nothing(references)):
            return Scores.nothing(made)
        refuse_streams(outputs, references or ())
        scores = made.score(outputs, references, sources=sources, progress=progress, **languages)
        return scores[0] if isinstance(hypotheses, str) else scores
    specs = read_specs([measure] if isinstance(measure, str) else measure, given=settings)
    if not specs:
        raise SettingError("no measure given")
    models = model_source(model)
    measures = [make_measure(spec, models, lang=common) for spec in specs]
    systems = hypotheses if isinstance(hypotheses, Mapping) else {SYSTEM: hypotheses}
    if not systems:
        raise InputError("there is nothing to score: no system is given")
    references, sources = repeatable(references), repeatable(sources)
    found = {}
    for name, outputs in systems.items():
        outputs = repeatable(outputs)
        refuse_streams(outputs, references or ())
        for each in measures:
            found[name, each.column] = each.score(
                outputs, references, sources=sources, progress=progress, **languages
            )
    return ScoreTable(tuple(systems), tuple(each.column for each in measures), found)


def score_documents(
    hypotheses: Iterable[str | Sequence[str]],
    references: Iterable[str | Sequence[str]] | None = None,
    *,
    measure: str = DEFAULT_MEASURE,
    sources: Iterable[str | Sequence[str]] | None = None,
    **settings: Any,
) -> Scores:
    """Score documents: each is a text, or a list of sentences or paragraphs.

    Documents are split into sentences, which are aligned with those of the other side and scored;
    the score of a document is the weighted mean over its parts. Further arguments are those of
    :func:`score`.

    >>> import tertium
    >>> scores = tertium.score_documents(
    ...     [["It rains. We stay.", "Good night!"]], ["It rains. We stay here. Good night!"]
    ... )
    >>> len(scores), len(scores.parts[0])
    (1, 3)
    """

    def joined(documents: Any) -> Any:
        if documents is None:
            return None
        whole = repeatable(documents)
        return [each if isinstance(each, str) else "\n".join(each) for each in whole]

    found = score(
        joined(hypotheses),
        joined(references),
        measure=measure,
        sources=joined(sources),
        long="always",
        **settings,
    )
    assert isinstance(found, Scores)
    return found


def parse_setting(name: str, text: str, default: object) -> object:
    """Read a value by the type of its default: a truth value, a number, numbers, or text.

    Spaces around it count only in free text, such as a template.

    >>> parse_setting("idf", "yes", False), parse_setting("weights", "0.7,0.3", ())
    (True, (0.7, 0.3))
    """
    if isinstance(default, str) and " " in default:
        return text
    text = text.strip()
    try:
        if isinstance(default, bool):
            if text.lower() not in YES + NO:
                raise ValueError
            return text.lower() in YES
        if isinstance(default, int | float):
            return type(default)(text)
        if isinstance(default, tuple):
            return tuple(float(number) for number in text.split(","))
    except ValueError:
        kind = "a whole number" if isinstance(default, int) else "a number"
        kind = "yes or no" if isinstance(default, bool) else kind
        kind = "numbers with commas" if isinstance(default, tuple) else kind
        raise SettingError(f"{name}={text}: it must be {kind}") from None
    return text


def _checked(model: Any, kind: ModelKind, measure: str) -> Any:
    protocol, description = PROTOCOLS[kind]
    if not isinstance(model, protocol):
        raise SettingError(
            f"{measure} needs {description}, and {type(model).__name__} is not one; "
            "give it a model by name, or an encoder (encoder=, see tertium.load_encoder)"
        )
    return model


def known_settings(measure: str) -> dict[str, Setting]:
    """The settings of a measure and of its encoder."""
    known = settings_of(measure)
    if kinds_of(measure) & {"tokens", "sentences"}:
        known |= ENCODER_SETTINGS
        if "language" in kinds_of(measure):
            known |= LANGUAGE_SETTINGS
    return known


def setting_of(measure: str, name: str) -> Setting:
    """A setting of a measure; of a sum, also that of one part, as in ``wmd.layer``."""
    known = known_settings(measure)
    parts = parts_of(measure)
    part, dot, _ = name.partition(".")
    if dot and len(parts) > 1 and part in parts:
        known = {f"{part}.{each}": about for each, about in known_settings(part).items()}
    if name not in known:
        near = did_you_mean(name, [*PARAMETERS, *known])
        raise SettingError(
            f"{measure} has no setting {name!r}{near}; "
            f"its settings are {', '.join(known) or 'none'}"
        )
    return known[name]


def _split(setting: str) -> tuple[str, str]:
    name, equals, value = setting.partition("=")
    if not equals:
        raise SettingError(
            "is not a name and a value",
            cure="write it as {settings:NAME=VALUE}",
            parameter="settings",
            value=setting,
        )
    return name.strip().replace("-", "_"), value
