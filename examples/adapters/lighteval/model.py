"""A model for lighteval that repeats the source: what a real model has to beat."""

from __future__ import annotations

from typing import Any

from lighteval.models.dummy.dummy_model import DummyModel
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc
from lighteval.utils.cache_management import SampleCache


class Copy(DummyModel):
    """Answers with the German sentence of the prompt."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self._cache = SampleCache(config)

    def greedy_until(self, docs: list[Doc]) -> list[ModelResponse]:
        """One answer to each question."""
        return [ModelResponse(text=[(doc.specific or {})["source"]]) for doc in docs]
