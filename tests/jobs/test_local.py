"""The next rows are prepared while the engine computes, and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Event, get_ident
from typing import Any

import pytest

from tertium.errors import InputError
from tertium.jobs.local import ahead
from tertium.jobs.task import Part


class Prepared:
    """Remembers what was prepared, and in which threads."""

    description: dict[str, Any] = {}  # noqa: RUF012
    tally = None

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.threads: set[int] = set()
        self.ready = Event()

    def prepare(self, rows: Sequence[int]) -> None:
        self.rows += rows
        self.threads.add(get_ident())
        self.ready.set()
        if 3 in rows:
            raise InputError("comes again when the rows are processed")

    def __call__(self, rows: Sequence[Any], progress: object = None) -> Any:
        return [], {}


def parts(last: int, error: Exception | None = None) -> Iterator[Part]:
    for number in range(last):
        yield Part(0, [number])
    if error is not None:
        raise error


def test_the_next_part_is_prepared_while_one_is_processed() -> None:
    loaded = Prepared()
    places = []
    for part in ahead(parts(5), loaded, 0):
        if part.rows != [4]:
            assert loaded.ready.wait(20)  # the next one, while this one is processed
        loaded.ready.clear()
        places += part.rows
    assert places == [0, 1, 2, 3, 4]
    assert loaded.rows == [1, 2, 3, 4]
    assert get_ident() not in loaded.threads


def test_what_was_done_before_is_not_prepared() -> None:
    loaded = Prepared()
    assert len(list(ahead(parts(5), loaded, 3))) == 5
    assert loaded.rows == [3, 4]


def test_an_error_of_the_input_comes_after_the_rows_before_it() -> None:
    found = ahead(parts(2, InputError("row 3 is bad")), Prepared(), 0)
    assert [next(found).rows, next(found).rows] == [[0], [1]]
    with pytest.raises(InputError, match="row 3"):
        next(found)
    assert list(ahead(iter(()), Prepared(), 0)) == []
