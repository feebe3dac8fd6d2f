"""Models as one request sees them: same protocols, and every question goes into the line."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from tertium.models.base import (
    Alternative,
    Languages,
    Progress,
    SentenceEncoder,
    SentenceVectors,
    SuggestingModel,
    TextEncoder,
    TokenScores,
    TokenVectors,
    Translation,
    TranslationModel,
    per_row,
)
from tertium.models.proxy import ModelProxy
from tertium.web.batching import Call, Engine, Gatherer, estimated_tokens


def translation_engine(model: TranslationModel) -> Engine:
    """Answer the gathered questions of many :class:`GatheredModel`."""

    def answer(operation: Hashable, questions: Sequence[Any]) -> Sequence[Any]:
        match operation:
            case "log_probs":
                targets, sources, target_langs, source_langs = zip(*questions, strict=True)
                return model.log_probs(
                    targets, sources, target_lang=target_langs, source_lang=source_langs
                )
            case ("translate", int(beam_size)):
                sources, target_langs, source_langs = zip(*questions, strict=True)
                return model.translate(
                    sources,
                    target_lang=target_langs,
                    source_lang=source_langs,
                    beam_size=beam_size,
                )
            case ("alternatives", int(count)) if isinstance(model, SuggestingModel):
                return [
                    model.alternatives(
                        target,
                        source,
                        places,
                        target_lang=target_lang,
                        source_lang=source_lang,
                        count=count,
                    )
                    for target, source, places, target_lang, source_lang in questions
                ]
        raise ValueError(f"a translation model does not know {operation!r}")

    return answer


def encoder_engine(encoder: SentenceEncoder) -> Engine:
    """Answer the gathered questions of many :class:`GatheredEncoder`."""

    def answer(operation: Hashable, questions: Sequence[Any]) -> Sequence[Any]:
        texts, langs = zip(*questions, strict=True)
        if operation == "token_vectors" and isinstance(encoder, TextEncoder):
            return encoder.token_vectors(texts, lang=langs)
        found = encoder.sentence_vectors(texts, lang=langs)
        return list(zip(found.vectors, found.cut, strict=True))

    return answer


class GatheredModel(ModelProxy):
    """A translation model for the length of one call."""

    def __init__(self, model: TranslationModel, gatherer: Gatherer, call: Call) -> None:
        super().__init__(model)
        self._gatherer = gatherer
        self._call = call

    def log_probs(
        self,
        targets: Sequence[str],
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        count = len(targets)
        questions = list(
            zip(
                targets,
                sources,
                per_row(target_lang, count),
                per_row(source_lang, count),
                strict=True,
            )
        )
        tokens = [estimated_tokens(target, source) for target, source, *_ in questions]
        return self._gatherer.ask("log_probs", questions, tokens, self._call)

    def translate(
        self,
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        beam_size: int = 5,
        progress: Progress | None = None,
    ) -> list[Translation]:
        count = len(sources)
        questions = list(
            zip(sources, per_row(target_lang, count), per_row(source_lang, count), strict=True)
        )
        tokens = [estimated_tokens(source) for source in sources]
        return self._gatherer.ask(("translate", beam_size), questions, tokens, self._call)

    def alternatives(
        self,
        target: str,
        source: str,
        places: Sequence[int],
        *,
        target_lang: str,
        source_lang: str | None = None,
        count: int = 3,
    ) -> list[list[Alternative]]:
        """What the model would rather have said; nothing where it cannot tell."""
        if not isinstance(self.model, SuggestingModel):
            return [[] for _ in places]
        question = (target, source, tuple(places), target_lang, source_lang)
        tokens = [estimated_tokens(target, source)]
        [found] = self._gatherer.ask(("alternatives", count), [question], tokens, self._call)
        return list(found)


class GatheredEncoder:
    """An encoder for the length of one call."""

    def __init__(self, encoder: SentenceEncoder, gatherer: Gatherer, call: Call) -> None:
        self.encoder = encoder
        self._gatherer = gatherer
        self._call = call

    @property
    def name(self) -> str:
        return self.encoder.name

    @property
    def fingerprint(self) -> str:
        return self.encoder.fingerprint

    @property
    def settings(self) -> Mapping[str, str]:
        return self.encoder.settings

    def token_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> list[TokenVectors]:
        return self._ask("token_vectors", texts, lang)

    def sentence_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> SentenceVectors:
        import numpy as np

        found = self._ask("sentence_vectors", texts, lang)
        return SentenceVectors(
            np.array([vector for vector, _ in found], dtype=np.float32),
            tuple(cut for _, cut in found),
        )

    def _ask(self, operation: str, texts: Sequence[str], lang: Languages) -> list[Any]:
        questions = list(zip(texts, per_row(lang, len(texts)), strict=True))
        tokens = [estimated_tokens(text) for text in texts]
        return self._gatherer.ask(operation, questions, tokens, self._call)
