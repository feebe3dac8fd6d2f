"""Write docs/settings.md: every setting of every measure, as the fields describe them.

``python scripts/settings_page.py`` after a change; a test compares the page with what this would
write.
"""

from __future__ import annotations

from pathlib import Path

from tertium.cli.measures import default_of
from tertium.measures.loading import known_settings
from tertium.measures.registry import measure_names

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
HEAD = """# Settings of measures

A setting is written with the measure (`chrf:word_order=2`), as an option (`--word-order 2`, or
`--set word_order=2`), or in Python as an argument (`tertium.load("chrf", word_order=2)`).
`tertium measures chrf` shows those of one measure. This page is written from the descriptions in
the code.

| setting | measures | default | values | meaning |
|---|---|---|---|---|
"""


def page() -> str:
    """The page: a line for each setting, with the measures for which it is the same."""
    measures: dict[tuple[str, ...], list[str]] = {}
    for measure in measure_names():
        for name, about in known_settings(measure).items():
            facts = (name, default_of(name, about.default), about.allowed, about.meaning)
            measures.setdefault(facts, []).append(measure)
    lines = [
        f"| `{name}` | {', '.join(sorted(several))} | {cell(default)} | {allowed} | {meaning} |"
        for (name, default, allowed, meaning), several in sorted(measures.items())
    ]
    return HEAD + "\n".join(line.replace("  ", " ") for line in lines) + "\n"


def cell(text: str) -> str:
    """A value as code; words for people stay as they are."""
    return text if text == "automatic" else f"`{text}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
