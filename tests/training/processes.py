"""Several processes on one machine, as ``accelerate launch`` starts them but without its wait.

They come from a server that has imported what they need, once for all tests.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from tertium.cli import main

several = pytest.mark.skipif(os.name == "nt", reason="there is no fork")

PATIENCE = 600
"""Seconds in which a process must end, on a machine however busy."""
IMPORTED = [
    "accelerate",
    "tertium.training.model.run",
    "tertium.training.detector.run",
    "transformers.models.m2m_100.modeling_m2m_100",
]


def start(*arguments: str | Path, count: int = 2) -> list[BaseProcess]:
    """Start a command of Tertium in each process."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, *IMPORTED])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes: list[BaseProcess] = [
        context.Process(target=command, args=(index, count, port, list(map(str, arguments))))
        for index in range(count)
    ]
    for process in processes:
        process.start()
    return processes


def finish(processes: list[BaseProcess]) -> list[int | None]:
    """Wait for all, and return their exit codes; what hangs is killed and has none."""
    for process in processes:
        process.join(PATIENCE)
    codes = [process.exitcode for process in processes]
    for process in processes:
        process.kill()
    return codes


def command(index: int, count: int, port: int, arguments: list[str]) -> None:
    os.environ |= {
        "RANK": str(index),
        "LOCAL_RANK": str(index),
        "WORLD_SIZE": str(count),
        "LOCAL_WORLD_SIZE": str(count),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "OMP_NUM_THREADS": "1",
    }
    sys.argv = ["tertium", *arguments]
    main()
