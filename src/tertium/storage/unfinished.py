"""Folders that are either complete or absent, and what a killed process leaves of them."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tertium.errors import ModelError
from tertium.storage.atomic import check_writable

MARK = ".unfinished-"


@contextmanager
def appearing(out: Path) -> Iterator[Path]:
    """Make a folder in a scratch folder, and move it to its place when it is complete."""
    if out.exists():
        raise ModelError(f"{out} already exists; remove it, or choose another folder")
    with scratch_beside(out) as scratch:
        made = scratch / "model"
        yield made
        made.rename(out)


@contextmanager
def derived(out: Path, is_complete: Callable[[], bool]) -> Iterator[Path]:
    """Make a folder that several processes may make at once, in a scratch folder.

    If ``out`` is complete by the time that it is made, it is kept; a damaged one is replaced.
    """
    with scratch_beside(out) as scratch:
        made = scratch / "made"
        made.mkdir()
        yield made
        if is_complete():
            return
        if out.exists():
            out.rename(scratch / "damaged")
        try:
            made.rename(out)
        except OSError:  # another process has made the same folder
            if not is_complete():
                raise


@contextmanager
def scratch_beside(out: Path) -> Iterator[Path]:
    """A scratch folder on the same disk to make ``out`` in.

    Its name contains the process. What a killed process has left of the same ``out`` is removed.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    check_writable(out.parent)
    for left in leftovers(out.parent):
        if left.name.startswith(f".{out.name}-"):
            shutil.rmtree(left, ignore_errors=True)
    process = f"{MARK}{_host()}-{os.getpid()}"
    with tempfile.TemporaryDirectory(
        dir=out.parent, prefix=f".{out.name}-", suffix=process
    ) as scratch:
        yield Path(scratch)


def leftovers(folder: Path) -> list[Path]:
    """The scratch folders in a folder whose process no longer runs.

    Those of processes on other machines are not listed: they may still be running.
    """
    return [path for path in sorted(folder.glob(f".*{MARK}*")) if not _may_be_running(path)]


def _may_be_running(path: Path) -> bool:
    host, _, process = path.name.rpartition(MARK)[2].rpartition("-")
    if host != _host() or not process.isdecimal() or os.name == "nt":
        return True
    try:
        os.kill(int(process), 0)  # sends no signal, only checks
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9]", "", platform.node()) or "here"
