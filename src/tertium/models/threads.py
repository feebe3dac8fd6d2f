"""How many cores this process really has: not the machine's, but what it was granted."""

from __future__ import annotations

import math
import os
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")


def available_cores(cgroup: Path = CGROUP) -> int:
    """Count the cores that affinity and the container's quota leave us; at least one."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        cores = os.cpu_count() or 1
    quota = cgroup_quota(cgroup)
    return max(1, cores if quota is None else min(cores, math.ceil(quota)))


def cgroup_quota(cgroup: Path) -> float | None:
    """Read the share of CPU time that a container may use, in cores; None if it is not limited."""
    try:  # version 2: "max 100000" or "150000 100000"
        quota, period = (cgroup / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:  # version 1: -1 where there is no limit
            quota = (cgroup / "cpu" / "cpu.cfs_quota_us").read_text().strip()
            period = (cgroup / "cpu" / "cpu.cfs_period_us").read_text().strip()
        except OSError:
            return None
    if quota == "max" or int(quota) <= 0:
        return None
    return int(quota) / int(period)
