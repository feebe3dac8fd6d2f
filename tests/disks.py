"""Disks that are full, or that cannot be written; where the system lets us have them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


def mount(folder: Path, *options: str) -> None:
    """Mount a disk of memory; a test that cannot have one is skipped, and says so."""
    command = ["mount", "-t", "tmpfs", *options, "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"NOT TESTED: no disk can be mounted here ({error})")


def unmount(folder: Path) -> None:
    subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """A disk with room for so many bytes."""
    folder.mkdir()
    mount(folder, "-o", f"size={size}")
    try:
        yield folder
    finally:
        unmount(folder)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a folder and its files read-only; for root, who may write anywhere, by mounting."""
    if os.geteuid() != 0:
        files = [folder, *folder.rglob("*")]
        for file in files:
            file.chmod(0o555 if file.is_dir() else 0o444)
        try:
            yield
        finally:
            for file in files:
                file.chmod(0o755)
        return
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    mount(folder)
    try:
        for name, content in before.items():
            (folder / name).write_bytes(content)
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        yield
    finally:
        unmount(folder)


def fill(folder: Path) -> None:
    """Leave no room on a disk."""
    with suppress(OSError), (folder / "filler").open("wb", buffering=0) as stream:
        while stream.write(bytes(4096)):
            pass
