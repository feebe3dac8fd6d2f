"""Causal language models run by CTranslate2, and tokens of a prompt and of the text after it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tertium.models.base import Progress, TokenScores
from tertium.models.card import TOKENIZER, FromCard, LanguageCard, LanguageSettings
from tertium.models.engine import BATCH_TOKENS, ComputeType, Device, Engine
from tertium.models.tokenizer import open_tokenizer_json


class PromptTokenizer:
    """A ``tokenizer.json`` that reads a prompt and a text as one string, and says which is which.

    Special tokens of the model that occur in a text are read as ordinary characters.
    """

    def __init__(self, path: Path) -> None:
        self._backend = open_tokenizer_json(path)
        self._backend.no_truncation()
        self._backend.no_padding()
        self._backend.encode_special_tokens = True

    def encode(
        self, prompts: Sequence[str], texts: Sequence[str]
    ) -> list[tuple[list[str], list[str]]]:
        """The tokens of each prompt, and those of the text after it.

        A token that holds the end of the prompt and the beginning of the text (such as a space and
        the first word) belongs to the text.
        """
        joined = [prompt + text for prompt, text in zip(prompts, texts, strict=True)]
        encodings = self._backend.encode_batch(joined, add_special_tokens=False)
        split = []
        for encoding, prompt, text in zip(encodings, prompts, texts, strict=True):
            tokens = encoding.tokens
            first = 0 if not prompt else len(tokens)
            if prompt and text:
                ends = (end for _, end in encoding.offsets)
                first = next((n for n, end in enumerate(ends) if end > len(prompt)), len(tokens))
            split.append((tokens[:first], tokens[first:]))
        return split


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
        self.card = card
        self._engine = Engine(
            "Generator",
            card.path,
            card.name,
            compute_type=compute_type,
            device=device,
            threads=threads,
            batch_tokens=batch_tokens,
        )
        self._settings = self._engine.settings
        self._tokenizer = PromptTokenizer(card.path / TOKENIZER)

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
        settings, engine = self.card.settings, self._engine
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
            futures: list[Any] = engine.backend.score_batch(
                [sequences[index] for index in batch],
                max_input_length=0,  # long texts were truncated above
                asynchronous=True,
            )
            return futures

        def read(index: int, result: Any) -> TokenScores:
            tokens = scored[index]
            return TokenScores(tuple(tokens), tuple(result.log_probs[-len(tokens) :]), *cut[index])

        batches = engine.batches([(len(sequence),) for sequence in sequences], engine.batch_tokens)
        return engine.run("scoring", batches, len(sequences), submit, read, progress)
