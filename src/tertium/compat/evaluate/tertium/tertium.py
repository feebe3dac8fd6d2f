"""Every measure of Tertium as a metric of Hugging Face ``evaluate``; the config is the measure.

``evaluate`` copies this file into a cache of its own, so it imports Tertium by its full name.
"""

from __future__ import annotations

from statistics import fmean
from typing import Any

import datasets
import evaluate

from tertium.compat.scorer import Scorer
from tertium.measures.registry import DEFAULT_MEASURE

DESCRIPTION = "How similar in meaning are two texts? All measures of Tertium; higher is better."
CITATION = "Tertium, and the paper of the measure: see docs/ of the project."
INPUTS = """
Args:
    predictions: the texts to score.
    references: one reference for each prediction, or a list of them (if the measure reads them).
    sources: the source of each prediction (if the measure reads it).
    lang, reference_lang, source_lang: languages of predictions, references and sources (ISO 639).
Returns:
    score: the system score: for most measures, the mean of the scores; for BLEU, chrF and TER, that
        of the corpus.
    mean_score: the mean of the scores.
    scores: one score for each prediction.
    signature: the measure with all of its settings.
"""


class Tertium(evaluate.Metric):
    """A measure of Tertium: ``evaluate.load(FOLDER, "cross")``, or any other name or spec."""

    def _info(self) -> evaluate.MetricInfo:
        spec = DEFAULT_MEASURE if self.config_name == "default" else self.config_name
        self.scorer = Scorer(spec)
        text = datasets.Value("string")
        columns: dict[str, Any] = {"predictions": text}
        reads = self.scorer.measure.reads
        if "source" in reads:
            columns["sources"] = text
        features = [{**columns, "references": text}, {**columns, "references": [text]}]
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation=CITATION,
            inputs_description=INPUTS,
            features=[datasets.Features(each) for each in features]
            if "reference" in reads
            else datasets.Features(columns),
        )

    def _download_and_prepare(self, dl_manager: object) -> None:
        """Nothing is left to be loaded: what the measure reads could not be said without it."""

    def _compute(
        self,
        predictions: list[str],
        references: list[str] | list[list[str]] | None = None,
        sources: list[str] | None = None,
        lang: str | None = None,
        reference_lang: str | None = None,
        source_lang: str | None = None,
    ) -> dict[str, object]:
        scorer = Scorer(self.scorer.measure_spec, lang, reference_lang, source_lang)
        found = scorer.score(predictions, references, sources)
        return {
            "score": found.system,
            "mean_score": fmean(found),
            "scores": list(found),
            "signature": str(found.signature),
        }
