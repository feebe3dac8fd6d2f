"""Measures as the authors of NMTScore and SentSim computed them, and the numbers that they report.

Vamvas and Sennrich (2022), tables 1 and 2; Song, Zhao and Specia (2021), tables 2 to 5 and 9. The
numbers are in ``published.json``. Those of the Prism paper are in :mod:`tertium.studies.prism`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from tertium.errors import SettingError
from tertium.measures.loading import MeasureSpec, known_settings
from tertium.measures.registry import parts_of
from tertium.report.tables import Cell, Table
from tertium.studies.columns import Column

Study = Literal["paraphrase-id", "correlate", "judgements"]
FILE = Path(__file__).with_name("published.json")
PUBLISHED = "as-published"
"""The name of the table."""
NMTSCORE = {"base": "2", "references": "max-each-way"}
"""The released code computes 2 ** mean(ln p), and takes the best reference in each direction."""
SUM = {"scale": "corpus"}
"""The released notebooks scale each part over the rows that are scored."""


def as_published(study: Study, specs: Sequence[MeasureSpec]) -> list[MeasureSpec]:
    """The measures with the settings of the authors' code, where none are given.

    >>> [str(spec) for spec in as_published("correlate", [MeasureSpec("sss+wmd")])]
    ['sss+wmd:scale=corpus']
    >>> [str(spec) for spec in as_published("paraphrase-id", [MeasureSpec("direct")])]
    ['direct:base=2,references=max-each-way']
    """
    return [_as_published(study, spec) for spec in specs]


def _as_published(study: Study, spec: MeasureSpec) -> MeasureSpec:
    if study != "correlate":
        is_nmtscore = "base" in known_settings(spec.measure)
        changed = spec.with_defaults(NMTSCORE) if is_nmtscore else spec
    elif spec.measure == "bleu":
        if spec.settings:
            raise SettingError(
                f"{spec}: the authors computed BLEU with nltk, which has other settings"
            )
        changed = MeasureSpec("bleu-nltk")
    else:
        changed = spec.with_defaults(SUM) if len(parts_of(spec.measure)) > 1 else spec
    return replace(changed, label=str(changed) if changed != spec else spec.label)


def published_table(
    study: Study,
    columns: Sequence[Column],
    *,
    against: str = "reference",
    scale: float = 1.0,
    digits: str = ".3f",
) -> Table:
    """The numbers of the paper beside those that were obtained, one row per dataset and measure."""
    rows = []
    for number, table in _tables()[study].items():
        if table["against"] != against:
            continue
        for place, heading in enumerate(table["columns"]):
            for column in columns:
                if not same_dataset(column.heading, heading):
                    continue
                for name, value in column.values.items():
                    paper = table["rows"].get(row_of(name))
                    if paper is None:
                        continue
                    rows.append(
                        [
                            Cell(f"{column.heading}, {name}"),
                            Cell(number),
                            Cell(paper[place], digits),
                            Cell(scale * value, digits),
                            Cell(scale * value - paper[place], digits),
                        ]
                    )
    about = {number: table["about"] for number, table in _tables()[study].items()}
    shown = dict.fromkeys(str(row[1].value) for row in rows)
    note = "; ".join(f"table {number}: {about[number]}" for number in shown)
    if not rows:
        note = "The paper has none of these measures and datasets."
    else:
        note += ". With another model, other numbers are to be expected."
    return Table(["", "table", "paper", "here", "difference"], rows, "As published", note)


def row_of(measure: str) -> str:
    """The row of a measure in the papers, whatever its model and settings.

    >>> row_of("sentsim@xlm-roberta-base:scale=corpus"), row_of("wmd+sss"), row_of("chrf")
    ('sss+bertscore', 'sss+wmd', 'chrf')
    """
    parts = parts_of(MeasureSpec.parse(measure).measure)
    order = ("sss", "smd", "wmd", "bertscore")
    known = sorted(parts, key=lambda part: order.index(part) if part in order else len(order))
    return "+".join(known)


def same_dataset(ours: str, published: str) -> bool:
    """Whether a column is of a dataset of the paper, by its name.

    >>> same_dataset("wmt17 de-en", "wmt17 de-en"), same_dataset("mlqe-pe en-de", "mlqe en-de")
    (True, True)
    >>> same_dataset("wmt18 de-en", "wmt17 de-en")
    False
    """
    ours_name, _, ours_langs = ours.lower().partition(" ")
    name, _, langs = published.partition(" ")
    return ours_langs == langs and (ours_name == name or (bool(langs) and name in ours_name))


@cache
def _tables() -> dict[str, dict[str, dict[str, Any]]]:
    content: dict[str, dict[str, dict[str, Any]]] = json.loads(FILE.read_text("utf-8"))
    return content
