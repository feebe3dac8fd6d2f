"""The files of the page: read once, scripts in one file, with addresses that name the content."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from tertium.comparison.page import comparison_style
from tertium.report.style import style_sheet

STATIC = Path(__file__).with_name("static")
SCRIPT, STYLE, ICON, PAGE = "app.js", "page.css", "icon.svg", "index.html"
KINDS = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=async|class|const|function)", re.MULTILINE)
FOREVER = "public, max-age=31536000, immutable"
"""For addresses that name the content."""


@dataclass(frozen=True)
class StaticFile:
    """What is served under a name, and how long it may be kept."""

    content: bytes
    kind: str
    version: str


def static_files() -> dict[str, StaticFile]:
    """Read all files of the page; no name from a client reaches the file system."""
    style = "\n".join((style_sheet(), comparison_style(), _text(STYLE)))
    contents = {SCRIPT: script(), STYLE: style, ICON: _text(ICON)}
    files = {name: _file(name, text) for name, text in contents.items()}
    files[PAGE] = _file(PAGE, versioned(_text(PAGE), files))
    return files


def versioned(page: str, files: dict[str, StaticFile]) -> str:
    """Write the versions of files into their addresses, so that browsers may keep them."""
    for name, file in files.items():
        page = page.replace(f'"/static/{name}"', f'"/static/{name}?v={file.version}"')
    return page


def script() -> str:
    """All modules in one, each after those that it imports: one request instead of a waterfall.

    The names of all modules are then in one scope; the browser refuses a name that two have.
    """
    ordered: dict[str, str] = {}

    def add(name: str) -> None:
        text = _text(name)
        for other in IMPORT.findall(text):
            if other not in ordered:
                add(other)
        ordered[name] = EXPORT.sub("", IMPORT.sub("", text))

    add(SCRIPT)
    return "\n".join(ordered.values())


def _text(name: str) -> str:
    return (STATIC / name).read_text("utf-8")


def _file(name: str, text: str) -> StaticFile:
    content = text.encode()
    version = hashlib.sha256(content).hexdigest()[:12]
    return StaticFile(content, KINDS[Path(name).suffix], version)
