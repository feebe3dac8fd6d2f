"""The models that were loaded at the start, each with its batcher."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

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
from tertium.web.schema import Settings


@dataclass(frozen=True)
class Loaded:
    """A model for each kind that measures need. Clients cannot request others."""

    translation: TranslationModel
    tokens: TextEncoder
    sentences: SentenceEncoder

    def __post_init__(self) -> None:
        if not isinstance(self.tokens, TextEncoder):
            raise SettingError(
                f"{self.tokens.name} has no token vectors",
                cure="use it as {sentence_encoder}, and another one as {encoder}",
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
        self,
        names: Sequence[str],
        settings: Mapping[str, object],
        call: Call,
        lang: str | None = None,
    ) -> list[Measure]:
        """Make measures; a setting goes to those that have it, and one that none has is refused.

        ``lang`` is the language of all hypotheses, from which BLEU takes its tokenizer.
        """
        specs = read_specs(names, given=settings)
        for spec in specs:
            if spec.model is not None:
                raise SettingError(f"{spec}: the server chooses the model; leave out @{spec.model}")
            check_settings(spec.settings)
        return [
            make_measure(spec, lambda kind, *_: self._view(kind, call), lang=lang) for spec in specs
        ]

    def encoder(self, call: Call) -> BatchedEncoder:
        """The encoder of tokens."""
        return BatchedEncoder(self.models.tokens, self.batchers["tokens"], call)

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


def check_settings(settings: Mapping[str, object]) -> None:
    """Refuse settings in the name of a measure that a request may not have otherwise.

    >>> check_settings({"baseline": "/etc/passwd"})
    Traceback (most recent call last):
    ...
    tertium.errors.SettingError: the setting baseline cannot be used on a server
    """
    for name, value in settings.items():
        if name not in Settings.model_fields:
            raise SettingError(f"the setting {name} cannot be used on a server")
        try:
            Settings.model_validate({name: list(value) if isinstance(value, tuple) else value})
        except ValidationError as error:
            raise SettingError(f"{name}={value}: {error.errors()[0]['msg']}") from None
