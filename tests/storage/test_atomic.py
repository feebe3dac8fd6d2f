"""Files that are either complete or absent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tertium.storage.atomic import replacing, replacing_text, write_at, write_text


def test_line_ends_are_written_as_they_are(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "é\r\nb\n")
    with replacing_text(tmp_path / "b") as stream:
        stream.write("é\r\n")
        stream.write("b\n")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == b"\xc3\xa9\r\nb\n"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize("opened", [replacing, replacing_text])
def test_a_failure_leaves_the_old_file(opened: Any, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    with pytest.raises(ZeroDivisionError), opened(file) as stream:
        stream.write(("new" if opened is replacing_text else b"new") * (1 // 0))
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="NOT TESTED: no /dev/full here")
@pytest.mark.parametrize("opened", [replacing, replacing_text])
def test_the_first_error_on_a_full_disk_is_the_one_that_is_raised(
    opened: Any, tmp_path: Path
) -> None:
    """Closing the stream fails as well."""
    scratch = tmp_path / "scratch"
    scratch.symlink_to("/dev/full")
    content = "new" if opened is replacing_text else b"new"
    with pytest.raises(ZeroDivisionError), opened(tmp_path / "a", scratch) as stream:
        print(stream.write(content), 1 // 0)
    scratch.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"), opened(tmp_path / "a", scratch) as stream:
        stream.write(content)
    assert list(tmp_path.iterdir()) == []


def test_what_follows_the_offset_is_dropped(tmp_path: Path) -> None:
    file = tmp_path / "a"
    assert write_at(file, 0, b"0123456789") == 10
    assert write_at(file, 4, b"xy", truncate=False) == 6
    assert file.read_bytes() == b"0123xy6789"
    assert write_at(file, 4, b"z\n") == 6
    assert file.read_bytes() == b"0123z\n"
