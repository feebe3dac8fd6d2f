"""JSON Lines to Parquet, in a stream, with types that nothing is guessed about."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROWS = 4096


def lines_to_parquet(lines: Path, out: Path) -> None:
    """Turn JSON Lines into Parquet; ``out`` appears whole.

    A column is of numbers or of truth values if all its values are, and of text otherwise: what is
    no text is then written as JSON. Text is never taken for a date.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    kinds: dict[str, set[type]] = {}
    for record in _records(lines):
        for name, value in record.items():
            kinds.setdefault(name, set()).add(type(value))
    schema = pa.schema([(name, _arrow_type(found - {type(None)})) for name, found in kinds.items()])
    texts = [entry.name for entry in schema if entry.type == pa.string()]
    scratch = out.with_name(out.name + ".new")
    with scratch.open("wb") as stream:
        with ParquetWriter(stream, schema) as writer:
            batch: list[dict[str, Any]] = []
            for record in _records(lines):
                for name in texts:
                    record[name] = _as_text(record.get(name))
                batch.append(record)
                if len(batch) == ROWS:
                    writer.write_batch(pa.RecordBatch.from_pylist(batch, schema))
                    batch = []
            if batch:
                writer.write_batch(pa.RecordBatch.from_pylist(batch, schema))
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(scratch, out)


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
