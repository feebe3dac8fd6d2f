"""Measures with a causal language model: fluency, and likelihood after a prompt.

Fluency is the language model of Thompson and Post, "Automatic Machine Translation Evaluation in
Many Languages via Zero-Shot Paraphrasing" (2020), section 4.3. Likelihood after a prompt has the
formulas of Prism and of BARTScore (Yuan, Neubig and Liu, 2021, equation 2), where the language
model takes the place of a model with an encoder.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import ClassVar, Literal

from tertium.data.codes import english_name
from tertium.errors import LanguageError, SettingError
from tertium.measures.base import (
    Measure,
    Segments,
    Texts,
    percent,
)
from tertium.measures.references import SEVERAL_REFERENCES, over_references
from tertium.measures.registry import measure
from tertium.measures.settings import setting
from tertium.measures.totals import FINGERPRINT_DIGITS
from tertium.models.base import LanguageModel, Progress, TokenScores
from tertium.text import Row, Text

PLACEHOLDER = re.compile(r"\{(\w*)\}")


@dataclass(frozen=True)
class LanguageMeasure(Measure):
    """What the measures with a language model share."""

    model_kind = "language"
    bounds = (-math.inf, 0.0)
    model: LanguageModel
    _: KW_ONLY
    aggregate: Literal["H", "G"] = setting(
        "H", "H: mean log-probability of the tokens. G: their sum, which depends on the length."
    )
    """H, the mean token log-probability, or G, the log-probability of the sequence."""
    end: bool = setting(False, "Whether the end token counts.", served=False)
    """Whether the end token counts. Most models read documents, where few sentences are the last
    one. Without tokens of its own, a text has the probability of the end token."""

    def value(self, scores: TokenScores) -> float:
        """H or G of a text, with the end token or without."""
        log_probs = scores.log_probs
        if not self.end and not scores.target_cut and len(log_probs) > 1:
            log_probs = log_probs[:-1]
        G = sum(log_probs)
        return G / len(log_probs) if self.aggregate == "H" else G

    def choices(self) -> Mapping[str, object]:
        own = {
            setting.name: getattr(self, setting.name)
            for setting in fields(self)
            if setting.name not in ("model", "against")
        }
        return {
            "model": self.model.name,
            "fingerprint": self.model.fingerprint[:FINGERPRINT_DIGITS],
            **own,
            **self.model.settings,
        }


@measure
@dataclass(frozen=True)
class Fluency(LanguageMeasure):
    """H(sys), the mean log-probability of the hypothesis alone, or G(sys)."""

    name = "lm"
    summary = "Mean log-probability of the hypothesis under a causal language model: fluency alone."

    alone = True

    def reading(self, score: float) -> str:
        return f"a token has a probability of {percent(math.exp(score))} on average"

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        found = self.model.text_log_probs([row.hypothesis.text for row in rows], progress=progress)
        scores = [self.value(each) for each in found]
        return Segments(scores, [(score, 1.0) for score in scores], [each.cut for each in found])


@dataclass(frozen=True, kw_only=True)
class PromptedLikelihood(LanguageMeasure):
    """The probability of a text after a prompt that holds the text that it is compared with."""

    placeholder: ClassVar[str]
    template: str = ""
    """The prompt. {lang} and {source_lang} are the English names of the languages of the text
    after the prompt and of the text in it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        template = self.template.replace("\\n", "\n")  # as it is written in a shell
        object.__setattr__(self, "template", template)
        known = (self.placeholder, "lang", "source_lang")
        names = PLACEHOLDER.findall(template)
        for name in names:
            if name not in known:
                raise SettingError(
                    f"template: {{{name}}} is not a placeholder; there are "
                    + ", ".join(f"{{{each}}}" for each in known)
                )
        if self.placeholder not in names:
            raise SettingError(f"template: it must contain {{{self.placeholder}}}")

    def prompt(self, text: Text, other: Text) -> str:
        """The prompt before a text; what is filled in is not read as a template."""
        values = {"lang": text, "source_lang": other}

        def fill(match: re.Match[str]) -> str:
            name = match[1]
            if name == self.placeholder:
                return other.text
            lang = values[name].lang
            if lang is None:
                raise LanguageError(
                    f"the template has {{{name}}}, and this language was not given",
                    cure=("give it with {lang} and {source_lang}", "use another template"),
                )
            return english_name(lang)

        return PLACEHOLDER.sub(fill, self.template)

    def log_p(
        self, A: Texts, B: Texts, rows: Sequence[int], progress: Progress | None
    ) -> tuple[list[float], set[str]]:
        """H(A|B) or G(A|B) of every pair, and the truncated texts."""
        prompts = []
        for text, other, row in zip(A, B, rows, strict=True):
            try:
                prompts.append(self.prompt(text, other))
            except LanguageError as error:
                raise error.at(f"row {row}: {self.name}: ") from None
        found = self.model.text_log_probs(
            [text.text for text in A], prompts=prompts, progress=progress
        )
        cut = set()
        for text, other, scores in zip(A, B, found, strict=True):
            cut |= {text.text} if scores.target_cut else set()
            cut |= {other.text} if scores.source_cut else set()
        return [self.value(scores) for scores in found], cut

    def choices(self) -> Mapping[str, object]:
        written = json.dumps(self.template, ensure_ascii=False)[1:-1].replace("|", "\\u007c")
        return {**super().choices(), "template": written}

    def _numbers(self, rows: Sequence[Row]) -> list[int]:
        """The number of the row of each pair, in the order of :func:`over_references`."""
        return [row.number for row in rows for _ in self.compared(row)]


@measure
@dataclass(frozen=True, kw_only=True)
class LikelihoodFromSource(PromptedLikelihood):
    """H(sys | prompt with src): Prism-src, and BARTScore from source to hypothesis."""

    name = "llm-src"
    summary = "Mean log-probability of the hypothesis after a prompt with the source."
    placeholder = "source"
    against: Literal["source"] = setting("source", "What the hypothesis is compared with.")
    template: str = setting(
        "{source_lang}: {source}\n{lang}: ", "What stands before the hypothesis.", served=False
    )

    def reading(self, score: float) -> str:
        return (
            f"after the source, a token has a probability of {percent(math.exp(score))} on average"
        )

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        numbers = self._numbers(rows)
        return over_references(self, rows, lambda A, B: self.log_p(A, B, numbers, progress), "max")


@measure
@dataclass(frozen=True, kw_only=True)
class LikelihoodFromReference(PromptedLikelihood):
    """(1 - alpha) H(ref | sys) + alpha H(sys | ref), where what is given stands in the prompt.

    With alpha = 1 this is BARTScore's precision, with 0 its recall, with 0.5 its F score and
    Prism-ref.
    """

    name = "llm-ref"
    summary = "Mean log-probability of the hypothesis after a prompt with the reference."
    placeholder = "reference"
    template: str = setting(
        "{reference}\nIn other words: ", "What stands before the hypothesis.", served=False
    )
    references: Literal["max", "mean"] = setting(*SEVERAL_REFERENCES)
    alpha: float = setting(
        1.0,
        "Weight of the hypothesis given the reference; the rest is that of the reference.",
        low=0,
        high=1,
    )
    """The weight of the hypothesis given the reference; the rest is that of the reverse."""

    @property
    def is_symmetric(self) -> bool:
        return self.alpha == 0.5

    def reading(self, score: float) -> str:
        return (
            f"after the other text, a token has a probability of {percent(math.exp(score))} "
            "on average"
        )

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        numbers = self._numbers(rows)

        def compare(A: Texts, B: Texts) -> tuple[list[float], set[str]]:
            if self.alpha == 1.0:
                return self.log_p(A, B, numbers, progress)
            both, cut = self.log_p([*A, *B], [*B, *A], [*numbers, *numbers], progress)
            forth, back = both[: len(A)], both[len(A) :]
            pairs = zip(forth, back, strict=True)
            return [(1 - self.alpha) * ba + self.alpha * ab for ab, ba in pairs], cut

        return over_references(self, rows, compare, self.references)
