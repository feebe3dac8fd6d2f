"""Every measure of Tertium as a metric of ``mbrs``, which selects the best of many hypotheses.

``mbrs-decode --plugin_dir "$(python -m tertium.compat mbrs)" --metric tertium``, or ``import
tertium.compat.mbrs`` in Python: ``tertium`` compares with references, ``tertium-src`` with sources.
"""

from __future__ import annotations

from dataclasses import dataclass

import mbrs.timer
import torch
from mbrs.metrics import Metric, MetricReferenceless, register

from tertium.compat.scorer import Scorer
from tertium.errors import SettingError, literal
from tertium.measures.registry import DEFAULT_MEASURE


@register("tertium")
class MetricTertium(Metric):
    """A measure that compares hypotheses with references; sources are given to it as well."""

    @dataclass
    class Config(Metric.Config):
        """The configuration.

        - measure (str): The measure, such as cross, chrf or cross@m2m100_418M:beam_size=1.
        - lang (str): The language of the hypotheses and references (ISO 639).
        - source_lang (str): The language of the sources.
        """

        measure: str = DEFAULT_MEASURE
        lang: str | None = None
        source_lang: str | None = None

    cfg: Config

    def __init__(self, cfg: MetricTertium.Config) -> None:
        super().__init__(cfg)
        self.scorer = Scorer(cfg.measure, cfg.lang, source_lang=cfg.source_lang)
        if "reference" not in self.scorer.measure.reads:
            raise SettingError(
                f"{cfg.measure} reads no references", cure="use {metric:tertium-src}"
            )

    def score(self, hypothesis: str, reference: str, source: str | None = None) -> float:
        """The score of one hypothesis."""
        sources = None if source is None else [source]
        return float(self.scores([hypothesis], [reference], sources)[0])

    def scores(
        self, hypotheses: list[str], references: list[str], sources: list[str] | None = None
    ) -> torch.Tensor:
        """One score for each hypothesis and its reference."""
        with mbrs.timer.measure("score") as timer:
            timer.set_delta_ncalls(len(hypotheses))
            found = self.scorer.score(
                lines(hypotheses), lines(references), None if sources is None else lines(sources)
            )
            return torch.tensor(found.segments)

    def pairwise_scores(
        self, hypotheses: list[str], references: list[str], source: str | None = None
    ) -> torch.Tensor:
        """The score of each hypothesis with each reference, of shape (hypotheses, references)."""
        pairs = [(one, other) for one in hypotheses for other in references]
        sources = None if source is None else [source] * len(pairs)
        scores = self.scores([one for one, _ in pairs], [other for _, other in pairs], sources)
        return scores.view(len(hypotheses), len(references))

    def corpus_score(
        self,
        hypotheses: list[str],
        references_lists: list[list[str]],
        sources: list[str] | None = None,
    ) -> float:
        """The system score; each list of ``references_lists`` has one reference per hypothesis."""
        references = zip(*map(lines, references_lists), strict=True)
        found = self.scorer.score(
            lines(hypotheses), map(list, references), None if sources is None else lines(sources)
        )
        return found.system


@register("tertium-src")
class MetricTertiumSource(MetricReferenceless):
    """A measure that compares hypotheses with sources."""

    @dataclass
    class Config(MetricReferenceless.Config):
        """The configuration.

        - measure (str): A measure that reads sources, such as prism-src or cross:against=source.
        - lang (str): The language of the hypotheses (ISO 639).
        - source_lang (str): The language of the sources.
        """

        measure: str = "prism-src"
        lang: str | None = None
        source_lang: str | None = None

    cfg: Config

    def __init__(self, cfg: MetricTertiumSource.Config) -> None:
        super().__init__(cfg)
        self.scorer = Scorer(cfg.measure, cfg.lang, source_lang=cfg.source_lang)
        if self.scorer.measure.reads != ("source",):
            raise SettingError(
                f"{cfg.measure} reads references",
                cure=(
                    "use {metric:tertium}",
                    f"{literal(cfg.measure)}:against=source as {{measure}}",
                ),
            )

    def score(self, hypothesis: str, source: str) -> float:
        """The score of one hypothesis."""
        return float(self.scores([hypothesis], [source])[0])

    def scores(self, hypotheses: list[str], sources: list[str]) -> torch.Tensor:
        """One score for each hypothesis and its source."""
        with mbrs.timer.measure("score") as timer:
            timer.set_delta_ncalls(len(hypotheses))
            found = self.scorer.score(lines(hypotheses), sources=lines(sources))
            return torch.tensor(found.segments)

    def corpus_score(self, hypotheses: list[str], sources: list[str]) -> float:
        """The system score."""
        return self.scorer.score(lines(hypotheses), sources=lines(sources)).system


def lines(texts: list[str]) -> list[str]:
    """The texts without the line endings that ``mbrs-score`` leaves at their ends."""
    return [text.rstrip("\r\n") for text in texts]
