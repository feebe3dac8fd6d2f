"""Causal language models run by CTranslate2 (see :class:`~tertium.models.base.LanguageModel`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tertium.models.base import Progress, TokenScores
from tertium.models.batches import padded_batches, uniform_batches
from tertium.models.card import FromCard, LanguageCard
from tertium.models.engine import (
    ComputeType,
    Device,
    check_engine_settings,
    open_engine,
    run_batches,
)
from tertium.models.language.tokenizer import PromptTokenizer
from tertium.models.settings import TOKENIZER, LanguageSettings
from tertium.models.threads import available_cores

BATCH_TOKENS = 512
"""The logits of a batch are in memory: with 150 000 tokens in the vocabulary, 300 MB per worker."""


class CTranslate2LanguageModel(FromCard[LanguageSettings]):
    """A causal language model run by CTranslate2.

    ``compute_type="auto"`` is float32, whatever the precision of the saved weights.
    """

    def __init__(
        self,
        card: LanguageCard,
        *,
        compute_type: ComputeType = "auto",
        device: Device = "cpu",
        threads: int | None = None,
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        check_engine_settings(compute_type, threads, batch_tokens)
        self.card = card
        self.threads = threads or available_cores()
        self.batch_tokens = batch_tokens
        self._tokenizer = PromptTokenizer(card.path / TOKENIZER)
        self._generator, self._settings = open_engine(
            "Generator",
            card.path,
            compute_type=compute_type,
            device=device,
            threads=self.threads,
        )
        on_cpu = self._generator.device == "cpu"
        self._batches = uniform_batches if on_cpu and compute_type == "int8" else padded_batches
        self._process = os.getpid()
        if not on_cpu:
            self._settings["device"] = f"{self._generator.device}-{batch_tokens}"

    def text_log_probs(
        self,
        texts: Sequence[str],
        *,
        prompts: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        """Score each text after its prompt, token by token, with the end token as the last one.

        A text that is too long is truncated and has no end token. A prompt for which no room is
        left loses its beginning.
        """
        if prompts is not None and len(prompts) != len(texts):
            raise ValueError(f"{len(prompts)} prompts for {len(texts)} texts")
        settings = self.card.settings
        room = settings.max_length - 1  # the start token is read, the end token is not
        sequences, scored, cut = [], [], []
        split = self._tokenizer.encode(prompts or [""] * len(texts), texts)
        for prompt, tokens in split:
            kept = tokens[:room]
            context = prompt[max(0, len(prompt) - (room - len(kept))) :]
            target_cut = len(kept) < len(tokens)
            scored.append(kept if target_cut else [*kept, settings.end])
            cut.append((target_cut, len(context) < len(prompt)))
            sequences.append([settings.start, *context, *scored[-1]])

        def submit(batch: list[int]) -> list[Any]:
            futures: list[Any] = self._generator.score_batch(
                [sequences[index] for index in batch],
                max_input_length=0,  # long texts were truncated above
                asynchronous=True,
            )
            return futures

        def read(index: int, result: Any) -> TokenScores:
            tokens = scored[index]
            return TokenScores(tuple(tokens), tuple(result.log_probs[-len(tokens) :]), *cut[index])

        return run_batches(
            self._batches([(len(sequence),) for sequence in sequences], self.batch_tokens),
            len(sequences),
            submit,
            read,
            task="scoring",
            progress=progress,
            threads=self.threads,
            model=self.name,
            process=self._process,
        )
