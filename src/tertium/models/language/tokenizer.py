"""Tokens of a prompt and of the text after it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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
