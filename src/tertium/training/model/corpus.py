"""The training data as arrays: sentences cut into pieces, and who is paired with whom."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tertium.errors import InputError
from tertium.training.model.bitext import Pair
from tertium.training.model.paraphrases import pivot_paraphrases
from tertium.training.model.pieces import Pieces

Kind = Literal["translation", "paraphrase", "copy"]
ENCODE_AT_ONCE = 100_000
ARRAYS = ("pieces", "offsets", "pairs")
STREAMS = "streams.json"


@dataclass(frozen=True, slots=True)
class Stream:
    """A stretch of pairs that have the kind, the languages and the weight in common."""

    kind: Kind
    source_lang: str
    target_lang: str
    weight: float
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Corpus:
    """Sentences are numbered; ``pairs`` has the numbers of source and target, stream by stream."""

    pieces: NDArray[np.int32]
    offsets: NDArray[np.int64]
    pairs: NDArray[np.int32]
    streams: tuple[Stream, ...]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many pieces each sentence has."""
        return np.diff(self.offsets)

    def sentence(self, number: int) -> NDArray[np.int32]:
        return self.pieces[self.offsets[number] : self.offsets[number + 1]]


@dataclass(frozen=True, slots=True)
class Source:
    """Pairs of one file, and how much each counts beside those of another."""

    pairs: Iterable[Pair]
    weight: float = 1.0


def build_corpus(sources: Sequence[Source], pieces: Pieces, *, max_pieces: int) -> Corpus:
    """Number and cut the sentences; add both directions, the paraphrases and the copies."""
    numbers: dict[tuple[str, str], int] = {}
    rows: defaultdict[tuple[str, str, float], dict[tuple[int, int], None]] = defaultdict(dict)
    for source in sources:
        for lang_a, lang_b, a, b in source.pairs:
            if lang_a > lang_b:
                lang_a, lang_b, a, b = lang_b, lang_a, b, a
            pair = (
                numbers.setdefault((lang_a, a), len(numbers)),
                numbers.setdefault((lang_b, b), len(numbers)),
            )
            rows[lang_a, lang_b, source.weight][pair] = None
    if not numbers:
        raise InputError("there are no pairs in the languages asked for; see --langs")
    encoded, offsets = _encode([text for _, text in numbers], pieces)
    fits = np.diff(offsets) <= max_pieces

    groups: list[tuple[Kind, str, str, float, NDArray[np.int32]]] = []
    beside: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for (lang_a, lang_b, weight), found in rows.items():
        pairs = _as_array(found)
        pairs = pairs[fits[pairs].all(axis=1)]
        groups.append(("translation", lang_a, lang_b, weight, pairs))
        groups.append(("translation", lang_b, lang_a, weight, pairs[:, ::-1]))
        beside[lang_a] += map(tuple, pairs.tolist())
        beside[lang_b] += map(tuple, pairs[:, ::-1].tolist())
    for lang in sorted(beside):
        groups.append(("paraphrase", lang, lang, 1.0, _as_array(pivot_paraphrases(beside[lang]))))
        sentences = np.unique(np.array([sentence for sentence, _ in beside[lang]], np.int32))
        groups.append(("copy", lang, lang, 1.0, np.stack([sentences, sentences], axis=1)))

    groups = [group for group in groups if len(group[-1])]
    ends = np.cumsum([len(group[-1]) for group in groups]).tolist()
    return Corpus(
        pieces=encoded,
        offsets=offsets,
        pairs=np.concatenate([group[-1] for group in groups]),
        streams=tuple(
            Stream(kind, source_lang, target_lang, weight, end - len(pairs), end)
            for (kind, source_lang, target_lang, weight, pairs), end in zip(
                groups, ends, strict=True
            )
        ),
    )


def _as_array(pairs: Iterable[tuple[int, int]]) -> NDArray[np.int32]:
    return np.array(list(pairs), np.int32).reshape(-1, 2)


def _encode(
    sentences: Sequence[str], pieces: Pieces
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    parts, lengths = [], [0]
    for start in range(0, len(sentences), ENCODE_AT_ONCE):
        encoded = pieces.encode(sentences[start : start + ENCODE_AT_ONCE])
        lengths += map(len, encoded)
        parts.append(np.array([piece for ids in encoded for piece in ids], np.int32))
    return np.concatenate(parts), np.cumsum(lengths, dtype=np.int64)


def save_corpus(corpus: Corpus, folder: Path) -> None:
    """Write the arrays; the list of streams comes last, and says that they are whole."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ARRAYS:
        np.save(folder / f"{name}.npy", getattr(corpus, name))
    scratch = folder / f"{STREAMS}.new"
    scratch.write_text(json.dumps([asdict(stream) for stream in corpus.streams], indent=1))
    os.replace(scratch, folder / STREAMS)


def load_corpus(folder: Path) -> Corpus | None:
    """Read what :func:`save_corpus` wrote; None if it is not there, or not whole."""
    if not (folder / STREAMS).is_file():
        return None
    streams = json.loads((folder / STREAMS).read_text(encoding="utf-8"))
    arrays = {name: np.load(folder / f"{name}.npy") for name in ARRAYS}
    return Corpus(**arrays, streams=tuple(Stream(**stream) for stream in streams))
