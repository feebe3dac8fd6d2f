"""Measures as the authors computed them, beside the numbers of the papers."""

from __future__ import annotations

import numpy as np
import pytest

from tertium.errors import SettingError
from tertium.measures.loading import MeasureSpec
from tertium.studies.columns import Column
from tertium.studies.published import as_published, published_table


def column(heading: str, **values: float) -> Column:
    named = {name.replace("_", "+"): value for name, value in values.items()}
    return Column(heading, named, {name: np.array([value]) for name, value in named.items()})


def test_numbers_of_table_4_of_sentsim() -> None:
    """SSS + WMD and SSS + BERTScore of de-en and tr-en, and their average over seven pairs."""
    columns = [
        column("wmt17 de-en", sss_wmd=0.7, sentsim=0.8, chrf=0.5),
        column("wmt17 tr-en", sss_wmd=0.6),
        column("elsewhere de-en", sss_wmd=0.1),
    ]
    table = published_table("correlate", columns)
    shown = [[cell.value for cell in row[:4]] for row in table.rows]
    assert shown[:3] == [
        ["wmt17 de-en, sss+wmd", "4", 0.755, 0.7],
        ["wmt17 de-en, sentsim", "4", 0.77, 0.8],
        ["wmt17 tr-en, sss+wmd", "4", 0.781, 0.6],
    ]
    assert "RoBERTa large" in str(table.note)
    source = published_table("correlate", columns[:1], against="source")
    assert [row[2].value for row in source.rows] == [0.504, 0.523]


def test_averages_that_the_papers_print() -> None:
    """The numbers were copied right: their means are those that the papers print."""
    for study, number, measure, average in (
        ("correlate", "3", "sss+bertscore", 0.553),
        ("correlate", "4", "sss+wmd", 0.780),
        ("correlate", "9", "smd", 0.691),
        ("paraphrase-id", "2", "direct", 70.2),
        ("paraphrase-id", "2", "chrf", 54.7),
    ):
        values = tables()[study][number]["rows"][measure]
        digits = 1 if study == "paraphrase-id" else 3
        assert round(float(np.mean(values)), digits) == pytest.approx(average, abs=10**-digits)


def tables() -> dict[str, dict[str, dict[str, dict[str, list[float]]]]]:
    from tertium.studies import published

    return published._tables()


def test_settings_of_the_authors() -> None:
    specs = [MeasureSpec.parse(text) for text in ("cross", "direct:base=e", "chrf")]
    assert [str(spec) for spec in as_published("paraphrase-id", specs)] == [
        "cross:base=2,references=max-each-way",
        "direct:base=e,references=max-each-way",
        "chrf",
    ]
    assert as_published("judgements", specs) == as_published("paraphrase-id", specs)
    specs = [MeasureSpec.parse(text) for text in ("sentsim", "bleu", "wmd")]
    assert [str(spec) for spec in as_published("correlate", specs)] == [
        "sentsim:scale=corpus",
        "bleu-nltk",
        "wmd",
    ]
    with pytest.raises(SettingError, match="computed BLEU with nltk"):
        as_published("correlate", [MeasureSpec.parse("bleu:lowercase=yes")])
