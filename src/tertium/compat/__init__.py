"""Tertium inside other tools, and the interfaces of its forerunners.

``nmtscore`` and ``prism`` replace the packages of these names: code that was written for them needs
one import changed. The other modules are named after the tool that they serve, and need that tool:
``docs/adapters.md`` shows each at work. Importing this package imports none of them.
"""

from __future__ import annotations

from pathlib import Path

from tertium.errors import SettingError

FOLDERS = {"evaluate": "evaluate/tertium", "mbrs": "mbrs/tertium_mbrs"}
"""Tools that load a plug-in from a folder, and the folder of theirs, relative to this one."""


def plugin_folder(tool: str) -> Path:
    """The folder to give to a tool that loads plug-ins from folders.

    In a shell, ``python -m tertium.compat TOOL`` prints it.

    >>> plugin_folder("evaluate").name
    'tertium'
    """
    if tool not in FOLDERS:
        raise SettingError(f"no plug-in folder for {tool!r}; there are {', '.join(FOLDERS)}")
    return Path(__file__).parent / FOLDERS[tool]
