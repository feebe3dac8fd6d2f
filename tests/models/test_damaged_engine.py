"""Damaged weights end in an error, never in a crash: CTranslate2 checks what it reads since 4.8.5.

The cards are written anew, as if the damage had been there when the model was converted; otherwise
the fingerprint would refuse the folder before the engine reads it.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tertium.errors import ModelError
from tertium.models.card import TranslationSettings, read_card, write_card
from tertium.models.catalog import find
from tertium.models.engine_file import read_engine_file

LOAD = """
import sys
from pathlib import Path
from tertium.errors import ModelError
from tertium.models.card import read_card
from tertium.models.card import TranslationSettings
from tertium.models.translation.ctranslate2 import CTranslate2Model

for folder in sys.argv[1:]:
    print(folder, flush=True)
    try:
        CTranslate2Model(read_card(Path(folder), TranslationSettings), threads=1)
        print("loaded", flush=True)
    except ModelError as error:
        print(f"ModelError: {error}".replace(chr(10), " "), flush=True)
"""


def loaded(folders: list[Path]) -> list[str]:
    """Load models in another process, which a crash would end; what became of each."""
    done = subprocess.run(
        [sys.executable, "-c", LOAD, *map(str, folders)], capture_output=True, text=True
    )
    assert done.returncode == 0, (done.stdout[-300:], done.stderr[-2000:])
    return done.stdout.splitlines()[1::2]


def damaged(content: bytes, tmp_path: Path, number: int) -> Path:
    folder = tmp_path / str(number)
    shutil.copytree(find("tertium-mini").path, folder)
    (folder / "model.bin").write_bytes(content)
    settings = read_card(find("tertium-mini").path, TranslationSettings).settings
    write_card(folder, settings, name="damaged", licence="", origin="")
    return folder


def test_truncated_weights(tmp_path: Path) -> None:
    content = (find("tertium-mini").path / "model.bin").read_bytes()
    lengths = [0, 3, 4, 20, 100, 5000, len(content) // 2, len(content) - 1]
    folders = [damaged(content[:length], tmp_path, number) for number, length in enumerate(lengths)]
    for line in loaded(folders):
        assert line.startswith("ModelError: ")
        assert "the engine cannot load the model" in line


def test_flipped_bits(tmp_path: Path) -> None:
    """In the names, shapes, types and sizes of the variables: one bit in each model."""
    original = find("tertium-mini").path / "model.bin"
    content = original.read_bytes()
    draw = random.Random(1)
    variables = sorted(read_engine_file(original).variables.values(), key=lambda each: each.start)
    places = [*range(40), *(each.start + draw.randrange(-8, 14) for each in variables)]
    folders = []
    for number, place in enumerate(draw.sample(places, 40)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << draw.randrange(8)
        folders.append(damaged(bytes(flipped), tmp_path, number))
    lines = loaded(folders)
    assert {line.partition(":")[0] for line in lines} <= {"loaded", "ModelError"}
    errors = [line for line in lines if line.startswith("ModelError")]
    assert len(errors) > len(lines) / 2
    shutil.copyfile(original.parent / "tertium.json", folders[0] / "tertium.json")
    with pytest.raises(ModelError, match=r"model\.bin was changed or is damaged"):
        find(folders[0])
