"""ParaPhraser: Russian news headlines (Pivovarova et al., 2018).

``paraphrases_gold.xml`` is the test set, ``paraphrases.xml`` the training set. Classes are 1
(precise), 0 (near) and -1 (not a paraphrase); the first two are positive, as in the shared task.
"""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Literal

from tertium.data.datasets.base import LabelledPair, check_labels, dataset
from tertium.data.datasets.reading import row_error
from tertium.data.lines import check_file
from tertium.errors import InputError
from tertium.text import Text

FILES = {"test": "paraphrases_gold.xml", "train": "paraphrases.xml"}
CLASSES = {"1": True, "0": True, "-1": False}
PAPER = {"test": (1152, 772)}
# The published files are not always well-formed (bare ampersands), so they are not parsed as XML.
PAIR = re.compile(r"<paraphrase>(.*?)</paraphrase>", re.DOTALL)
VALUE = re.compile(r'<value name="(\w+)">(.*?)</value>', re.DOTALL)


@dataset(
    "paraphraser",
    LabelledPair,
    "ParaPhraser: Russian news headlines",
    origin="http://paraphraser.ru",
    licence="see its origin",
    layout="paraphrases_gold.xml (test) or paraphrases.xml (train)",
    languages=["ru"],
)
def read_paraphraser(split: Literal["test", "train"], *, folder: Path) -> list[LabelledPair]:
    """Read a split from a folder with the published files."""
    path = folder / FILES[split]
    check_file(path)
    pairs = []
    for row, match in enumerate(PAIR.finditer(path.read_text("utf-8")), start=1):
        field = {name: unescape(value).strip() for name, value in VALUE.findall(match[1])}
        missing = [name for name in ("text_1", "text_2", "class") if name not in field]
        if missing or field["class"] not in CLASSES:
            reason = f"no {missing[0]}" if missing else f"the class is {field['class']!r}"
            raise row_error(
                path, row, reason, "a pair has text_1, text_2 and a class of -1, 0 or 1"
            )
        pairs.append(
            LabelledPair(
                field.get("id", str(row)),
                Text(field["text_1"], "ru"),
                Text(field["text_2"], "ru"),
                CLASSES[field["class"]],
            )
        )
    if not pairs:
        raise InputError(f"{path} contains no pairs; expected the XML of paraphraser.ru")
    check_labels(f"ParaPhraser {split}", pairs, PAPER.get(split))
    return pairs
