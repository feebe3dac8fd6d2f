"""Write records to Parquet as a stream, with the types of their values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from tertium.data.records import PARQUET, python_type
from tertium.registry import check_extras
from tertium.storage.atomic import replacing

ROWS = 4096


def lines_to_parquet(lines: Path, out: Path) -> None:
    """Convert JSON Lines to Parquet; ``out`` appears when it is complete."""
    kinds: dict[str, set[type]] = {}
    for record in _records(lines):
        for name, value in record.items():
            kinds.setdefault(name, set()).add(python_type(value))
    write_parquet(_records(lines), schema_of(kinds), out)


def schema_of(kinds: Mapping[str, set[type]]) -> Any:
    """Return the Arrow schema for columns whose values have these Python types.

    A column holds 64-bit numbers or booleans if all its values do. Otherwise it holds text, and
    other values are written as JSON. Text is never parsed as a date.
    """
    check_extras("writing Parquet", PARQUET)
    import pyarrow as pa

    return pa.schema([(name, _arrow_type(found - {type(None)})) for name, found in kinds.items()])


def write_parquet(
    records: Iterable[dict[str, Any]], schema: Any, out: Path, scratch: Path | None = None
) -> None:
    """Write records of JSON values to ``scratch``, and rename it to ``out`` when complete."""
    check_extras("writing Parquet", PARQUET)
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
