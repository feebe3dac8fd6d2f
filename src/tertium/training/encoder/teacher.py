"""The vectors of the teacher for English sentences, computed once and cached on disk."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from tertium.models.base import SentenceEncoder
from tertium.storage.atomic import write_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHARD = 4_000
"""Sentences per file of the cache: what an interruption can lose."""


def choose_sentences(
    sentences: Mapping[str, Sequence[str]], shares: Mapping[str, int]
) -> list[str]:
    """Choose so many distinct sentences of each corpus, by their checksums.

    Every beginning of the list is a mixture with about the same shares.
    """
    placed: dict[str, float] = {}
    for corpus, count in shares.items():
        ordered = sorted(set(sentences[corpus]), key=lambda text: (zlib.crc32(text.encode()), text))
        for rank, text in enumerate(ordered[:count]):
            placed.setdefault(text, rank / count)
    return sorted(placed, key=lambda text: (placed[text], text))


def teacher_vectors(
    teacher: SentenceEncoder, sentences: Sequence[str], cache: Path
) -> NDArray[np.float16]:
    """Encode sentences in shards, each of which is a file named by a hash of its contents."""
    import numpy as np

    cache.mkdir(parents=True, exist_ok=True)
    shards = []
    for start in range(0, len(sentences), SHARD):
        shard = list(sentences[start : start + SHARD])
        key = json.dumps([teacher.fingerprint, dict(teacher.settings), shard])
        file = cache / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npy"
        if not file.is_file():
            vectors = teacher.sentence_vectors(shard).vectors.astype(np.float16)
            buffer = BytesIO()
            np.save(buffer, vectors, allow_pickle=False)
            write_bytes(file, buffer.getvalue())
            print(f"teacher: {start + len(shard)} of {len(sentences)} sentences", flush=True)
        shards.append(np.load(file, allow_pickle=False))
    return np.concatenate(shards)
