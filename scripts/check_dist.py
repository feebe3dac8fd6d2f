"""Check what ``python -m build`` made: size, licences, types, version, nothing foreign.

python scripts/check_dist.py dist            # one build
python scripts/check_dist.py dist again      # two builds: they must be the same to the byte
"""

from __future__ import annotations

import argparse
import hashlib
import tarfile
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

LARGEST = 25_000_000
"""Bytes of a wheel or an sdist."""
LICENSES = ("LICENSE", "src/tertium/models/bundled/tertium-mini/LICENSE")
IN_PACKAGE = (
    "tertium/py.typed",
    "tertium/models/bundled/tertium-mini/LICENSE",
    "tertium/models/bundled/tertium-mini/README.md",
    "tertium/models/bundled/tertium-mini/model.bin",
    "tertium/compat/evaluate/tertium/tertium.py",
    "tertium/compat/mbrs/tertium_mbrs/__init__.py",
)
IN_SDIST = ("LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "examples/pairs.tsv")


def problems_of_wheel(path: Path) -> Iterator[str]:
    """Everything that is wrong with a wheel."""
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        info = next(name.split("/")[0] for name in names if ".dist-info/" in name)
        metadata = Parser().parsestr(wheel.read(f"{info}/METADATA").decode())
    for name in (*IN_PACKAGE, *(f"{info}/licenses/{each}" for each in LICENSES)):
        if name not in names:
            yield f"{name} is missing"
    for name in sorted(names):
        if name.split("/")[0] not in ("tertium", info) or "__pycache__" in name:
            yield f"{name} does not belong into a wheel"
    if metadata["License-Expression"] != "MIT AND CC-BY-4.0":
        yield f"its licence is {metadata['License-Expression']!r}, not 'MIT AND CC-BY-4.0'"
    if metadata["Version"] != path.name.split("-")[1]:
        yield f"its name and its metadata ({metadata['Version']}) have different versions"


def problems_of_sdist(path: Path) -> Iterator[str]:
    """Everything that is wrong with an sdist."""
    with tarfile.open(path) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    for name in (*IN_SDIST, *(f"src/{each}" for each in IN_PACKAGE)):
        if name not in names:
            yield f"{name} is missing"


def problems(folder: Path, again: Path | None = None) -> Iterator[str]:
    """Everything that is wrong with a folder that should have one wheel and one sdist."""
    checks = {"*.whl": problems_of_wheel, "*.tar.gz": problems_of_sdist}
    for pattern, check in checks.items():
        found = sorted(folder.glob(pattern))
        if len(found) != 1:
            yield f"{folder}: {len(found)} files {pattern}, not 1"
            continue
        [path] = found
        size = path.stat().st_size
        if size >= LARGEST:
            yield f"{path.name}: {size} bytes; less than {LARGEST} are allowed"
        yield from (f"{path.name}: {problem}" for problem in check(path))
        if again is None:
            continue
        if not (again / path.name).is_file() or digest(path) != digest(again / path.name):
            yield f"{path.name}: the second build differs"


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("again", type=Path, nargs="?", help="a second build of the same commit")
    options = parser.parse_args()
    found = list(problems(options.folder, options.again))
    if found:
        raise SystemExit("\n".join(found))
    for path in sorted(options.folder.iterdir()):
        print(f"{path.name}: {path.stat().st_size} bytes, sha256 {digest(path)}")


if __name__ == "__main__":
    main()
