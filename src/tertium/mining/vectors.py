"""Sentence vectors on disk: encoded once, memory-mapped, and reused by later runs."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tertium.errors import InputError, ModelError, OutputError
from tertium.models.base import Progress, SentenceEncoder
from tertium.stats.neighbours import Vectors
from tertium.storage.atomic import write_at, write_text
from tertium.storage.hashes import remembered_sha256
from tertium.storage.lock import locked
from tertium.storage.paths import cache_folder

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

TEXTS_AT_A_TIME = 8192
VERSION = 2
CHUNK = 1 << 20


class StoredVectors(NamedTuple):
    """One vector per text, memory-mapped, and the indices of texts that were truncated."""

    vectors: Vectors
    cut: frozenset[int]


@dataclass(frozen=True)
class VectorStore:
    """A folder of sentence vectors.

    For each list of texts and encoder it has ``KEY.npy`` and the manifest ``KEY.json``, which names
    the encoder (fingerprint and settings), the language and the hash of the texts. The manifest is
    written last: vectors without one are incomplete, and encoding is resumed at the last block.
    It also has the hash of the vectors: damaged ones are encoded again.
    """

    folder: Path
    texts_at_a_time: int = TEXTS_AT_A_TIME

    @classmethod
    def default(cls) -> VectorStore:
        """The store in the cache folder."""
        return cls(cache_folder() / "vectors")

    def vectors(
        self,
        encoder: SentenceEncoder,
        texts: Sequence[str],
        *,
        lang: str | None = None,
        progress: Progress | None = None,
    ) -> StoredVectors:
        """Return the vectors of texts; they are encoded unless the folder has them."""
        if not texts:
            raise InputError("there are no texts to encode")
        manifest = {
            "version": VERSION,
            "encoder": encoder.fingerprint,
            "settings": dict(encoder.settings),
            "lang": lang,
            "count": len(texts),
            "texts": _digest(texts),
        }
        key = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()[:32]
        done = self._read(key)
        if done is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            with locked(self.folder / key):
                done = self._read(key) or self._encode(key, manifest, encoder, texts, progress)
        return done

    def _read(self, key: str) -> StoredVectors | None:
        """The vectors, if they are complete."""
        file, record = self.folder / f"{key}.npy", _record(self.folder / f"{key}.json")
        if record is None or not file.exists():
            return None
        try:
            vectors = np.load(file, mmap_mode="r", allow_pickle=False)  # checks the size
        except (OSError, ValueError):
            return None  # damaged: encoded again
        if vectors.shape[:1] != (record["count"],) or vectors.dtype != np.float32:
            return None
        if remembered_sha256(file) != record["sha256"]:
            return None
        return StoredVectors(vectors, frozenset(record["cut"]))

    def _encode(
        self,
        key: str,
        manifest: dict[str, Any],
        encoder: SentenceEncoder,
        texts: Sequence[str],
        progress: Progress | None,
    ) -> StoredVectors:
        part, state = self.folder / f"{key}.part", self.folder / f"{key}.part.json"
        record = _record(state) or {}
        done, cut, size = record.get("done", 0), record.get("cut", []), record.get("bytes", 0)
        digest = _digest_of(part, size)
        if digest.hexdigest() != record.get("sha256"):
            done, cut, size, digest = 0, [], 0, hashlib.sha256()
        while done < len(texts):
            some = texts[done : done + self.texts_at_a_time]
            found = encoder.sentence_vectors(some, lang=manifest["lang"])
            _check_finite(encoder, found.vectors, some)
            head = b"" if done else _header(len(texts), found.vectors.shape[1])
            content = head + np.ascontiguousarray(found.vectors, dtype="<f4").tobytes()
            digest.update(content)
            size = write_at(part, size, content)
            cut = [*cut, *(done + place for place, is_cut in enumerate(found.cut) if is_cut)]
            done += len(some)
            record = {"done": done, "cut": cut, "bytes": size, "sha256": digest.hexdigest()}
            write_text(state, json.dumps(record))
            if progress is not None:
                progress("encoding", done, len(texts))
        os.replace(part, self.folder / f"{key}.npy")
        manifest = {**manifest, "cut": cut, "sha256": digest.hexdigest()}
        write_text(self.folder / f"{key}.json", json.dumps(manifest))
        state.unlink(missing_ok=True)
        result = self._read(key)
        if result is None:
            raise OutputError(f"{self.folder} does not hold what was written; check the disk")
        return result


def _check_finite(encoder: SentenceEncoder, vectors: Vectors, texts: Sequence[str]) -> None:
    """A vector that is not a number would be everybody's neighbour, or nobody's."""
    for place in np.flatnonzero(~np.isfinite(vectors).all(axis=1))[:1]:
        raise ModelError(f"{encoder.name} returns no number for {texts[place]!r}")


def _digest_of(file: Path, size: int) -> Hash:
    """The hash of the first bytes of a file, to be continued."""
    digest = hashlib.sha256()
    with suppress(FileNotFoundError), file.open("rb") as stream:
        while size > 0 and (part := stream.read(min(size, CHUNK))):
            digest.update(part)
            size -= len(part)
    return digest


def _header(rows: int, width: int) -> bytes:
    """The header of a .npy file (format 1.0) of float32, whose rows are appended later."""
    stream = io.BytesIO()
    description = {"descr": "<f4", "fortran_order": False, "shape": (rows, width)}
    np.lib.format.write_array_header_1_0(stream, description)
    return stream.getvalue()


def _record(file: Path) -> dict[str, Any] | None:
    try:
        record = json.loads(file.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def _digest(texts: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        content = text.encode()
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()
