"""Read pairs from the arguments: a file, several files, parallel files, or two texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from tertium.data.documents import DocumentPairs
from tertium.data.l10n import BILINGUAL, open_translations
from tertium.data.l10n import SUFFIXES as TRANSLATIONS
from tertium.data.lines import suffix_of
from tertium.data.pairs import (
    FilePairs,
    Languages,
    Source,
    TablePairs,
    choose_columns,
    single_row,
)
from tertium.data.records import SUFFIXES, exists, looks_like_path, open_table
from tertium.errors import InputError


@dataclass(frozen=True)
class Inputs:
    """The arguments that name the texts to score."""

    texts: Sequence[str]
    hyp: Path | None
    refs: tuple[Path, ...]
    src: Path | None
    languages: Languages
    format: str | None
    header: bool
    columns: Mapping[str, Any]
    replace_invalid: bool
    quoting: bool | None = None
    as_text: bool = False
    """Whether the arguments are texts, even if they look like names of files."""
    documents: bool = False
    """Whether each file of --hyp, --ref and --src is one text, rather than each line."""
    alone: bool = False
    """Whether hypotheses are enough, because no measure compares them with anything."""
    tolerant: bool = False
    """Whether rows of tables that cannot be read are marked, instead of an error."""

    @property
    def names(self) -> list[str]:
        """All arguments that may be file names."""
        files = [self.hyp, *self.refs, self.src]
        return [*self.texts, *(str(file) for file in files if file is not None)]

    def sources(self) -> list[Source]:
        """What the arguments name: parallel files, two texts, or tables, one or several."""
        parallel = self._parallel()
        if parallel is not None:
            return [parallel]
        if len(self.texts) == 2 and not any(map(names_table, self.texts)):
            for text in self.texts if not self.as_text else []:
                check_is_text(text, "two arguments are two texts; use --hyp and --ref for files")
            return [single_row(self.languages, hyp=self.texts[0], ref=self.texts[1])]
        unknown = not any(exists(text) or has_magic(text) for text in self.texts)
        if not self.texts or self.as_text or (len(self.texts) > 2 and unknown):
            raise InputError("give a file of pairs, or two texts, or --hyp with --ref or --src")
        files = [file for text in self.texts for file in files_of(Path(text))]
        for file in files:
            if files.count(file) > 1:
                raise InputError(f"{file} is given twice")
        return [self._table(file) for file in files]

    def _parallel(self) -> FilePairs | DocumentPairs | None:
        if self.hyp is None and not self.refs and self.src is None:
            return None
        if self.texts:
            raise InputError("give either a file of pairs, or --hyp with --ref or --src")
        if self.hyp is None:
            raise InputError("--ref and --src need --hyp, the file with the hypotheses")
        if self.documents:
            return DocumentPairs(
                self.hyp, self.refs, self.src, self.languages, self.replace_invalid
            )
        return FilePairs(
            self.hyp, self.refs, self.src, self.languages, self.replace_invalid, self.alone
        )

    def _table(self, path: Path) -> Source:
        if self.format == "tmx" or (self.format is None and suffix_of(path) in TRANSLATIONS):
            return open_translations(path, self.languages)
        table = open_table(
            path,
            format=self.format,  # type: ignore[arg-type]
            header=self.header,
            replace_invalid=self.replace_invalid,
            quoting=self.quoting,
        )
        columns = choose_columns(table, **self.columns, alone=self.alone)
        return TablePairs(table, columns, self.languages, self.tolerant)


def files_of(path: Path) -> list[Path]:
    """The files that an argument names, sorted: a file, those in a folder, or those of a pattern.

    In a folder, files of a supported format count, except for names that start with ``_`` or ``.``.
    """
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and _is_table(file))
        if not files:
            raise InputError(f"{path}: no file of pairs in this folder")
        return files
    if has_magic(str(path)) and not path.exists():
        files = sorted(Path(name) for name in glob(str(path), recursive=True))
        if not files:
            raise InputError(f"{path}: no file matches this pattern")
        return files
    return [path]


def names_table(text: str) -> bool:
    """Whether an argument names tables: a folder, a pattern, or a file of a supported format."""
    path = Path(text)
    if not text.strip():
        return False
    if not exists(text):
        return has_magic(text) and any(map(_is_table, map(Path, glob(text, recursive=True))))
    return path.is_dir() or (path.is_file() and _is_table(path))


def check_is_text(text: str, reason: str) -> None:
    """Refuse an argument that is the name of a file, or looks like one, where a text is needed."""
    if exists(text) and Path(text).is_file():
        raise InputError(f"{text} is a file, and {reason} (--text: score the name itself)")
    if looks_like_path(text):
        raise InputError(f"{text}: there is no such file (if it is meant as a text, add --text)")


def refuse_as_output(output: Path, inputs: Iterable[str | Path]) -> None:
    """Refuse an output that is one of the inputs."""
    if output.exists() and any(exists(str(name)) and output.samefile(name) for name in inputs):
        raise InputError(f"{output} is the input; choose another output")


def refuse_without_output(*, resume: bool, overwrite: bool) -> None:
    """A run that writes to standard output cannot be resumed."""
    if resume or overwrite:
        raise InputError("--resume and --overwrite need an output file: use --output")


def _is_table(path: Path) -> bool:
    return path.name[0] not in "_." and suffix_of(path) in {*SUFFIXES, *BILINGUAL}
