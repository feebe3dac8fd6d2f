"""Compare a Marian model in Tertium with the same model in transformers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from tertium.models.base import TranslationModel, make_queries
from tertium.models.card import TranslationCard, read_vocabulary
from tertium.models.tokenizer import open_tokenizer

BEAM_SIZE = 5


@dataclass(frozen=True)
class Agreement:
    """The result of a comparison on a number of sentences."""

    sentences: int
    same_source_tokens: int
    same_target_tokens: int
    same_translations: int
    largest_log_prob_difference: float
    """Of a token of our translation, in float32, given its source."""
    largest_int8_difference: float
    """In H, between int8 and float32."""
    mean_int8_difference: float

    def __str__(self) -> str:
        rows = []
        for field in fields(self):
            value = getattr(self, field.name)
            shown = f"{value:.2g}" if isinstance(value, float) else str(value)
            rows.append(f"| {field.name.replace('_', ' ')} | {shown} |")
        return "\n".join(["| | |", "|---|---|", *rows])


class Original:
    """The model in transformers: one sentence at a time, so that nothing is padded.

    Marian has no padding token. Transformers adds one, with zero weights, and gives it the
    probability of a zero logit; here it has none.
    """

    def __init__(self, folder: Path) -> None:
        import torch
        from transformers import MarianMTModel, MarianTokenizer

        torch.set_num_threads(1)
        self.tokenizer: Any = MarianTokenizer.from_pretrained(folder)
        self.model: Any = MarianMTModel.from_pretrained(folder, dtype="float32").eval()
        self.pad: int = self.tokenizer.pad_token_id

    def source_ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text)["input_ids"])

    def target_ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text_target=text)["input_ids"])

    def log_probs(self, target: str, source: str) -> np.ndarray:
        import torch

        labels = self.target_ids(target)
        with torch.no_grad():
            logits = self.model(
                input_ids=torch.tensor([self.source_ids(source)]),
                decoder_input_ids=torch.tensor([[self.pad, *labels[:-1]]]),
            ).logits[0]
        logits[:, self.pad] = -torch.inf
        return np.array(torch.log_softmax(logits, dim=-1)[range(len(labels)), labels])

    def translate(self, source: str) -> str:
        import torch

        [output] = self.model.generate(
            input_ids=torch.tensor([self.source_ids(source)]),
            num_beams=BEAM_SIZE,
            bad_words_ids=[[self.pad]],
            renormalize_logits=True,
        )
        return str(self.tokenizer.decode(output, skip_special_tokens=True))


def compare(
    original: Original,
    folder: TranslationCard,
    exact: TranslationModel,
    int8: TranslationModel,
    sentences: Sequence[str],
) -> Agreement:
    """Compare the original with Tertium in float32 and in int8, on the same sentences."""
    [source], [target] = folder.settings.languages.source, folder.settings.languages.target
    translations = exact.translate(
        sentences, source_lang=source, target_lang=target, beam_size=BEAM_SIZE
    )
    ours = [translation.text for translation in translations]
    scores = exact.log_probs(make_queries(ours, sentences, source_lang=source, target_lang=target))
    int8_scores = int8.log_probs(
        make_queries(ours, sentences, source_lang=source, target_lang=target)
    )
    ids = {token: id_ for id_, token in enumerate(read_vocabulary(folder, "target"))}
    tokenizer = open_tokenizer(folder.path / folder.settings.source_tokenizer)
    source_tokens = tokenizer.encode(sentences)

    def ids_of(tokens: Sequence[str]) -> list[int]:
        return [ids.get(token, ids["<unk>"]) for token in tokens]

    same_target, differences = 0, [0.0]
    for text, sentence, score in zip(ours, sentences, scores, strict=True):
        if ids_of(score.tokens) == original.target_ids(text):
            same_target += 1
            expected = original.log_probs(text, sentence)
            differences.append(float(np.max(np.abs(expected - score.log_probs))))
    int8_differences = [abs(a.H - b.H) for a, b in zip(scores, int8_scores, strict=True)]
    return Agreement(
        sentences=len(sentences),
        same_source_tokens=sum(
            [*ids_of(tokens), ids["</s>"]] == original.source_ids(text)
            for text, tokens in zip(sentences, source_tokens, strict=True)
        ),
        same_target_tokens=same_target,
        same_translations=sum(
            text == original.translate(sentence)
            for text, sentence in zip(ours, sentences, strict=True)
        ),
        largest_log_prob_difference=max(differences),
        largest_int8_difference=max(int8_differences),
        mean_int8_difference=float(np.mean(int8_differences)),
    )
