"""Every measure of Tertium as a metric of ``lighteval``: :func:`tertium_metric` makes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lighteval.metrics.metrics_corpus import CorpusLevelComputation
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import CorpusLevelMetric
from lighteval.tasks.requests import SamplingMethod

from tertium.compat.scorer import Scorer
from tertium.measures.registry import DEFAULT_MEASURE

Statistics = tuple[float, ...]


class SegmentStatistics(SampleLevelComputation):
    """The statistics of each answer; they are computed once, for the bootstrap too.

    The source of an answer, for measures that read it, is ``doc.specific["source"]``.
    """

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer

    def compute(self, responses: Sequence[Any], docs: Sequence[Any]) -> list[Statistics]:
        """Score the first answer to each question against the right answers."""
        sources: list[Any] | None = None
        if "source" in self.scorer.measure.reads:
            sources = [(doc.specific or {}).get("source") for doc in docs]
        found = self.scorer.score(
            [response.final_text[0] for response in responses],
            [doc.get_golds() for doc in docs],
            sources,
        )
        return found.statistics


class SystemScore(CorpusLevelComputation):
    """The system score from the statistics of the segments."""

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer

    def compute_corpus(self, items: Sequence[Statistics]) -> float:
        """The system score."""
        return self.scorer.system(items)


def tertium_metric(
    measure: str = DEFAULT_MEASURE,
    *,
    name: str | None = None,
    lang: str | None = None,
    reference_lang: str | None = None,
    source_lang: str | None = None,
) -> CorpusLevelMetric:
    """A metric for the ``metrics`` of a ``LightevalTaskConfig``.

    >>> tertium_metric("chrf", lang="en").metric_name
    'chrf'
    """
    scorer = Scorer(measure, lang, reference_lang, source_lang)
    return CorpusLevelMetric(
        metric_name=name or measure,
        sample_level_fn=SegmentStatistics(scorer),
        category=SamplingMethod.GENERATIVE,
        corpus_level_fn=SystemScore(scorer),
        higher_is_better=True,
        batched_compute=True,
    )
