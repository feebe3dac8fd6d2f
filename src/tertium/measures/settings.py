"""Settings: read from text, and refused when the measure is made if they are not allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tertium.errors import SettingError

YES, NO = ("yes", "true", "1"), ("no", "false", "0")


def check_settings(measure: object, allowed: Mapping[str, Sequence[object]]) -> None:
    """Check those settings that the measure has; ``1`` is not ``True`` here."""
    for name, values in allowed.items():
        value = getattr(measure, name, values[0])
        if value not in values or isinstance(value, bool) is not isinstance(values[0], bool):
            names = ", ".join(map(repr, values))
            raise SettingError(f"{name}={value!r}: it must be one of {names}")


def parse_setting(name: str, text: str, default: object) -> object:
    """Read a value the way its default is: as a truth, a number, numbers, or text.

    >>> parse_setting("idf", "yes", False), parse_setting("weights", "0.7,0.3", ())
    (True, (0.7, 0.3))
    """
    try:
        if isinstance(default, bool):
            if text.lower() not in YES + NO:
                raise ValueError
            return text.lower() in YES
        if isinstance(default, int | float):
            return type(default)(text)
        if isinstance(default, tuple):
            return tuple(float(number) for number in text.split(","))
    except ValueError:
        kind = "yes or no" if isinstance(default, bool) else "a number"
        kind = "numbers with commas" if isinstance(default, tuple) else kind
        raise SettingError(f"{name}={text}: it must be {kind}") from None
    return text
