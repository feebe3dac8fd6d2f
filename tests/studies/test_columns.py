"""The result of a table in a sentence."""

from __future__ import annotations

import numpy as np

from tertium.studies.columns import Column, finding


def column(**values: float) -> Column:
    """Each measure has 100 samples within 0.01 of its value."""
    noise = np.linspace(-0.01, 0.01, 100)
    return Column("de-en", values, {name: value + noise for name, value in values.items()})


def test_the_best_measure_is_named_with_its_rivals() -> None:
    first = column(chrf=0.9)
    alone = finding([first, column(chrf=0.2, bleu=0.1)], "Kendall")
    assert alone.startswith("Kendall, de-en: chrf is highest (0.200, 95 % interval 0.19")
    assert alone.endswith("), significantly higher than all others.")
    equal = column(chrf=0.5, bleu=0.5, ter=0.1)
    assert finding([equal], "r").endswith("; not significantly lower: bleu.")
    percent = finding([column(chrf=0.2)], "Accuracy", scale=100, digits=".1f")
    assert percent.startswith("Accuracy, de-en: chrf has 20.0, 95 % interval ")
    assert finding([], "r") == finding([column()], "r") == ""
    undefined = Column("x", {"chrf": float("nan")}, {"chrf": np.full(3, np.nan)})
    assert finding([undefined], "r") == ""
