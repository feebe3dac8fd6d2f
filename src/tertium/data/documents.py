"""Documents, one per file: paired by their names in folders, or by a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tertium.data.lines import STDIN, check_file, name_of, read_lines
from tertium.data.pairs import Languages, TextSource
from tertium.errors import InputError
from tertium.text import Row, Text

DOCUMENT = "document"


class PairedFiles(NamedTuple):
    """Files that belong together, such as a document and its translation."""

    name: str
    paths: tuple[Path, ...]


def document_name(path: Path) -> str:
    """The name of a file up to its first dot.

    >>> document_name(Path("german/one.de.txt"))
    'one'
    """
    return path.name.partition(".")[0]


def pair_by_name(folders: Sequence[Path]) -> list[PairedFiles]:
    """Pair the files in folders by their names up to the first dot; hidden files are ignored."""
    sides: list[dict[str, Path]] = []
    for folder in folders:
        found: dict[str, Path] = {}
        for path in sorted(folder.iterdir()):
            if path.is_file() and not path.name.startswith("."):
                name = document_name(path)
                if name in found:
                    raise InputError(f"{found[name]} and {path} have the same name: {name}")
                found[name] = path
        sides.append(found)
    for found in sides:
        for other, folder in zip(sides, folders, strict=True):
            for name, path in found.items():
                if name not in other:
                    raise InputError(f"{path} has no counterpart {name}.* in {folder}")
    if not sides[0]:
        raise InputError(f"{folders[0]} has no files")
    return [PairedFiles(name, tuple(side[name] for side in sides)) for name in sides[0]]


def pair_by_list(path: Path) -> list[PairedFiles]:
    """Read a list of two file names per line, with a tab between; relative ones from its folder.

    A pair is named after its first file, up to the first dot; no two may have the same name.
    """
    check_file(path)
    found: dict[str, PairedFiles] = {}
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        names = line.split("\t")
        if len(names) != 2:
            raise InputError(
                f"{name_of(path)}, line {number}: there must be two file names with a tab between"
            )
        one, other = (path.parent / name.strip() for name in names)
        for file in (one, other):
            check_file(file)
        name = document_name(one)
        if name in found:
            raise InputError(
                f"{name_of(path)}, line {number}: {one} and {found[name].paths[0]} have the same "
                f"name: {name}"
            )
        found[name] = PairedFiles(name, (one, other))
    if not found:
        raise InputError(f"{name_of(path)} is empty: there is no pair of files")
    return list(found.values())


@dataclass(frozen=True)
class DocumentPairs(TextSource):
    """One item per document: from files, or from folders with files of the same names."""

    hyp: Path
    refs: tuple[Path, ...]
    src: Path | None = None
    languages: Languages = field(default_factory=Languages)
    replace_invalid: bool = False

    columns: Sequence[str] = (DOCUMENT,)

    def __post_init__(self) -> None:
        given = self._given
        if len(given) < 2:
            raise InputError("references or sources are needed", cure="give {ref} or {src}")
        if STDIN in given:
            raise InputError(
                "documents cannot be read from standard input", cure="use files or folders"
            )
        for path in given:
            if not path.is_dir():
                check_file(path)
        for path in given:
            if path.is_dir() != self.hyp.is_dir():
                raise InputError(f"{self.hyp} and {path}: give files, or folders, not one of each")
        self.documents  # noqa: B018  # checked before any work

    @cached_property
    def documents(self) -> list[PairedFiles]:
        """The files of each document: hypothesis, references, source."""
        if self.hyp.is_dir():
            return pair_by_name(self._given)
        return [PairedFiles(document_name(self.hyp), tuple(self._given))]

    @property
    def _given(self) -> list[Path]:
        return [self.hyp, *self.refs, *([] if self.src is None else [self.src])]

    @property
    def name(self) -> str:
        return name_of(self.hyp)

    @property
    def paths(self) -> Sequence[Path]:
        return [path for document in self.documents for path in document.paths]

    @property
    def has_references(self) -> bool:
        return bool(self.refs)

    @property
    def has_source(self) -> bool:
        return self.src is not None

    def count(self) -> int | None:
        return len(self.documents)

    def __iter__(self) -> Iterator[Row]:
        langs = self.languages
        for number, (name, paths) in enumerate(self.documents, start=1):
            texts = [
                "\n".join(read_lines(path, replace_invalid=self.replace_invalid)) for path in paths
            ]
            references = tuple(Text(text, langs.ref) for text in texts[1 : 1 + len(self.refs)])
            source = None if self.src is None else Text(texts[-1], langs.src)
            yield Row(number, Text(texts[0], langs.hyp), references, source, {DOCUMENT: name})
