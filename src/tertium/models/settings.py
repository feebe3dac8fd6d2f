"""The settings in the cards of models: what can change a number, besides the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints

from tertium.errors import ModelError
from tertium.models.languages import LanguageSet
from tertium.models.translation.dialects import dialect

WEIGHTS, CONFIG = "model.bin", "config.json"
ENGINE_FILES = (CONFIG, WEIGHTS)
VOCABULARY = "vocabulary.json"
TOKENIZER = "tokenizer.json"
DENSE = "dense.npz"
HEAD = "head.npz"
CTRANSLATE2, STATIC = "ctranslate2", "static"
PIECES, STATIC_VECTORS = "spm.model", "static.npz"
"""The files of a static encoder."""


@dataclass(frozen=True)
class Settings:
    """The settings of a model, which are fields of its card."""

    max_length: int = field(kw_only=True)
    """The maximum length of a sequence in tokens, with those that frame the text."""

    kind: ClassVar[str]
    """The kind of the model, as its card names it."""
    title: ClassVar[str]
    """The kind, for messages."""
    cure: ClassVar[str]
    """What to do where a model of this kind is needed and another one was given."""
    optional: ClassVar[frozenset[str]] = frozenset()
    """Fields that are left out of the card, and of its fingerprint, where they have their default:
    fingerprints stay as they are when such a field is added."""

    @property
    def files(self) -> frozenset[str]:
        """The names of the files that such a model needs."""
        return frozenset({*ENGINE_FILES, VOCABULARY, TOKENIZER})

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> Self:
        """Read the fields of a card; a missing one is a KeyError, a wrong one a ValueError."""
        values: dict[str, Any] = {}
        hints = get_type_hints(cls)
        for each in fields(cls):
            if each.name in card:
                value = card[each.name]
                values[each.name] = tuple(value) if isinstance(value, list) else value
                if not _fits(values[each.name], hints[each.name]):
                    raise ValueError(f"{each.name} has a value of the wrong type")
            elif each.name not in cls.optional:
                raise KeyError(each.name)
        if values["max_length"] < (0 if values.get("engine") == STATIC else 1):
            raise ValueError(f"max_length is {values['max_length']}")
        return cls(**values)

    def as_card(self) -> dict[str, Any]:
        """The fields in the card, in JSON."""
        return {
            each.name: list(value) if isinstance(value, tuple) else value
            for each in fields(self)
            if (value := getattr(self, each.name)) != _default(each)
            or each.name not in self.optional
        }


@dataclass(frozen=True)
class TranslationSettings(Settings):
    """The settings of a translation model."""

    dialect: str
    source_tokenizer: str
    target_tokenizer: str
    source_languages: Mapping[str, str] = field(hash=False)
    """Each language of the source, with its tag (empty if there is none)."""
    target_languages: Mapping[str, str] = field(hash=False)
    early_stopping: bool = False
    """Whether beam search stops as soon as ``beam_size`` translations have ended."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """Other codes of languages, as far as the tables of :mod:`tertium.data.codes` lack them."""

    kind = "translation"
    title = "a translation model"
    cure = "`tertium models` lists translation models"
    optional = frozenset({"early_stopping", "aliases"})

    @property
    def files(self) -> frozenset[str]:
        return frozenset({*ENGINE_FILES, self.source_tokenizer, self.target_tokenizer})

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> Self:
        dialect(card["dialect"])
        languages = LanguageSet(
            dict(card["source_languages"]),
            dict(card["target_languages"]),
            {name: tuple(codes) for name, codes in card.get("aliases", {}).items()},
        )
        return super().from_card({**card, "aliases": languages.needed_aliases()})

    @cached_property
    def languages(self) -> LanguageSet:
        """The languages, and what they may be called."""
        return LanguageSet(self.source_languages, self.target_languages, self.aliases)


@dataclass(frozen=True)
class EncoderSettings(Settings):
    """The settings of an encoder."""

    family: str
    """The ``model_type`` of the Hugging Face folder: bert, xlm-roberta and so on."""
    layers: int
    """The number of layers in the folder; the vectors are those of the last one."""
    layers_of_original: int
    pooling: tuple[str, ...] = ("mean",)
    activations: tuple[str, ...] = ()
    """The activations of the layers after the pooling, whose weights are in ``dense.npz``."""
    lowercase: bool = False
    prefix: str = ""
    """The text before every input of a sentence vector; E5 was trained with one."""
    engine: str = CTRANSLATE2
    """What computes the vectors; it determines the files of the folder."""
    languages: tuple[str, ...] = ()
    """The languages that it was trained on, if they are stated."""

    kind = "encoder"
    title = "an encoder"
    cure = "`tertium models` lists encoders"
    optional = frozenset({"engine", "languages"})
    engine_files: ClassVar[Mapping[str, frozenset[str]]] = {
        CTRANSLATE2: frozenset({*ENGINE_FILES, VOCABULARY, TOKENIZER}),
        STATIC: frozenset({PIECES, STATIC_VECTORS}),
    }
    """The files of an encoder, by its engine."""

    @property
    def files(self) -> frozenset[str]:
        if self.engine not in self.engine_files:
            raise ModelError(
                f"the engine {self.engine!r} is unsupported (supported: "
                f"{', '.join(self.engine_files)}); a later version of Tertium may have it"
            )
        return self.engine_files[self.engine] | ({DENSE} if self.activations else set())


@dataclass(frozen=True)
class DetectorSettings(Settings):
    """The settings of a paraphrase detector."""

    family: str
    """The ``model_type`` of the Hugging Face folder: bert, xlm-roberta and so on."""
    layers: int
    activations: tuple[str, ...]
    """The activations of the layers of the head, whose weights are in ``head.npz``."""
    positive: int = 1
    """The class that means paraphrase."""
    lowercase: bool = False

    kind = "detector"
    title = "a paraphrase detector"
    cure = "train one with `tertium train detector`"

    @property
    def files(self) -> frozenset[str]:
        return super().files | {HEAD}

    @property
    def types(self) -> bool:
        """Whether the network uses token types, which tell the two texts apart.

        >>> DetectorSettings("xlm-roberta", 12, ("tanh", "identity"), max_length=128).types
        False
        """
        return self.family == "bert"


@dataclass(frozen=True)
class LanguageSettings(Settings):
    """The settings of a causal language model."""

    family: str
    """The ``model_type`` of the Hugging Face folder: gpt2, llama, qwen2 and so on."""
    start: str
    """The token before every text, so that the first token has a probability, too."""
    end: str
    """The token after the last one of a text."""

    kind = "language"
    title = "a causal language model"
    cure = (
        "name one after the measure (lm@MODEL), or as a setting of a sum (language_model=MODEL); "
        "`tertium models` lists them"
    )


KINDS: dict[str, type[Settings]] = {
    each.kind: each
    for each in (TranslationSettings, EncoderSettings, DetectorSettings, LanguageSettings)
}


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value from JSON has the type of a field.

    >>> _fits(("a",), tuple[str, ...]), _fits({"a": [1]}, Mapping[str, str]), _fits(True, int)
    (True, False, False)
    """
    inner = get_args(kind)
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(_fits(each, inner[0]) for each in value)
    if inner:
        return isinstance(value, Mapping) and all(_fits(value[name], inner[1]) for name in value)
    return isinstance(value, kind) and isinstance(value, bool) == (kind is bool)


def _default(each: Any) -> Any:
    return each.default if each.default_factory is MISSING else each.default_factory()
