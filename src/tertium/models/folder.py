"""A model on disk: the engine's files, its tokenizers, and ``tertium.json`` that describes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tertium.errors import ModelError
from tertium.models.dialects import dialect
from tertium.models.languages import LanguageSet

CARD = "tertium.json"
ENGINE_FILES = ("model.bin", "config.json")


@dataclass(frozen=True)
class ModelFolder:
    """What ``tertium.json`` says of a model, and where the folder is."""

    path: Path
    name: str
    dialect: str
    languages: LanguageSet
    max_length: int
    """The longest sequence the engine has positions for, tags and end included."""
    source_tokenizer: str
    target_tokenizer: str
    licence: str
    origin: str
    """Where it was converted from; with the commit, if it came from the hub."""
    fingerprint: str
    sizes: Mapping[str, int]
    """The files that make the number, and how many bytes each has."""

    def target_vocabulary(self) -> list[str]:
        """The pieces that the engine can put into a target, by their number."""
        names = ("target_vocabulary.json", "shared_vocabulary.json")
        name = next(name for name in names if name in self.sizes)
        pieces: list[str] = json.loads((self.path / name).read_text(encoding="utf-8"))
        return pieces

    def answers_by(self) -> dict[str, Any]:
        """What decides the model's answers, beside its files."""
        return {
            "dialect": self.dialect,
            "max_length": self.max_length,
            "source_tokenizer": self.source_tokenizer,
            "target_tokenizer": self.target_tokenizer,
            "source_languages": dict(self.languages.source),
            "target_languages": dict(self.languages.target),
        }

    def check(self) -> None:
        """Hash every file and compare; what :func:`read_folder` is too quick to do."""
        now = fingerprint(self.path, sorted(self.sizes), self.answers_by())
        if now != self.fingerprint:
            raise ModelError(
                f"{self.path}: the files do not match the fingerprint in {CARD} "
                f"({now[:12]}, not {self.fingerprint[:12]}); fetch or convert the model again"
            )


def fingerprint(path: Path, files: Sequence[str], description: object) -> str:
    """Hash all that decides what the model answers: the description, and the files."""
    digest = hashlib.sha256(json.dumps(description, sort_keys=True).encode())
    for name in files:
        digest.update(json.dumps([name, file_sha256(path / name)]).encode())
    return digest.hexdigest()


def file_sha256(path: Path) -> str:
    """Hash a file of any size."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_folder(path: Path) -> ModelFolder:
    """Read a model folder; files that are absent or of another size than stated are an error."""
    try:
        card = json.loads((path / CARD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{path} is not a Tertium model: it has no {CARD}") from None
    except ValueError as error:
        raise ModelError(f"{path / CARD} is not readable: {error}") from None
    try:
        folder = _from_card(path, card)
    except KeyError as missing:
        raise ModelError(f"{path / CARD} does not say {missing}") from None
    for name, size in folder.sizes.items():
        file = path / name
        if not file.is_file():
            raise ModelError(f"{path}: {name} is missing; fetch or convert the model again")
        if file.stat().st_size != size:
            raise ModelError(
                f"{path}: {name} has {file.stat().st_size} bytes, not {size}: "
                "it is incomplete or was changed; fetch or convert the model again"
            )
    return folder


def _from_card(path: Path, card: Mapping[str, Any]) -> ModelFolder:
    return ModelFolder(
        path=path,
        name=str(card["name"]),
        dialect=dialect(card["dialect"]).name,
        languages=LanguageSet(
            source=dict(card["source_languages"]),
            target=dict(card["target_languages"]),
            aliases={name: tuple(codes) for name, codes in card["aliases"].items()},
        ),
        max_length=int(card["max_length"]),
        source_tokenizer=str(card["source_tokenizer"]),
        target_tokenizer=str(card["target_tokenizer"]),
        licence=str(card["licence"]),
        origin=str(card["origin"]),
        fingerprint=str(card["fingerprint"]),
        sizes={str(name): int(size) for name, size in card["sizes"].items()},
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
) -> ModelFolder:
    """Write ``tertium.json`` for the files in ``path``: the last step of making a model folder."""
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
    )
    card = {
        "name": name,
        "licence": licence,
        "origin": origin,
        "fingerprint": fingerprint(path, files, folder.answers_by()),
        "sizes": folder.sizes,
        **folder.answers_by(),
        "aliases": languages.aliases,
    }
    text = json.dumps(card, indent=1, ensure_ascii=False) + "\n"
    (path / CARD).write_text(text, encoding="utf-8", newline="\n")
    return read_folder(path)
