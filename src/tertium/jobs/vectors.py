"""Sentence vectors on disk: encoded once, memory-mapped, and reused by later runs."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tertium.errors import InputError, ModelError, OutputError
from tertium.models.base import Progress, SentenceEncoder
from tertium.stats.neighbours import Vectors
from tertium.storage.atomic import write_bytes, write_text
from tertium.storage.paths import remembered_sha256
from tertium.storage.resume import locked

VERSION = 2


class StoredVectors(NamedTuple):
    """One vector per text, memory-mapped, and the indices of texts that were truncated."""

    vectors: Vectors
    cut: frozenset[int]
    key: str


@dataclass(frozen=True)
class VectorStore:
    """A folder of sentence vectors, which several processes may use at once.

    For each block of texts and encoder it has ``KEY.npy`` and the manifest ``KEY.json``, which
    names the encoder (fingerprint and settings), the language and the hash of the texts, and has
    the hash of the vectors: damaged ones are encoded again. The manifest is written last.
    """

    folder: Path

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
        done = self.read(key)
        if done is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            with locked(self.folder / key):
                done = self.read(key) or self._encode(key, manifest, encoder, texts, progress)
        return done

    def read(self, key: str) -> StoredVectors | None:
        """The vectors of a block, if they are there and sound."""
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
        return StoredVectors(vectors, frozenset(record["cut"]), key)

    def _encode(
        self,
        key: str,
        manifest: dict[str, Any],
        encoder: SentenceEncoder,
        texts: Sequence[str],
        progress: Progress | None,
    ) -> StoredVectors:
        found = encoder.sentence_vectors(texts, lang=manifest["lang"], progress=progress)
        _check_finite(encoder, found.vectors, texts)
        content = io.BytesIO()
        np.save(content, np.ascontiguousarray(found.vectors, dtype="<f4"))
        write_bytes(self.folder / f"{key}.npy", content.getvalue())
        cut = [place for place, is_cut in enumerate(found.cut) if is_cut]
        digest = hashlib.sha256(content.getvalue()).hexdigest()
        manifest = {**manifest, "cut": cut, "sha256": digest}
        write_text(self.folder / f"{key}.json", json.dumps(manifest))
        result = self.read(key)
        if result is None:
            raise OutputError(f"{self.folder} does not hold what was written; check the disk")
        return result


def _check_finite(encoder: SentenceEncoder, vectors: Vectors, texts: Sequence[str]) -> None:
    """A vector that is not a number would be everybody's neighbour, or nobody's."""
    for place in np.flatnonzero(~np.isfinite(vectors).all(axis=1))[:1]:
        raise ModelError(f"{encoder.name} returns no number for {texts[place]!r}")


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
