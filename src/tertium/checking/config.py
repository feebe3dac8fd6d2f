"""Settings of a check in a file: ``tertium.toml``, or ``pyproject.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from tertium.checking.findings import FAIL_ON
from tertium.errors import SettingError

FILES = ("tertium.toml", "pyproject.toml")
LISTS = frozenset({"ignore", "exclude"})


@dataclass(frozen=True)
class Config:
    """Settings that a project keeps in a file; those of the command line come first."""

    lang: str | None = None
    """Languages of source and translation, such as ``en-de``, or of the translation alone."""
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """Patterns of files that are not checked."""
    fail_on: str = "major"
    glossary: str | None = None
    baseline: str | None = None
    max_length: int | None = None
    model: str | None = None
    """The model to ask, or ``none``."""

    def __post_init__(self) -> None:
        if self.fail_on not in FAIL_ON:
            raise SettingError(f"fail-on is {self.fail_on!r}; use critical, major, minor or never")


def read_config(folder: Path) -> Config:
    """Read the settings of the project that a folder belongs to: the nearest file that has some."""
    for place in (folder.resolve(), *folder.resolve().parents):
        for name in FILES:
            path = place / name
            if not path.is_file():
                continue
            try:
                content = tomllib.loads(path.read_text(encoding="utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeError) as error:
                raise SettingError(f"{path} is not well-formed TOML: {error}") from None
            table = content.get("tool", {}).get("tertium", {}) if name == FILES[1] else content
            if isinstance(table.get("check"), dict):
                return _of_table(table["check"], path)
    return Config()


def _of_table(table: dict[str, Any], path: Path) -> Config:
    known = {field.name.replace("_", "-"): field.name for field in fields(Config)}
    values: dict[str, Any] = {}
    for key, value in table.items():
        name = known.get(key.replace("_", "-"))
        if name is None:
            raise SettingError(f"{path}: unknown setting {key!r}; use {', '.join(known)}")
        if name in LISTS:
            value = (value,) if isinstance(value, str) else value
            if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
                raise SettingError(f"{path}: {key} must be a list of strings")
            value = tuple(value)
        elif name == "max_length":
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise SettingError(f"{path}: {key} must be a positive number")
        elif not isinstance(value, str):
            raise SettingError(f"{path}: {key} must be a string")
        elif name in ("glossary", "baseline"):
            value = str(path.parent / value)
        values[name] = value
    try:
        return replace(Config(), **values)
    except SettingError as error:
        raise error.at(f"{path}: ") from None
