"""Model folders: files, and the card ``tertium.json`` that says what they are.

The fingerprint of a model is a hash of everything that can change one of its numbers: the files
and the settings in the card. It is verified before a model is used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PureWindowsPath
from typing import Any, Generic, Literal, TypeVar, overload

from tertium.errors import FingerprintWarning, ModelError, warn_caller
from tertium.models.base import describe_model
from tertium.models.settings import (
    KINDS,
    DetectorSettings,
    EncoderSettings,
    LanguageSettings,
    Settings,
    TranslationSettings,
)
from tertium.storage.hashes import file_sha256, remembered_sha256

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
