"""``python -m tertium.compat TOOL`` prints the folder of the plug-in for that tool."""

from __future__ import annotations

import sys

from tertium.compat import FOLDERS, plugin_folder
from tertium.errors import SettingError


def main(arguments: list[str]) -> None:
    """Print the folder, or how to call this."""
    if len(arguments) != 1:
        sys.exit(f"usage: python -m tertium.compat {{{','.join(FOLDERS)}}}")
    try:
        print(plugin_folder(arguments[0]))
    except SettingError as error:
        sys.exit(f"tertium: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
