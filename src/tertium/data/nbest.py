"""Lists of candidates: n-best lists of decoders, and samples.

Formats: tables with one row per candidate and a column that groups them, JSON Lines (or Parquet)
with a list of candidates in each record, n-best lists of Moses (``0 ||| text ||| features |||
score``), and the output of fairseq-generate (lines ``S-``, ``T-``, ``H-`` and ``D-``).
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from tertium.data.lines import STDIN, check_file, name_of, read_lines
from tertium.data.pairs import (
    ALIASES,
    ColumnChooser,
    FileSource,
    Languages,
    find_column,
)
from tertium.data.records import Record, RecordFile, first_bytes, open_table
from tertium.errors import InputError
from tertium.text import Row, Text, check_fields, check_text, field_value

ListFormat = Literal["moses", "fairseq", "tsv", "csv", "jsonl", "parquet"]
LISTS = ("candidates", "hyps", "hypotheses", "nbest", "n_best", "translations")
"""Names of fields that hold a list of candidates."""
GROUPS = ("group", "segment", "seg", "seg_id", "segment_id", "id", "sid")
"""Names of columns with the number or name of the list that a candidate belongs to."""
CANDIDATE = (*ALIASES["hyp"], "text", "translation", "candidate")
SCORES = ("score", "decoder_score", "model_score", "log_prob", "logprob", "lprob")
"""Names of fields with the decoder's own score."""
MOSES = " ||| "
FAIRSEQ = re.compile(r"([STHDP])-(\d+)\t(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateList(Row):
    """The candidates for one segment: a row with several hypotheses."""

    group: str
    """What the file calls it."""
    candidates: tuple[Text, ...]
    scores: tuple[float, ...] | None = None
    """Their decoder's, if there are any."""

    @property
    def content(self) -> list[Any]:
        """What must stay the same for a run to be resumed."""
        return [self.group, self.candidates, self.scores, self.source, self.references]


class CandidateLists(FileSource):
    """Lists of candidates, as a source: nothing of their records is kept."""

    columns: ClassVar[Sequence[str]] = ()

    @property
    @abstractmethod
    def has_source(self) -> bool: ...

    @property
    @abstractmethod
    def has_references(self) -> bool: ...

    @abstractmethod
    def __iter__(self) -> Iterator[CandidateList]: ...

    @abstractmethod
    def count(self) -> int | None: ...


@dataclass(frozen=True)
class ParallelTexts:
    """Sources and references in plain text files, one line per list."""

    src: Path | None = None
    refs: tuple[Path, ...] = ()
    languages: Languages = field(default_factory=Languages)

    @property
    def paths(self) -> list[Path]:
        return [*([] if self.src is None else [self.src]), *self.refs]

    def read(self) -> list[tuple[Text | None, tuple[Text, ...]]]:
        """The source and the references of each list."""
        files = self.paths
        lines = []
        for path in files:
            check_file(path)
            lines.append(list(read_lines(path)))
        if len({len(each) for each in lines}) > 1:
            counts = ", ".join(
                f"{name_of(path)} has {len(each)}" for path, each in zip(files, lines, strict=True)
            )
            raise InputError(f"the files differ in their number of lines: {counts}")
        found = []
        for texts in zip(*lines, strict=True):
            source = None if self.src is None else Text(texts[0], self.languages.src)
            others = texts if self.src is None else texts[1:]
            found.append((source, tuple(Text(text, self.languages.ref) for text in others)))
        return found


@dataclass(frozen=True)
class TableLists(CandidateLists):
    """Lists from a table: a list in each record, or rows with the same value in a column."""

    table: RecordFile
    languages: Languages = field(default_factory=Languages)
    parallel: ParallelTexts = field(default_factory=ParallelTexts)
    list_column: str | None = None
    group_column: str | None = None
    hyp: str = ""
    score: str | None = None
    src: str | None = None
    refs: tuple[str, ...] = ()

    @classmethod
    def choose(
        cls,
        table: RecordFile,
        languages: Languages,
        parallel: ParallelTexts,
        *,
        hyp: str | None = None,
        group: str | None = None,
        score: str | None = None,
        src: str | None = None,
        refs: Sequence[str] = (),
    ) -> TableLists:
        """Use the columns that are given, and find the others by their usual names."""
        pick = ColumnChooser(table, "rerank")
        common: dict[str, Any] = {
            "score": pick(SCORES, score),
            "src": pick(ALIASES["src"], src),
            "refs": pick.references(refs, besides=hyp),
        }
        if group is None and (column := pick(LISTS, hyp)) is not None:
            first = next(iter(table), None) if table.path != STDIN else None
            if hyp is None or (first is not None and isinstance(first.get(column), list)):
                return cls(table, languages, parallel, list_column=column, **common)
        hyp, group = pick(CANDIDATE, hyp), pick(GROUPS, group)
        if hyp is None or group is None:
            raise InputError(
                f"where are the candidates? {pick.there}; needed is a column with lists "
                f"({', '.join(LISTS[:3])}), or one with candidates and one that groups them",
                cure="use {hyp_column} and {group_column}",
            )
        return cls(table, languages, parallel, group_column=group, hyp=hyp, **common)

    @property
    def paths(self) -> Sequence[Path]:
        return [self.table.path, *self.parallel.paths]

    @property
    def has_source(self) -> bool:
        return self.src is not None or self.parallel.src is not None

    @property
    def has_references(self) -> bool:
        return bool(self.refs or self.parallel.refs)

    def count(self) -> int | None:
        if self.table.path == STDIN:
            return None
        if self.group_column is None:
            return self.table.count()
        column = self.group_column
        return sum(1 for _ in groupby(self.table, key=lambda record: record.get(column)))

    def __iter__(self) -> Iterator[CandidateList]:
        lists = self._nested() if self.group_column is None else self._grouped()
        return with_parallel(self.name, lists, self.parallel)

    def _nested(self) -> Iterator[CandidateList]:
        column = str(self.list_column)
        for number, record in enumerate(self.table, start=1):
            where = f"{self.name}, row {number}"
            several = record.get(column)
            if not isinstance(several, list) or not several:
                raise InputError(f"{where}: {column!r} must be a list of candidates, not empty")
            texts, scores = [], []
            for each in several:
                fields = each if isinstance(each, dict) else {CANDIDATE[0]: each}
                key = find_column(list(fields), CANDIDATE)
                if key is None:
                    raise InputError(f"{where}: a candidate has no text: {sorted(fields)}")
                texts.append(self._text(fields[key], number))
                score = find_column(list(fields), SCORES if self.score is None else [self.score])
                scores.append(None if score is None else fields[score])
            group = record.get(find_column(list(record), GROUPS) or "", number)
            yield self._list(number, str(group), texts, scores, [record], where)

    def _grouped(self) -> Iterator[CandidateList]:
        column = str(self.group_column)
        seen: set[str] = set()
        row = 0
        for number, (group, some) in enumerate(
            groupby(self.table, key=lambda record: record.get(column)), start=1
        ):
            records = list(some)
            where = f"{self.name}, rows {row + 1} to {row + len(records)}"
            if str(group) in seen:
                raise InputError(f"{where}: {column} {group} occurred before; sort the rows by it")
            seen.add(str(group))
            texts, scores = [], []
            for record in records:
                row += 1
                value = field_value(record, self.hyp, role="candidate", row=row)
                texts.append(self._text(value, row))
                scores.append(None if self.score is None else record.get(self.score))
                check_fields(record, row=row)
            yield self._list(number, str(group), texts, scores, records, where)

    def _text(self, value: object, row: int) -> Text:
        try:
            return Text(check_text(value, role="candidate", row=row), self.languages.hyp)
        except InputError as error:
            raise error.at(f"{self.name}, ") from None

    def _list(
        self,
        number: int,
        group: str,
        texts: Sequence[Text],
        scores: Sequence[object],
        records: Sequence[Record],
        where: str,
    ) -> CandidateList:
        """Make a list; its records must agree in the source and in the references."""
        first = records[0]
        for record in records:
            for column in (self.src, *self.refs):
                if column is not None and record.get(column) != first.get(column):
                    raise InputError(
                        f"{where}: the candidates of one list differ in their {column!r}"
                    )
        source = None
        if self.src is not None:
            text = check_text(first.get(self.src), role="source", row=number)
            source = Text(text, self.languages.src)
        references: list[Text] = []
        for column in self.refs:
            value = first.get(column)
            for each in value if isinstance(value, list) else [value]:
                text = check_text(each, role="reference", row=number)
                references.append(Text(text, self.languages.ref))
        return CandidateList(
            number,
            group=group,
            candidates=tuple(texts),
            scores=numbers(scores, where),
            source=source,
            references=tuple(references),
        )


@dataclass(frozen=True)
class DecoderLists(CandidateLists):
    """Lists as a decoder writes them; sources and references may be in files of their own."""

    path: Path
    languages: Languages = field(default_factory=Languages)
    parallel: ParallelTexts = field(default_factory=ParallelTexts)

    @property
    def paths(self) -> Sequence[Path]:
        return [self.path, *self.parallel.paths]


class MosesLists(DecoderLists):
    """N-best lists of Moses."""

    @property
    def has_source(self) -> bool:
        return self.parallel.src is not None

    @property
    def has_references(self) -> bool:
        return bool(self.parallel.refs)

    def count(self) -> int | None:
        return None if self.path == STDIN else sum(1 for _ in self._groups())

    def _groups(self) -> Iterator[tuple[str, list[tuple[int, list[str]]]]]:
        def fields() -> Iterator[tuple[int, list[str]]]:
            for number, line in enumerate(read_lines(self.path), start=1):
                if not line.strip():
                    continue
                parts = [part.strip() for part in line.split("|||")]
                if len(parts) < 2 or not parts[0].isdecimal():
                    raise InputError(
                        f"{self.name}, line {number}: not an n-best list of Moses; write "
                        "NUMBER ||| text ||| features ||| score"
                    )
                yield number, parts

        return (
            (group, list(some)) for group, some in groupby(fields(), key=lambda each: each[1][0])
        )

    def __iter__(self) -> Iterator[CandidateList]:
        return with_parallel(self.name, self._lists(), self.parallel, by_group=True)

    def _lists(self) -> Iterator[CandidateList]:
        seen: set[str] = set()
        for number, (group, lines) in enumerate(self._groups(), start=1):
            where = f"{self.name}, line {lines[0][0]}"
            if group in seen:
                raise InputError(f"{where}: list {group} occurred before; sort the lines by it")
            seen.add(group)
            texts = tuple(Text(parts[1], self.languages.hyp) for _, parts in lines)
            scores = [parts[3] if len(parts) > 3 else None for _, parts in lines]
            own = numbers(scores, where)
            yield CandidateList(number, group=group, candidates=texts, scores=own)


class FairseqLists(DecoderLists):
    """The output of fairseq-generate, sorted by its sentence numbers.

    ``D-`` lines (detokenized) count rather than ``H-`` lines, if there are any. ``S-`` and ``T-``
    lines are sources and references.
    """

    @property
    def has_source(self) -> bool:
        return self.parallel.src is not None or any(each.source for each in self._lists)

    @property
    def has_references(self) -> bool:
        return bool(self.parallel.refs) or any(each.references for each in self._lists)

    def count(self) -> int | None:
        return len(self._lists)

    def __iter__(self) -> Iterator[CandidateList]:
        return with_parallel(self.name, self._lists, self.parallel, by_group=True)

    @cached_property
    def _lists(self) -> list[CandidateList]:
        if self.path == STDIN:
            raise InputError("fairseq's output cannot be read from standard input; give a file")
        lines: dict[int, dict[str, list[tuple[int, str]]]] = {}
        for place, line in enumerate(read_lines(self.path), start=1):
            match = FAIRSEQ.fullmatch(line)
            if match is not None:  # anything else is fairseq's log
                kind, sentence, content = match.groups()
                lines.setdefault(int(sentence), {}).setdefault(kind, []).append((place, content))
        found = []
        for number, (sentence, kinds) in enumerate(sorted(lines.items()), start=1):
            candidates = kinds.get("D") or kinds.get("H")
            if candidates is None:
                raise InputError(f"{self.name}: sentence {sentence} has no line H-{sentence}")
            texts, scores = [], []
            for place, content in candidates:
                score, tab, text = content.partition("\t")
                if not tab:
                    raise InputError(
                        f"{self.name}, line {place}: no tab between the score and the text"
                    )
                texts.append(Text(text, self.languages.hyp))
                scores.append(score)
            found.append(
                CandidateList(
                    number,
                    group=str(sentence),
                    candidates=tuple(texts),
                    scores=numbers(scores, f"{self.name}, line {candidates[0][0]}"),
                    source=next((Text(t, self.languages.src) for _, t in kinds.get("S", [])), None),
                    references=tuple(
                        Text(text, self.languages.ref) for _, text in kinds.get("T", [])
                    ),
                )
            )
        return found


def numbers(scores: Sequence[object], where: str) -> tuple[float, ...] | None:
    """The decoder's scores of one list: all of them, or none.

    >>> numbers(["-0.5", 1], "row 1"), numbers([None, None], "row 1")
    ((-0.5, 1.0), None)
    """
    given = [score for score in scores if score not in (None, "")]
    if not given:
        return None
    if len(given) < len(scores):
        raise InputError(f"{where}: some of the candidates have a score, and some have none")
    found = []
    for score in given:
        try:
            found.append(float(score))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise InputError(f"{where}: the score {score!r} is not a number") from None
        if not math.isfinite(found[-1]):
            raise InputError(f"{where}: the score {score!r} is not finite")
    return tuple(found)


def with_parallel(
    name: str, lists: Iterable[CandidateList], parallel: ParallelTexts, *, by_group: bool = False
) -> Iterator[CandidateList]:
    """Add sources and references from files: line N+1 for group N, or in order."""
    if parallel.src is None and not parallel.refs:
        yield from lists
        return
    texts = parallel.read()
    for each in lists:
        line = int(each.group) if by_group else each.number - 1
        if line >= len(texts):
            raise InputError(
                f"{name} has a list {each.group}, but the files with sources or references have "
                f"only {len(texts)} lines"
            )
        source, references = texts[line]
        yield replace(each, source=source or each.source, references=references or each.references)


def open_lists(
    path: Path,
    languages: Languages | None = None,
    parallel: ParallelTexts | None = None,
    *,
    format: str | None = None,  # noqa: A002
    header: bool = True,
    replace_invalid: bool = False,
    quoting: bool | None = None,
    **columns: Any,
) -> CandidateLists:
    """Open a file of candidates; the format is inferred from its first line or its name.

    ``columns`` are those of :meth:`TableLists.choose`.
    """
    languages, parallel = languages or Languages(), parallel or ParallelTexts()
    if format is not None and format not in get_args(ListFormat):
        raise InputError(f"no format {format!r}; available: {', '.join(get_args(ListFormat))}")
    check_file(path)
    if format is None and path.suffix != ".parquet":
        format = sniffed_lists(first_bytes(path))  # noqa: A001
    if format == "moses":
        return MosesLists(path, languages, parallel)
    if format == "fairseq":
        return FairseqLists(path, languages, parallel)
    table = open_table(
        path,
        format=format,  # type: ignore[arg-type]
        header=header,
        replace_invalid=replace_invalid,
        quoting=quoting,
    )
    return TableLists.choose(table, languages, parallel, **columns)


def sniffed_lists(beginning: bytes) -> Literal["moses", "fairseq"] | None:
    """Recognise n-best lists of Moses and fairseq by the beginning of a file; None: a table.

    >>> sniffed_lists(b"0 ||| Hi. ||| lm= -1 ||| -2"), sniffed_lists(b"hyp\\tgroup")
    ('moses', None)
    >>> sniffed_lists(b"2024 | INFO | loading\\nS-3\\tHallo\\nH-3\\t-0.1\\tHi")
    'fairseq'
    """
    lines = beginning.decode("utf-8", "replace").splitlines()
    if lines and re.match(r"\d+ +\|\|\|", lines[0]):
        return "moses"
    return "fairseq" if any(re.match(r"[SHD]-\d+\t", line) for line in lines) else None
