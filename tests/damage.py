"""Ways in which a file of answers is damaged, and processes that get in the way of others."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PAGE = 4096
HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA locking_mode = EXCLUSIVE")
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""

Damage = Callable[[Path, random.Random], None]


def truncated(path: Path, draw: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: draw.randrange(PAGE, len(content) - PAGE)])


def garbage(path: Path, draw: random.Random) -> None:
    path.write_bytes(draw.randbytes(path.stat().st_size))


def garbage_inside(path: Path, draw: random.Random) -> None:
    """The first page, which says what the file is, is left."""
    content = bytearray(path.read_bytes())
    content[PAGE:] = draw.randbytes(len(content) - PAGE)
    path.write_bytes(content)


def other_table(path: Path, draw: random.Random) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE answers (question TEXT)")
    connection.close()


def damaged_values(path: Path, draw: random.Random) -> None:
    change_values(path, "zeroblob(length(value))")


def numbers_for_values(path: Path, draw: random.Random) -> None:
    change_values(path, "id")


def text_for_values(path: Path, draw: random.Random) -> None:
    change_values(path, "CAST(x'ff' || value AS TEXT)")


def nothing_for_values(path: Path, draw: random.Random) -> None:
    change_values(path, "NULL")


def swapped_values(path: Path, draw: random.Random) -> None:
    """Every answer is whole, and belongs to another question."""
    change_values(
        path, "(SELECT value FROM answers AS o WHERE o.id != answers.id ORDER BY random() LIMIT 1)"
    )


def change_values(path: Path, to: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"UPDATE answers SET value = {to}")
    connection.close()


NOTICED: dict[str, Damage] = {
    damage.__name__: damage
    for damage in (
        truncated,
        garbage,
        garbage_inside,
        other_table,
        damaged_values,
        numbers_for_values,
        text_for_values,
        nothing_for_values,
        swapped_values,
    )
}
"""What a run that reads every answer must notice, and say."""


def flipped_bytes(path: Path, draw: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(20):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    path.write_bytes(content)


def garbage_in_the_log(path: Path, draw: random.Random) -> None:
    path.with_name(path.name + "-wal").write_bytes(draw.randbytes(10 * PAGE))
    path.with_name(path.name + "-shm").write_bytes(draw.randbytes(8 * PAGE))


def emptied(path: Path, draw: random.Random) -> None:
    path.write_bytes(b"")


DAMAGES: dict[str, Damage] = {
    **NOTICED,
    **{damage.__name__: damage for damage in (flipped_bytes, garbage_in_the_log, emptied)},
}
"""All of them; the last may go unnoticed, and must not change a number either."""


@contextmanager
def held_by_another_process(path: Path) -> Iterator[None]:
    """Let another process hold a file of answers, and not let go of it."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    try:
        yield
    finally:
        holder.communicate()
