"""Model results cached on disk: one SQLite file, shared by any number of processes."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
import warnings
import weakref
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tertium.errors import CacheError, CacheWarning

MAX_BYTES = 4 << 30
KEYS_PER_QUERY = 500
LOCK_TIMEOUT_SECONDS = 20.0
"""How long to wait for a file that another process has locked."""
EXAMINE_TIMEOUT_SECONDS = 2.0
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
"""Errors of the environment; any other error means that the content of the file is damaged."""
FAILURES = (sqlite3.Error, MemoryError)

MOVE_CACHE = "or move the cache (TERTIUM_CACHE)"
LOCKED = "another process has locked it: wait until it ends, " + MOVE_CACHE
NOT_WRITABLE = "make the file and its folder writable, " + MOVE_CACHE
CURES = {
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_FULL: "free some disk space, " + MOVE_CACHE,
    sqlite3.SQLITE_READONLY: NOT_WRITABLE,
    sqlite3.SQLITE_CANTOPEN: NOT_WRITABLE,
    sqlite3.SQLITE_PERM: NOT_WRITABLE,
}


class ResultFile:
    """A map from keys to results in a file of bounded size; the oldest results are evicted.

    A cache must never stop a run or change a number. A damaged file is moved aside and replaced
    by a new one; a file that cannot be written is only read, and one that cannot be read is not
    used. Each problem is reported once, as a :class:`~tertium.errors.CacheWarning`. Every result
    has a checksum that covers its key: a result that was changed, or that is stored under another
    key, counts as missing.
    """

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._owner: int | None = None
        self._inode = 0
        self._writable = True
        self._replaced_before = False
        self._warned_of_damage = False

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the results that are in the file."""
        requested = list(keys)
        results: dict[bytes, bytes] = {}
        damaged = 0
        with self._lock:
            connection = self._open()
            if connection is None:
                return results
            try:
                for start in range(0, len(requested), KEYS_PER_QUERY):
                    some = requested[start : start + KEYS_PER_QUERY]
                    marks = ",".join("?" * len(some))
                    rows = connection.execute(
                        f"SELECT key, value FROM answers WHERE key IN ({marks})", some
                    )
                    for key, value in rows:
                        result = unseal(key, value)
                        if result is None:
                            damaged += 1
                        else:
                            results[key] = result
            except FAILURES as error:
                self._give_up(error)
            if damaged and not self._warned_of_damage:
                self._warned_of_damage = True
                self._warn(f"{self.path} holds damaged results; they are computed again")
        return results

    def put(self, results: Mapping[bytes, bytes]) -> None:
        """Store results, all of them or none."""
        with self._lock:
            connection = self._open()
            if connection is None or not self._writable:
                return
            try:
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    connection.executemany(
                        "INSERT OR REPLACE INTO answers (key, value) VALUES (?, ?)",
                        ((key, seal(key, value)) for key, value in results.items()),
                    )
                self._evict(connection)
            except FAILURES as error:
                if is_damage(error):
                    self._give_up(error)
                else:
                    self._writable = False
                    self._warn(
                        f"{self.path} cannot be written ({reason(error)}); "
                        "no more results are cached"
                    )

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None and self._owner == os.getpid():
                self._connection.close()
            self._connection = None
            self._owner = None

    def _open(self) -> sqlite3.Connection | None:
        if self._owner == os.getpid():
            return self._connection  # None after a failure
        self._owner = os.getpid()  # a connection does not survive a fork
        self._connection = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._connection = self._connect()
            except FAILURES as error:
                if not is_damage(error):
                    raise
                self._move_aside(error)
                self._connection = self._connect()
            self._inode = self.path.stat().st_ino
        except (OSError, *FAILURES) as error:
            self._warn(f"{self.path} cannot be used ({reason(error)}); results are not cached")
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
        weakref.finalize(self, _close, connection, os.getpid())
        return connection

    def _evict(self, connection: sqlite3.Connection) -> None:
        size = size_of(connection)
        [first, last] = connection.execute("SELECT min(id), max(id) FROM answers").fetchone()
        if size <= self.max_bytes or first is None:
            return
        surplus = 1 - 0.75 * self.max_bytes / size  # free a quarter, so that this is rare
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "DELETE FROM answers WHERE id <= ?", (first + int((last - first) * surplus),)
            )
        connection.execute("PRAGMA incremental_vacuum").fetchall()

    def _move_aside(self, error: Exception) -> None:
        """Rename a damaged file, and delete its journal."""
        aside = self.path.with_name(f"{self.path.name}.damaged-{os.getpid()}")
        os.replace(self.path, aside)
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        self._replaced_before = True
        self._warn(
            f"{self.path} was damaged ({error}); it was renamed to {aside.name} and can be deleted"
        )

    def _give_up(self, error: Exception) -> None:
        """Continue without the file, or with a new one if it is damaged for the first time."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        if not is_damage(error) or self._replaced_before:
            self._warn(f"{self.path} failed ({error}); no more results are cached")
            return
        try:
            if self.path.stat().st_ino == self._inode:  # or another process has replaced it
                self._move_aside(error)
            self._owner = None
        except OSError as failure:
            self._warn(
                f"{self.path} is damaged ({error}) and cannot be renamed ({failure}); "
                "no more results are cached"
            )

    @staticmethod
    def _warn(message: str) -> None:
        warnings.warn(message, CacheWarning, stacklevel=4)


@dataclass(frozen=True)
class ResultFileStatus:
    """How many results a file holds, and how many bytes are in use."""

    results: int
    bytes: int


def examine(path: Path) -> ResultFileStatus:
    """Read the whole file and check that it can be written; raise :class:`CacheError` if not.

    A file that does not exist yet is empty, as long as it can be created. Nothing is changed.
    """
    if not path.exists():
        _check_folder(path.parent)
        return ResultFileStatus(0, 0)
    if not path.is_file():
        raise CacheError(f"{path} is not a file; delete it, {MOVE_CACHE}")
    try:
        connection = connect(path, timeout=EXAMINE_TIMEOUT_SECONDS, create=False)
    except FAILURES as error:
        raise _cache_error(path, error) from None
    try:
        return _examine(path, connection)
    except FAILURES as error:
        raise _cache_error(path, error) from None
    finally:
        connection.close()


def _examine(path: Path, connection: sqlite3.Connection) -> ResultFileStatus:
    [verdict] = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != b"ok":
        raise _damaged(path, " ".join(verdict.decode(errors="replace").split()))
    count = damaged = 0
    for key, value in connection.execute("SELECT key, value FROM answers"):
        count += 1
        damaged += unseal(key, value) is None
    if damaged:
        raise _damaged(path, f"{damaged} of {count} results do not match their checksums")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("ROLLBACK")
    return ResultFileStatus(count, size_of(connection))


def _check_folder(folder: Path) -> None:
    """Check that a file can be created in a folder, which need not exist yet."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise CacheError(
            f"{folder} cannot be written ({error.strerror}); make it a writable folder, "
            f"{MOVE_CACHE}"
        ) from None


def _cache_error(path: Path, error: BaseException) -> CacheError:
    if is_damage(error):
        return _damaged(path, str(error))
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_NOMEM) & 0xFF
    cure = CURES.get(code, "check the disk, " + MOVE_CACHE)
    return CacheError(f"{path} cannot be used ({error}); {cure}")


def _damaged(path: Path, what: str) -> CacheError:
    return CacheError(f"{path} is damaged ({what}); delete it: the results will be computed again")


def _close(connection: sqlite3.Connection, owner: int) -> None:
    """Close a connection in the process that opened it; a forked child must not."""
    if os.getpid() == owner:
        connection.close()


def connect(path: Path, *, timeout: float | None = None, create: bool = True) -> sqlite3.Connection:
    """Open a file of results without checking or changing it."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}",
        uri=True,
        timeout=LOCK_TIMEOUT_SECONDS if timeout is None else timeout,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = bytes  # a damaged value may be marked as text and not be UTF-8
    return connection


def size_of(connection: sqlite3.Connection) -> int:
    """Return the number of bytes in use."""
    [pages] = connection.execute("PRAGMA page_count").fetchone()
    [free] = connection.execute("PRAGMA freelist_count").fetchone()
    [bytes_per_page] = connection.execute("PRAGMA page_size").fetchone()
    return int((pages - free) * bytes_per_page)


def is_damage(error: BaseException) -> bool:
    """Whether an error means that the file is damaged, rather than inaccessible."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_NOMEM)
    return (code & 0xFF) not in NOT_DAMAGE


def reason(error: BaseException) -> str:
    """Describe an error for the user."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
    locked = code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return f"another process has locked it: {error}" if locked else str(error)


def seal(key: bytes, result: bytes) -> bytes:
    """Prepend a checksum that covers the key and the result."""
    return zlib.crc32(result, zlib.crc32(key)).to_bytes(CHECKSUM_BYTES, "little") + result


def unseal(key: object, value: object) -> bytes | None:
    """Return the result, or None if it does not match its checksum.

    >>> unseal(b"key", seal(b"key", b"result")), unseal(b"other", seal(b"key", b"result"))
    (b'result', None)
    """
    if not isinstance(key, bytes) or not isinstance(value, bytes):
        return None
    result = value[CHECKSUM_BYTES:]
    return result if seal(key, result) == value else None
