"""From names and settings to filters, with their models or without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tertium.errors import SettingError
from tertium.filters.base import Filter
from tertium.filters.registry import filter_settings, load_filter
from tertium.measures.base import Measure
from tertium.measures.loading import (
    ModelPool,
    ModelSettings,
    guarded,
    make_measure,
    outline,
    parse_setting,
    read_specs,
)

GIVE_LIMITS = "give {measure} with {at_least} or {at_most}"


@dataclass(frozen=True)
class FilterLoader:
    """Filters that were requested, to be loaded in this process or another."""

    names: tuple[str, ...]
    models: ModelSettings = field(default_factory=ModelSettings)
    given: tuple[str, ...] = ()
    """Settings, each as ``FILTER.NAME=VALUE``."""
    unit: str = "words"
    """In which filters count if they are not given a unit."""
    measure: str | None = None
    """That of the filter ``measure``, with its bounds."""
    at_least: float | None = None
    at_most: float | None = None

    @property
    def request(self) -> Mapping[str, Any]:
        """What was asked for: everything that can change a verdict."""
        models = replace(self.models, threads=None, cache=True)  # change no number
        return {**asdict(self), "models": asdict(models)}

    def outlines(self) -> list[Filter]:
        """All filters without their models; a wrong setting is an error."""
        return self._made(self.names, None)

    def load(
        self, names: Sequence[str], *, threads: int | None = None
    ) -> tuple[list[Filter], ModelPool]:
        """Some of the filters, and their models."""
        models = self.models if threads is None else replace(self.models, threads=threads)
        pool = ModelPool(models)
        return self._made(names, pool), pool

    def _made(self, names: Sequence[str], pool: ModelPool | None) -> list[Filter]:
        settings = self._settings()
        if "measure" not in settings and (self.measure, self.at_least, self.at_most) != (None,) * 3:
            raise SettingError(
                "limits of a score need a measure",
                cure=GIVE_LIMITS,
            )
        if "margin" in names:
            settings["margin"]["encoder"] = None if pool is None else pool("sentences")
        if "dual" in names:
            settings["dual"]["model"] = None if pool is None else pool("translation")
        if "measure" in names:
            bounds = {"at_least": self.at_least, "at_most": self.at_most}
            given = {key: bound for key, bound in bounds.items() if bound is not None}
            settings["measure"] |= {"measure": self._measure(pool), **given}
        return [load_filter(name, **settings[name]) for name in names]

    def _settings(self) -> dict[str, dict[str, object]]:
        settings: dict[str, dict[str, object]] = {name: {} for name in self.names}
        for text in self.given:
            name, key, value = _split(text, self.names)
            if key not in filter_settings(name):
                keys = ", ".join(filter_settings(name)) or "none"
                raise SettingError(f"{name} has no setting {key!r}; its settings are {keys}")
            default = filter_settings(name)[key]
            settings[name][key] = parse_setting(text.partition("=")[0], value, default)
        for name, chosen in settings.items():
            if "unit" in filter_settings(name):
                chosen.setdefault("unit", self.unit)
        return settings

    def _measure(self, pool: ModelPool | None) -> Measure:
        if self.measure is None:
            raise SettingError(
                "the filter 'measure' needs a measure and its limits", cure=GIVE_LIMITS
            )
        [spec] = guarded(read_specs([self.measure]))
        return outline(spec) if pool is None else make_measure(spec, pool)


def _split(setting: str, names: Sequence[str]) -> tuple[str, str, str]:
    left, equals, value = setting.partition("=")
    name, dot, key = left.strip().partition(".")
    if not equals or not dot:
        raise SettingError(
            "is not a setting of a filter and a value",
            cure="write it as {settings:FILTER.NAME=VALUE}",
            parameter="settings",
            value=setting,
        )
    if name not in names:
        raise SettingError(
            f"{name} is not one of the filters {', '.join(names)}",
            parameter="settings",
            value=setting,
        )
    return name, key.replace("-", "_"), value.strip()
