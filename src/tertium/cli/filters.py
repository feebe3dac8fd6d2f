"""From names and options to filters with their engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tertium.errors import SettingError
from tertium.filters.base import Filter
from tertium.filters.registry import filter_settings, load_filter
from tertium.measures.loading import ModelPool, make_measure, parse_setting, read_specs


def load_filters(
    names: Sequence[str],
    models: ModelPool,
    given: Sequence[str],
    unit: str,
    measure: tuple[str | None, float | None, float | None],
) -> list[Filter]:
    """Give each filter its settings and its engine; ``given`` are those of ``--set``."""
    wanted: dict[str, dict[str, object]] = {name: {} for name in names}
    for setting in given:
        name, known, value = _split(setting, names)
        if known not in filter_settings(name):
            there = ", ".join(filter_settings(name)) or "none"
            raise SettingError(f"{name} has no setting {known!r}; its settings are {there}")
        default = filter_settings(name)[known]
        wanted[name][known] = parse_setting(setting.partition("=")[0], value, default)
    for name, own in wanted.items():
        if "unit" in filter_settings(name):
            own.setdefault("unit", unit)
    if "margin" in wanted:
        if models.settings.encoder is None and models.settings.sentence_encoder is None:
            raise SettingError(
                "margin needs an encoder whose sentence vectors are good enough: name one with "
                "--encoder, such as use-multilingual (see docs/filter.md)"
            )
        wanted["margin"]["encoder"] = models("sentences")
    if "dual" in wanted:
        wanted["dual"]["model"] = models("translation")
    if "measure" in wanted:
        wanted["measure"].update(_bounded(models, *measure))
    elif measure != (None, None, None):
        raise SettingError("--at-least and --at-most are about a measure: name it with --measure")
    return [load_filter(name, **own) for name, own in wanted.items()]


def _bounded(
    models: ModelPool, name: str | None, at_least: float | None, at_most: float | None
) -> dict[str, Any]:
    if name is None:
        raise SettingError("which measure? say --measure, and --at-least or --at-most")
    [spec] = read_specs([name])
    measure = make_measure(spec, models)
    bounds = {"at_least": at_least, "at_most": at_most}
    return {"measure": measure, **{key: b for key, b in bounds.items() if b is not None}}


def _split(setting: str, names: Sequence[str]) -> tuple[str, str, str]:
    left, equals, value = setting.partition("=")
    name, dot, known = left.strip().partition(".")
    if not equals or not dot:
        raise SettingError(f"--set {setting}: say it as --set FILTER.NAME=VALUE")
    if name not in names:
        raise SettingError(f"--set {setting}: {name} is none of the filters {', '.join(names)}")
    return name, known.replace("-", "_"), value.strip()
