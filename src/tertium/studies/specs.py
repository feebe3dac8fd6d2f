"""Symmetric similarity of two texts, from any measure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tertium._version import __version__
from tertium.measures import loading
from tertium.measures.base import Measure, ModelKind, Segments
from tertium.measures.loading import TOKENIZERS as TOKENIZERS
from tertium.measures.loading import ModelPool, ModelSettings, make_measure
from tertium.models.base import Progress
from tertium.text import Row, Text

LAYER = "layer"
ModelLoader = Callable[[ModelKind, str, int | None], Any]


class MeasureSpec(loading.MeasureSpec):
    """A spec that is made with a default model by name."""

    def make(self, lang: str, load_model: ModelLoader, default_model: str) -> Measure:
        return make_measure(
            self,
            lambda kind, name, layer: load_model(kind, name or default_model, layer),
            lang=lang,
        )


def load_any(
    kind: ModelKind, name: str, layer: int | None = None, *, cache: bool = True, **settings: Any
) -> Any:
    return ModelPool(ModelSettings(cache=cache, **settings))(kind, name, layer)


@dataclass(frozen=True)
class Similarity:
    """A measure of two texts whose order does not matter: the mean of both orders.

    So the NMTScore paper uses all measures for paraphrases (sections 2.4 and 4.1). ``forth`` has
    the settings of the first text's language, ``back`` those of the second's.
    """

    forth: Measure
    back: Measure

    def segments(
        self, pairs: Sequence[tuple[Text, Text]], progress: Progress | None = None
    ) -> Segments:
        """Score pairs of texts."""
        rows = [Row(number, a, (b,), b) for number, (a, b) in enumerate(pairs, start=1)]
        one = self.forth.segments(rows, progress)
        if self.forth.is_symmetric:
            return one
        rows = [Row(number, b, (a,), a) for number, (a, b) in enumerate(pairs, start=1)]
        two = self.back.segments(rows, progress)
        return Segments(
            [(x + y) / 2 for x, y in zip(one.scores, two.scores, strict=True)],
            one.statistics,
            [x or y for x, y in zip(one.cut, two.cut, strict=True)],
        )

    @property
    def needs_all_rows(self) -> bool:
        """Whether a score depends on the other pairs that are scored with it."""
        return self.forth.needs_all_rows or self.back.needs_all_rows

    @property
    def signature(self) -> str:
        """Everything that can change a score."""
        described = [measure.description() for measure in (self.forth, self.back)]
        return json.dumps([*described, __version__], sort_keys=True)
