"""Draw the figures of the README: the output of ``tertium explain`` in a terminal.

python scripts/picture.py docs
"""

from __future__ import annotations

import re
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console

import tertium
from tertium.explanation.report import print_review
from tertium.explanation.terminal import print_explanation

A, B = "I see a dog.", "I see a cat."
HYPOTHESIS = "Sie zog 1998 mit ihrer Schwester und zwei Hunden nach Madrid."
SOURCE = "She moved to Madrid in 1989."


def tokens(console: Console) -> None:
    console.print(f'$ tertium explain "{A}" "{B}" --lang en', style="bold")
    print_explanation(tertium.explain(A, B, lang="en"), console)


def spans(console: Console) -> None:
    console.print(f'$ tertium explain "{HYPOTHESIS}" \\', style="bold")
    options = "--lang de --ref-lang en --method coverage,flags"
    console.print(f'    "{SOURCE}" {options}', style="bold")
    methods = ["coverage", "flags"]
    review = tertium.explain(HYPOTHESIS, SOURCE, lang="de", reference_lang="en", methods=methods)
    print_review(review, console)


def main() -> None:
    folder = Path(sys.argv[1])
    for name, draw, width in (("explain", tokens, 72), ("spans", spans, 124)):
        console = Console(record=True, width=width, file=StringIO(), highlight=False)
        draw(console)
        drawing = re.sub(  # without fonts, so that the browser uses its own
            r"@font-face \{.*?\}\s*", "", console.export_svg(title="tertium"), flags=re.DOTALL
        )
        (folder / f"{name}.svg").write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    main()
