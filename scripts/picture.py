"""Draw the figure of the README: the output of ``tertium explain`` in a terminal.

python scripts/picture.py docs/explain.svg
"""

from __future__ import annotations

import re
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console

import tertium
from tertium.explanation.terminal import print_explanation

A, B = "I see a dog.", "I see a cat."


def main() -> None:
    console = Console(record=True, width=72, file=StringIO(), highlight=False)
    console.print(f'$ tertium explain "{A}" "{B}" --lang en', style="bold")
    print_explanation(tertium.explain(A, B, lang="en"), console)
    drawing = re.sub(  # without fonts, so that the browser uses its own
        r"@font-face \{.*?\}\s*", "", console.export_svg(title="tertium"), flags=re.DOTALL
    )
    Path(sys.argv[1]).write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    main()
