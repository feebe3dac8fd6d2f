"""Read the configuration and the tokenizers of a published model; errors name file and reason."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tertium.errors import ModelError, first_line

CONFIG = "config.json"


def read_config_file(folder: Path) -> dict[str, Any]:
    """Read ``config.json``; a folder without it is not a model."""
    if not (folder / CONFIG).is_file():
        raise ModelError(f"{folder} has no {CONFIG}: it is not a model that can be converted")
    return read_object(folder / CONFIG)


def read_object(file: Path) -> dict[str, Any]:
    """Read a JSON object."""
    content = read_json(file)
    if not isinstance(content, dict):
        raise ModelError(f"{file} cannot be read: it contains {_kind(content)}, not an object")
    return content


def read_json(file: Path) -> Any:
    """Read JSON of any kind."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ModelError(f"{file} cannot be read: it is not UTF-8 text") from None
    except (FileNotFoundError, RecursionError, ValueError) as error:
        raise ModelError(f"{file} cannot be read: {first_line(error)}") from None


def count(settings: Mapping[str, Any], file: Path, *names: str) -> int:
    """Get a positive integer from settings, by the first of ``names`` that they have."""
    for name in names:
        value = settings.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ModelError(f"{file}: {name} is {value!r}, not a positive integer")
        return value
    raise ModelError(f"{file} has no {' or '.join(names)}")


def _kind(content: object) -> str:
    names = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(content), "a number")
