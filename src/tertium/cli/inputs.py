"""From arguments to pairs: a file, several files, files side by side, or two texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from tertium.data.lines import OPENERS, STDIN
from tertium.data.pairs import (
    FilePairs,
    Languages,
    Pairs,
    StoredPairs,
    TablePairs,
    TwoStrings,
    choose_columns,
)
from tertium.data.records import SUFFIXES, open_table
from tertium.errors import InputError


@dataclass(frozen=True)
class Inputs:
    """What was said on the command line about the texts to score."""

    texts: Sequence[str]
    hyp: Path | None
    refs: tuple[Path, ...]
    src: Path | None
    languages: Languages
    format: str | None
    header: bool
    columns: Mapping[str, Any]
    replace_invalid: bool

    @property
    def names(self) -> list[str]:
        """All that may name a file."""
        files = [self.hyp, *self.refs, self.src]
        return [*self.texts, *(str(file) for file in files if file is not None)]

    def pairs(self) -> Pairs:
        """The one thing to score."""
        side_by_side = self._side_by_side()
        if side_by_side is not None:
            return side_by_side
        if len(self.texts) == 2:
            for text in self.texts:
                if exists(text) and Path(text).is_file():
                    raise InputError(
                        f"{text} is a file, and two arguments are two texts; say --hyp and --ref"
                    )
            return TwoStrings(self.texts[0], self.texts[1], self.languages)
        if len(self.texts) != 1:
            raise InputError("give a file of pairs, or two texts, or --hyp with --ref or --src")
        path = Path(self.texts[0])
        if path.is_dir() or (has_magic(str(path)) and not path.exists()):
            raise InputError(f"{path} stands for several files; they are read by --engine ray")
        return self._table(path)

    def stored_pairs(self) -> list[StoredPairs]:
        """The files to score, one or several, which any process can read for itself."""
        side_by_side = self._side_by_side()
        paths = list(map(Path, self.texts)) if side_by_side is None else side_by_side.paths
        if STDIN in paths:
            raise InputError("--engine ray cannot read standard input; name a file")
        if side_by_side is not None:
            return [side_by_side]
        if not paths:
            raise InputError("give one or several files of pairs, or --hyp with --ref or --src")
        return [self._table(file) for path in paths for file in files_of(path)]

    def _side_by_side(self) -> FilePairs | None:
        if self.hyp is None and not self.refs and self.src is None:
            return None
        if self.texts:
            raise InputError("give either a file of pairs, or --hyp with --ref or --src")
        if self.hyp is None:
            raise InputError("--ref and --src need --hyp, the file with the hypotheses")
        return FilePairs(self.hyp, self.refs, self.src, self.languages, self.replace_invalid)

    def _table(self, path: Path) -> TablePairs:
        table = open_table(
            path,
            format=self.format,  # type: ignore[arg-type]
            header=self.header,
            replace_invalid=self.replace_invalid,
        )
        return TablePairs(
            table, choose_columns(table, self.languages, **self.columns), self.languages
        )


def files_of(path: Path) -> list[Path]:
    """The files that a name stands for, in the order of their names: one, a folder's, a pattern's.

    Of a folder, those whose names tell a format; names that begin with ``_`` or ``.`` are notes.
    """
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if file.is_file() and _is_table(file))
        if not found:
            raise InputError(f"{path}: there is no file of pairs in this folder")
        return found
    if has_magic(str(path)) and not path.exists():
        found = sorted(Path(name) for name in glob(str(path), recursive=True))
        if not found:
            raise InputError(f"{path}: no file has such a name")
        return found
    return [path]


def exists(text: str) -> bool:
    """Whether a text is the name of a file or a folder."""
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a name, or with a null in it
        return False


def refuse_as_output(output: Path, inputs: Iterable[str | Path]) -> None:
    """An output must not be one of the inputs."""
    if output.exists() and any(exists(str(name)) and output.samefile(name) for name in inputs):
        raise InputError(f"{output} is the input; name another file for the output")


def refuse_both(*, resume: bool, overwrite: bool) -> None:
    """A run cannot be gone on with and dropped."""
    if resume and overwrite:
        raise InputError("--resume goes on with a run, --overwrite drops it: say one of them")


def _is_table(path: Path) -> bool:
    suffixes = [suffix for suffix in path.suffixes if suffix not in OPENERS]
    return path.name[0] not in "_." and bool(suffixes) and suffixes[-1] in SUFFIXES
