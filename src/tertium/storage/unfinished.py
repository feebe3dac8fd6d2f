"""Folders that appear whole or not at all, and what is left where their maker was killed."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tertium.errors import ModelError

MARK = ".unfinished-"


@contextmanager
def appearing(out: Path) -> Iterator[Path]:
    """Let a folder be made beside its place, and move it there when it is finished."""
    if out.exists():
        raise ModelError(f"{out} is there already; remove it or name another folder")
    with scratch_beside(out) as scratch:
        made = scratch / "model"
        yield made
        made.rename(out)


@contextmanager
def scratch_beside(out: Path) -> Iterator[Path]:
    """A folder to make ``out`` in, on the same disk.

    Its name says who makes it. What a maker of the same ``out`` left behind when it was killed is
    removed.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    for left in leftovers(out.parent):
        if left.name.startswith(f".{out.name}-"):
            shutil.rmtree(left, ignore_errors=True)
    maker = f"{MARK}{_host()}-{os.getpid()}"
    with tempfile.TemporaryDirectory(
        dir=out.parent, prefix=f".{out.name}-", suffix=maker
    ) as scratch:
        yield Path(scratch)


def leftovers(folder: Path) -> list[Path]:
    """The unfinished folders in a folder whose maker no longer runs.

    Of one that was made on another machine that is not known, and it is left alone.
    """
    return [path for path in sorted(folder.glob(f".*{MARK}*")) if not _may_be_running(path)]


def _may_be_running(path: Path) -> bool:
    host, _, process = path.name.rpartition(MARK)[2].rpartition("-")
    if host != _host() or not process.isdecimal() or os.name == "nt":
        return True
    try:
        os.kill(int(process), 0)  # sends nothing, but asks
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9]", "", platform.node()) or "here"
