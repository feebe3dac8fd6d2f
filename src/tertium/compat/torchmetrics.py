"""Every measure of Tertium as a metric of ``torchmetrics``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from tertium.compat.scorer import Scorer
from tertium.errors import InputError
from tertium.measures.registry import DEFAULT_MEASURE


class TertiumScore(Metric):
    """The system score of all texts that were given to ``update``, in any number of processes.

    Its state are the statistics of each segment whose sum determines the system score, so the
    result does not depend on how the texts are divided into batches and processes.

    >>> metric = TertiumScore("chrf")
    >>> metric.update(["a dog"], ["a dog"])
    >>> metric.update(["a cat"], [["the cat", "a cat"]])
    >>> metric.compute()
    tensor(100., dtype=torch.float64)
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    statistics: list[torch.Tensor]
    width: torch.Tensor

    def __init__(
        self,
        measure: str = DEFAULT_MEASURE,
        *,
        lang: str | None = None,
        reference_lang: str | None = None,
        source_lang: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.scorer = Scorer(measure, lang, reference_lang, source_lang)
        self.scorer.check_rows_are_independent("torchmetrics")
        # One row after another, in one dimension: what a process without data gathers has one, too.
        self.add_state("statistics", default=[], dist_reduce_fx="cat")
        self.add_state("width", default=torch.tensor(0.0), dist_reduce_fx="max")
        self.set_dtype(torch.float64)  # of all states, in processes without data too

    def update(
        self,
        preds: Sequence[str],
        target: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
    ) -> None:
        """Add hypotheses with their references (one or several each), their sources, or both."""
        rows = self.scorer.score(preds, target, sources).statistics
        made = torch.tensor(rows, dtype=torch.float64, device=self.device)
        self.statistics.append(made.flatten())
        self.width = torch.full_like(self.width, made.shape[1])

    def compute(self) -> torch.Tensor:
        """The system score."""
        if not self.width:
            raise InputError("there is nothing to score: update was given no texts")
        rows = dim_zero_cat(self.statistics).view(-1, int(self.width))
        return torch.tensor(self.scorer.system(rows.tolist()), dtype=torch.float64)

    @property
    def description(self) -> dict[str, str]:
        """The measure and all of its settings."""
        return self.scorer.measure.description()
