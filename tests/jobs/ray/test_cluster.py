"""How workers are distributed over a cluster, and the errors if they cannot be."""

from __future__ import annotations

import signal
import socket
from importlib.util import find_spec

import pytest

from tertium.errors import ClusterError, ClusterWarning, first_line
from tertium.jobs.ray.cluster import (
    ClusterSettings,
    check_listening,
    connected,
    error_line,
    workers_and_threads,
)


@pytest.mark.parametrize(
    ("settings", "node_cores", "expected"),
    [
        (ClusterSettings(), [4], (1, 4)),
        (ClusterSettings(), [0, 4, 4], (2, 4)),
        (ClusterSettings(), [0, 2, 8], (5, 2)),  # no node is too small for a worker
        (ClusterSettings(threads=1), [2, 2], (4, 1)),
        (ClusterSettings(workers=3), [4, 4], (3, 2)),
        (ClusterSettings(workers=1), [4, 4], (1, 4)),
        (ClusterSettings(workers=2, threads=1), [4, 4], (2, 1)),
    ],
)
def test_shares(
    settings: ClusterSettings, node_cores: list[int], expected: tuple[int, int]
) -> None:
    assert workers_and_threads(settings, node_cores, parts=100) == expected


def test_no_more_workers_than_parts() -> None:
    assert workers_and_threads(ClusterSettings(), [2, 2, 2], parts=2) == (2, 2)


def test_too_small_a_cluster_is_told_of() -> None:
    with pytest.warns(ClusterWarning, match="has room for 2 now"):
        assert workers_and_threads(ClusterSettings(workers=4, threads=2), [2, 2], 9) == (4, 2)
    with pytest.warns(ClusterWarning, match="has room for 0 now"):
        assert workers_and_threads(ClusterSettings(threads=8), [2, 2], 9) == (1, 8)
    with pytest.raises(ClusterError, match="use workers= and threads= to wait"):
        workers_and_threads(ClusterSettings(workers=4), [0], 9)


def test_no_cluster_at_an_address() -> None:
    if find_spec("ray") is None:
        pytest.skip("RAY IS NOT INSTALLED: nothing distributed is tested")
    for address in ("not an address", "127.0.0.1:1"):
        settings = ClusterSettings(address)
        expected = pytest.raises(ClusterError, match=f"no Ray cluster at {address}: .")
        with expected, connected(settings):
            pass


def test_the_handler_of_signals_is_restored() -> None:
    if find_spec("ray") is None:
        pytest.skip("RAY IS NOT INSTALLED: nothing distributed is tested")
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(ClusterError), connected(ClusterSettings("not an address")):
        pass
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize(
    "address", ["127.0.0.1:1", "[::1]:1", "localhost:1", "127.0.0.1:99999", "no.such.invalid:1"]
)
def test_nobody_listens(address: str) -> None:
    with pytest.raises(ClusterError) as caught:
        check_listening(address)
    assert str(caught.value).startswith(f"no Ray cluster at {address}: ")
    assert "[Errno" not in str(caught.value)


@pytest.mark.parametrize("address", [None, "auto", "local", "not an address", "anyscale://a:1"])
def test_addresses_that_ray_looks_up(address: str | None) -> None:
    check_listening(address)


def test_somebody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        check_listening(f"127.0.0.1:{server.getsockname()[1]}")


OF_A_TASK = """\x1b[36mray::MapWorker(MapBatches(W)).submit()\x1b[39m (pid=18799, ip=192.0.2.2)
  File "python3.11/concurrent/futures/thread.py", line 58, in run
    result = self.fn(*self.args, **self.kwargs)
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
KeyError: 'strange'

The above exception was the direct cause of the following exception:

\x1b[36mray::MapWorker(MapBatches(W)).submit()\x1b[39m (pid=18799, ip=192.0.2.2)
ray.exceptions.UserCodeException: UDF failed to process a data block.
Failed to apply UDF transform after 1/1 attempts (total backoff 0.0s)."""
"""As Ray 2.60 has it, shortened."""


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (OF_A_TASK, "KeyError: 'strange'"),
        ("\x1b[36mray::W.f()\x1b[39m (pid=1)", "ray::W.f() (pid=1)"),
        ("The actor died unexpectedly.\n\tclass_name: W", "The actor died unexpectedly."),
        ("", ""),
    ],
)
def test_an_error_of_ray_in_a_line(message: str, expected: str) -> None:
    assert error_line(RuntimeError(message)) == expected


def test_colours_are_dropped() -> None:
    assert first_line(ValueError("\x1b[1;31mno\x1b[0m \x1b[?25hroom\x1b[K \nmore")) == "no room"
