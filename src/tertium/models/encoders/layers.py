"""Encoders that are part of a larger model, extracted once into the cache."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tertium.models.encoders.folder import VOCABULARY
from tertium.models.engine_file import EngineFile
from tertium.models.folder import file_sha256
from tertium.storage.paths import encoders_folder
from tertium.storage.unfinished import derived


@contextmanager
def cut_encoder(
    engine_file: EngineFile, layer: int, *, vocabulary: str, fingerprint: str
) -> Iterator[Path]:
    """A folder with CTranslate2's files for an encoder up to a layer.

    It is kept in the cache, named by the fingerprint of the model, and is written atomically. If
    the cache cannot be written to, a temporary folder is used.
    """
    cached = encoders_folder() / f"{fingerprint}-{layer}"
    sizes = _sizes(engine_file, layer, vocabulary)
    if not _is_complete(cached, sizes):
        try:
            with derived(cached, lambda: _is_complete(cached, sizes)) as made:
                _fill(made, engine_file, layer, vocabulary)
        except OSError:
            with tempfile.TemporaryDirectory() as scratch:
                _fill(Path(scratch), engine_file, layer, vocabulary)
                yield Path(scratch)
            return
    yield cached


def _sizes(engine_file: EngineFile, layer: int, vocabulary: str) -> dict[str, int]:
    source = engine_file.path.parent
    return {
        "config.json": (source / "config.json").stat().st_size,
        VOCABULARY: (source / vocabulary).stat().st_size,
        "model.bin": engine_file.encoder_size(layer),
    }


def _is_complete(folder: Path, sizes: Mapping[str, int]) -> bool:
    try:
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except OSError:
        return False


def _fill(made: Path, engine_file: EngineFile, layer: int, vocabulary: str) -> None:
    source = engine_file.path.parent
    shutil.copyfile(source / "config.json", made / "config.json")
    shutil.copyfile(source / vocabulary, made / VOCABULARY)
    with (made / "model.bin").open("wb") as out:
        out.writelines(engine_file.encoder_parts(layer))


def matches_model(cached: Path, engine_file: EngineFile, layer: int) -> bool:
    """Whether a cached encoder equals the encoder of its model, which is extracted again."""
    digest = hashlib.sha256()
    for part in engine_file.encoder_parts(layer):
        digest.update(part)
    return digest.hexdigest() == file_sha256(cached / "model.bin")
