"""The outputs of several systems for the same segments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tertium.data.l10n import SUFFIXES as TRANSLATIONS
from tertium.data.l10n import open_translations
from tertium.data.lines import names_of, suffix_of
from tertium.data.pairs import (
    ALIASES,
    RESULTS,
    FilePairs,
    Languages,
    RowList,
    TablePairs,
    choose_columns,
    find_column,
    reference_columns,
)
from tertium.data.records import RecordFile, counted
from tertium.errors import InputError
from tertium.text import Row, Text, check_text, field_value

METADATA = re.compile(
    r"(seg|segment|doc|document|sent|sentence|line|row|item|user|annotator|rater)?"
    r"(id|nr|no|num|number|name|index|idx)?"
    r"|domain|genre|topic|category|split|subset|testset|dataset|corpus|origlang|date|time|url|label"
)
"""Names of columns, in lower case and without separators, that are not systems' outputs unless they
are given explicitly: id, doc_id, segment, domain and so on."""
IDENTIFIER = re.compile(r"[\w.:/#@+-]+", re.ASCII)
FEWEST_ROWS = 10
"""From so many rows on, a column with few different values is metadata."""
REPEATED = 5
"""How often each value of such a column occurs, on average."""


@dataclass(frozen=True)
class SystemOutputs:
    """The rows of two or more systems: the same segments, with other hypotheses."""

    rows: Mapping[str, Sequence[Row]]
    name: str = "the test set"
    left_out: tuple[str, ...] = ()
    """Columns of numbers and metadata, which are not taken for systems."""
    unpaired: Mapping[str, int] = field(default_factory=dict)
    """How many segments of each system are left out because not all others have them."""

    def __post_init__(self) -> None:
        if len(self.rows) < 2:
            raise InputError(
                f"nothing to compare: {counted(len(self.rows), 'system')}; give at least two"
            )
        if self.count < 2:
            raise InputError(
                f"{self.name} has {counted(self.count, 'segment')}; "
                "statistical tests need at least two"
            )

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(self.rows)

    @property
    def count(self) -> int:
        """The number of segments."""
        return len(next(iter(self.rows.values())))

    @property
    def sources(self) -> dict[str, RowList]:
        """The rows of each system, to be scored."""
        first = next(iter(self.rows.values()))[0]
        has = bool(first.references), first.source is not None
        return {system: RowList(rows, self.name, *has) for system, rows in self.rows.items()}


def outputs_from_table(
    table: RecordFile,
    languages: Languages,
    *,
    systems: Sequence[str] = (),
    refs: Sequence[str] = (),
    src: str | None = None,
    lang: str | None = None,
    ref_lang: str | None = None,
    src_lang: str | None = None,
) -> SystemOutputs:
    """Read one column per system: those given, or all columns of text without another role."""
    names = table.columns()
    for name in systems:
        if systems.count(name) > 1:
            raise InputError(f"the system {name!r} is given twice")
        if name not in names:
            raise InputError(f"no column {name!r}: {table.path} has {', '.join(names)}")
    records = list(table)
    chosen, left_out = tuple(systems), []
    if not chosen:
        taken = {*refs, *reference_columns(names), src, lang, ref_lang, src_lang}
        usual = {name for role in ALIASES if role != "hyp" for name in ALIASES[role]}
        free = [name for name in names if name not in taken and name.lower() not in usual]
        source = src or find_column(names, ALIASES["src"])
        compared = [*(refs or reference_columns(names)), *([] if source is None else [source])]
        texts = [str(row[name]) for name in compared for row in records if row.get(name)]
        left_out = [
            name
            for name in free
            if name.lower() in RESULTS
            or is_metadata_name(name)
            or is_metadata([row.get(name) for row in records], among=texts)
        ]
        chosen = tuple(name for name in free if name not in left_out)
        if len(chosen) < 2 and left_out:
            raise InputError(
                f"{table.path} has {counted(len(chosen), 'column')} with a system's outputs; "
                f"{', '.join(left_out)} look like numbers or metadata",
                cure="name the columns with {systems}",
            )
    if not chosen:
        raise InputError(
            f"{table.path} has no column with a system's outputs",
            cure="name the columns with {systems}",
        )
    columns = choose_columns(
        table, hyp=chosen[0], refs=refs, src=src, lang=lang, ref_lang=ref_lang, src_lang=src_lang
    )
    pairs = TablePairs(table, columns, languages)

    rows: dict[str, list[Row]] = {name: [] for name in chosen}
    for row in pairs.rows(records):
        for name in chosen:
            role = f"output of {name}"
            value = field_value(row.record, name, role=role, row=row.number)
            text = check_text(value, role=role, row=row.number)
            rows[name].append(replace(row, hypothesis=Text(text, row.hypothesis.lang), record={}))
    return SystemOutputs(rows, pairs.name, tuple(left_out))


def is_metadata_name(name: str) -> bool:
    """Whether a column with such a name holds metadata.

    >>> [is_metadata_name(name) for name in ("doc_id", "Segment", "seg no.", "Online-B", "mt")]
    [True, True, True, False, False]
    """
    plain = re.sub(r"[\W_]", "", name.lower())
    return bool(plain) and METADATA.fullmatch(plain) is not None


def is_metadata(values: Sequence[object], *, among: Sequence[str]) -> bool:
    """Whether a column holds no texts like the others: numbers, identifiers, or few values.

    >>> is_metadata(["news-1", "news-2"], among=["It rains.", "It snows."])
    True
    >>> is_metadata(["ja", "nein"], among=["yes", "no"])
    False
    """
    if is_numeric(values):
        return True
    there = [str(value) for value in values if value is not None and str(value).strip()]
    if there and all(map(IDENTIFIER.fullmatch, there)):
        return sum(IDENTIFIER.fullmatch(text) is None for text in among) > len(among) / 2
    few = len(there) >= FEWEST_ROWS and REPEATED * len(set(there)) <= len(there)
    return few and REPEATED * len(set(among)) > len(among)


def is_numeric(values: Sequence[object]) -> bool:
    """Whether a column holds numbers, and nothing else but empty fields.

    >>> is_numeric(["0.5", "", None, 7]), is_numeric(["7", "seven"]), is_numeric(["", ""])
    (True, False, False)
    """
    there = [value for value in values if value is not None and str(value).strip()]
    try:
        return bool([float(str(value)) for value in there])
    except ValueError:
        return False


def outputs_from_files(
    hyps: Sequence[Path],
    refs: Sequence[Path],
    src: Path | None,
    languages: Languages,
    *,
    replace_invalid: bool = False,
) -> SystemOutputs:
    """Read plain text files, one per system; systems are named after their files."""
    pairs = [FilePairs(hyp, tuple(refs), src, languages, replace_invalid) for hyp in hyps]
    counts = {each.name: each.count() for each in pairs}
    if len(set(counts.values())) > 1:
        lines = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise InputError(f"the files differ in their number of lines: {lines}")

    rows = {name: list(each) for name, each in zip(_system_names(hyps), pairs, strict=True)}
    return SystemOutputs(rows, name_of_set(refs, src))


def outputs_from_translations(paths: Sequence[Path], languages: Languages) -> SystemOutputs:
    """Read localisation files of the same texts, one per system, paired by keys and sources."""
    for path in paths:
        if suffix_of(path) not in TRANSLATIONS:
            raise InputError(
                f"{path} is not a localisation file; compare one table, or several "
                "localisation files of the same texts"
            )
    systems: dict[str, dict[tuple[str, str], Row]] = {}
    for name, path in zip(_system_names(paths), paths, strict=True):
        rows = systems[name] = {}
        for row in open_translations(path, languages):
            source = "" if row.source is None else row.source.text
            rows.setdefault((str(row.record.get("key", "")), source), row)
    first, *others = systems.values()
    common = [key for key in first if all(key in rows for rows in others)]
    if not common:
        raise InputError(f"{', '.join(map(str, paths))} have no text in common")
    return SystemOutputs(
        {
            name: [
                replace(rows[key], number=number, record={})
                for number, key in enumerate(common, start=1)
            ]
            for name, rows in systems.items()
        },
        "the texts that all files have",
        unpaired={
            name: len(rows) - len(common)
            for name, rows in systems.items()
            if len(rows) > len(common)
        },
    )


def _system_names(files: Sequence[Path]) -> tuple[str, ...]:
    """Systems are named after their files."""
    names = names_of(files)
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"the system {name!r} is given twice")
    return names


def name_of_set(refs: Sequence[Path], src: Path | None) -> str:
    """A test set is named after its references, or after its source."""
    return str(refs[0] if refs else src)
