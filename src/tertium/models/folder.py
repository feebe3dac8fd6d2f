"""Model folders: the engine's files, tokenizers, and the card ``tertium.json`` with metadata."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from tertium.errors import ModelError
from tertium.models.languages import LanguageSet
from tertium.models.translation.dialects import dialect

CARD = "tertium.json"
ENGINE_FILES = ("model.bin", "config.json")
TRANSLATION, ENCODER, DETECTOR, LANGUAGE = "translation", "encoder", "detector", "language"


class HasSizes(Protocol):
    """A folder that lists its files."""

    @property
    def sizes(self) -> Mapping[str, int]: ...


Folder = TypeVar("Folder", bound=HasSizes)


@dataclass(frozen=True)
class ModelFolder:
    """The contents of ``tertium.json``, and the path of the folder."""

    path: Path
    name: str
    dialect: str
    languages: LanguageSet = field(hash=False)
    max_length: int
    """The maximum length of a sequence, including tags and end of sentence."""
    source_tokenizer: str
    target_tokenizer: str
    licence: str
    origin: str
    """The original of the conversion, with the commit if it came from the hub."""
    fingerprint: str
    sizes: Mapping[str, int] = field(hash=False)
    """The files that determine the scores, and their sizes in bytes."""
    early_stopping: bool = False
    """Whether beam search stops as soon as ``beam_size`` translations have ended."""

    def source_vocabulary(self) -> list[str]:
        """The tokens of the source side, by id."""
        return self._vocabulary("source")

    def target_vocabulary(self) -> list[str]:
        """The tokens of the target side, by id."""
        return self._vocabulary("target")

    def vocabulary_file(self, side: Literal["source", "target"]) -> str:
        """The file with the vocabulary of one side."""
        names = (f"{side}_vocabulary.json", "shared_vocabulary.json")
        return next(name for name in names if name in self.sizes)

    def _vocabulary(self, side: Literal["source", "target"]) -> list[str]:
        file = self.path / self.vocabulary_file(side)
        tokens: list[str] = json.loads(file.read_text(encoding="utf-8"))
        return tokens

    def score_fields(self) -> dict[str, Any]:
        """The fields that determine the model's scores, besides its files."""
        return {
            "dialect": self.dialect,
            "max_length": self.max_length,
            "source_tokenizer": self.source_tokenizer,
            "target_tokenizer": self.target_tokenizer,
            "source_languages": dict(self.languages.source),
            "target_languages": dict(self.languages.target),
            **({"early_stopping": True} if self.early_stopping else {}),
        }

    def check(self) -> None:
        """Compare all hashes with the fingerprint; :func:`read_folder` compares sizes only."""
        check_fingerprint(self.path, self.sizes, self.score_fields(), self.fingerprint)


def fingerprint(path: Path, files: Sequence[str], description: object) -> str:
    """Hash everything that determines the model's scores: the description and the files."""
    digest = hashlib.sha256(json.dumps(description, sort_keys=True).encode())
    for name in files:
        digest.update(json.dumps([name, file_sha256(path / name)]).encode())
    return digest.hexdigest()


def file_sha256(path: Path) -> str:
    """Hash a file of any size."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_fingerprint(
    path: Path, sizes: Mapping[str, int], description: object, expected: str
) -> None:
    """Hash every file of a folder, and compare with the fingerprint in its card."""
    actual = fingerprint(path, sorted(sizes), description)
    if actual != expected:
        raise ModelError(
            f"{path}: the files do not match the fingerprint in {CARD} "
            f"({actual[:12]}, not {expected[:12]}); fetch or convert the model again"
        )


def read_folder(path: Path) -> ModelFolder:
    """Read a model folder; a missing file, or one of the wrong size, is an error."""
    card = read_card(path)
    if kind(card) == ENCODER:
        raise ModelError(
            f"{card.get('name', path)} is an encoder and cannot translate; "
            "use a translation model (see `tertium models`)"
        )
    if kind(card) == DETECTOR:
        raise ModelError(
            f"{card.get('name', path)} is a paraphrase detector and cannot translate; "
            "load it with tertium.load_detector"
        )
    if kind(card) == LANGUAGE:
        raise ModelError(
            f"{card.get('name', path)} is a causal language model and cannot translate; "
            "use a translation model, or the measures lm, llm-src and llm-ref"
        )
    return read_as(path, card, _from_card)


def read_card(path: Path) -> dict[str, Any]:
    """Read ``tertium.json``."""
    try:
        card: dict[str, Any] = json.loads((path / CARD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{path} is not a Tertium model: it has no {CARD}") from None
    except ValueError as error:
        raise ModelError(f"{path / CARD} is not readable: {error}") from None
    return card


def kind(card: Mapping[str, Any]) -> str:
    """The kind of a model; cards without a kind belong to translation models."""
    return str(card.get("kind", TRANSLATION))


def read_as(
    path: Path, card: Mapping[str, Any], make: Callable[[Path, Mapping[str, Any]], Folder]
) -> Folder:
    """Create the folder object from a card, and check that all files exist."""
    try:
        folder = make(path, card)
    except KeyError as missing:
        raise ModelError(f"{path / CARD} has no field {missing}") from None
    check_sizes(path, folder.sizes)
    return folder


def check_sizes(path: Path, sizes: Mapping[str, int]) -> None:
    """Raise an error for missing files, and for files of the wrong size."""
    for name, size in sizes.items():
        file = path / name
        if not file.is_file():
            raise ModelError(f"{path}: {name} is missing; fetch or convert the model again")
        if file.stat().st_size != size:
            raise ModelError(
                f"{path}: {name} has {file.stat().st_size} bytes, not {size}: "
                "it is incomplete or was changed; fetch or convert the model again"
            )


def common_fields(path: Path, card: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that all kinds of cards have."""
    return {
        "path": path,
        "name": str(card["name"]),
        "licence": str(card["licence"]),
        "origin": str(card["origin"]),
        "fingerprint": str(card["fingerprint"]),
        "sizes": {str(name): int(size) for name, size in card["sizes"].items()},
    }


def _from_card(path: Path, card: Mapping[str, Any]) -> ModelFolder:
    return ModelFolder(
        **common_fields(path, card),
        dialect=dialect(card["dialect"]).name,
        languages=LanguageSet(
            source=dict(card["source_languages"]),
            target=dict(card["target_languages"]),
            aliases={name: tuple(codes) for name, codes in card["aliases"].items()},
        ),
        max_length=int(card["max_length"]),
        source_tokenizer=str(card["source_tokenizer"]),
        target_tokenizer=str(card["target_tokenizer"]),
        early_stopping=bool(card.get("early_stopping", False)),
    )


def write_card(
    path: Path,
    *,
    name: str,
    dialect: str,
    languages: LanguageSet,
    max_length: int,
    source_tokenizer: str,
    target_tokenizer: str,
    licence: str,
    origin: str,
    early_stopping: bool = False,
) -> ModelFolder:
    """Write ``tertium.json`` for the files in ``path``, as the last step of conversion."""
    vocabularies = [file.name for file in path.glob("*_vocabulary.json")]
    files = sorted({*ENGINE_FILES, *vocabularies, source_tokenizer, target_tokenizer})
    folder = ModelFolder(
        path=path,
        name=name,
        dialect=dialect,
        languages=languages,
        max_length=max_length,
        source_tokenizer=source_tokenizer,
        target_tokenizer=target_tokenizer,
        licence=licence,
        origin=origin,
        fingerprint="",
        sizes={file: (path / file).stat().st_size for file in files},
        early_stopping=early_stopping,
    )
    card = {
        "name": name,
        "licence": licence,
        "origin": origin,
        "fingerprint": fingerprint(path, files, folder.score_fields()),
        "sizes": folder.sizes,
        **folder.score_fields(),
        "aliases": languages.aliases,
    }
    save_card(path, card)
    return read_folder(path)


def save_own_card(
    path: Path,
    kind: str,
    files: Sequence[str],
    fields: Mapping[str, Any],
    *,
    name: str,
    licence: str,
    origin: str,
) -> None:
    """Write the card of an encoder, a detector or a language model."""
    card = {
        "kind": kind,
        "name": name,
        "licence": licence,
        "origin": origin,
        "fingerprint": fingerprint(path, files, fields),
        "sizes": {file: (path / file).stat().st_size for file in files},
        **fields,
    }
    save_card(path, card)


def save_card(path: Path, card: Mapping[str, Any]) -> None:
    """Write ``tertium.json``."""
    text = json.dumps(card, indent=1, ensure_ascii=False) + "\n"
    (path / CARD).write_text(text, encoding="utf-8", newline="\n")
