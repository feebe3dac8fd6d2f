"""Whatever happens to the file of cached results: a warning, and the right numbers."""

from __future__ import annotations

import os
import random
import sqlite3
import time
import warnings
from pathlib import Path

import pytest

from tertium.errors import CacheWarning
from tertium.models import results
from tertium.models.base import make_queries
from tertium.models.cached import CachedModel
from tertium.models.results import ResultFile, examine, seal, unseal

from ..damage import DAMAGES, NOTICED, held_by_another_process
from ..disks import fill, read_only, small_disk
from ..fakes import FakeModel

TARGETS = [f"target {number}" for number in range(300)]
RIGHT = {(target, "x"): (-float(number), -0.5) for number, target in enumerate(TARGETS)}


def query(store: ResultFile) -> tuple[list[float], int]:
    """Run all queries; return the results, and how many of them the model computed."""
    model = FakeModel(scores=RIGHT)
    scores = CachedModel(model, store).log_probs(
        make_queries(TARGETS, ["x"] * len(TARGETS), target_lang="en")
    )
    return [each.G for each in scores], len(model.asked)


EXPECTED = [sum(numbers) for numbers in RIGHT.values()]


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A file with the results of all queries, in its own folder."""
    path = tmp_path / "cache" / "results.sqlite"
    store = ResultFile(path)
    assert query(store) == (EXPECTED, len(TARGETS))
    store.close()
    return path


@pytest.mark.parametrize("name", NOTICED)
def test_damage_is_reported_and_survived(full: Path, name: str) -> None:
    NOTICED[name](full, random.Random(name))
    store = ResultFile(full)
    with pytest.warns(CacheWarning, match="damaged") as warned:
        assert query(store)[0] == EXPECTED
    assert len(warned) == 1
    assert query(store)[0] == EXPECTED  # and is reported once
    store.close()
    assert query(ResultFile(full)) == (EXPECTED, 0)  # the cache is intact again
    assert examine(full).results == len(TARGETS)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", [name for name in DAMAGES if name not in NOTICED])
def test_damage_that_may_go_unnoticed_changes_no_number(full: Path, name: str, seed: int) -> None:
    DAMAGES[name](full, random.Random(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        for _ in range(2):
            store = ResultFile(full)
            assert query(store)[0] == EXPECTED
            store.close()


def test_a_result_belongs_to_its_key() -> None:
    sealed = seal(b"key", b"result")
    assert unseal(b"key", sealed) == b"result"
    assert unseal(b"yek", sealed) is None
    for other in (None, 3, "text", b"", b"abc", sealed[:-1], sealed + b"\0"):
        assert unseal(b"key", other) is None


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading any result reports that the file is damaged."""

    def unreadable(*_: object) -> None:
        error = sqlite3.DatabaseError("malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error

    monkeypatch.setattr(results, "unseal", unreadable)


@pytest.mark.usefixtures("broken")
def test_damage_that_comes_back_ends_the_use_of_the_file(full: Path) -> None:
    store = ResultFile(full)
    with pytest.warns(CacheWarning) as warned:
        assert [query(store)[0] for _ in range(4)] == [EXPECTED] * 4
    assert "was damaged" in str(warned[0].message)
    assert "no more results are cached" in str(warned[1].message)
    assert len(warned) == 2


@pytest.mark.usefixtures("broken")
def test_a_file_that_another_process_has_replaced_is_left(full: Path) -> None:
    store = ResultFile(full)
    assert store.get([b"none"]) == {}
    content = full.read_bytes()
    os.replace(full, full.with_name("moved aside by another"))
    full.write_bytes(content)
    assert query(store)[0] == EXPECTED
    assert full.exists()
    assert list(full.parent.glob("*.damaged-*")) == []


def test_a_locked_file_is_waited_for_but_not_for_long(
    full: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "LOCK_TIMEOUT_SECONDS", 0.3)
    with held_by_another_process(full):
        started = time.monotonic()
        store = ResultFile(full)
        with pytest.warns(CacheWarning, match="another process has locked it.*locked") as warned:
            assert [query(store), query(store)] == [(EXPECTED, len(TARGETS))] * 2
        assert 0.3 < time.monotonic() - started < 60
    assert len(warned) == 1
    assert query(ResultFile(full)) == (EXPECTED, 0)


def test_a_file_that_is_locked_in_the_middle(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "LOCK_TIMEOUT_SECONDS", 0.3)
    store = ResultFile(full)
    assert store.get([b"none"]) == {}
    blocker = sqlite3.connect(full, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.warns(CacheWarning, match=r"cannot be written .*locked"):
        store.put({b"k": b"v"})
    assert query(store) == (EXPECTED, 0)  # it can still be read
    blocker.close()


def test_the_lock_timeout_is_reasonable() -> None:
    assert 5 <= results.LOCK_TIMEOUT_SECONDS <= 30


def test_a_folder_that_is_read_only(full: Path) -> None:
    with read_only(full.parent):
        store = ResultFile(full)
        with pytest.warns(CacheWarning, match=r"cannot be (used|written)") as warned:
            assert [query(store)[0], query(store)[0]] == [EXPECTED] * 2
        assert len(warned) == 1
        with pytest.warns(CacheWarning, match="cannot be used"):
            assert query(ResultFile(full.parent / "another.sqlite")) == (EXPECTED, len(TARGETS))


def test_a_damaged_file_that_cannot_be_moved(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("not yours")

    NOTICED["garbage_inside"](full, random.Random(1))
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.warns(CacheWarning, match="not yours"):
        assert query(ResultFile(full)) == (EXPECTED, len(TARGETS))


def test_a_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 256 * 1024) as disk:
        store = ResultFile(disk / "results.sqlite")
        store.put({b"k": b"v"})
        fill(disk)
        with pytest.warns(CacheWarning, match=r"cannot be written .*full") as warned:
            assert [query(store), query(store)] == [(EXPECTED, len(TARGETS))] * 2
        assert len(warned) == 1
        assert store.get([b"k"]) == {b"k": b"v"}  # what was there can still be read
        with pytest.warns(CacheWarning, match="cannot be used"):
            assert query(ResultFile(disk / "another.sqlite")) == (EXPECTED, len(TARGETS))
        store.close()


def test_a_file_that_must_not_grow(full: Path) -> None:
    """The same without a small disk: SQLite is told that there is no more space."""
    store = ResultFile(full)
    assert query(store) == (EXPECTED, 0)
    assert store._connection is not None
    store._connection.execute("PRAGMA max_page_count = 1")
    with pytest.warns(CacheWarning, match=r"cannot be written .*full"):
        store.put({b"%d" % number: bytes(1000) for number in range(1000)})
    assert query(store) == (EXPECTED, 0)
