"""The bundled model finds phrases that were left out of everyday translations.

In ``everyday.tsv``, a phrase is in brackets in both languages. The settings were tuned on the even
rows (counted from 0), and are tested here on the odd ones; docs/explain.md says how.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import tertium
from tertium.explanation.coverage import coverage
from tertium.text import Text

PHRASE = re.compile(r" ?\[(,? ?)([^]]*)\]")


def whole(text: str) -> str:
    return text.replace("[", "").replace("]", "")


def test_nine_of_ten_omissions_and_few_false_alarms() -> None:
    with Path(__file__).with_name("everyday.tsv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))[1::2]
    partial, gold, complete = [], [], []
    for row in rows:
        for lang, other in (("en", "de"), ("de", "en")):
            cut = PHRASE.sub("", row[lang], count=1).strip()
            partial.append((Text(cut, lang), Text(whole(row[other]), other)))
            phrase = PHRASE.search(row[other])
            assert phrase is not None
            start = whole(row[other]).index(phrase[2])
            gold.append((start, start + len(phrase[2])))
        complete.append((Text(whole(row["de"]), "de"), Text(whole(row["en"]), "en")))
    spans = coverage([*partial, *complete], tertium.load_model(cache=False))
    found = 0
    for own, (start, end) in zip(spans, gold, strict=False):
        found += any(
            2 * (min(span.end, end) - max(span.start, start)) >= max(len(span.text), end - start)
            for span in own
            if span.kind == "omission"
        )
    assert len(partial) == 48
    assert found >= 0.9 * len(partial)
    assert sum(map(bool, spans[len(partial) :])) < len(complete) / 20
