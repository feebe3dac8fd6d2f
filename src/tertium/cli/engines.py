"""Options of commands that run in this process or on a Ray cluster."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import TYPE_CHECKING

from tertium.errors import InputError

if TYPE_CHECKING:
    from tertium.jobs.ray.cluster import ClusterSettings


class EngineName(StrEnum):
    """Where a job runs."""

    local = "local"
    ray = "ray"


def cluster_settings(
    address: str | None, workers: int | None, threads: int | None
) -> ClusterSettings:
    """The cluster of the options; a missing package is reported here."""
    from tertium.jobs.ray.cluster import ClusterSettings, import_ray

    settings = ClusterSettings(address or os.environ.get("RAY_ADDRESS"), workers, threads)
    import_ray()
    return settings


def chosen_cluster(
    engine: EngineName, address: str | None, workers: int | None, threads: int | None
) -> ClusterSettings | None:
    """The cluster of the options; None for this process, which takes no options of a cluster."""
    if engine is EngineName.ray:
        return cluster_settings(address, workers, threads)
    refuse_without_ray(address, workers)
    return None


def refuse_without_ray(address: str | None, workers: int | None) -> None:
    """Refuse options of a cluster for a run in this process."""
    if address or workers:
        raise InputError("--address and --workers need --engine ray")
