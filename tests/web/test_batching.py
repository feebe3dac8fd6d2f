"""Questions of many are put together, answered apart, and nobody waits for somebody else."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tertium.errors import InputError
from tertium.web.batching import Call, Gatherer, StoppedError

PATIENCE = 60.0
"""Seconds in which a busy machine must have done anything."""


class Engine:
    """Doubles numbers; waits at a gate, if there is one, and refuses 13."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, operation: Hashable, questions: Sequence[Any]) -> list[int]:
        self.batches.append(list(questions))
        assert self.gate.wait(PATIENCE)
        if 13 in questions:
            raise InputError("13 is not doubled")
        return [2 * question for question in questions]


def ask(gatherer: Gatherer, questions: Sequence[int], seconds: float = PATIENCE) -> list[int]:
    return gatherer.ask("double", questions, [1] * len(questions), Call(seconds))


def test_ten_clients_are_answered_in_two_calls() -> None:
    """The first keeps the engine busy until the others stand in the line."""
    engine = Engine()
    engine.gate.clear()
    gatherer = Gatherer(engine)

    def client(number: int) -> list[int]:
        return ask(gatherer, [number, number + 100])

    with ThreadPoolExecutor(10) as pool:
        first = pool.submit(client, 0)
        wait_until(lambda: engine.batches == [[0, 100]])
        others = [pool.submit(client, number) for number in range(1, 10)]
        wait_until(lambda: len(gatherer._line) == 9)
        engine.gate.set()
        found = [answer.result() for answer in (first, *others)]
    assert found == [[2 * number, 2 * number + 200] for number in range(10)]
    assert len(engine.batches) == 2
    gatherer.close()


def test_clients_that_come_within_the_window_share_a_call() -> None:
    engine = Engine()
    gatherer = Gatherer(engine, window=PATIENCE / 2, callers=lambda: 4)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda number: ask(gatherer, [number]), range(4)))
    assert found == [[0], [2], [4], [6]]
    assert len(engine.batches) == 1
    gatherer.close()


def test_a_full_batch_does_not_wait_for_company() -> None:
    gatherer = Gatherer(Engine(), window=10 * PATIENCE, budget=4)  # longer than ``ask`` waits
    assert ask(gatherer, [1, 2, 3, 4]) == [2, 4, 6, 8]
    gatherer.close()


def test_nobody_is_waited_for_when_all_are_there() -> None:
    gatherer = Gatherer(Engine(), window=10 * PATIENCE, callers=lambda: 1)
    assert ask(gatherer, [1]) == [2]
    gatherer.close()


def test_a_short_request_gets_its_share_beside_a_long_one() -> None:
    engine = Engine()
    gatherer = Gatherer(engine, budget=10)
    engine.gate.clear()
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(ask, gatherer, [0])
        wait_until(lambda: len(engine.batches) == 1)
        long = pool.submit(ask, gatherer, list(range(1000, 1100)))
        wait_until(lambda: len(gatherer._line) == 1)
        short = pool.submit(ask, gatherer, [500, 501])
        wait_until(lambda: len(gatherer._line) == 2)
        engine.gate.set()
        assert first.result() == [0]
        assert short.result() == [1000, 1002]
        assert long.result() == [2 * number for number in range(1000, 1100)]
    assert {500, 501} <= set(engine.batches[1])  # not after the hundred
    assert all(len(batch) <= 10 for batch in engine.batches)
    gatherer.close()


def test_a_question_that_fails_fails_for_its_asker_alone() -> None:
    engine = Engine()
    gatherer = Gatherer(engine, window=0.2)
    barrier = threading.Barrier(4)

    def client(number: int) -> list[int] | str:
        barrier.wait()
        try:
            return ask(gatherer, [number])
        except InputError as error:
            return str(error)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(client, (12, 13, 14, 15)))
    assert found == [[24], "13 is not doubled", [28], [30]]
    gatherer.close()


def test_operations_are_not_mixed() -> None:
    seen = []

    def engine(operation: Hashable, questions: Sequence[Any]) -> list[Hashable]:
        seen.append(operation)
        return [operation] * len(questions)

    gatherer = Gatherer(engine, window=0.1)
    with ThreadPoolExecutor(2) as pool:
        answers = list(
            pool.map(lambda name: gatherer.ask(name, [1], [1], Call(PATIENCE)), ("one", "other"))
        )
    assert answers == [["one"], ["other"]]
    assert sorted(map(str, seen)) == ["one", "other"]
    gatherer.close()


def test_time_runs_out_and_questions_of_the_gone_are_not_asked() -> None:
    engine = Engine()
    gatherer = Gatherer(engine)
    engine.gate.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(ask, gatherer, [1])
        wait_until(lambda: engine.batches == [[1]])
        with pytest.raises(StoppedError, match="time"):
            ask(gatherer, [2], seconds=0.05)
        engine.gate.set()
        assert first.result() == [2]
    assert ask(gatherer, [3]) == [6]
    assert [2] not in engine.batches
    gatherer.close()


def test_nothing_is_asked_of_a_closed_gatherer() -> None:
    gatherer = Gatherer(Engine())
    gatherer.close()
    with pytest.raises(StoppedError):
        ask(gatherer, [1])
    assert not gatherer.alive


def test_no_question_is_no_call() -> None:
    engine = Engine()
    gatherer = Gatherer(engine)
    assert ask(gatherer, []) == []
    assert engine.batches == []
    gatherer.close()


def wait_until(true: Any, seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)
