"""Encoders that are part of a larger model, extracted once into the cache."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tertium.models.engine_file import EngineFile
from tertium.models.settings import CONFIG, VOCABULARY, WEIGHTS
from tertium.storage.hashes import file_sha256, remembered_sha256
from tertium.storage.paths import encoders_folder
from tertium.storage.unfinished import derived

FILES = (CONFIG, VOCABULARY, WEIGHTS)
HASHES = "hashes.json"
"""The hash of each file, by which a damaged encoder is found and extracted again."""


@contextmanager
def cut_encoder(
    engine_file: EngineFile, layer: int, *, vocabulary: str, fingerprint: str
) -> Iterator[Path]:
    """A folder with CTranslate2's files for an encoder up to a layer.

    It is kept in the cache, named by the fingerprint of the model, and is written atomically. If
    the cache cannot be written to, a temporary folder is used.
    """
    cached = encoders_folder() / f"{fingerprint}-{layer}"
    if not _is_intact(cached):
        try:
            with derived(cached, lambda: _is_intact(cached)) as made:
                _fill(made, engine_file, layer, vocabulary)
        except OSError:
            with tempfile.TemporaryDirectory() as scratch:
                _fill(Path(scratch), engine_file, layer, vocabulary)
                yield Path(scratch)
            return
    yield cached


def _is_intact(folder: Path) -> bool:
    """Whether the files of an extracted encoder are those that were written."""
    try:
        hashes: object = json.loads((folder / HASHES).read_bytes())
        return hashes == {name: remembered_sha256(folder / name) for name in FILES}
    except (OSError, ValueError):
        return False


def _fill(made: Path, engine_file: EngineFile, layer: int, vocabulary: str) -> None:
    source = engine_file.path.parent
    shutil.copyfile(source / CONFIG, made / CONFIG)
    shutil.copyfile(source / vocabulary, made / VOCABULARY)
    with (made / WEIGHTS).open("wb") as out:
        out.writelines(engine_file.encoder_parts(layer))
    (made / HASHES).write_text(json.dumps({name: file_sha256(made / name) for name in FILES}))


def matches_model(cached: Path, engine_file: EngineFile, layer: int) -> bool:
    """Whether a cached encoder equals the encoder of its model, which is extracted again."""
    digest = hashlib.sha256()
    for part in engine_file.encoder_parts(layer):
        digest.update(part)
    return digest.hexdigest() == file_sha256(cached / WEIGHTS)
