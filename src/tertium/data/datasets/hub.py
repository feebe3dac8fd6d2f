"""Datasets from the Hugging Face hub: Parquet or CSV, one file or more a split."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tertium.data.records import Record, open_table, require_pyarrow
from tertium.errors import InputError, ModelError


def hub_records(
    hub_id: str, pattern: str, *, revision: str | None = None, offline: bool = False
) -> Iterator[tuple[Path, int, Record]]:
    """Download the files that match, and read them: each record with its file and its row."""
    from tertium.models.hub import download_files

    if pattern.endswith(".parquet"):
        require_pyarrow("reading")
    try:
        folder = download_files(
            hub_id, [pattern], kind="dataset", revision=revision, offline=offline
        )
    except ModelError as error:
        raise InputError(f"the dataset {error}; or name a folder that has it") from None
    files = sorted(folder.glob(pattern))
    if not files:
        raise InputError(f"the dataset {hub_id} has no {pattern}; was it laid out anew?")
    for file in files:
        for row, record in enumerate(open_table(file), start=1):
            yield file, row, record
