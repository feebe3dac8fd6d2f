"""Run the commands that the README and the docs show, and write their output into the pages.

    python scripts/refresh_docs.py             # all pages
    python scripts/refresh_docs.py tutorial    # some pages

For a new bundled model, or a new page. Below a command without output, the whole output is written;
elsewhere only numbers are replaced, so that lines that a page leaves out (``...``) stay left out.
An output that differs in more than numbers is named, to be edited by hand.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.cli.conftest import TERTIUM  # noqa: E402
from tests.test_docs import BLOCK, PAGES, aligned, in_a_terminal, same  # noqa: E402


def refreshed(command: str, expected: str) -> str:
    """Run a command, and return the output to show."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        os.environ["TERTIUM_CACHE"] = folder
        output = in_a_terminal([*TERTIUM, *shlex.split(command)[1:]], Path(folder))
    if not expected.strip():
        return "\n".join(line.rstrip() for line in output.strip("\n").splitlines()) + "\n"
    for words, wanted, line in aligned(output, expected):
        updated = line
        for word, other in zip(words, wanted, strict=True):
            if not same(word, other):
                if len(word) != len(other) and not is_number(word.strip(",;()")):
                    raise ValueError(f"{other!r} became {word!r}")
                updated = re.sub(rf"(?<!\S){re.escape(other)}(?!\S)", word, updated, count=1)
        expected = expected.replace(line, updated, 1)
    return expected


def is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def main() -> None:
    wanted = sys.argv[1:]
    for page in PAGES:
        if wanted and page.stem not in wanted:
            continue
        text = before = page.read_text("utf-8")
        for block in BLOCK.findall(text):
            parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
            for place, part in enumerate(parts[1:], start=1):
                command, _, expected = part.partition("\n")
                try:
                    parts[place] = f"{command}\n{refreshed(command, expected)}"
                except (AssertionError, ValueError) as error:
                    print(f"{page.name}: {command}: {str(error)[:2000]}")
            text = text.replace(block, "$ ".join(parts), 1)
        if text != before:
            page.write_text(text, "utf-8")
            print(f"{page.name} has changed")


if __name__ == "__main__":
    main()
