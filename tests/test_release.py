"""What is released: the checks of the built package, the licences, the version."""

from __future__ import annotations

import io
import re
import runpy
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

import tertium
from tertium.models.catalog import BUNDLED_FOLDER, DEFAULT_MODEL, find

ROOT = Path(__file__).parents[1]
CHECK: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "check_dist.py"))
DATA = ("Tatoeba", "LibreOffice", "Europarl", "newstest", "newsdiscuss", "MT-GenEval")
"""What bundled models may be trained on."""


def test_the_licence_of_the_weights_names_their_data() -> None:
    folder = BUNDLED_FOLDER / DEFAULT_MODEL
    licence = (folder / "LICENSE").read_text("utf-8").lower()
    card = (folder / "README.md").read_text("utf-8")
    paragraph = card.partition("- **Data**")[2].partition("- **")[0].lower()
    named = [name for name in DATA if name.lower() in paragraph]
    assert named
    page = (ROOT / "docs" / "licences.md").read_text("utf-8").lower()
    for text in (licence, page):
        assert [name for name in named if name.lower() in text] == named
    assert find(DEFAULT_MODEL).licence == "CC-BY-4.0"
    assert "Licence of the weights**: CC BY 4.0" in card
    assert "creative commons attribution 4.0 international public license" in licence
    assert 'AND CC-BY-4.0"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_one_version_everywhere() -> None:
    version = tertium.__version__.removesuffix(".dev0")
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert first is not None
    assert first[1] == version


def test_every_dependency_has_its_licence_on_the_page() -> None:
    page = (ROOT / "docs" / "licences.md").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    users = [line for extra in extras.keys() - {"docs", "test"} for line in extras[extra]]
    lines = [*project["dependencies"], *users]
    names = {re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in lines} - {"tertium"}
    assert len(names) > 25
    missing = [name for name in names if f"| {re.sub('[._]', '-', name.lower())} |" not in page]
    assert not missing


def make(folder: Path, *, without: str = "", extra: str = "", size: int = 1) -> Path:
    """A folder with a wheel and an sdist that have what is checked."""
    folder.mkdir()
    info = "tertium-0.2.0.dist-info"
    names = [*CHECK["IN_PACKAGE"], *(f"{info}/licenses/{each}" for each in CHECK["LICENSES"])]
    with zipfile.ZipFile(folder / "tertium-0.2.0-py3-none-any.whl", "w") as wheel:
        for name in [*names, *([extra] if extra else [])]:
            if name != without:
                wheel.writestr(zipfile.ZipInfo(name), bytes(size))
        metadata = "Version: 0.2.0\nLicense-Expression: MIT AND CC-BY-4.0\n"
        wheel.writestr(zipfile.ZipInfo(f"{info}/METADATA"), metadata)
    with tarfile.open(folder / "tertium-0.2.0.tar.gz", "w") as sdist:
        for name in (*CHECK["IN_SDIST"], *(f"src/{each}" for each in CHECK["IN_PACKAGE"])):
            sdist.addfile(tarfile.TarInfo(f"tertium-0.2.0/{name}"), io.BytesIO())
    return folder


def test_the_checks_of_a_build(tmp_path: Path) -> None:
    problems: Callable[..., Any] = CHECK["problems"]
    good = make(tmp_path / "good")
    assert list(problems(good, make(tmp_path / "again"))) == []
    wheel = "tertium-0.2.0-py3-none-any.whl"
    found = list(problems(make(tmp_path / "a", without="tertium/py.typed")))
    assert found == [f"{wheel}: tertium/py.typed is missing"]
    found = list(problems(make(tmp_path / "b", extra="tests/test_x.py")))
    assert found == [f"{wheel}: tests/test_x.py does not belong into a wheel"]
    found = list(problems(good, make(tmp_path / "c", size=2)))
    assert found == [f"{wheel}: the second build differs"]
    [found] = problems(make(tmp_path / "d", extra="tertium/big", size=4_000_000))
    assert "less than 25000000 are allowed" in found
    assert len(list(problems(tmp_path))) == 2  # neither a wheel nor an sdist


def test_the_templates_ask_for_it() -> None:
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    bug = yaml.safe_load((folder / "bug.yml").read_text("utf-8"))
    asked = {field["id"]: field for field in bug["body"]}
    assert "tertium --version --verbose" in asked["version"]["attributes"]["description"]
    assert asked["version"]["validations"]["required"]


def test_workflows_are_yaml_with_few_rights() -> None:
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        made = yaml.safe_load(path.read_text("utf-8"))
        assert made["permissions"] == {"contents": "read"}, path
        assert all("timeout-minutes" in job for job in made["jobs"].values()), path
