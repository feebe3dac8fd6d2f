"""A Ray cluster: reached by its address, or started on this machine for one run."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

from tertium.errors import COLOURS, ClusterError, ClusterWarning, SettingError, first_line
from tertium.models.engine import available_cores

QUIET = logging.CRITICAL
STORE_BYTES = 100 << 20
"""Shared memory of a cluster on this machine: small, since texts and scores do not use it."""
LOG_LEVEL = "RAY_BACKEND_LOG_LEVEL"
HOST_AND_PORT = re.compile(r"(\[[^\]]+\]|[^:\[\]/]+):([0-9]+)")
PATIENCE = 5.0
"""Seconds within which a host must accept a connection."""
TASK = "ray::"
AUTO_CONNECT = "RAY_ENABLE_AUTO_CONNECT"


@dataclass(frozen=True)
class ClusterSettings:
    """Which cluster to use, and how much of it."""

    address: str | None = None
    """None starts Ray on this machine."""
    workers: int | None = None
    threads: int | None = None
    """The cores of each worker."""

    def __post_init__(self) -> None:
        if self.address is not None and self.address.startswith("ray://"):
            raise SettingError(
                "a Ray client cannot see the files of the cluster",
                cure="run the command on one of its nodes, with {address:auto}",
                parameter="address",
                value=self.address,
            )


def import_ray() -> Any:
    """Import Ray, without usage reports and without automatic connections.

    Otherwise Ray's clean-up after a run would connect again at some later time: possibly to a
    cluster that is shutting down, which would end this process too.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        with _variable(AUTO_CONNECT, "0"):  # read when Ray is first imported
            import ray
        import ray.data
    except ImportError as error:
        raise ClusterError(
            f"needs Ray ({error})",
            cure="install it with: pip install 'tertium[ray]'",
            parameter="engine",
            value="ray",
        ) from None
    return ray


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    """Set an environment variable for a block."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]
        if before is not None:
            os.environ[name] = before


@contextmanager
def connected(settings: ClusterSettings) -> Iterator[Any]:
    """Connect to the cluster, or start one.

    What Ray prints to standard output is dropped: it would be mixed with the results, and for a
    lost node it includes pages of its log.
    """
    ray = import_ray()
    with ExitStack() as stack, open(os.devnull, "w") as silence, redirect_stdout(silence):
        if ray.is_initialized():  # by a program that uses Ray itself
            yield ray
            return
        check_listening(settings.address)
        stack.enter_context(_same_signal_handler())
        limits: dict[str, Any] = {}
        if settings.address is None:
            cores = available_cores()
            if settings.workers is not None:
                cores = settings.workers * (settings.threads or max(1, cores // settings.workers))
            limits = {
                "num_cpus": max(cores, settings.threads or 1),
                "include_dashboard": False,
                "object_store_memory": STORE_BYTES,
            }
        try:
            with _only_fatal_messages():
                ray.init(
                    address=settings.address or "local",
                    log_to_driver=False,
                    logging_level=QUIET,
                    **limits,
                )
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            where = settings.address or "this machine"
            raise ClusterError(f"no Ray cluster at {where}: {first_line(error)}") from None
        try:
            yield ray
        finally:
            ray.shutdown()


def check_listening(address: str | None) -> None:
    """Check that a host and port accept connections; Ray would try for a quarter of an hour.

    Addresses in other forms, such as ``auto``, are resolved by Ray.
    """
    match = HOST_AND_PORT.fullmatch(address or "")
    if match is None:
        return
    host, port = match.groups()
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or first_line(error)
        raise ClusterError(f"no Ray cluster at {address}: {reason}") from None


@contextmanager
def _same_signal_handler() -> Iterator[None]:
    """Restore the handler of SIGTERM, which Ray replaces and leaves behind.

    Processes that are forked later would inherit it, and might ignore a request to end.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _only_fatal_messages() -> Iterator[None]:
    """Have the native part of Ray log fatal errors only, unless the environment sets a level.

    Otherwise every run starts with a warning that an actor could not be restarted if the process
    that started the run were lost. Ray announces the log level too, so that is dropped as well.
    """
    if LOG_LEVEL in os.environ:
        yield
        return
    sys.stderr.flush()
    saved = os.dup(2)
    with open(os.devnull, "wb") as silence:
        os.dup2(silence.fileno(), 2)
    try:
        with _variable(LOG_LEVEL, "fatal"):
            yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def error_line(error: Exception) -> str:
    """The cause of an error raised by Ray, in one line.

    The error of a task is a traceback below a line with the name of the task. The traceback is
    indented; the first line that is not names the exception.
    """
    lines = COLOURS.sub("", str(error)).strip().split("\n")
    if lines[0].startswith(TASK):
        for line in lines[1:]:
            if line.strip() and not line.startswith((" ", TASK, "Traceback")):
                return line.rstrip()
    return first_line(error)


def workers_and_threads(
    settings: ClusterSettings, node_cores: Sequence[int], parts: int
) -> tuple[int, int]:
    """The number of workers, and the cores of each; by default, one worker per node.

    >>> workers_and_threads(ClusterSettings(), node_cores=[0, 4, 8], parts=100)
    (3, 4)
    >>> workers_and_threads(ClusterSettings(workers=2), node_cores=[8], parts=100)
    (2, 4)
    >>> workers_and_threads(ClusterSettings(), node_cores=[2, 2], parts=1)
    (1, 2)
    """
    cores = [count for count in node_cores if count]
    if not cores and None in (settings.workers, settings.threads):
        raise ClusterError(
            "the cluster has no cores yet", cure="use {workers} and {threads} to wait for them"
        )
    threads = settings.threads
    if threads is None:
        nodes = len(cores)
        per_node = 1 if settings.workers is None else -(-settings.workers // nodes)
        threads = max(1, min(cores) // per_node)
    room = sum(count // threads for count in cores)
    workers = room if settings.workers is None else settings.workers
    if workers > room or not room:
        warnings.warn(
            f"of {workers or 1} workers with {threads} cores each, the cluster has room for "
            f"{room} now; the others wait for room",
            ClusterWarning,
            stacklevel=2,
        )
    return max(1, min(workers, parts)), threads
