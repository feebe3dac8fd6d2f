"""Where other tools find our plug-ins."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tertium.compat import FOLDERS, plugin_folder
from tertium.errors import SettingError


@pytest.mark.parametrize("tool", FOLDERS)
def test_the_command_prints_the_folder(tool: str) -> None:
    command = [sys.executable, "-m", "tertium.compat", tool]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{plugin_folder(tool)}\n"
    assert (plugin_folder(tool) / "__init__.py").is_file()


def test_what_is_not_there() -> None:
    with pytest.raises(
        SettingError, match="no plug-in folder for 'comet'; there are evaluate, mbrs"
    ):
        plugin_folder("comet")
    for arguments in (["comet"], []):
        command = [sys.executable, "-m", "tertium.compat", *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 1
        assert "evaluate" in done.stderr


def test_no_module_of_a_plugin_hides_another_package() -> None:
    """mbrs puts the folder above its plug-in first in the import path."""
    parent = plugin_folder("mbrs").parent
    assert {path.stem for path in parent.iterdir() if path.stem != "__pycache__"} == {
        "__init__",
        "tertium_mbrs",
    }
