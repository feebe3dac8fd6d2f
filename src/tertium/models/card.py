"""Model folders: files, and the card ``tertium.json`` that says what they are.

The fingerprint of a model is a hash of everything that can change one of its numbers: the files
and the settings in the card. It is verified before a model is used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path, PureWindowsPath
from typing import (
    Any,
    ClassVar,
    Generic,
    Literal,
    Self,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from tertium.errors import FingerprintWarning, ModelError, warn_caller
from tertium.models.base import describe_model
from tertium.models.languages import LanguageSet
from tertium.models.tokenizer import dialect
from tertium.storage.paths import file_sha256, remembered_sha256

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


CARD = "tertium.json"
READ_BY_NAME = ("*vocabulary.*", "vmap.txt")
"""Files that the engine looks for, whether the card lists them or not."""
AGAIN = "fetch or convert the model again"
SHOWN_DIGITS = 12

SettingsT_co = TypeVar("SettingsT_co", bound=Settings, covariant=True)
SettingsT = TypeVar("SettingsT", bound=Settings)


@dataclass(frozen=True)
class Card(Generic[SettingsT_co]):
    """The contents of ``tertium.json``, and the path of the folder."""

    path: Path
    name: str
    licence: str
    origin: str
    """The original of the conversion, with the commit if it came from the hub."""
    fingerprint: str
    settings: SettingsT_co
    sizes: Mapping[str, int] = field(hash=False)
    """The files that determine the model's numbers, and their sizes in bytes."""
    hashes: Mapping[str, str] = field(hash=False)
    """The hash of each file; empty in the cards of earlier versions."""

    def verified(self, sha256: Callable[[Path], str] = remembered_sha256) -> Card[SettingsT_co]:
        """Compare the files and the card with the fingerprint; a difference is an error.

        Cards of earlier versions did not count languages' aliases in the fingerprint: theirs is
        compared without, and returned with them, with a warning if that is another one.
        """
        for pattern in READ_BY_NAME:
            for file in sorted(self.path.glob(pattern)):
                if file.name not in self.sizes:
                    raise ModelError(
                        f"{file} is not part of the model, but the engine would read it; remove it"
                    )
        hashes = {name: sha256(self.path / name) for name in self.sizes}
        for name, expected in self.hashes.items():
            if hashes[name] != expected:
                raise ModelError(f"{self.path / name} was changed or is damaged; {AGAIN}")
        fields = self.settings.as_card()
        counted = {name: fields[name] for name in fields if self.hashes or name != "aliases"}
        if fingerprint(counted, hashes) != self.fingerprint:
            what = "" if self.hashes else " or a file that it lists"
            raise ModelError(f"{self.path / CARD}{what} was changed or is damaged; {AGAIN}")
        verified = fingerprint(fields, hashes)
        if verified != self.fingerprint:
            warn_caller(
                f"{self.name} has the fingerprint {verified[:SHOWN_DIGITS]}, in earlier versions "
                f"{self.fingerprint[:SHOWN_DIGITS]}: it covers the names of languages now; scores "
                f"with either are comparable ({AGAIN} to have the new one in its card)",
                FingerprintWarning,
            )
        return replace(self, fingerprint=verified)


TranslationCard = Card[TranslationSettings]
EncoderCard = Card[EncoderSettings]
DetectorCard = Card[DetectorSettings]
LanguageCard = Card[LanguageSettings]
AnyCard = TranslationCard | EncoderCard | DetectorCard | LanguageCard


class FromCard(Generic[SettingsT]):
    """A model that was loaded from a folder: what the card and the engine say about it."""

    card: Card[SettingsT]
    _settings: Mapping[str, str]

    def __repr__(self) -> str:
        return describe_model(self)

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def fingerprint(self) -> str:
        return self.card.fingerprint

    @property
    def settings(self) -> Mapping[str, str]:
        """Everything else that can change a number."""
        return self._settings


def fingerprint(fields: Mapping[str, Any], hashes: Mapping[str, str]) -> str:
    """Hash everything that determines a model's numbers: its settings and its files."""
    digest = hashlib.sha256(json.dumps(fields, sort_keys=True).encode())
    for name in sorted(hashes):
        digest.update(json.dumps([name, hashes[name]]).encode())
    return digest.hexdigest()


@overload
def read_card(path: Path) -> Card[Settings]: ...


@overload
def read_card(path: Path, wanted: type[SettingsT]) -> Card[SettingsT]: ...


def read_card(path: Path, wanted: type[Settings] = Settings) -> Card[Settings]:
    """Read the card of a folder; a missing file, or one of the wrong size, is an error."""
    try:
        card: dict[str, Any] = json.loads((path / CARD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(
            f"{path} is not a Tertium model: it has no {CARD}; convert it with "
            "`tertium models convert`"
        ) from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path / CARD} is not readable: {error}") from None
    if not isinstance(card, dict):
        raise ModelError(f"{path / CARD} is not readable: it is not an object")
    name = str(card.get("name", path))
    kind = KINDS.get(str(card.get("kind", TranslationSettings.kind)))
    if kind is None:
        raise ModelError(f"{name} is a model of the unsupported kind {card['kind']!r}")
    if not issubclass(kind, wanted):
        raise ModelError(f"{name} is {kind.title}, not {wanted.title}; {wanted.cure}")
    try:
        settings = kind.from_card(card)
        sizes = {str(file): int(size) for file, size in card["sizes"].items()}
        read = Card(
            path=path,
            name=name,
            licence=str(card["licence"]),
            origin=str(card["origin"]),
            fingerprint=str(card["fingerprint"]),
            settings=settings,
            sizes=sizes,
            hashes={str(file): str(value) for file, value in card.get("hashes", {}).items()},
        )
    except KeyError as missing:
        raise ModelError(f"{path / CARD} has no field {missing}") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise ModelError(f"{path / CARD} is not readable: {error}; {AGAIN}") from None
    _check_files(read)
    return read


def write_card(
    path: Path, settings: SettingsT, *, name: str, licence: str, origin: str
) -> Card[SettingsT]:
    """Write ``tertium.json`` for the files in ``path``, as the last step of conversion."""
    vocabularies = (file.name for file in path.glob("*_vocabulary.json"))
    hashes = {file: file_sha256(path / file) for file in sorted({*settings.files, *vocabularies})}
    card = {
        "kind": settings.kind,
        "name": name,
        "licence": licence,
        "origin": origin,
        "fingerprint": fingerprint(settings.as_card(), hashes),
        "sizes": {file: (path / file).stat().st_size for file in hashes},
        "hashes": hashes,
        **settings.as_card(),
    }
    text = json.dumps(card, indent=1, ensure_ascii=False) + "\n"
    (path / CARD).write_text(text, encoding="utf-8", newline="\n")
    return read_card(path, type(settings))


def vocabulary_file(card: TranslationCard, side: Literal["source", "target"]) -> str:
    """The file with the vocabulary of one side of a translation model."""
    names = (f"{side}_vocabulary.json", "shared_vocabulary.json")
    return next(name for name in names if name in card.sizes)


def read_vocabulary(card: TranslationCard, side: Literal["source", "target"]) -> list[str]:
    """The tokens of one side of a translation model, by id."""
    file = card.path / vocabulary_file(card, side)
    tokens: list[str] = json.loads(file.read_text(encoding="utf-8"))
    return tokens


def _check_files(card: Card[Settings]) -> None:
    """Check that the card lists all files, that they are inside its folder, and their sizes."""
    files = {*card.settings.files, *card.sizes, *card.hashes}
    for name in sorted(files):
        if PureWindowsPath(name).name != name:  # has the separators of all systems
            raise ModelError(f"{card.path / CARD} names {name!r}, which is outside of its folder")
        file = card.path / name
        if name not in card.sizes:
            raise ModelError(f"{card.path / CARD} does not list {name}; {AGAIN}")
        if not file.is_file():
            raise ModelError(f"{card.path}: {name} is missing; {AGAIN}")
        if file.stat().st_size != card.sizes[name]:
            raise ModelError(
                f"{card.path}: {name} has {file.stat().st_size} bytes, not {card.sizes[name]}: "
                f"it is incomplete or was changed; {AGAIN}"
            )
