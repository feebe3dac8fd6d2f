"""Answers kept on disk: one SQLite file, shared by any number of processes."""

from __future__ import annotations

import os
import sqlite3
import threading
import warnings
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from tertium.errors import CacheWarning

MAX_BYTES = 4 << 30
KEYS_PER_QUERY = 500
PATIENCE_SECONDS = 20.0
"""How long a file that another process holds is waited for."""
CHECKSUM_BYTES = 4

SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (id INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL, value BLOB)
"""
NOT_DAMAGE = frozenset(
    {
        sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
    }
)
"""Troubles of the system around the file; with any other, the file is not what we wrote."""
FAILURES = (sqlite3.Error, MemoryError)


class AnswerFile:
    """A map from keys to answers in a file, of bounded size: the oldest answers make room.

    A cache must never stop a run, nor change a number. A file that is damaged is put aside, and a
    new one begun; one that cannot be written is only read, one that cannot be read is done without.
    Each is said once, as a :class:`~tertium.errors.CacheWarning`. Every answer is sealed with its
    key: one that was changed, or that stands where another should, counts as not there.
    """

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._owner: int | None = None
        self._inode = 0
        self._writable = True
        self._put_aside_before = False
        self._said_damaged = False

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Find the answers that are there."""
        wanted = list(keys)
        found: dict[bytes, bytes] = {}
        damaged = 0
        with self._lock:
            connection = self._open()
            if connection is None:
                return found
            try:
                for start in range(0, len(wanted), KEYS_PER_QUERY):
                    some = wanted[start : start + KEYS_PER_QUERY]
                    marks = ",".join("?" * len(some))
                    rows = connection.execute(
                        f"SELECT key, value FROM answers WHERE key IN ({marks})", some
                    )
                    for key, value in rows:
                        answer = unseal(key, value)
                        if answer is None:
                            damaged += 1
                        else:
                            found[key] = answer
            except FAILURES as error:
                self._give_up(error)
            if damaged and not self._said_damaged:
                self._said_damaged = True
                self._warn(f"{self.path} holds damaged answers; they are asked for anew")
        return found

    def put(self, answers: Mapping[bytes, bytes]) -> None:
        """Keep answers, all of them or none."""
        with self._lock:
            connection = self._open()
            if connection is None or not self._writable:
                return
            try:
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    connection.executemany(
                        "INSERT OR REPLACE INTO answers (key, value) VALUES (?, ?)",
                        ((key, seal(key, value)) for key, value in answers.items()),
                    )
                self._make_room(connection)
            except FAILURES as error:
                if is_damage(error):
                    self._give_up(error)
                else:
                    self._writable = False
                    self._warn(
                        f"{self.path} cannot be written ({reason(error)}); no more answers are kept"
                    )

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
            except FAILURES as error:
                if not is_damage(error):
                    raise
                self._put_aside(error)
                self._connection = self._connect()
            self._inode = self.path.stat().st_ino
        except (OSError, *FAILURES) as error:
            self._warn(f"{self.path} cannot be used ({reason(error)}); answers are not kept")
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self.path)
        try:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(SCHEMA)
            connection.execute("SELECT key, value FROM answers LIMIT 1").fetchall()
        except FAILURES:
            connection.close()
            raise
        return connection

    def _make_room(self, connection: sqlite3.Connection) -> None:
        size = size_of(connection)
        [first, last] = connection.execute("SELECT min(id), max(id) FROM answers").fetchone()
        if size <= self.max_bytes or first is None:
            return
        surplus = 1 - 0.75 * self.max_bytes / size  # a quarter free, so that this is rare
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "DELETE FROM answers WHERE id <= ?", (first + int((last - first) * surplus),)
            )
        connection.execute("PRAGMA incremental_vacuum").fetchall()

    def _put_aside(self, error: Exception) -> None:
        """Move a damaged file away, with what belongs to it."""
        aside = self.path.with_name(f"{self.path.name}.damaged-{os.getpid()}")
        os.replace(self.path, aside)
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        self._put_aside_before = True
        self._warn(f"{self.path} was damaged ({error}); it is now {aside.name}, and can be deleted")

    def _give_up(self, error: Exception) -> None:
        """Go on without the file; if it is damaged, with a new one, but not for ever."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        if not is_damage(error) or self._put_aside_before:
            self._warn(f"{self.path} failed ({error}); answers are not kept from here on")
            return
        try:
            if self.path.stat().st_ino == self._inode:  # if not, another process was quicker
                self._put_aside(error)
            self._owner = None
        except OSError as trouble:
            self._warn(
                f"{self.path} is damaged ({error}) and cannot be moved ({trouble}); "
                "answers are not kept from here on"
            )

    @staticmethod
    def _warn(message: str) -> None:
        warnings.warn(message, CacheWarning, stacklevel=4)


def connect(
    path: Path, *, patience: float | None = None, create: bool = True
) -> sqlite3.Connection:
    """Open a file of answers, as it is."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}",
        uri=True,
        timeout=PATIENCE_SECONDS if patience is None else patience,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = bytes  # a damaged answer may call itself text, and be none
    return connection


def size_of(connection: sqlite3.Connection) -> int:
    """How many bytes are in use."""
    [pages] = connection.execute("PRAGMA page_count").fetchone()
    [free] = connection.execute("PRAGMA freelist_count").fetchone()
    [bytes_per_page] = connection.execute("PRAGMA page_size").fetchone()
    return int((pages - free) * bytes_per_page)


def is_damage(error: BaseException) -> bool:
    """Whether an error says that the file is not what we wrote, rather than out of reach."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_NOMEM)
    return (code & 0xFF) not in NOT_DAMAGE


def reason(error: BaseException) -> str:
    """What an error is about, for people."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
    held = code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return f"another process holds it: {error}" if held else str(error)


def seal(key: bytes, answer: bytes) -> bytes:
    """Put a checksum before an answer, by which it belongs to its key."""
    return zlib.crc32(answer, zlib.crc32(key)).to_bytes(CHECKSUM_BYTES, "little") + answer


def unseal(key: object, value: object) -> bytes | None:
    """Return the answer, or None if it is not what was sealed with this key.

    >>> unseal(b"key", seal(b"key", b"answer")), unseal(b"other", seal(b"key", b"answer"))
    (b'answer', None)
    """
    if not isinstance(key, bytes) or not isinstance(value, bytes):
        return None
    answer = value[CHECKSUM_BYTES:]
    return answer if seal(key, answer) == value else None
