"""The training data as arrays: tokenized sentences, and which of them are paired."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tertium.errors import InputError
from tertium.storage.atomic import write_text
from tertium.training.model.bitext import Pair, pivot_paraphrases, read_bitext, training_pairs
from tertium.training.model.lexicon import Lexicon, build_lexicon
from tertium.training.model.names import find_slots
from tertium.training.model.plan import Plan
from tertium.training.model.tokenizer import Tokenizer

Kind = Literal["translation", "paraphrase", "copy", "names"]
CORPUS = "corpus"
ENCODE_AT_ONCE = 100_000
ARRAYS = {"tokens": "pieces.npy", "offsets": "offsets.npy", "pairs": "pairs.npy"}
"""The file of each array, under the names of version 1."""
STREAMS = "streams.json"
LEXICON = "lexicon.json"


@dataclass(frozen=True, slots=True)
class Stream:
    """A range of pairs that have the same kind, languages and weight."""

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

    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]
    pairs: NDArray[np.int32]
    streams: tuple[Stream, ...]
    lexicon: Lexicon | None = None
    """What names and numbers are replaced by, in the streams of the kind ``names``."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of each sentence."""
        return np.diff(self.offsets)

    def sentence(self, number: int) -> NDArray[np.int32]:
        return self.tokens[self.offsets[number] : self.offsets[number + 1]]


@dataclass(frozen=True, slots=True)
class Source:
    """The pairs of one file, and their weight."""

    pairs: Iterable[Pair]
    weight: float = 1.0


def prepare_corpus(run: Path, plan: Plan, tokenizer: Tokenizer) -> Corpus:
    """Return the training data; the files are read only if the run has no arrays yet."""
    folder = run / CORPUS
    corpus = load_corpus(folder)
    if corpus is None:
        shutil.rmtree(folder, ignore_errors=True)
        lexicon = None
        if plan.mixture.names:
            files = (training_pairs(Path(file), plan) for file, _ in plan.bitext)
            lexicon = build_lexicon(chain.from_iterable(files), plan.languages)
        sources = [Source(training_pairs(Path(file), plan), weight) for file, weight in plan.bitext]
        corpus = build_corpus(
            sources,
            tokenizer,
            max_tokens=plan.recipe.max_tokens,
            lexicon=lexicon,
            paraphrases=plan.mixture.paraphrases > 0,
            copies=plan.mixture.copies > 0,
        )
        if lexicon is not None and not any(stream.kind == "names" for stream in corpus.streams):
            raise InputError(
                "no pair has names or numbers that can be replaced on both sides",
                cure="leave out {names}",
            )
        save_corpus(corpus, folder)
        corpus = load_corpus(folder) or corpus  # mapped, so that processes share it
    return corpus


def prepare_development(plan: Plan, tokenizer: Tokenizer) -> dict[str, Corpus]:
    """Read the development sets of the plan, by name."""
    return {
        name: build_corpus([Source(pairs)], tokenizer, max_tokens=plan.recipe.max_tokens)
        for name, pairs in development_pairs(plan).items()
    }


def development_pairs(plan: Plan) -> dict[str, Iterator[Pair]]:
    return {
        name: read_bitext(Path(file), plan.languages, columns=dict(plan.columns))
        for name, file in plan.dev
    }


def build_corpus(
    sources: Sequence[Source],
    tokenizer: Tokenizer,
    *,
    max_tokens: int,
    lexicon: Lexicon | None = None,
    paraphrases: bool = True,
    copies: bool = True,
) -> Corpus:
    """Number and tokenize the sentences; add both directions and, if used, paraphrases and copies.

    With a lexicon, also add the pairs whose names and numbers can be replaced.
    """
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
        raise InputError(
            "the files have no pairs in the requested languages",
            cure="give others with {languages}",
        )
    tokens, offsets = _encode([text for _, text in numbers], tokenizer)
    fits = np.diff(offsets) <= max_tokens

    groups: list[tuple[Kind, str, str, float, NDArray[np.int32]]] = []
    translations: defaultdict[tuple[str, float], list[tuple[int, int]]] = defaultdict(list)
    for (lang_a, lang_b, weight), unique in rows.items():
        pairs = _as_array(unique)
        pairs = pairs[fits[pairs].all(axis=1)]
        groups.append(("translation", lang_a, lang_b, weight, pairs))
        groups.append(("translation", lang_b, lang_a, weight, pairs[:, ::-1]))
        if paraphrases or copies:
            translations[lang_a, weight] += map(tuple, pairs.tolist())
            translations[lang_b, weight] += map(tuple, pairs[:, ::-1].tolist())
    for (lang, weight), translated in sorted(translations.items()):
        if paraphrases:
            pivoted = _as_array(pivot_paraphrases(translated))
            groups.append(("paraphrase", lang, lang, weight, pivoted))
        if copies:
            sentences = np.unique(np.array([sentence for sentence, _ in translated], np.int32))
            copied = np.stack([sentences, sentences], axis=1)
            groups.append(("copy", lang, lang, weight, copied))

    if lexicon is not None:
        texts = [text for _, text in numbers]
        for _, lang_a, lang_b, weight, pairs in groups[: 2 * len(rows) : 2]:
            replaceable = [
                bool(find_slots(Pair(lang_a, lang_b, texts[a], texts[b]), lexicon))
                for a, b in pairs.tolist()
            ]
            chosen = pairs[np.array(replaceable, bool)]
            groups.append(("names", lang_a, lang_b, weight, chosen))
            groups.append(("names", lang_b, lang_a, weight, chosen[:, ::-1]))

    groups = [group for group in groups if len(group[-1])]
    ends = np.cumsum([len(group[-1]) for group in groups]).tolist()
    return Corpus(
        tokens=tokens,
        offsets=offsets,
        pairs=np.concatenate([group[-1] for group in groups]),
        streams=tuple(
            Stream(kind, source_lang, target_lang, weight, end - len(pairs), end)
            for (kind, source_lang, target_lang, weight, pairs), end in zip(
                groups, ends, strict=True
            )
        ),
        lexicon=lexicon,
    )


def save_corpus(corpus: Corpus, folder: Path) -> None:
    """Write the arrays, then the list of streams, which marks them as complete."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in ARRAYS.items():
        np.save(folder / file, getattr(corpus, name))
    if corpus.lexicon is not None:
        text = json.dumps(corpus.lexicon.to_json(), ensure_ascii=False)
        write_text(folder / LEXICON, text)
    streams = [asdict(stream) for stream in corpus.streams]
    write_text(folder / STREAMS, json.dumps(streams, indent=1))


def load_corpus(folder: Path) -> Corpus | None:
    """Map what :func:`save_corpus` wrote into memory; None if it is missing or incomplete.

    Processes of one machine share the arrays, and only the parts that are read are in memory.
    """
    if not (folder / STREAMS).is_file():
        return None
    streams = json.loads((folder / STREAMS).read_text(encoding="utf-8"))
    arrays = {name: np.load(folder / file, mmap_mode="r") for name, file in ARRAYS.items()}
    lexicon = None
    if (folder / LEXICON).is_file():
        lexicon = Lexicon.from_json(json.loads((folder / LEXICON).read_text(encoding="utf-8")))
    streams = tuple(Stream(**stream) for stream in streams)
    return Corpus(**arrays, streams=streams, lexicon=lexicon)


def _as_array(pairs: Iterable[tuple[int, int]]) -> NDArray[np.int32]:
    return np.array(list(pairs), np.int32).reshape(-1, 2)


def _encode(
    sentences: Sequence[str], tokenizer: Tokenizer
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    parts, lengths = [], [0]
    for start in range(0, len(sentences), ENCODE_AT_ONCE):
        encoded = tokenizer.encode(sentences[start : start + ENCODE_AT_ONCE])
        lengths += map(len, encoded)
        parts.append(np.array([token for ids in encoded for token in ids], np.int32))
    return np.concatenate(parts), np.cumsum(lengths, dtype=np.int64)
