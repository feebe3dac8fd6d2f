"""Registries: names in any case, lazy built-ins, decorators and plug-ins by entry point."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tertium.errors import SettingError
from tertium.registry import Extra, Registry, check_extras

GROUP = "tertium.tests"


class PluginFolder:
    """A folder on sys.path with distributions as pip would install them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, name: str, code: str, **entries: str) -> None:
        """Put a module and its metadata there."""
        module = name.replace("-", "_")
        (self.folder / f"{module}.py").write_text(code, "utf-8")
        info = self.folder / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{entry} = {value}" for entry, value in entries.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines]), "utf-8")


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PluginFolder]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    yield PluginFolder(tmp_path)
    for name in set(sys.modules) - before:
        del sys.modules[name]


def make(**builtin: str) -> Registry[object]:
    return Registry("shape", group=GROUP, builtin=builtin)


def test_builtin_names_are_imported_when_they_are_looked_up(plugins: PluginFolder) -> None:
    plugins.install("lazy-shapes", "class Square: ...")
    shapes = make(square="lazy_shapes:Square")
    assert shapes.names() == ["square"]
    assert "lazy_shapes" not in sys.modules
    assert shapes.get("SQUARE").__name__ == "Square"  # type: ignore[attr-defined]
    assert "lazy_shapes" in sys.modules


def test_a_decorator_registers_under_all_its_names() -> None:
    shapes = make()

    @shapes.register("disc", "Circle")
    class Disc: ...

    assert shapes.get("circle") is shapes.get("DISC") is Disc
    assert "Disc" in shapes
    assert "square" not in shapes


def test_modules_of_a_package_register_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "shape_package"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from tertium.registry import Registry\n"
        f"SHAPES = Registry('shape', group={GROUP!r}, package='shape_package')\n"
    )
    (package / "round.py").write_text(
        "from shape_package import SHAPES\n@SHAPES.register('circle')\nclass Circle: ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from shape_package import SHAPES  # type: ignore[import-not-found]

    assert "shape_package.round" not in sys.modules
    assert SHAPES.get("circle").__name__ == "Circle"


def test_the_closest_name_is_suggested() -> None:
    shapes = make(square="nowhere:Square", circle="nowhere:Circle")
    with pytest.raises(SettingError) as caught:
        shapes.get("sqare")
    assert str(caught.value) == (
        "no shape 'sqare'; did you mean 'square'? Available: square, circle"
    )
    with pytest.raises(SettingError, match=r"no shape 'x'\. Available: square, circle$"):
        shapes.get("x")


@pytest.mark.parametrize("name", ["square", "Square", "disc"])
def test_a_name_is_registered_once(name: str) -> None:
    shapes = make(square="nowhere:Square")
    shapes.register("disc")(type("Disc", (), {}))
    with pytest.raises(SettingError, match=f"cannot be registered as shape {name!r}"):
        shapes.register(name)(type("Other", (), {}))


def test_registering_the_same_definition_again_is_no_error() -> None:
    shapes = make()
    for _ in range(2):  # as when a module is reloaded
        shapes.register("disc")(type("Disc", (), {}))
    assert shapes.names() == ["disc"]


def test_a_plugin_is_found_by_its_entry_point(plugins: PluginFolder) -> None:
    plugins.install("star-shapes", "class Star: ...", Star="star_shapes:Star")
    shapes = make(square="nowhere:Square")
    assert shapes.names() == ["square", "star"]
    assert "star_shapes" not in sys.modules
    assert shapes.get("star").__name__ == "Star"  # type: ignore[attr-defined]
    assert shapes.get("star") is shapes.get("STAR")
    assert shapes.names() == ["square", "star"]


def test_a_broken_plugin_is_named(plugins: PluginFolder) -> None:
    plugins.install("bad-shapes", "import no_such_module", star="bad_shapes:Star")
    with pytest.raises(SettingError, match=r"shape 'star' of the plug-in bad-shapes cannot be"):
        make().get("star")


@pytest.mark.parametrize("call", ["names", "get"])
def test_a_plugin_cannot_take_a_builtin_name(plugins: PluginFolder, call: str) -> None:
    plugins.install("my-shapes", "class Square: ...", square="my_shapes:Square")
    shapes = make(square="tertium.registry:Extra")
    assert shapes.get("square") is Extra
    with pytest.raises(SettingError, match="plug-in my-shapes cannot register shape 'square'"):
        shapes.names() if call == "names" else shapes.get("star")


def test_two_plugins_cannot_share_a_name(plugins: PluginFolder) -> None:
    plugins.install("my-shapes", "class Star: ...", star="my_shapes:Star")
    plugins.install("your-shapes", "class Star: ...", star="your_shapes:Star")
    with pytest.raises(SettingError, match=r"the name of a shape of the plug-in (my|your)-shapes"):
        make().get("star")


def test_extras_are_checked_before_any_work() -> None:
    class Star:
        requires = (Extra("stars", ("json", "no_such_module")),)

    shapes = make()
    shapes.add("star", Star)
    shapes.add("disc", object)
    shapes.check("disc")
    with pytest.raises(SettingError) as caught:
        shapes.check("disc", "Star")
    assert str(caught.value) == "shape 'star' needs no_such_module: pip install 'tertium[stars]'"
    check_extras("it", [Extra("stars", ("json",), "star-shapes")])
    with pytest.raises(SettingError, match=r"pip install 'star-shapes\[stars\]'"):
        check_extras("it", [Extra("stars", ("no_such_module",), "star-shapes")])
