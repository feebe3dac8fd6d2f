"""The number of cores available to this process, which may be fewer than the machine has."""

from __future__ import annotations

import math
import os
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")


def available_cores(cgroup: Path = CGROUP) -> int:
    """Count the cores allowed by CPU affinity and by the container's quota; at least one."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        cores = os.cpu_count() or 1
    quota = cgroup_quota(cgroup)
    return max(1, cores if quota is None else min(cores, math.ceil(quota)))


def cgroup_quota(cgroup: Path) -> float | None:
    """The CPU quota of a container in cores, or None if there is no limit."""
    try:  # version 2: "max 100000" or "150000 100000"
        quota, period = (cgroup / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:  # version 1: -1 means no limit
            quota = (cgroup / "cpu" / "cpu.cfs_quota_us").read_text().strip()
            period = (cgroup / "cpu" / "cpu.cfs_period_us").read_text().strip()
        except OSError:
            return None
    if quota == "max" or int(quota) <= 0:
        return None
    return int(quota) / int(period)
