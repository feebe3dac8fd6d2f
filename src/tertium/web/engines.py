"""The models that were loaded at the start, each with its batcher."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tertium.errors import SettingError
from tertium.measures.base import Measure, ModelKind
from tertium.measures.loading import make_measure, read_specs
from tertium.models.base import SentenceEncoder, TextEncoder, TranslationModel
from tertium.web.batched_models import (
    BatchedEncoder,
    BatchedModel,
    encoder_engine,
    translation_engine,
)
from tertium.web.batching import Batcher, Call, Engine
from tertium.web.limits import Limits


@dataclass(frozen=True)
class Loaded:
    """A model for each kind that measures need. Clients cannot request others."""

    translation: TranslationModel
    tokens: TextEncoder
    sentences: SentenceEncoder

    def __post_init__(self) -> None:
        if not isinstance(self.tokens, TextEncoder):
            raise SettingError(
                f"{self.tokens.name} has no token vectors; "
                "use it as --sentence-encoder, and another one as --encoder"
            )


class BatchedEngines:
    """Gives every call its own proxies of the models."""

    def __init__(self, models: Loaded, limits: Limits, callers: Callable[[], float]) -> None:
        self.models = models

        def batcher(engine: Engine) -> Batcher:
            return Batcher(engine, window=limits.window, budget=limits.budget, callers=callers)

        tokens = batcher(encoder_engine(models.tokens))
        shared = models.sentences is models.tokens
        self.batchers: dict[ModelKind, Batcher] = {
            "translation": batcher(translation_engine(models.translation)),
            "tokens": tokens,
            "sentences": tokens if shared else batcher(encoder_engine(models.sentences)),
        }

    def model(self, call: Call) -> BatchedModel:
        """The translation model."""
        return BatchedModel(self.models.translation, self.batchers["translation"], call)

    def measures(
        self, names: Sequence[str], settings: Mapping[str, object], call: Call
    ) -> list[Measure]:
        """Make measures; a setting goes to those that have it, and one that none has is refused."""
        specs = read_specs(names, given=settings)
        for spec in specs:
            if spec.model is not None:
                raise SettingError(f"{spec}: the server chooses the model; leave out @{spec.model}")
        return [make_measure(spec, lambda kind, *_: self._view(kind, call)) for spec in specs]

    def _view(self, kind: ModelKind, call: Call) -> Any:
        if kind == "translation":
            return self.model(call)
        if kind == "language":
            raise SettingError("the server has no causal language model; use the command line")
        encoder = self.models.tokens if kind == "tokens" else self.models.sentences
        return BatchedEncoder(encoder, self.batchers[kind], call)

    @property
    def alive(self) -> bool:
        return all(batcher.alive for batcher in self.batchers.values())

    def close(self) -> None:
        for batcher in set(self.batchers.values()):
            batcher.close()
