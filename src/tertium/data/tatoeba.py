"""Tatoeba's weekly exports: sentences, and which of them are translations of each other.

The files (https://tatoeba.org/en/downloads) are tables without a header: ``sentences.csv`` has
number, language and text; ``links.csv`` two numbers. They also come as ``sentences.tar.bz2``,
``links.tar.bz2``, and by language: ``deu_sentences.tsv.bz2``, ``deu-fra_links.tsv.bz2``.
"""

from __future__ import annotations

import tarfile
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from tertium.data.datasets.base import fault
from tertium.data.lines import read_lines
from tertium.data.normalization import script_of, sentence_key
from tertium.errors import InputError
from tertium.stats.arrays import Ints

UNKNOWN_LANG = r"\N"
"""What stands for a language that nobody has told."""
REPORT_EVERY = 10_000


@dataclass(frozen=True)
class Export:
    """All sentences, without their texts, and all links; a sentence is called by its place."""

    numbers: Ints
    """Tatoeba's numbers, in rising order."""
    langs: Ints
    """The place of each sentence's language in ``names``."""
    names: tuple[str, ...]
    keys: Ints
    """Equal for sentences that differ only in case, punctuation, symbols or spaces."""
    scripts: Ints
    links: Ints
    """Two places a row, the smaller one first, in order, each pair once."""


@dataclass(frozen=True)
class ExportFiles:
    """Where an export is."""

    sentences: tuple[Path, ...]
    links: tuple[Path, ...]

    @classmethod
    def find(cls, folder: Path) -> ExportFiles:
        """Find the files in a folder by their names."""
        if not folder.is_dir():
            raise InputError(f"there is no folder {folder}")
        names = sorted(path for path in folder.iterdir() if path.is_file())
        sentences = tuple(path for path in names if _is(path, "sentences"))
        links = tuple(path for path in names if _is(path, "links"))
        if not sentences or not links:
            missing = "sentences.csv" if not sentences else "links.csv"
            raise InputError(
                f"{folder} has no {missing}: fetch it from https://tatoeba.org/en/downloads "
                "(packed, or by language, will do)"
            )
        return cls(sentences, links)

    def texts(self) -> Iterator[tuple[int, str, str]]:
        """Read number, language and text of each sentence whose language is known."""
        for path in self.sentences:
            for row, line in enumerate(export_lines(path), start=1):
                fields = line.split("\t")
                if len(fields) < 3 or not fields[0].isdecimal():
                    raise fault(path, row, "not number, language and text", "fetch the file anew")
                if fields[1] not in (UNKNOWN_LANG, ""):
                    yield int(fields[0]), fields[1], fields[2]

    def read(self, advance: Callable[[int], None] | None = None) -> Export:
        """Read everything but the texts, into arrays: the whole of Tatoeba fits in memory."""
        numbers, langs, keys, scripts = array("q"), array("i"), array("q"), array("i")
        names: dict[str, int] = {}
        written: dict[str, int] = {}
        for number, lang, text in self.texts():
            numbers.append(number)
            langs.append(names.setdefault(lang, len(names)))
            keys.append(_digest(sentence_key(text)))
            scripts.append(written.setdefault(script_of(text), len(written)))
            if advance is not None and len(numbers) % REPORT_EVERY == 0:
                advance(len(numbers))
        places, first = np.unique(np.array(numbers, dtype=np.int64), return_index=True)
        return Export(
            places,
            np.array(langs, dtype=np.int64)[first],
            tuple(names),
            np.array(keys, dtype=np.int64)[first],
            np.array(scripts, dtype=np.int64)[first],
            self._read_links(places),
        )

    def _read_links(self, numbers: Ints) -> Ints:
        """Read the links between sentences that are there; others were removed since."""
        ends = array("q")
        for path in self.links:
            for row, line in enumerate(export_lines(path), start=1):
                fields = line.split("\t")
                if len(fields) < 2 or not (fields[0].isdecimal() and fields[1].isdecimal()):
                    raise fault(path, row, "not two numbers", "fetch the file anew")
                ends.append(int(fields[0]))
                ends.append(int(fields[1]))
        found = np.array(ends, dtype=np.int64).reshape(-1, 2)
        if not len(numbers):
            return np.empty((0, 2), dtype=np.int64)
        places = np.minimum(np.searchsorted(numbers, found), len(numbers) - 1)
        there = (numbers[places] == found).all(axis=1) & (places[:, 0] != places[:, 1])
        return np.unique(np.sort(places[there], axis=1), axis=0)


def export_lines(path: Path) -> Iterator[str]:
    """Read the lines of a file, packed or not; of a tar file, those of the files in it."""
    if ".tar" not in path.suffixes:
        yield from read_lines(path)
        return
    try:
        with tarfile.open(path, "r|*") as archive:
            for member in archive:
                stream = archive.extractfile(member)
                if stream is not None:
                    for line in stream:
                        yield line.decode("utf-8").rstrip("\r\n")
    except (tarfile.TarError, EOFError, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be unpacked: {error}") from None


def _digest(key: str) -> int:
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "big", signed=True)


def _is(path: Path, what: str) -> bool:
    """Whether a file is a table of sentences or of links, and not one of Tatoeba's other tables."""
    stem = path.name.split(".")[0]
    suffixes = {".csv", ".tsv", ".tar"} & set(path.suffixes)
    return bool(suffixes) and (stem == what or stem.endswith(f"_{what}"))
