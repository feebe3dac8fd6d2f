"""Records to Parquet, in a stream, with types that nothing is guessed about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from tertium.data.records import python_type
from tertium.storage.atomic import replacing

ROWS = 4096


def lines_to_parquet(lines: Path, out: Path) -> None:
    """Turn JSON Lines into Parquet; ``out`` appears whole."""
    kinds: dict[str, set[type]] = {}
    for record in _records(lines):
        for name, value in record.items():
            kinds.setdefault(name, set()).add(python_type(value))
    write_parquet(_records(lines), schema_of(kinds), out)


def schema_of(kinds: Mapping[str, set[type]]) -> Any:
    """The types of the columns, by the Python types of their values.

    A column is of numbers (of 64 bits) or of truth values if all its values are, and of text
    otherwise: what is no text is then written as JSON. Text is never taken for a date.
    """
    import pyarrow as pa

    return pa.schema([(name, _arrow_type(found - {type(None)})) for name, found in kinds.items()])


def write_parquet(
    records: Iterable[dict[str, Any]], schema: Any, out: Path, scratch: Path | None = None
) -> None:
    """Write records that JSON can hold; ``out`` appears whole, and is ``scratch`` till then."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    texts = [entry.name for entry in schema if entry.type == pa.string()]
    with replacing(out, scratch) as stream, ParquetWriter(stream, schema) as writer:
        rest = iter(records)
        while batch := list(islice(rest, ROWS)):
            for record in batch:
                for name in texts:
                    record[name] = _as_text(record.get(name))
            writer.write_batch(pa.RecordBatch.from_pylist(batch, schema))


def _records(lines: Path) -> Iterator[dict[str, Any]]:
    with lines.open(encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def _arrow_type(kinds: set[type]) -> Any:
    import pyarrow as pa

    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    if kinds in ({float}, {int, float}):
        return pa.float64()
    return pa.string()


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
