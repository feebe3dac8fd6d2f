"""Encoders that are part of a larger file, copied out of it once, into the cache."""

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
from tertium.storage.unfinished import scratch_beside


@contextmanager
def cut_encoder(
    engine_file: EngineFile, layer: int, *, vocabulary: str, fingerprint: str
) -> Iterator[Path]:
    """A folder with the engine's files for an encoder up to a layer.

    It lies in the cache under the fingerprint of what it was cut from, and appears there whole, or
    not at all. Where the cache cannot be written to, it is made anew, for as long as it is needed.
    """
    cached = encoders_folder() / f"{fingerprint}-{layer}"
    wanted = _sizes(engine_file, layer, vocabulary)
    if not _is_whole(cached, wanted):
        try:
            _make(cached, engine_file, layer, vocabulary, wanted)
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


def _is_whole(folder: Path, sizes: Mapping[str, int]) -> bool:
    try:
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except OSError:
        return False


def _make(
    out: Path, engine_file: EngineFile, layer: int, vocabulary: str, sizes: Mapping[str, int]
) -> None:
    with scratch_beside(out) as scratch:
        made = scratch / "encoder"
        made.mkdir()
        _fill(made, engine_file, layer, vocabulary)
        if out.exists() and not _is_whole(out, sizes):
            shutil.rmtree(out)
        try:
            made.rename(out)
        except OSError:  # another process was quicker, and made the same
            if not _is_whole(out, sizes):
                raise


def _fill(made: Path, engine_file: EngineFile, layer: int, vocabulary: str) -> None:
    source = engine_file.path.parent
    shutil.copyfile(source / "config.json", made / "config.json")
    shutil.copyfile(source / vocabulary, made / VOCABULARY)
    with (made / "model.bin").open("wb") as out:
        out.writelines(engine_file.encoder_parts(layer))


def matches_its_model(cached: Path, engine_file: EngineFile, layer: int) -> bool:
    """Cut the encoder out once more, and compare what comes of it with what is in the cache."""
    digest = hashlib.sha256()
    for part in engine_file.encoder_parts(layer):
        digest.update(part)
    return digest.hexdigest() == file_sha256(cached / "model.bin")
