"""Encoders that are part of a larger file, copied out of it once, into the cache."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tertium.models.encoder_folder import VOCABULARY
from tertium.models.engine_file import EngineFile
from tertium.paths import encoders_folder


@contextmanager
def cut_encoder(
    engine_file: EngineFile, layer: int, *, vocabulary: str, fingerprint: str
) -> Iterator[Path]:
    """A folder with the engine's files for an encoder up to a layer.

    It lies in the cache under the fingerprint of what it was cut from, and appears there whole, or
    not at all. Where the cache cannot be written to, it is made anew, for as long as it is needed.
    """
    cached = encoders_folder() / f"{fingerprint}-{layer}"
    if not _is_whole(cached, engine_file, layer):
        try:
            _make(cached, engine_file, layer, vocabulary)
        except OSError:
            with tempfile.TemporaryDirectory() as scratch:
                _fill(Path(scratch), engine_file, layer, vocabulary)
                yield Path(scratch)
            return
    yield cached


def _is_whole(folder: Path, engine_file: EngineFile, layer: int) -> bool:
    try:
        return (folder / "model.bin").stat().st_size == engine_file.encoder_size(layer)
    except OSError:
        return False


def _make(out: Path, engine_file: EngineFile, layer: int, vocabulary: str) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".") as scratch:
        made = Path(scratch) / "encoder"
        made.mkdir()
        _fill(made, engine_file, layer, vocabulary)
        if out.exists() and not _is_whole(out, engine_file, layer):
            shutil.rmtree(out)
        try:
            made.rename(out)
        except OSError:  # another process was quicker, and made the same
            if not _is_whole(out, engine_file, layer):
                raise


def _fill(made: Path, engine_file: EngineFile, layer: int, vocabulary: str) -> None:
    source = engine_file.path.parent
    shutil.copyfile(source / "config.json", made / "config.json")
    shutil.copyfile(source / vocabulary, made / VOCABULARY)
    with (made / "model.bin").open("wb") as out:
        engine_file.write_encoder(layer, out)
