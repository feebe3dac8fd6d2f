"""``tertium --version --verbose``: what a bug report needs."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, entry_points, requires, version

from tertium._version import __version__

PLUGIN_GROUPS = ("tertium.measures", "tertium.filters", "tertium.datasets", "tertium.families")
SETTINGS = ("OMP_NUM_THREADS", "TERTIUM_CACHE", "HF_HOME", "HF_HUB_OFFLINE", "ONEDNN_MAX_CPU_ISA")
"""Environment variables that change what Tertium does; of paths, only that they are set."""
PATHS = ("TERTIUM_CACHE", "HF_HOME")


def describe() -> str:
    """The version, the machine, the packages and the bundled model, one per line; no user data.

    >>> print(describe())
    tertium: ...
    Python: ...
    """
    return "\n".join(f"{name}: {value}" for name, value in _facts())


def _facts() -> Iterator[tuple[str, str]]:
    from tertium.models.catalog import DEFAULT_MODEL, find
    from tertium.models.engine import available_cores

    yield "tertium", __version__
    bits = sys.maxsize.bit_length() + 1
    kind = f"{platform.python_implementation()}, {bits} bit"
    yield "Python", f"{platform.python_version()} ({kind})"
    yield "system", platform.platform()
    yield "processor", f"{platform.machine()}, {available_cores()} cores"
    core, extras = _packages()
    yield "packages", ", ".join(core)
    yield "extras", ", ".join(extras) or "none"
    yield "plug-ins", ", ".join(_plugins()) or "none"
    yield "model", f"{DEFAULT_MODEL} {find(DEFAULT_MODEL).fingerprint[:12]}"
    given = [name for name in SETTINGS if name in os.environ]
    values = [f"{name}={'...' if name in PATHS else os.environ[name]}" for name in given]
    yield "environment", ", ".join(values) or "default"


def _packages() -> tuple[list[str], list[str]]:
    """Installed packages with their versions: dependencies, and those of extras."""
    core: dict[str, str] = {}
    extras: dict[str, str] = {}
    for requirement in requires("tertium") or []:
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        optional = "extra ==" in requirement
        if name.lower() == "tertium" or name in core:
            continue
        try:
            (extras if optional else core)[name] = version(name)
        except PackageNotFoundError:
            if not optional:
                core[name] = "MISSING"
    first, second = ([f"{name} {each}" for name, each in found.items()] for found in (core, extras))
    return first, second


def _plugins() -> list[str]:
    found = {
        f"{entry.dist.name} {entry.dist.version}"
        for group in PLUGIN_GROUPS
        for entry in entry_points(group=group)
        if entry.dist is not None
    }
    return sorted(found)
