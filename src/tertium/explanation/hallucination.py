"""Hallucinations: hypotheses that are as probable given an unrelated source as given their own.

The contrast is that of source-contrastive decoding (Sennrich, Vamvas and Mohammadshahi, 2024,
"Mitigating Hallucinations and Off-target Machine Translation with Source-Contrastive and
Language-Contrastive Decoding"), used to detect instead of to avoid: with unrelated sources S,

    H(a | b) - max over s in S of H(a | s)

is how much the source b explains of the hypothesis a, in nats per token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tertium.explanation.likelihood import forced
from tertium.explanation.spans import A, Span
from tertium.explanation.unrelated import unrelated_sources
from tertium.models.base import Progress, TranslationModel
from tertium.text import Text

HALLUCINATION = "hallucination"
HALLUCINATION_THRESHOLD = -0.25
"""In nats per token: a hypothesis is flagged if an unrelated source explains it this much better
than its own; a negative number means less well."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """H of a hypothesis given its source, and given the best unrelated source."""

    own: float
    unrelated: float

    @property
    def score(self) -> float:
        """How much better an unrelated source explains the hypothesis; higher is worse.

        >>> Contrast(own=-1.0, unrelated=-4.0).score
        -3.0
        """
        return self.unrelated - self.own


def contrasts(
    pairs: Sequence[tuple[Text, Text]], model: TranslationModel, progress: Progress | None = None
) -> list[Contrast]:
    """Compare the source of each hypothesis with unrelated ones; all queries are one batch."""
    sources = [[b, *unrelated_sources(model, a, b)] for a, b in pairs]
    queries = [
        (a, source) for (a, _), tried in zip(pairs, sources, strict=True) for source in tried
    ]
    scores = iter(forced(queries, model, progress))
    found = []
    for tried in sources:
        own, *others = [next(scores).H for _ in tried]
        found.append(Contrast(own, max(others)))
    return found


def hallucinations(
    pairs: Sequence[tuple[Text, Text]],
    model: TranslationModel,
    threshold: float = HALLUCINATION_THRESHOLD,
    *,
    progress: Progress | None = None,
) -> list[list[Span]]:
    """Mark hypotheses that their sources do not explain; the span is the whole hypothesis.

    >>> import tertium
    >>> model = tertium.load_model(cache=False)
    >>> source = Text("I lost my keys.", "en")
    >>> texts = [Text("Ich habe meine Schlüssel verloren.", "de"), Text("Wir essen Brot.", "de")]
    >>> [len(spans) for spans in hallucinations([(text, source) for text in texts], model)]
    [0, 1]
    """
    found: list[list[Span]] = [[] for _ in pairs]
    places = [place for place, (a, b) in enumerate(pairs) if a.text.strip() and b.text.strip()]
    for place, each in zip(
        places, contrasts([pairs[place] for place in places], model, progress), strict=True
    ):
        if each.score >= threshold:
            text = pairs[place][0].text
            span = Span.of(
                text,
                0,
                len(text),
                side=A,
                kind=HALLUCINATION,
                score=each.score,
                severity="major",
                evidence=f"H is {each.own:.2f} given the other text, "
                f"{each.unrelated:.2f} given an unrelated one",
            )
            found[place].append(span)
    return found
