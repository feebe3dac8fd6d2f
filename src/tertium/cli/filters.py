"""Load filters from names and options, with their models."""

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
    """Load filters with their settings and models; ``given`` are the settings of ``--set``."""
    settings: dict[str, dict[str, object]] = {name: {} for name in names}
    for text in given:
        name, key, value = _split(text, names)
        if key not in filter_settings(name):
            keys = ", ".join(filter_settings(name)) or "none"
            raise SettingError(f"{name} has no setting {key!r}; its settings are {keys}")
        default = filter_settings(name)[key]
        settings[name][key] = parse_setting(text.partition("=")[0], value, default)
    for name, chosen in settings.items():
        if "unit" in filter_settings(name):
            chosen.setdefault("unit", unit)
    if "margin" in settings:
        if models.settings.encoder is None and models.settings.sentence_encoder is None:
            raise SettingError(
                "margin needs an encoder with good sentence vectors: choose one with --encoder, "
                "such as use-multilingual (see docs/filter.md)"
            )
        settings["margin"]["encoder"] = models("sentences")
    if "dual" in settings:
        settings["dual"]["model"] = models("translation")
    if "measure" in settings:
        settings["measure"].update(_bounded(models, *measure))
    elif measure != (None, None, None):
        raise SettingError("--at-least and --at-most need a measure: use --measure")
    return [load_filter(name, **chosen) for name, chosen in settings.items()]


def _bounded(
    models: ModelPool, name: str | None, at_least: float | None, at_most: float | None
) -> dict[str, Any]:
    if name is None:
        raise SettingError("the filter measure needs --measure, and --at-least or --at-most")
    [spec] = read_specs([name])
    measure = make_measure(spec, models)
    bounds = {"at_least": at_least, "at_most": at_most}
    return {"measure": measure, **{key: b for key, b in bounds.items() if b is not None}}


def _split(setting: str, names: Sequence[str]) -> tuple[str, str, str]:
    left, equals, value = setting.partition("=")
    name, dot, key = left.strip().partition(".")
    if not equals or not dot:
        raise SettingError(f"--set {setting}: write it as --set FILTER.NAME=VALUE")
    if name not in names:
        raise SettingError(f"--set {setting}: {name} is not one of the filters {', '.join(names)}")
    return name, key.replace("-", "_"), value.strip()
