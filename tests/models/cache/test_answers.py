"""Whatever happens to the file of answers: a warning, and the right numbers."""

from __future__ import annotations

import os
import random
import sqlite3
import time
import warnings
from pathlib import Path

import pytest

from tertium.errors import CacheWarning
from tertium.models.cache import answers
from tertium.models.cache.answers import AnswerFile, seal, unseal
from tertium.models.cache.condition import examine
from tertium.models.cache.memo import Memo

from ...damage import DAMAGES, NOTICED, held_by_another_process
from ...disks import fill, read_only, small_disk
from ...fakes import FakeModel

TARGETS = [f"target {number}" for number in range(300)]
RIGHT = {(target, "x"): (-float(number), -0.5) for number, target in enumerate(TARGETS)}


def ask(store: AnswerFile) -> tuple[list[float], int]:
    """Put all questions; returns the answers, and how many of them the model had to give."""
    model = FakeModel(scores=RIGHT)
    found = Memo(model, store).log_probs(TARGETS, ["x"] * len(TARGETS), target_lang="en")
    return [answer.G for answer in found], len(model.asked)


EXPECTED = [sum(numbers) for numbers in RIGHT.values()]


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A file with the answers to all questions, in a folder of its own."""
    path = tmp_path / "cache" / "answers.sqlite"
    store = AnswerFile(path)
    assert ask(store) == (EXPECTED, len(TARGETS))
    store.close()
    return path


@pytest.mark.parametrize("name", NOTICED)
def test_damage_is_said_and_survived(full: Path, name: str) -> None:
    NOTICED[name](full, random.Random(name))
    store = AnswerFile(full)
    with pytest.warns(CacheWarning, match="damaged") as said:
        assert ask(store)[0] == EXPECTED
    assert len(said) == 1
    assert ask(store)[0] == EXPECTED  # and is said once
    store.close()
    assert ask(AnswerFile(full)) == (EXPECTED, 0)  # the cache is whole again
    assert examine(full).answers == len(TARGETS)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", [name for name in DAMAGES if name not in NOTICED])
def test_damage_that_may_go_unnoticed_changes_no_number(full: Path, name: str, seed: int) -> None:
    DAMAGES[name](full, random.Random(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        for _ in range(2):
            store = AnswerFile(full)
            assert ask(store)[0] == EXPECTED
            store.close()


def test_an_answer_belongs_to_its_key() -> None:
    sealed = seal(b"key", b"answer")
    assert unseal(b"key", sealed) == b"answer"
    assert unseal(b"yek", sealed) is None
    for other in (None, 3, "text", b"", b"abc", sealed[:-1], sealed + b"\0"):
        assert unseal(b"key", other) is None


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer that is read turns out to be damage of the file."""

    def unreadable(*_: object) -> None:
        error = sqlite3.DatabaseError("malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error

    monkeypatch.setattr(answers, "unseal", unreadable)


@pytest.mark.usefixtures("broken")
def test_damage_that_comes_back_ends_the_use_of_the_file(full: Path) -> None:
    store = AnswerFile(full)
    with pytest.warns(CacheWarning) as said:
        assert [ask(store)[0] for _ in range(4)] == [EXPECTED] * 4
    assert "was damaged" in str(said[0].message)
    assert "not kept from here on" in str(said[1].message)
    assert len(said) == 2


@pytest.mark.usefixtures("broken")
def test_a_file_that_another_process_has_begun_anew_is_left(full: Path) -> None:
    store = AnswerFile(full)
    assert store.get([b"none"]) == {}
    content = full.read_bytes()
    os.replace(full, full.with_name("put aside by another"))
    full.write_bytes(content)
    assert ask(store)[0] == EXPECTED
    assert full.exists()
    assert list(full.parent.glob("*.damaged-*")) == []


def test_a_locked_file_is_waited_for_but_not_for_long(
    full: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "PATIENCE_SECONDS", 0.3)
    with held_by_another_process(full):
        started = time.monotonic()
        store = AnswerFile(full)
        with pytest.warns(CacheWarning, match="another process holds it.*locked") as said:
            assert [ask(store), ask(store)] == [(EXPECTED, len(TARGETS))] * 2
        assert 0.3 < time.monotonic() - started < 60
    assert len(said) == 1
    assert ask(AnswerFile(full)) == (EXPECTED, 0)


def test_a_file_that_is_locked_in_the_middle(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "PATIENCE_SECONDS", 0.3)
    store = AnswerFile(full)
    assert store.get([b"none"]) == {}
    blocker = sqlite3.connect(full, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.warns(CacheWarning, match=r"cannot be written .*locked"):
        store.put({b"k": b"v"})
    assert ask(store) == (EXPECTED, 0)  # it can still be read
    blocker.close()


def test_a_patience_that_a_person_has() -> None:
    assert 5 <= answers.PATIENCE_SECONDS <= 30


def test_a_folder_that_is_read_only(full: Path) -> None:
    with read_only(full.parent):
        store = AnswerFile(full)
        with pytest.warns(CacheWarning, match=r"cannot be (used|written)") as said:
            assert [ask(store)[0], ask(store)[0]] == [EXPECTED] * 2
        assert len(said) == 1
        with pytest.warns(CacheWarning, match="cannot be used"):
            assert ask(AnswerFile(full.parent / "another.sqlite")) == (EXPECTED, len(TARGETS))


def test_a_damaged_file_that_cannot_be_moved(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("not yours")

    NOTICED["garbage_inside"](full, random.Random(1))
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.warns(CacheWarning, match="not yours"):
        assert ask(AnswerFile(full)) == (EXPECTED, len(TARGETS))


def test_a_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 256 * 1024) as disk:
        store = AnswerFile(disk / "answers.sqlite")
        store.put({b"k": b"v"})
        fill(disk)
        with pytest.warns(CacheWarning, match=r"cannot be written .*full") as said:
            assert [ask(store), ask(store)] == [(EXPECTED, len(TARGETS))] * 2
        assert len(said) == 1
        assert store.get([b"k"]) == {b"k": b"v"}  # what was there can still be read
        with pytest.warns(CacheWarning, match="cannot be used"):
            assert ask(AnswerFile(disk / "another.sqlite")) == (EXPECTED, len(TARGETS))
        store.close()


def test_a_file_that_must_not_grow(full: Path) -> None:
    """The same without a disk of one's own: SQLite is told that there is no more room."""
    store = AnswerFile(full)
    assert ask(store) == (EXPECTED, 0)
    assert store._connection is not None
    store._connection.execute("PRAGMA max_page_count = 1")
    with pytest.warns(CacheWarning, match=r"cannot be written .*full"):
        store.put({b"%d" % number: bytes(1000) for number in range(1000)})
    assert ask(store) == (EXPECTED, 0)
