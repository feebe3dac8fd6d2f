"""A dictionary in a file: what ``TranslationModel.load_cache`` opens."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PATIENCE_SECONDS = 15.0
SCHEMA = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, value TEXT NOT NULL)"


class Cache(MutableMapping[str, Any]):
    """A dictionary whose values are JSON, kept in SQLite.

    What was put in stays once :meth:`commit` is called, or the ``with`` block ends without an
    error.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=PATIENCE_SECONDS)
        self._connection.execute(SCHEMA)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.commit()
        self.close()

    def __getitem__(self, key: str) -> Any:
        found = self._connection.execute("SELECT value FROM answers WHERE key = ?", (key,))
        row = found.fetchone()
        if row is None:
            raise KeyError(key)
        return json.loads(row[0])

    def __setitem__(self, key: str, value: Any) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, json.dumps(value))
        )

    def __delitem__(self, key: str) -> None:
        if not self._connection.execute("DELETE FROM answers WHERE key = ?", (key,)).rowcount:
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        for [key] in self._connection.execute("SELECT key FROM answers ORDER BY rowid"):
            yield key

    def __len__(self) -> int:
        [count] = self._connection.execute("SELECT count(*) FROM answers").fetchone()
        return int(count)

    def commit(self) -> None:
        """Keep what was put in."""
        self._connection.commit()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
