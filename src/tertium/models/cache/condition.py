"""In what condition the file of answers is: looked at from outside, and left as it is."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tertium.errors import CacheError
from tertium.models.cache.answers import FAILURES, connect, is_damage, size_of, unseal

PATIENCE_SECONDS = 2.0
ELSEWHERE = "or keep the cache elsewhere (TERTIUM_CACHE)"
CURES = {
    sqlite3.SQLITE_BUSY: "another process holds it: wait for its end, " + ELSEWHERE,
    sqlite3.SQLITE_LOCKED: "another process holds it: wait for its end, " + ELSEWHERE,
    sqlite3.SQLITE_FULL: "make room on the disk, " + ELSEWHERE,
    sqlite3.SQLITE_READONLY: "make the file and its folder writable, " + ELSEWHERE,
    sqlite3.SQLITE_CANTOPEN: "make the file and its folder writable, " + ELSEWHERE,
    sqlite3.SQLITE_PERM: "make the file and its folder writable, " + ELSEWHERE,
}


@dataclass(frozen=True)
class Condition:
    """How many answers a file holds, and how many bytes."""

    answers: int
    bytes: int


def examine(path: Path) -> Condition:
    """Read the whole file, and see whether it can be written; what is wrong is an error.

    A file that is not there yet holds nothing, which is well if it can be made.
    """
    if not path.exists():
        _check_folder(path.parent)
        return Condition(0, 0)
    if not path.is_file():
        raise CacheError(f"{path} is no file; delete it, {ELSEWHERE}")
    try:
        connection = connect(path, patience=PATIENCE_SECONDS, create=False)
    except FAILURES as error:
        raise _trouble(path, error) from None
    try:
        return _examine(path, connection)
    except FAILURES as error:
        raise _trouble(path, error) from None
    finally:
        connection.close()


def _examine(path: Path, connection: sqlite3.Connection) -> Condition:
    [verdict] = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != b"ok":
        raise _damaged(path, " ".join(verdict.decode(errors="replace").split()))
    count = bad = 0
    for key, value in connection.execute("SELECT key, value FROM answers"):
        count += 1
        bad += unseal(key, value) is None
    if bad:
        raise _damaged(path, f"{bad} of {count} answers are not what was stored")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("ROLLBACK")
    return Condition(count, size_of(connection))


def _check_folder(folder: Path) -> None:
    """See whether a file can be made in a folder, which need not be there yet."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise CacheError(
            f"{folder} cannot be written ({error.strerror}); make it a folder that can, {ELSEWHERE}"
        ) from None


def _trouble(path: Path, error: BaseException) -> CacheError:
    if is_damage(error):
        return _damaged(path, str(error))
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_NOMEM) & 0xFF
    cure = CURES.get(code, "check the disk, " + ELSEWHERE)
    return CacheError(f"{path} cannot be used ({error}); {cure}")


def _damaged(path: Path, what: str) -> CacheError:
    return CacheError(f"{path} is damaged ({what}); delete it: the answers will be asked for anew")
