"""Queries of many clients are batched, and no client waits for another."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tertium.errors import InputError
from tertium.web.batching import Batcher, Call, StoppedError


class Engine:
    """Doubles numbers; waits at a gate, if there is one, and refuses 13."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, operation: Hashable, queries: Sequence[Any]) -> list[int]:
        self.batches.append(list(queries))
        assert self.gate.wait(10)
        if 13 in queries:
            raise InputError("13 is not doubled")
        return [2 * query for query in queries]


def double(batcher: Batcher, queries: Sequence[int], seconds: float = 10.0) -> list[int]:
    return batcher.submit("double", queries, [1] * len(queries), Call(seconds))


def test_ten_clients_need_few_calls() -> None:
    engine = Engine()
    batcher = Batcher(engine, window=0.2)
    barrier = threading.Barrier(10)

    def client(number: int) -> list[int]:
        barrier.wait()
        return double(batcher, [number, number + 100])

    with ThreadPoolExecutor(10) as pool:
        results = list(pool.map(client, range(10)))
    assert results == [[2 * number, 2 * number + 200] for number in range(10)]
    assert len(engine.batches) <= 3
    batcher.close()


def test_a_full_batch_does_not_wait_for_others() -> None:
    batcher = Batcher(Engine(), window=5.0, budget=4)
    started = time.monotonic()
    assert double(batcher, [1, 2, 3, 4]) == [2, 4, 6, 8]
    assert time.monotonic() - started < 4
    batcher.close()


def test_the_window_ends_when_all_callers_are_in_the_queue() -> None:
    batcher = Batcher(Engine(), window=5.0, callers=lambda: 1)
    started = time.monotonic()
    assert double(batcher, [1]) == [2]
    assert time.monotonic() - started < 4
    batcher.close()


def test_a_short_request_gets_its_share_beside_a_long_one() -> None:
    engine = Engine()
    batcher = Batcher(engine, budget=10)
    engine.gate.clear()
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(double, batcher, [0])
        wait_until(lambda: len(engine.batches) == 1)
        long = pool.submit(double, batcher, list(range(1000, 1100)))
        wait_until(lambda: len(batcher._queue) == 1)
        short = pool.submit(double, batcher, [500, 501])
        wait_until(lambda: len(batcher._queue) == 2)
        engine.gate.set()
        assert first.result() == [0]
        assert short.result() == [1000, 1002]
        assert long.result() == [2 * number for number in range(1000, 1100)]
    assert {500, 501} <= set(engine.batches[1])  # not after the hundred
    assert all(len(batch) <= 10 for batch in engine.batches)
    batcher.close()


def test_a_query_that_fails_fails_for_its_client_alone() -> None:
    engine = Engine()
    batcher = Batcher(engine, window=0.2)
    barrier = threading.Barrier(4)

    def client(number: int) -> list[int] | str:
        barrier.wait()
        try:
            return double(batcher, [number])
        except InputError as error:
            return str(error)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(client, (12, 13, 14, 15)))
    assert results == [[24], "13 is not doubled", [28], [30]]
    batcher.close()


def test_operations_are_not_mixed() -> None:
    seen = []

    def engine(operation: Hashable, queries: Sequence[Any]) -> list[Hashable]:
        seen.append(operation)
        return [operation] * len(queries)

    batcher = Batcher(engine, window=0.1)
    with ThreadPoolExecutor(2) as pool:
        results = list(
            pool.map(lambda name: batcher.submit(name, [1], [1], Call(5)), ("one", "other"))
        )
    assert results == [["one"], ["other"]]
    assert sorted(map(str, seen)) == ["one", "other"]
    batcher.close()


def test_queries_of_a_request_out_of_time_are_not_run() -> None:
    engine = Engine()
    batcher = Batcher(engine)
    engine.gate.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(double, batcher, [1])
        wait_until(lambda: engine.batches == [[1]])
        with pytest.raises(StoppedError, match="time"):
            double(batcher, [2], seconds=0.05)
        engine.gate.set()
        assert first.result() == [2]
    assert double(batcher, [3]) == [6]
    assert [2] not in engine.batches
    batcher.close()


def test_a_closed_batcher_refuses_queries() -> None:
    batcher = Batcher(Engine())
    batcher.close()
    with pytest.raises(StoppedError):
        double(batcher, [1])
    assert not batcher.alive


def test_no_query_is_no_call() -> None:
    engine = Engine()
    batcher = Batcher(engine)
    assert double(batcher, []) == []
    assert engine.batches == []
    batcher.close()


def wait_until(true: Any, seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)
