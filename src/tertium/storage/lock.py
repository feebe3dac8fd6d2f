"""Locks: two runs that write to the same output at once would spoil each other's results.

The lock belongs to the operating system, which releases it when the process ends, however it ends.
The lock file only names the process: one that a killed process has left behind blocks nobody.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tertium.errors import OutputError

HELD = (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK)
UNSUPPORTED = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP)
LOCKED_BYTE = 1 << 30
"""On Windows a locked byte cannot be read, so one far behind the name of the process is locked."""
MAX_NAME = 500


class Lock:
    """An exclusive lock on an output, held by ``OUT.lock`` beside it.

    On a file system without locks (some network file systems) it does nothing.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(target.name + ".lock")
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        return self._descriptor is not None

    def acquire(self) -> None:
        """Lock, or raise an :class:`~tertium.errors.OutputError` that names the other process."""
        if self._descriptor is not None:
            return
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                self._lock(descriptor)
                current = _is_open_file(self.path, descriptor)
            except BaseException:
                os.close(descriptor)
                raise
            if current:
                break
            os.close(descriptor)  # its owner removed it before it could be locked: try again
        self._descriptor = descriptor
        with suppress(OSError):  # on a full disk, the lock holds without a name
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())

    def release(self) -> None:
        """Unlock and remove the lock file, if it is held."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        with suppress(OSError):  # removed while it is locked, so it cannot be another's
            if _is_open_file(self.path, descriptor):
                self.path.unlink()
        try:
            _unlock(descriptor)
        finally:
            os.close(descriptor)
        if sys.platform == "win32":
            self.path.unlink(missing_ok=True)

    def _lock(self, descriptor: int) -> None:
        try:
            _lock(descriptor)
        except OSError as error:
            if error.errno in UNSUPPORTED:
                return
            if error.errno not in HELD:
                raise
            owner = os.read(descriptor, MAX_NAME).decode(errors="replace") or "another process"
            raise OutputError(
                f"{self.target} is in use by another run ({owner}); "
                "wait until it has finished, stop it, or choose another output"
            ) from None


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """Hold the lock on an output, such as a folder of results, for a block."""
    lock = Lock(target)
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _is_open_file(path: Path, descriptor: int) -> bool:
    """Whether a path still names the file that was opened."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
