"""A Ray cluster: reached by its address, or started on this machine for one run."""

from __future__ import annotations

import logging
import os
import re
import socket
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

from tertium.errors import COLOURS, ClusterError, ClusterWarning, SettingError, first_line
from tertium.models.threads import available_cores

QUIET = logging.CRITICAL
STORE_BYTES = 100 << 20
"""Shared memory of a cluster on this machine: texts and scores do not go through it."""
LOG_LEVEL = "RAY_BACKEND_LOG_LEVEL"
HOST_AND_PORT = re.compile(r"(\[[^\]]+\]|[^:\[\]/]+):([0-9]+)")
PATIENCE = 5.0
"""Seconds in which a host must answer."""
TASK = "ray::"
AUTO_CONNECT = "RAY_ENABLE_AUTO_CONNECT"


@dataclass(frozen=True)
class ClusterSettings:
    """Which cluster, and how much of it."""

    address: str | None = None
    """None starts Ray on this machine."""
    workers: int | None = None
    threads: int | None = None
    """The cores of each worker."""

    def __post_init__(self) -> None:
        if self.address is not None and self.address.startswith("ray://"):
            raise SettingError(
                f"--address {self.address}: a Ray client cannot see the files of the cluster; run "
                "the command on one of its nodes, with --address auto"
            )


def import_ray() -> Any:
    """Import Ray, which tells nobody about it, and connects only where it is told to.

    Otherwise what it cleans up after a run, at some time or other, would connect again by itself:
    to a cluster that is perhaps just ending, which ends this process too.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        with _variable(AUTO_CONNECT, "0"):  # it is looked at when Ray is first imported
            import ray
        import ray.data
    except ImportError as error:
        raise ClusterError(
            f"--engine ray needs Ray ({error}); install it with: pip install 'tertium[ray]'"
        ) from None
    return ray


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    """Set a variable of the environment for a while."""
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

    What Ray prints in the meantime is dropped: it would go to standard output, among the results,
    and of a lost node it prints the last pages of its log.
    """
    ray = import_ray()
    with open(os.devnull, "w") as silence, redirect_stdout(silence):
        if ray.is_initialized():  # by a program that uses Ray itself
            yield ray
            return
        check_listening(settings.address)
        own: dict[str, Any] = {}
        if settings.address is None:
            cores = available_cores()
            if settings.workers is not None:
                cores = settings.workers * (settings.threads or max(1, cores // settings.workers))
            own = {
                "num_cpus": max(cores, settings.threads or 1),
                "include_dashboard": False,
                "object_store_memory": STORE_BYTES,
            }
        try:
            with _few_words():
                ray.init(
                    address=settings.address or "local",
                    log_to_driver=False,
                    logging_level=QUIET,
                    **own,
                )
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            where = settings.address or "this machine"
            raise ClusterError(f"no Ray cluster at {where}: {first_line(error)}") from None
        try:
            yield ray
        finally:
            ray.shutdown()


def check_listening(address: str | None) -> None:
    """Make sure that somebody listens at a host and port; Ray would try for a quarter of an hour.

    Addresses in other forms, such as ``auto``, are Ray's to look up.
    """
    found = HOST_AND_PORT.fullmatch(address or "")
    if found is None:
        return
    host, port = found.groups()
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or first_line(error)
        raise ClusterError(f"no Ray cluster at {address}: {reason}") from None


@contextmanager
def _few_words() -> Iterator[None]:
    """Let the native part of Ray speak of fatal things only, unless somebody wants to hear more.

    Otherwise every run begins with a warning that an actor could not be restarted after the loss of
    the process that began the run. That it has been told to be silent, it says too.
    """
    if LOG_LEVEL in os.environ:
        yield
        return
    sys.stderr.flush()
    spoken = os.dup(2)
    with open(os.devnull, "wb") as silence:
        os.dup2(silence.fileno(), 2)
    try:
        with _variable(LOG_LEVEL, "fatal"):
            yield
    finally:
        os.dup2(spoken, 2)
        os.close(spoken)


def what_happened(error: Exception) -> str:
    """What an error of Ray's is about, in a line.

    That of a task is a traceback under a line with the name of the task. It is indented, and what
    was raised, first of all, is not.
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
    """How many workers there will be, and the cores of each: if not said, one worker a node.

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
            "the cluster has no cores yet; say --workers and --threads, and they are waited for"
        )
    threads = settings.threads
    if threads is None:
        nodes = len(cores)
        crowd = 1 if settings.workers is None else -(-settings.workers // nodes)
        threads = max(1, min(cores) // crowd)
    room = sum(count // threads for count in cores)
    workers = room if settings.workers is None else settings.workers
    if workers > room or not room:
        warnings.warn(
            f"of {workers or 1} workers with {threads} cores each, the cluster has room for "
            f"{room} now; the others wait for it",
            ClusterWarning,
            stacklevel=2,
        )
    return max(1, min(workers, parts)), threads
