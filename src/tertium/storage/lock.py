"""Locks: two runs that write to the same output at once would spoil each other's results.

The lock belongs to the operating system, which releases it when the process ends, however it ends.
The lock file only names the process: one that a killed process has left behind blocks nobody.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tertium.errors import OutputError
from tertium.storage.atomic import check_writable

UNSUPPORTED = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP)


class Lock:
    """An exclusive lock on an output, held by ``OUT.lock`` beside it.

    On a file system without locks (some network file systems) it does nothing.
    """

    def __init__(self, target: Path) -> None:
        from filelock import FileLock

        self.target = target
        self.path = target.with_name(target.name + ".lock")
        self.held = False
        self._lock = FileLock(self.path, timeout=0.1, poll_interval=0.02, thread_local=False)

    def acquire(self) -> None:
        """Lock, or raise an :class:`~tertium.errors.OutputError` that names the other process."""
        from filelock import Timeout

        if self.held:
            return
        check_writable(self.path.parent)  # filelock would create it, or wait for nothing
        try:
            self._lock.acquire()
        except Timeout:
            raise OutputError(
                f"{self.target} is in use by another run ({self._owner()}); "
                "wait until it has finished, stop it, or choose another output"
            ) from None
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
        self.held = True
        with suppress(OSError):  # a full disk, or Windows: the lock holds without a name
            self.path.write_text(_this_process())

    def release(self) -> None:
        """Unlock and remove the lock file, if it is held."""
        if not self.held:
            return
        self.held = False
        with suppress(OSError):
            # without a name if the disk is full; another's if somebody has removed ours
            if self.path.read_text(errors="replace") in ("", _this_process()):
                self.path.unlink()
        self._lock.release()
        if os.name == "nt":
            self.path.unlink(missing_ok=True)

    def _owner(self) -> str:
        with suppress(OSError):
            return self.path.read_text(errors="replace") or "another process"
        return "another process"


def _this_process() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """Hold the lock on an output, such as a folder of results, for a block."""
    lock = Lock(target)
    lock.acquire()
    try:
        yield
    finally:
        lock.release()
