"""The figures of ``tertium study rephrasing``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tertium.data.languages import language_name
from tertium.studies.rephrasing.paper import MAX_NIST
from tertium.studies.rephrasing.plots import Place, by_axis, by_language
from tertium.studies.rephrasing.study import Results
from tertium.studies.rephrasing.tables import Families
from tertium.studies.rephrasing.typology import Axis
from tertium.studies.specs import MeasureSpec

NIST, HUNDRED = "nist", ("bleu", "chrf")
"""What the scaled figure 6 divides: NIST by what the paper does, sacrebleu's scores by 100."""


def draw(results: Results, axes: Sequence[Axis], families: Families, folder: Path) -> None:
    """Draw figures 1 to 5 (a feature set each) and 6 (the means, scaled and not)."""
    langs = families.sorted([language.lang for language in results.languages])
    places = [Place(lang, language_name(lang), families.of[lang]) for lang in langs]
    for axis in axes:
        if axis.scores:
            label = f"{axis.name}: first principal component"
            by_axis(places, axis.scores, folder / f"features-{axis.name}.svg", label=label)
    series = {
        measure: {lang: mean for (lang, own), mean in results.means.items() if own == measure}
        for measure in results.measures
    }
    series = {measure: own for measure, own in series.items() if own}
    if not series:
        return
    by_language(places, series, folder / "scores.svg")
    scaled = {}
    for measure, own in series.items():
        name = MeasureSpec.parse(measure).measure
        divisor = MAX_NIST if name == NIST else 100.0 if name in HUNDRED else 1.0
        title = measure if divisor == 1.0 else f"{measure} / {divisor:g}"
        scaled[title] = {lang: mean / divisor for lang, mean in own.items()}
    by_language(places, scaled, folder / "scores-scaled.svg", common_scale=True)
