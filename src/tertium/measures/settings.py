"""A setting that is none of its allowed values is refused when the measure is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tertium.errors import SettingError


def check_settings(measure: object, allowed: Mapping[str, Sequence[object]]) -> None:
    """Check those settings that the measure has; ``1`` is not ``True`` here."""
    for name, values in allowed.items():
        value = getattr(measure, name, values[0])
        if value not in values or isinstance(value, bool) is not isinstance(values[0], bool):
            names = ", ".join(map(repr, values))
            raise SettingError(f"{name}={value!r}: it must be one of {names}")
