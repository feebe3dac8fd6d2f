"""Registries of named things: built in, registered by a decorator, or brought by a plug-in.

A plug-in is any installed package with an entry point in a registry's group, such as::

    [project.entry-points."tertium.filters"]
    profanity = "my_package.filters:Profanity"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Generic, NamedTuple, TypeVar

from tertium.errors import PluginWarning, SettingError, warn_caller

T = TypeVar("T")
Item = TypeVar("Item")


class Extra(NamedTuple):
    """Modules that are needed, and the extra that installs them."""

    name: str
    modules: tuple[str, ...]
    distribution: str = "tertium"
    """Whose extra it is; a plug-in gives its own name here."""

    @property
    def command(self) -> str:
        """The command that installs it.

        >>> Extra("filter", ("py3langid",)).command
        "pip install 'tertium[filter]'"
        """
        return f"pip install '{self.distribution}[{self.name}]'"


def check_extras(what: str, requires: Iterable[Extra], *, alternative: str = "") -> None:
    """Raise an error that says what to install (or to do instead) if a module is missing.

    >>> check_extras("filter 'shape'", [Extra("filter", ("no_such_module",))])
    Traceback (most recent call last):
    ...
    tertium.errors.SettingError: filter 'shape' needs no_such_module: pip install 'tertium[filter]'
    """
    for extra in requires:
        for module in extra.modules:
            if find_spec(module) is None:
                instead = f"; or {alternative}" if alternative else ""
                raise SettingError(f"{what} needs {module}: {extra.command}{instead}")


@dataclass(frozen=True)
class _Registered(Generic[T]):
    item: T
    origin: str


class Registry(Generic[T]):
    """Names and what they stand for; names are matched in any case.

    ``builtin`` maps names to "module:attribute", imported when the name is first looked up.
    ``package`` is a package whose modules register by the decorator; they are imported when a name
    is not known yet. ``group`` is the entry point group of plug-ins, which are looked at only when
    a name is not built in, or when all names are listed; ``valid`` checks what a plug-in provides.

    >>> shapes: Registry[type] = Registry("shape", group="tertium.doctest")
    >>> @shapes.register("circle")
    ... class Circle: ...
    >>> shapes.get("Circle").__name__, shapes.names()
    ('Circle', ['circle'])
    >>> shapes.get("cirkle")
    Traceback (most recent call last):
    ...
    tertium.errors.SettingError: no shape 'cirkle'; did you mean 'circle'? Available: circle
    """

    def __init__(
        self,
        what: str,
        *,
        group: str,
        builtin: Mapping[str, str] | None = None,
        package: str | None = None,
        valid: Callable[[object], bool] = callable,
    ) -> None:
        self.what = what
        self.group = group
        self._builtin = dict(builtin or {})
        self._package = package
        self._package_imported = package is None
        self._valid = valid
        self._registered: dict[str, _Registered[T]] = {}

    def register(self, *names: str) -> Callable[[Item], Item]:
        """Return a decorator that registers a class or a function under one or more names."""

        def decorate(item: Item) -> Item:
            for name in names:
                self.add(name, item)  # type: ignore[arg-type]  # a T; callers keep their type
            return item

        return decorate

    def add(self, name: str, item: T, origin: str | None = None) -> None:
        """Register ``item`` under ``name``; a name that is taken is an error.

        ``origin`` is the module and the name of its definition, for error messages.
        """
        key = name.lower()
        origin = origin or origin_of(item)
        taken = self._builtin.get(key)
        if taken is None and key in self._registered:
            taken = self._registered[key].origin
        if taken is not None and taken != origin:
            raise SettingError(
                f"{origin} cannot be registered as {self.what} {name!r}: "
                f"{taken} is registered under this name"
            )
        self._registered[key] = _Registered(item, origin)

    def check(self, *names: str) -> None:
        """Check, before any work, that the extras are installed which ``names`` require."""
        for name in names:
            check_extras(f"{self.what} {name.lower()!r}", getattr(self.get(name), "requires", ()))

    def builtin_names(self) -> list[str]:
        """Names that are known without looking at plug-ins, in the order of declaration."""
        self._import_package()
        return list(dict.fromkeys([*self._builtin, *self._registered]))

    def names(self) -> list[str]:
        """All names: built in, registered, then those of plug-ins."""
        return list(dict.fromkeys([*self.builtin_names(), *sorted(self._plugins())]))

    def usable_names(self) -> list[str]:
        """All names but those of plug-ins that cannot be loaded, which are named in a warning."""
        found = self.builtin_names()
        for name in sorted(self._plugins()):
            try:
                self.get(name)
            except SettingError as error:
                warn_caller(f"{error}; it is left out", PluginWarning)
            else:
                found.append(name)
        return list(dict.fromkeys(found))

    def items(self) -> Iterator[tuple[str, T]]:
        """Every name with what it stands for; all modules and plug-ins are imported."""
        for name in self.names():
            yield name, self.get(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (
            name.lower() in self.builtin_names() or name.lower() in self._plugins()
        )

    def get(self, name: str) -> T:
        """Look up a name, importing what it stands for."""
        key = name.lower()
        if key not in self._registered and key not in self._builtin:
            self._import_package()
        if key in self._registered:
            return self._registered[key].item
        if key in self._builtin:
            module, _, attribute = self._builtin[key].partition(":")
            item: T = getattr(import_module(module), attribute)
            return item
        plugins = self._plugins()
        if key not in plugins:
            raise self.unknown(name)
        return self._load(key, plugins[key])

    def unknown(self, name: str, note: str = "") -> SettingError:
        """The error for a name that does not exist, with the closest one that does."""
        names = self.names()
        near = get_close_matches(name.lower(), names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        return SettingError(f"no {self.what} {name!r}{hint} Available: {', '.join(names)}{note}")

    def _import_package(self) -> None:
        if self._package_imported or self._package is None:
            return
        package = import_module(self._package)
        for module in iter_modules(package.__path__):
            import_module(f"{self._package}.{module.name}")
        self._package_imported = True

    def _plugins(self) -> dict[str, EntryPoint]:
        """The entry points of the group, by name in lower case."""
        own = {name for name, entry in self._registered.items() if _is_ours(entry.origin)}
        found: dict[str, EntryPoint] = {}
        for entry in entry_points(group=self.group):
            key = entry.name.lower()
            if key in self._builtin or key in own:
                raise self._conflict(entry, f"a {self.what} of Tertium")
            other = found.setdefault(key, entry)
            if other.value != entry.value:
                raise self._conflict(entry, f"a {self.what} of the plug-in {_distribution(other)}")
        return found

    def _conflict(self, entry: EntryPoint, other: str) -> SettingError:
        return SettingError(
            f"the plug-in {_distribution(entry)} cannot register {self.what} {entry.name!r}: "
            f"this is the name of {other}; rename or uninstall the plug-in"
        )

    def _load(self, key: str, entry: EntryPoint) -> T:
        try:
            item: T = entry.load()
        except Exception as error:  # whatever somebody else's module raises
            raise SettingError(
                f"{self.what} {entry.name!r} of the plug-in {_distribution(entry)} cannot be "
                f"loaded ({entry.value}): {type(error).__name__}: {error}"
            ) from error
        if key not in self._registered:  # unless its module has registered it by the decorator
            if not self._valid(item):
                raise SettingError(
                    f"{entry.value} of the plug-in {_distribution(entry)} is not a {self.what}"
                )
            self.add(key, item)
        return self._registered[key].item


def origin_of(item: object) -> str:
    """The module and the name of a class or a function; of anything else, those of its class.

    >>> origin_of(Registry)
    'tertium.registry:Registry'
    """
    named = item if hasattr(item, "__qualname__") else type(item)
    return f"{named.__module__}:{getattr(named, '__qualname__', named)}"


def _is_ours(origin: str) -> bool:
    return origin.startswith("tertium.")


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.module
