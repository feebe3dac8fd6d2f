"""The cores that a container grants, not those that the machine has."""

from __future__ import annotations

from pathlib import Path

from tertium.models.engine import available_cores, cgroup_quota


def test_version_2_quota(tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    assert cgroup_quota(tmp_path) == 1.5
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert cgroup_quota(tmp_path) is None


def test_version_1_quota(tmp_path: Path) -> None:
    folder = tmp_path / "cpu"
    folder.mkdir()
    (folder / "cpu.cfs_period_us").write_text("100000\n")
    (folder / "cpu.cfs_quota_us").write_text("50000\n")
    assert cgroup_quota(tmp_path) == 0.5
    assert available_cores(tmp_path) == 1
    (folder / "cpu.cfs_quota_us").write_text("-1\n")
    assert cgroup_quota(tmp_path) is None


def test_no_container(tmp_path: Path) -> None:
    assert cgroup_quota(tmp_path) is None
    assert available_cores(tmp_path) >= 1
