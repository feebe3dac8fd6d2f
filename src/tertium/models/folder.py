"""A model on disk: the engine's files, a tokenizer, and ``tertium.json`` that describes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tertium.errors import ModelError
from tertium.models.dialects import dialect

CARD = "tertium.json"
ENGINE_FILES = ("model.bin", "config.json")
HASH_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """What ``tertium.json`` says of a model, and where the folder is."""

    path: Path
    name: str
    dialect: str
    languages: tuple[str, ...]
    max_length: int
    """The longest sequence the engine has positions for, tags and end included."""
    tokenizer: str
    licence: str
    fingerprint: str
    sizes: Mapping[str, int]
    """The files that make the number, and how many bytes each has."""

    def target_vocabulary(self) -> list[str]:
        """The pieces that the engine can put into a target, by their number."""
        name = next(
            name
            for name in ("target_vocabulary.json", "shared_vocabulary.json")
            if name in self.sizes
        )
        pieces: list[str] = json.loads((self.path / name).read_text(encoding="utf-8"))
        return pieces

    def check(self) -> None:
        """Hash every file and compare; what :func:`read_folder` is too quick to do."""
        now = fingerprint(self.path, sorted(self.sizes), self.dialect, self.languages)
        if now != self.fingerprint:
            raise ModelError(
                f"{self.path}: the files do not match the fingerprint in {CARD} "
                f"({now[:12]}, not {self.fingerprint[:12]}); fetch or convert the model again"
            )


def fingerprint(path: Path, files: Sequence[str], dialect: str, languages: Sequence[str]) -> str:
    """Hash all that decides what the model answers."""
    digest = hashlib.sha256(json.dumps([dialect, sorted(languages)]).encode())
    for name in files:
        content = hashlib.sha256()
        with (path / name).open("rb") as stream:
            while block := stream.read(HASH_BLOCK):
                content.update(block)
        digest.update(json.dumps([name, content.hexdigest()]).encode())
    return digest.hexdigest()


def read_folder(path: Path) -> ModelFolder:
    """Read a model folder; files that are absent or of another size than stated are an error."""
    try:
        card = json.loads((path / CARD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{path} is not a Tertium model: it has no {CARD}") from None
    except ValueError as error:
        raise ModelError(f"{path / CARD} is not readable: {error}") from None
    try:
        folder = ModelFolder(
            path=path,
            name=str(card["name"]),
            dialect=dialect(card["dialect"]).name,
            languages=tuple(card["languages"]),
            max_length=int(card["max_length"]),
            tokenizer=str(card["tokenizer"]),
            licence=str(card["licence"]),
            fingerprint=str(card["fingerprint"]),
            sizes={str(name): int(size) for name, size in card["sizes"].items()},
        )
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


def write_card(
    path: Path,
    *,
    name: str,
    dialect: str,
    languages: Sequence[str],
    max_length: int,
    tokenizer: str,
    licence: str,
) -> ModelFolder:
    """Write ``tertium.json`` for the files in ``path``: the last step of making a model folder."""
    vocabularies = sorted(file.name for file in path.glob("*vocabulary*"))
    files = sorted({*ENGINE_FILES, *vocabularies, tokenizer})
    folder = ModelFolder(
        path=path,
        name=name,
        dialect=dialect,
        languages=tuple(languages),
        max_length=max_length,
        tokenizer=tokenizer,
        licence=licence,
        fingerprint=fingerprint(path, files, dialect, languages),
        sizes={file: (path / file).stat().st_size for file in files},
    )
    card = {key: value for key, value in asdict(folder).items() if key != "path"}
    (path / CARD).write_text(
        json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n"
    )
    return folder
