"""Settings of measures, each described once: on the field of its dataclass.

From the description come the checks, the help, ``tertium measures NAME``, the options, and the
schema of the web service.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import lru_cache
from typing import Any, Literal, get_args, get_origin

from tertium.errors import SettingError

SETTING = "setting"


@dataclass(frozen=True)
class Setting:
    """What a setting means, and which values it may have."""

    name: str
    default: Any
    meaning: str
    choices: tuple[object, ...] = ()
    low: float | None = None
    high: float | None = None
    served: bool = True
    """Whether requests of the web service may have it: it names no file and downloads nothing."""

    @property
    def allowed(self) -> str:
        """The values that it may have, for people.

        >>> Setting("base", "e", "", ("e", "2")).allowed, Setting("a", 0.5, "", (), 0, 1).allowed
        ('e, 2', '0 to 1')
        >>> Setting("beam_size", 5, "", (), 1).allowed, Setting("idf", False, "").allowed
        ('1 or more', 'yes, no')
        """
        if isinstance(self.default, bool):
            return "yes, no"
        if self.choices:
            return ", ".join(str(choice).replace("\n", "\\n") for choice in self.choices)
        if self.low is not None and self.high is not None:
            return f"{self.low:g} to {self.high:g}"
        if self.low is not None:
            return f"{self.low:g} or more"
        return "numbers" if isinstance(self.default, tuple) else ""

    def check(self, value: object) -> None:
        """Refuse a value that is not allowed; ``1`` is not ``True`` here."""
        if isinstance(self.default, bool) or self.choices:
            choices = self.choices or (False, True)
            is_truth = isinstance(self.default, bool)
            if value not in choices or isinstance(value, bool) is not is_truth:
                names = ", ".join(map(repr, choices))
                raise SettingError(f"{self.name}={value!r}: it must be one of {names}")
        elif self.low is not None:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            whole = isinstance(self.default, int)
            if not is_number or (whole and not isinstance(value, int)):
                raise self._wrong(value)
            high = float("inf") if self.high is None else self.high
            if not self.low <= value <= high:  # type: ignore[operator]
                raise self._wrong(value)

    def _wrong(self, value: object) -> SettingError:
        kind = "a whole number" if isinstance(self.default, int) else "a number"
        high = "" if self.high is None else f" to {self.high:g}"
        return SettingError(f"{self.name}={value!r}: it must be {kind} from {self.low:g}{high}")


def setting(
    default: Any,
    meaning: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[object, ...] = (),
    served: bool = True,
) -> Any:
    """A field of a measure with its description; a Literal type gives the choices."""
    about = {"meaning": meaning, "low": low, "high": high, "choices": choices, "served": served}
    return field(default=default, metadata={SETTING: about})


@lru_cache(maxsize=256)
def settings_described(cls: Any) -> tuple[Setting, ...]:
    """The settings of a measure in the order of its fields.

    >>> from tertium.measures.surface import ChrF
    >>> [each.name for each in settings_described(ChrF)]
    ['against', 'char_order', 'word_order', 'beta', 'lowercase']
    """
    return tuple(_described(cls))


def _described(cls: Any) -> Iterator[Setting]:
    for each in fields(cls):
        if each.name == "model" or not each.init:
            continue
        about = dict(each.metadata.get(SETTING, {"meaning": ""}))
        about["choices"] = about.get("choices") or _choices(cls, each)
        default = None if each.default is MISSING else each.default
        yield Setting(each.name, default, **about)


def _choices(cls: type, one: Field[Any]) -> tuple[object, ...]:
    """The values of a Literal type; none for other types."""
    kind: Any = one.type
    if isinstance(kind, str):
        owner = next(
            each for each in cls.__mro__ if one.name in vars(each).get("__annotations__", {})
        )
        try:
            kind = eval(kind, vars(sys.modules[owner.__module__]))
        except NameError:  # imported for type checks only
            return ()
    return get_args(kind) if get_origin(kind) is Literal else ()


def check_settings(measure: object) -> None:
    """Check the settings of a measure by their descriptions."""
    cls: Any = type(measure)
    for each in settings_described(cls):
        each.check(getattr(measure, each.name))
