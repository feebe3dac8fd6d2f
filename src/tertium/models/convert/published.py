"""The small files of a published folder; what is damaged is said with the file and the reason."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tertium.errors import ModelError, first_line

CONFIG = "config.json"


def read_config_file(folder: Path) -> dict[str, Any]:
    """Read ``config.json``, without which a folder is no model."""
    if not (folder / CONFIG).is_file():
        raise ModelError(f"{folder} has no {CONFIG}: it is no model that can be converted")
    return read_object(folder / CONFIG)


def read_object(file: Path) -> dict[str, Any]:
    """Read a JSON object."""
    found = read_json(file)
    if not isinstance(found, dict):
        raise ModelError(f"{file} cannot be read: it holds {_kind(found)}, not an object")
    return found


def read_json(file: Path) -> Any:
    """Read JSON of any kind."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ModelError(f"{file} cannot be read: it is not UTF-8 text") from None
    except (FileNotFoundError, RecursionError, ValueError) as error:
        raise ModelError(f"{file} cannot be read: {first_line(error)}") from None


def count(settings: Mapping[str, Any], file: Path, *names: str) -> int:
    """Get a number above zero, by the first of its names that the settings have."""
    for name in names:
        value = settings.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ModelError(f"{file}: {name} is {value!r}, not a whole number above 0")
        return value
    raise ModelError(f"{file} does not say {' or '.join(names)}")


def open_pieces(file: Path) -> Any:
    """Open a SentencePiece model."""
    from sentencepiece import SentencePieceProcessor

    content = file.read_bytes()
    if not content:  # which the library takes for a model, and then complains about in its log
        raise ModelError(f"{file} is no SentencePiece model: it is empty")
    try:
        return SentencePieceProcessor(model_proto=content)
    except RuntimeError:  # whose message is a line of its source
        raise ModelError(f"{file} is no SentencePiece model, or an incomplete one") from None


def open_tokenizer_json(file: Path, *, named: Path | None = None) -> Any:
    """Open a ``tokenizer.json``; ``named`` is what it is a copy of."""
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing more special
        raise ModelError(f"{named or file} cannot be read: {first_line(error)}") from None


def _kind(found: object) -> str:
    names = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(found), "a number")
