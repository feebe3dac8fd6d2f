"""List the licences of all dependencies, and refuse those that are not permissive.

    python scripts/check_licences.py                      # the table, and whether all are known
    python scripts/check_licences.py --page docs/licences.md    # write the table into the page

Everything has to be installed (``pip install '.[test]'``). Dependencies of dependencies are listed
too; licences are read from the metadata of the packages.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PERMISSIVE = re.compile(
    r"\b(MIT|BSD|0BSD|Apache|ISC|PSF|Python Software Foundation|MPL|Mozilla Public|CC0|Zlib|HPND)",
    re.IGNORECASE,
)
UNSTATED = ("", "UNKNOWN")
NAMED = {"lang2vec": "CC-BY-SA-4.0"}
"""Packages whose metadata name no licence: that of the licence file in the package."""
ACCEPTED = {"lang2vec": "data of a study, not combined with our code"}
"""Licences that are not permissive, and why they are accepted."""
OWN_EXTRAS = {"docs", "test"}
"""Extras for developers; what users may install is listed."""
START, END = "<!-- licences -->\n", "<!-- end -->"


@dataclass
class Package:
    """A dependency, and the extras that need it (empty text: none)."""

    name: str
    licence: str
    extras: set[str] = field(default_factory=set)


def licence_of(name: str) -> str:
    """The licence in a package's metadata, in one short line."""
    found = metadata(name)
    if "License-Expression" in found:
        return found["License-Expression"]
    classifiers = [
        each.rpartition(" :: ")[2]
        for each in found.get_all("Classifier") or []
        if each.startswith("License ::") and each.count("::") > 1
    ]
    if classifiers:
        return ", ".join(classifiers)
    text = found["License"].strip().partition("\n")[0] if "License" in found else ""
    return NAMED.get(name, "not stated") if text in UNSTATED else text


def dependencies() -> tuple[dict[str, Package], set[str]]:
    """All packages that users may install with Tertium, and those that are not installed here."""
    found: dict[str, Package] = {}
    absent: set[str] = set()
    extras = set(metadata("tertium").get_all("Provides-Extra") or []) - OWN_EXTRAS
    for extra in ("", *sorted(extras)):
        left = [("tertium", frozenset({extra}))]
        seen: set[tuple[str, frozenset[str]]] = set()
        while left:
            name, wanted = left.pop()
            if (name, wanted) in seen:
                continue
            seen.add((name, wanted))
            try:
                needed = requires(name) or []
            except PackageNotFoundError:
                absent.add(name)
                continue
            if name != "tertium":
                package = found.setdefault(name, Package(name, licence_of(name)))
                package.extras.add(extra)
            for line in needed:
                requirement = Requirement(line)
                marker = requirement.marker
                if marker is None or any(marker.evaluate({"extra": each}) for each in wanted):
                    inner = frozenset(requirement.extras) | {""}
                    left.append((canonicalize_name(requirement.name), inner))
    return dict(sorted(found.items())), absent


def table(packages: Iterable[Package]) -> str:
    """The table, in Markdown."""
    rows = ["| package | licence | needed for |", "|---|---|---|"]
    for package in packages:
        needed = "Tertium" if "" in package.extras else ", ".join(sorted(package.extras))
        rows.append(f"| {package.name} | {package.licence.replace('|', '/')} | {needed} |")
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, help="write the table into this page")
    page: Path | None = parser.parse_args().page
    packages, absent = dependencies()
    made = table(packages.values())
    if page is None:
        print(made)
    else:
        before, _, rest = page.read_text("utf-8").partition(START)
        page.write_text(f"{before}{START}{made}{END}{rest.partition(END)[2]}", "utf-8")
    if absent:
        print(f"not installed here, so not listed: {', '.join(sorted(absent))}")
    unknown = [
        f"{each.name}: {each.licence} is not known to be permissive"
        for each in packages.values()
        if not PERMISSIVE.search(each.licence) and each.name not in ACCEPTED
    ]
    if unknown:
        raise SystemExit("\n".join(unknown))


if __name__ == "__main__":
    main()
