"""Write docs/api.md, so that it can be read in a clone: signatures, first sentences, an example.

``python scripts/api_page.py`` after a change; a test compares the page with what this would write.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import tertium

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
ENTRY = re.compile(r"^::: tertium\.(\w+)\n(?:(?!:::|## ).*\n?)*", re.MULTILINE)


def page(text: str) -> str:
    """The page with a description below each name."""
    return ENTRY.sub(lambda match: entry(match[1]), text).rstrip() + "\n"


def entry(name: str) -> str:
    """A name, its signature, what it does, and an example."""
    item = getattr(tertium, name)
    doc = inspect.getdoc(item) or ""
    sentence = " ".join(doc.split("\n\n")[0].split())
    sentence = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", sentence)
    lines = [f"::: tertium.{name}", "", "```python", signature(name, item), "```", "", sentence, ""]
    example = first_example(doc)
    if example:
        lines += ["```python", *example, "", "```", ""]  # a blank line ends what is printed
    return "\n".join(lines) + "\n"


def signature(name: str, item: object) -> str:
    """The call, with the names of the parameters and their defaults."""
    if not inspect.isfunction(item):
        return f"tertium.{name}"
    shown: list[str] = []
    for each in inspect.signature(item).parameters.values():
        if unpacked := re.fullmatch(r"Unpack\[(\w+)\]", str(each.annotation)):
            keys = item.__globals__[unpacked[1]].__annotations__  # of a TypedDict
            shown += [f"{key}=..." for key in keys]
            continue
        if each.kind is each.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        default = "" if each.default is each.empty else f"={each.default!r}"
        stars = "**" if each.kind is each.VAR_KEYWORD else ""
        shown.append(f"{stars}{each.name}{default}")
    return f"tertium.{name}({', '.join(shown)})"


def first_example(doc: str) -> list[str]:
    """The first example of a docstring, with what it prints."""
    lines = doc.splitlines()
    starts = [place for place, line in enumerate(lines) if line.startswith(">>>")]
    if not starts:
        return []
    rest = lines[starts[0] :]
    stop = next((place for place, line in enumerate(rest) if not line.strip()), len(rest))
    public = "|".join(tertium.__all__)
    named = [re.sub(rf"(?<![\w.\"])({public})\(", r"tertium.\1(", line) for line in rest[:stop]]
    given = [
        line if shown.startswith((">>>", "...")) else shown
        for line, shown in zip(named, rest[:stop], strict=True)
    ]
    return given if ">>> import tertium" in given else [">>> import tertium", *given]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
