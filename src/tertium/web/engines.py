"""The models that were loaded at the start, each with its batcher."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tertium.errors import SettingError
from tertium.measures.base import Measure, ModelKind
from tertium.measures.registry import ROLES, kinds_of, load, settings_of
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
        """Load measures; each setting is used by the measures that have it, and must be used."""
        for name in names:
            if names.count(name) > 1:
                raise SettingError(f"{name} is given twice")
        known = {name: settings_of(name) for name in names}
        for setting in settings:
            if not any(setting in own for own in known.values()):
                raise SettingError(f"{', '.join(names)} has no setting {setting}")
        made = []
        for name in names:
            own: dict[str, Any] = {
                key: value for key, value in settings.items() if key in known[name]
            }
            views = {ROLES[kind]: self._view(kind, call) for kind in kinds_of(name)}
            made.append(load(name, **views, **own))
        return made

    def _view(self, kind: ModelKind, call: Call) -> Any:
        if kind == "translation":
            return self.model(call)
        encoder = self.models.tokens if kind == "tokens" else self.models.sentences
        return BatchedEncoder(encoder, self.batchers[kind], call)

    @property
    def alive(self) -> bool:
        return all(batcher.alive for batcher in self.batchers.values())

    def close(self) -> None:
        for batcher in set(self.batchers.values()):
            batcher.close()
