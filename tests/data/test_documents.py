"""Documents, one per file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tertium.data.documents import DocumentPairs, pair_by_list, pair_by_name
from tertium.data.pairs import Languages
from tertium.errors import InputError


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name, text in {
        "de/one.de.txt": "Eins.\nZwei.\n",
        "de/two.de.txt": "Drei.",
        "de/.hidden": "x",
        "en/one.txt": "One.\nTwo.",
        "en/two.txt": "Three.",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "de", tmp_path / "en"


def test_by_name(folders: tuple[Path, Path]) -> None:
    assert [(name, paths[1].name) for name, paths in pair_by_name(folders)] == [
        ("one", "one.txt"),
        ("two", "two.txt"),
    ]
    (folders[1] / "one.en").write_text("x")
    with pytest.raises(InputError, match="have the same name: one"):
        pair_by_name(folders)
    (folders[1] / "one.en").rename(folders[1] / "three.en")
    with pytest.raises(InputError, match=r"three.en has no counterpart three\.\* in .*de"):
        pair_by_name(folders)


def test_by_list(folders: tuple[Path, Path]) -> None:
    file = folders[0].parent / "list.tsv"
    file.write_text("de/two.de.txt\ten/one.txt\n\nde/one.de.txt\ten/two.txt\n")
    assert [(name, paths[1].name) for name, paths in pair_by_list(file)] == [
        ("two", "one.txt"),
        ("one", "two.txt"),
    ]
    for content, message in {
        "de/one.de.txt": "line 1: there must be two file names",
        "de/one.de.txt\tnothing": "nothing: there is no such file",
        "de/one.de.txt\ten/one.txt\nde/one.de.txt\ten/two.txt": "line 2: .* the same name: one",
        "\n": "is empty",
    }.items():
        file.write_text(content)
        with pytest.raises(InputError, match=message):
            pair_by_list(file)


def test_items(folders: tuple[Path, Path]) -> None:
    de, en = folders
    pairs = DocumentPairs(en, (en,), de, Languages("en", "en", "de"))
    items = list(pairs)
    assert [item.record for item in items] == [{"document": "one"}, {"document": "two"}]
    assert items[0].hypothesis == ("One.\nTwo.", "en")
    assert items[0].references == (("One.\nTwo.", "en"),)
    assert items[0].source == ("Eins.\nZwei.", "de")
    assert list(pairs.between(1, 2)) == items[1:]
    assert pairs.count() == len(items)
    assert len(pairs.paths) == 6
    [item] = DocumentPairs(en / "one.txt", (), de / "two.de.txt")
    assert item.source == ("Drei.", None)
    assert item.record == {"document": "one"}


def test_wrong_inputs(folders: tuple[Path, Path]) -> None:
    de, en = folders
    with pytest.raises(InputError, match="not one of each"):
        DocumentPairs(de, (en / "one.txt",))
    with pytest.raises(InputError, match="no such file"):
        DocumentPairs(de, (en / "nothing",))
    with pytest.raises(InputError, match="standard input"):
        DocumentPairs(Path("-"), (en / "one.txt",))
    with pytest.raises(InputError, match="references or sources"):
        DocumentPairs(de, ())
