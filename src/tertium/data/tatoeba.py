"""Tatoeba's weekly exports: sentences, and links between translations.

The files (https://tatoeba.org/en/downloads) are tables without a header: ``sentences.csv`` has
number, language and text; ``links.csv`` has two numbers. They are also published as
``sentences.tar.bz2``, ``links.tar.bz2``, and by language: ``deu_sentences.tsv.bz2``,
``deu-fra_links.tsv.bz2``.
"""

from __future__ import annotations

import tarfile
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tertium.data.datasets.reading import row_error
from tertium.data.lines import read_lines
from tertium.data.normalization import script_of, sentence_key
from tertium.errors import InputError

Ints = NDArray[np.int64]

UNKNOWN_LANG = r"\N"
"""Marks a sentence of unknown language."""
REPORT_EVERY = 10_000


@dataclass(frozen=True)
class Export:
    """All sentences, without their texts, and all links; a link has the indices of sentences."""

    numbers: Ints
    """Tatoeba's numbers, in ascending order."""
    langs: Ints
    """The index of each sentence's language in ``names``."""
    names: tuple[str, ...]
    keys: Ints
    """Equal for sentences that differ only in case, punctuation, symbols or spaces."""
    scripts: Ints
    links: Ints
    """Shape (links, 2): two indices, the smaller first; sorted, without duplicates."""


@dataclass(frozen=True)
class ExportFiles:
    """The files of an export."""

    sentences: tuple[Path, ...]
    links: tuple[Path, ...]

    @classmethod
    def find(cls, folder: Path) -> ExportFiles:
        """Find the files in a folder by their names."""
        if not folder.is_dir():
            raise InputError(f"{folder}: there is no such folder")
        names = sorted(path for path in folder.iterdir() if path.is_file())
        sentences = tuple(path for path in names if _is(path, "sentences"))
        links = tuple(path for path in names if _is(path, "links"))
        if not sentences or not links:
            missing = "sentences.csv" if not sentences else "links.csv"
            raise InputError(
                f"{folder} has no {missing}: download it from https://tatoeba.org/en/downloads "
                "(compressed files and files of single languages are supported)"
            )
        return cls(sentences, links)

    def texts(self) -> Iterator[tuple[int, str, str]]:
        """Read number, language and text of each sentence of known language."""
        for path in self.sentences:
            for row, line in enumerate(export_lines(path), start=1):
                fields = line.split("\t")
                if len(fields) < 3 or not fields[0].isdecimal():
                    raise row_error(
                        path, row, "expected number, language and text", "download it again"
                    )
                if fields[1] not in (UNKNOWN_LANG, ""):
                    yield int(fields[0]), fields[1], fields[2]

    def read(self, advance: Callable[[int], None] | None = None) -> Export:
        """Read everything but the texts into arrays; all of Tatoeba fits into memory."""
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
        """Read the links between sentences of the export; others link to deleted sentences."""
        ends = array("q")
        for path in self.links:
            for row, line in enumerate(export_lines(path), start=1):
                fields = line.split("\t")
                if len(fields) < 2 or not (fields[0].isdecimal() and fields[1].isdecimal()):
                    raise row_error(path, row, "expected two numbers", "download it again")
                ends.append(int(fields[0]))
                ends.append(int(fields[1]))
        links = np.array(ends, dtype=np.int64).reshape(-1, 2)
        if not len(numbers):
            return np.empty((0, 2), dtype=np.int64)
        places = np.minimum(np.searchsorted(numbers, links), len(numbers) - 1)
        valid = (numbers[places] == links).all(axis=1) & (places[:, 0] != places[:, 1])
        return np.unique(np.sort(places[valid], axis=1), axis=0)


def export_lines(path: Path) -> Iterator[str]:
    """Read the lines of a file, compressed or not; of an archive, those of all its files."""
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
