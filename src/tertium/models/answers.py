"""Answers kept on disk: one SQLite file, shared by any number of processes."""

from __future__ import annotations

import os
import sqlite3
import threading
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from tertium.errors import CacheWarning

MAX_BYTES = 4 << 30
KEYS_PER_QUERY = 500
PATIENCE_SECONDS = 60.0

SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (id INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL, value BLOB)
"""


class AnswerFile:
    """A map from keys to answers in a file, of bounded size: the oldest answers make room.

    A cache must never stop a run. A file that is damaged is put aside, one that cannot be written
    is done without; either is said once, as a :class:`~tertium.errors.CacheWarning`.
    """

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._owner: int | None = None

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Find the answers that are there."""
        wanted = list(keys)
        found: dict[bytes, bytes] = {}
        with self._lock:
            connection = self._open()
            if connection is None:
                return found
            try:
                for start in range(0, len(wanted), KEYS_PER_QUERY):
                    some = wanted[start : start + KEYS_PER_QUERY]
                    marks = ",".join("?" * len(some))
                    found.update(
                        connection.execute(
                            f"SELECT key, value FROM answers WHERE key IN ({marks})", some
                        )
                    )
            except sqlite3.DatabaseError as error:
                self._give_up(error)
        return found

    def put(self, answers: Mapping[bytes, bytes]) -> None:
        """Keep answers, all of them or none."""
        with self._lock:
            connection = self._open()
            if connection is None:
                return
            try:
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    connection.executemany(
                        "INSERT OR REPLACE INTO answers (key, value) VALUES (?, ?)",
                        answers.items(),
                    )
                self._make_room(connection)
            except sqlite3.DatabaseError as error:
                self._give_up(error)

    def health(self) -> tuple[int, int]:
        """Check the whole file, and return how many answers and bytes it holds."""
        with self._lock:
            connection = self._open()
            if connection is None:
                raise OSError(f"{self.path} cannot be opened or written")
            [verdict] = connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise OSError(f"{self.path} is damaged: {verdict}")
            [count] = connection.execute("SELECT count(*) FROM answers").fetchone()
            return count, self._size(connection)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._connection is not None and self._owner == os.getpid():
                self._connection.close()
            self._connection = None
            self._owner = None

    def _open(self) -> sqlite3.Connection | None:
        if self._owner == os.getpid():
            return self._connection  # None once the file has failed us
        self._owner = os.getpid()  # a connection does not survive a fork
        self._connection = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._connection = self._connect()
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                self._put_aside(error)
                self._connection = self._connect()
        except (OSError, sqlite3.Error) as error:
            self._warn(f"{self.path} cannot be used ({error}); answers are not kept")
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    @staticmethod
    def _size(connection: sqlite3.Connection) -> int:
        [pages] = connection.execute("PRAGMA page_count").fetchone()
        [free] = connection.execute("PRAGMA freelist_count").fetchone()
        [bytes_per_page] = connection.execute("PRAGMA page_size").fetchone()
        return int((pages - free) * bytes_per_page)

    def _make_room(self, connection: sqlite3.Connection) -> None:
        size = self._size(connection)
        if size <= self.max_bytes:
            return
        [first, last] = connection.execute("SELECT min(id), max(id) FROM answers").fetchone()
        surplus = 1 - 0.75 * self.max_bytes / size  # a quarter free, so that this is rare
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "DELETE FROM answers WHERE id <= ?", (first + int((last - first) * surplus),)
            )
        connection.execute("PRAGMA incremental_vacuum").fetchall()

    def _put_aside(self, error: Exception) -> None:
        aside = self.path.with_name(f"{self.path.name}.damaged-{os.getpid()}")
        os.replace(self.path, aside)
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        self._warn(f"{self.path} was damaged ({error}); it is now {aside.name}")

    def _give_up(self, error: Exception) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        if isinstance(error, sqlite3.OperationalError):
            self._warn(f"{self.path} failed ({error}); answers are not kept from here on")
        else:
            self._put_aside(error)

    @staticmethod
    def _warn(message: str) -> None:
        warnings.warn(message, CacheWarning, stacklevel=4)
