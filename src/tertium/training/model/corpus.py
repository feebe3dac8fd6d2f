"""The training data as arrays: tokenized sentences, and which of them are paired."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import chain, islice, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tertium.errors import InputError
from tertium.storage.arrays import ArrayWriter, load_mapped
from tertium.storage.atomic import write_text
from tertium.storage.repeats import ROWS_AT_ONCE, find_repeats, new_array
from tertium.training.model.bitext import Pair, TrainingPairs, read_for
from tertium.training.model.lexicon import Lexicon, build_lexicon
from tertium.training.model.names import find_slots
from tertium.training.model.pivots import pivot_pairs
from tertium.training.model.plan import Plan
from tertium.training.model.tokenizer import Tokenizer

Kind = Literal["translation", "paraphrase", "copy", "names", "text"]
CORPUS = "corpus"
PAIRS_AT_ONCE = 10_000
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
    """The pairs of one file, and their weight; the pairs are read several times."""

    pairs: Iterable[Pair]
    weight: float = 1.0


def prepare_corpus(run: Path, plan: Plan, tokenizer: Tokenizer) -> Corpus:
    """Return the training data; the files are read only if the run has no arrays yet."""
    folder = run / CORPUS
    corpus = load_corpus(folder)
    if corpus is not None:
        return corpus
    shutil.rmtree(folder, ignore_errors=True)
    files = [TrainingPairs(Path(file), plan) for file, _ in plan.bitext]
    lexicon = None
    if plan.mixture.names:
        lexicon = build_lexicon(chain.from_iterable(files), plan.languages)
    write_corpus(
        folder,
        [Source(pairs, weight) for pairs, (_, weight) in zip(files, plan.bitext, strict=True)],
        tokenizer,
        max_tokens=plan.recipe.max_tokens,
        lexicon=lexicon,
        paraphrases=plan.mixture.paraphrases > 0,
        copies=plan.mixture.copies > 0,
        texts=plan.recipe.is_language_model,
    )
    corpus = load_corpus(folder)
    assert corpus is not None
    if lexicon is not None and not any(stream.kind == "names" for stream in corpus.streams):
        shutil.rmtree(folder)
        raise InputError(
            "no pair has names or numbers that can be replaced on both sides",
            cure="leave out {names}",
        )
    return corpus


def prepare_development(plan: Plan, tokenizer: Tokenizer) -> dict[str, Corpus]:
    """Read the development sets of the plan, by name."""
    return {
        name: build_corpus(
            [Source(list(pairs))],
            tokenizer,
            max_tokens=plan.recipe.max_tokens,
            texts=plan.recipe.is_language_model,
        )
        for name, pairs in development_pairs(plan).items()
    }


def development_pairs(plan: Plan) -> dict[str, Iterator[Pair]]:
    return {name: read_for(plan, Path(file)) for name, file in plan.dev}


def build_corpus(
    sources: Sequence[Source],
    tokenizer: Tokenizer,
    *,
    max_tokens: int,
    lexicon: Lexicon | None = None,
    paraphrases: bool = True,
    copies: bool = True,
    texts: bool = False,
) -> Corpus:
    """The same as :func:`write_corpus`, in memory."""
    with TemporaryDirectory() as folder:
        write_corpus(
            Path(folder),
            sources,
            tokenizer,
            max_tokens=max_tokens,
            lexicon=lexicon,
            paraphrases=paraphrases,
            copies=copies,
            texts=texts,
        )
        corpus = load_corpus(Path(folder), mapped=False)
    assert corpus is not None
    return corpus


def write_corpus(
    folder: Path,
    sources: Sequence[Source],
    tokenizer: Tokenizer,
    *,
    max_tokens: int,
    lexicon: Lexicon | None = None,
    paraphrases: bool = True,
    copies: bool = True,
    texts: bool = False,
) -> None:
    """Number and tokenize the sentences; add both directions and, if used, paraphrases and copies.

    With a lexicon, also add the pairs whose names and numbers can be replaced. With ``texts``, each
    pair is one text, for a language model, and nothing is added. Everything is
    written to ``folder``, about 300 bytes per pair for a while; the memory does not grow with the
    number of pairs. The list of streams is written last, and marks the arrays as complete.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder) as temporary:
        rows = Rows.read(sources, Path(temporary))
        rows.encode(folder, tokenizer, max_tokens=max_tokens)
        if lexicon is not None:
            rows.find_replaceable(lexicon)
        with ArrayWriter(folder / ARRAYS["pairs"], np.int32, columns=2) as pairs:
            streams = rows.write("text" if texts else "translation", pairs)
            if (paraphrases or copies) and not texts:
                streams += rows.write_monolingual(pairs, streams, paraphrases, copies)
            if lexicon is not None:
                streams += rows.write("names", pairs)
    if not streams:
        raise InputError(f"no pair has at most {max_tokens} tokens on both sides")
    if lexicon is not None:
        text = json.dumps(lexicon.to_json(), ensure_ascii=False)
        write_text(folder / LEXICON, text)
    write_text(folder / STREAMS, json.dumps([asdict(stream) for stream in streams], indent=1))


class Rows:
    """The pairs as they are read: files in ``scratch`` say what is known of each."""

    def __init__(
        self,
        sources: Sequence[Source],
        groups: Sequence[tuple[str, str, float]],
        group: NDArray[np.int32],
        first: NDArray[np.int64],
        scratch: Path,
    ) -> None:
        self.sources = sources
        self.groups = groups
        """Two languages and a weight."""
        self.group = group
        self.first = first
        """Of each side, the place of the first sentence that is the same."""
        self.scratch = scratch
        self.numbers = new_array(scratch / "numbers.npy", np.int32, len(first))
        self.kept = new_array(scratch / "kept.npy", bool, len(group))
        """Pairs that are short enough, and the first of their kind."""
        self.replaceable = new_array(scratch / "replaceable.npy", bool, len(group))
        self.sentences = 0

    @classmethod
    def read(cls, sources: Sequence[Source], scratch: Path) -> Rows:
        """Read the pairs once, and find the sentences that are the same."""
        groups: dict[tuple[str, str, float], int] = {}
        with (
            ArrayWriter(scratch / "texts.npy", np.uint64, columns=2) as texts,
            ArrayWriter(scratch / "group.npy", np.int32) as group,
        ):
            for block in blocks(sources):
                keys = b"".join(digest for _, pair in block for digest in digests(pair))
                texts.append(np.frombuffer(keys, "<u8"))
                group.append(
                    [
                        groups.setdefault((pair.lang_a, pair.lang_b, weight), len(groups))
                        for weight, pair in block
                    ]
                )
        if not groups:
            raise InputError(
                "the files have no pairs in the requested languages",
                cure="give others with {languages}",
            )
        first = find_repeats(load_mapped(scratch / "texts.npy"), scratch).first
        return cls(sources, tuple(groups), load_mapped(scratch / "group.npy"), first, scratch)

    def encode(self, folder: Path, tokenizer: Tokenizer, *, max_tokens: int) -> None:
        """Read the pairs again: number, tokenize and write the sentences that are new."""
        with (
            ArrayWriter(folder / ARRAYS["tokens"], np.int32) as tokens,
            ArrayWriter(folder / ARRAYS["offsets"], np.int64) as offsets,
            ArrayWriter(self.scratch / "fits.npy", bool) as fits,
        ):
            offsets.append([0])
            for place, block in self._blocks():
                sides = slice(2 * place.start, 2 * place.stop)
                first = self.first[sides]
                new = first == np.arange(sides.start, sides.start + len(first))
                self.numbers[sides][new] = np.arange(new.sum()) + self.sentences
                self.numbers[sides][~new] = self.numbers[first[~new]]
                self.sentences += int(new.sum())
                texts = [text for _, pair in block for text in (pair.a, pair.b)]
                encoded = tokenizer.encode([texts[n] for n in np.flatnonzero(new).tolist()])
                lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
                offsets.append(tokens.rows + np.cumsum(lengths))
                tokens.append(np.fromiter(chain.from_iterable(encoded), np.int32))
                fits.append(lengths <= max_tokens)
        self._keep(load_mapped(self.scratch / "fits.npy"))

    def _keep(self, fits: NDArray[np.bool_]) -> None:
        with ArrayWriter(self.scratch / "pairs.npy", np.uint64, columns=2) as keys:
            for place in self._places():
                numbers = self._pairs(place).astype(np.uint64)
                both = numbers[:, 0] << np.uint64(32) | numbers[:, 1]
                keys.append(np.column_stack([both, self.group[place].astype(np.uint64)]))
        (self.scratch / "repeated").mkdir()
        pairs = load_mapped(self.scratch / "pairs.npy")
        repeats = find_repeats(pairs, self.scratch / "repeated")
        for place in self._places():
            fitting = fits[self._pairs(place)].all(axis=1)
            self.kept[place] = (repeats.rank[place] == 0) & fitting

    def find_replaceable(self, lexicon: Lexicon) -> None:
        """Read the pairs again, and mark those whose names and numbers can be replaced."""
        for place, block in self._blocks():
            self.replaceable[place] = [
                bool(kept and find_slots(pair, lexicon))
                for kept, (_, pair) in zip(self.kept[place].tolist(), block, strict=True)
            ]

    def write(self, kind: Kind, pairs: ArrayWriter) -> list[Stream]:
        """Write both directions of each group; of ``names``, the pairs that were marked."""
        chosen = self.replaceable if kind == "names" else self.kept
        streams = []
        for number, (lang_a, lang_b, weight) in enumerate(self.groups):
            directions = [(lang_a, lang_b, 1), (lang_b, lang_a, -1)]
            for source_lang, target_lang, step in directions[: 1 if kind == "text" else 2]:
                start = pairs.rows
                for place in self._places():
                    mine = chosen[place] & (self.group[place] == number)
                    pairs.append(self._pairs(place)[mine][:, ::step])
                streams.append(Stream(kind, source_lang, target_lang, weight, start, pairs.rows))
        return [stream for stream in streams if stream.size]

    def write_monolingual(
        self, pairs: ArrayWriter, streams: Sequence[Stream], paraphrases: bool, copies: bool
    ) -> list[Stream]:
        """Write paraphrases and copies of the sentences of each language and weight."""
        kinds: list[tuple[Kind, str, float, int]] = []
        for lang, weight in sorted({(stream.source_lang, stream.weight) for stream in streams}):
            translated = [
                pairs.mapped(stream.start, stream.end)
                for stream in streams
                if (stream.source_lang, stream.weight) == (lang, weight)
            ]
            if paraphrases:
                with TemporaryDirectory(dir=self.scratch) as scratch:
                    for part in pivot_pairs(translated, Path(scratch)):
                        pairs.append(part)
                kinds.append(("paraphrase", lang, weight, pairs.rows))
            if copies:
                present = new_array(self.scratch / "present.npy", bool, self.sentences)
                for part in translated:
                    present[part[:, 0]] = True
                for start in range(0, len(present), ROWS_AT_ONCE):
                    numbers = start + np.flatnonzero(present[start : start + ROWS_AT_ONCE])
                    pairs.append(np.column_stack([numbers, numbers]))
                kinds.append(("copy", lang, weight, pairs.rows))
        made, start = [], streams[-1].end if streams else 0
        for kind, lang, weight, end in kinds:
            made.append(Stream(kind, lang, lang, weight, start, end))
            start = end
        return [stream for stream in made if stream.size]

    def _places(self) -> Iterator[slice]:
        for start in range(0, len(self.group), PAIRS_AT_ONCE):
            yield slice(start, min(start + PAIRS_AT_ONCE, len(self.group)))

    def _pairs(self, place: slice) -> NDArray[np.int32]:
        return np.array(self.numbers[2 * place.start : 2 * place.stop]).reshape(-1, 2)

    def _blocks(self) -> Iterator[tuple[slice, list[tuple[float, Pair]]]]:
        """Read the pairs again, with their places."""
        for place, block in zip_longest(self._places(), blocks(self.sources)):
            if place is None or block is None or place.stop - place.start != len(block):
                raise InputError("the files to train on were changed while they were read")
            yield place, block


def blocks(sources: Sequence[Source]) -> Iterator[list[tuple[float, Pair]]]:
    """The pairs of all sources with their weights, languages in alphabetical order."""
    pairs = (
        (source.weight, pair if pair.lang_a <= pair.lang_b else pair.reversed())
        for source in sources
        for pair in source.pairs
    )
    while block := list(islice(pairs, PAIRS_AT_ONCE)):
        yield block


def digests(pair: Pair) -> tuple[bytes, bytes]:
    """128 bits of each side, by which sentences are compared."""
    return (
        blake2b(f"{pair.lang_a}\t{pair.a}".encode(), digest_size=16).digest(),
        blake2b(f"{pair.lang_b}\t{pair.b}".encode(), digest_size=16).digest(),
    )


def load_corpus(folder: Path, *, mapped: bool = True) -> Corpus | None:
    """Load what :func:`write_corpus` wrote; None if it is missing or incomplete.

    Mapped into memory, processes of one machine share the arrays, and only the parts that are read
    are in memory.
    """
    if not (folder / STREAMS).is_file():
        return None
    streams = json.loads((folder / STREAMS).read_text(encoding="utf-8"))
    load = load_mapped if mapped else np.load
    arrays = {name: load(folder / file) for name, file in ARRAYS.items()}
    lexicon = None
    if (folder / LEXICON).is_file():
        lexicon = Lexicon.from_json(json.loads((folder / LEXICON).read_text(encoding="utf-8")))
    streams = tuple(Stream(**stream) for stream in streams)
    return Corpus(**arrays, streams=streams, lexicon=lexicon)
