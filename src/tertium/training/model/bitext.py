"""Translation pairs from TSV files: reading and held-out sentences."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tertium.data.lines import name_of, read_lines
from tertium.errors import InputError
from tertium.training.model.plan import Plan

PAIR_COLUMNS = ("lang_a", "lang_b", "sentence_a", "sentence_b")
HELD_OUT_EVERY = 400


class Pair(NamedTuple):
    """Two sentences that are translations of each other."""

    lang_a: str
    lang_b: str
    a: str
    b: str

    def reversed(self) -> Pair:
        return Pair(self.lang_b, self.lang_a, self.b, self.a)


def read_bitext(
    path: Path, languages: Collection[str], *, columns: Mapping[str, str] | None = None
) -> Iterator[Pair]:
    """Read the pairs among ``languages`` from a file with a header and no quoting.

    Either columns are named by language, and every two of them make a pair; or each row has its
    languages in ``lang_a`` and ``lang_b``, and the texts in ``sentence_a`` and ``sentence_b``.
    ``columns`` gives the language of columns with other names.
    """
    lines = read_lines(path)
    names = next(lines, "").split("\t")
    header = [(columns or {}).get(name, name) for name in names]
    if set(PAIR_COLUMNS) <= set(header):
        lang_a, lang_b, a, b = (header.index(column) for column in PAIR_COLUMNS)
        for row in _rows(path, lines, len(header)):
            if row[lang_a] in languages and row[lang_b] in languages:
                yield from _pair(row[lang_a], row[lang_b], row[a], row[b])
        return
    places = [place for place, name in enumerate(header) if name in languages]
    if len(places) < 2:
        raise InputError(
            f"{name_of(path)}: the header ({', '.join(names)}) has fewer than two of the "
            f"languages {', '.join(sorted(languages))}",
            cure="map columns to languages with {columns}",
        )
    for row in _rows(path, lines, len(header)):
        for index, a in enumerate(places):
            for b in places[index + 1 :]:
                yield from _pair(header[a], header[b], row[a], row[b])


def read_texts(
    path: Path, languages: Collection[str], *, columns: Mapping[str, str] | None = None
) -> Iterator[Pair]:
    """Read all texts in ``languages`` from a file as in :func:`read_bitext`, for a language model.

    Each is its own pair; one column is enough.
    """
    lines = read_lines(path)
    names = next(lines, "").split("\t")
    header = [(columns or {}).get(name, name) for name in names]
    by_row = set(PAIR_COLUMNS) <= set(header)
    places = [place for place, name in enumerate(header) if name in languages]
    if not by_row and not places:
        raise InputError(
            f"{name_of(path)}: the header ({', '.join(names)}) has none of the languages "
            f"{', '.join(sorted(languages))}",
            cure="map columns to languages with {columns}",
        )
    lang_a, lang_b, a, b = map(header.index, PAIR_COLUMNS) if by_row else (0, 0, 0, 0)
    for row in _rows(path, lines, len(header)):
        texts = [(header[place], row[place]) for place in places]
        if by_row:
            texts = [(row[lang_a], row[a]), (row[lang_b], row[b])]
        for lang, text in texts:
            if lang in languages:
                yield from _pair(lang, lang, text, text)


def read_for(plan: Plan, file: Path) -> Iterator[Pair]:
    """Read a file as the network of a plan needs it: pairs, or texts."""
    read = read_texts if plan.recipe.is_language_model else read_bitext
    return read(file, plan.languages, columns=dict(plan.columns))


def training_pairs(file: Path, plan: Plan) -> Iterator[Pair]:
    """Read the pairs of a file of which neither side is held out."""
    if not file.is_file():
        raise InputError(f"{file} does not exist")
    for pair in read_for(plan, file):
        if not held_out(pair.a) and not held_out(pair.b):
            yield pair


@dataclass(frozen=True, slots=True)
class TrainingPairs:
    """The training pairs of a file, which is read anew each time."""

    file: Path
    plan: Plan

    def __iter__(self) -> Iterator[Pair]:
        return training_pairs(self.file, self.plan)


def held_out(sentence: str) -> bool:
    """Whether a sentence is reserved for testing: by its checksum, so the same in every corpus.

    Checked for the sentence as it is, and with each run of white space replaced by one space.

    >>> held_out("This one is for training.")
    False
    """
    variants = {sentence, " ".join(sentence.split())}
    return any(zlib.crc32(variant.encode()) % HELD_OUT_EVERY == 0 for variant in variants)


def _rows(path: Path, lines: Iterator[str], width: int) -> Iterator[list[str]]:
    for number, line in enumerate(lines, start=2):
        row = line.split("\t")
        if len(row) != width:
            fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
            raise InputError(
                f"{name_of(path)}, line {number}: {fields}, but the header has {width}; "
                "replace tabs within fields"
            )
        yield row


def _pair(lang_a: str, lang_b: str, a: str, b: str) -> Iterator[Pair]:
    if a.strip() and b.strip():
        yield Pair(lang_a, lang_b, a.strip(), b.strip())
