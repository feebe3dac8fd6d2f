"""Paraphrase detectors: an encoder with a classification head, and combinations of detectors.

The encoder runs in CTranslate2 and the head in numpy, so that PyTorch is not needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tertium.data.records import counted
from tertium.errors import InputError, LanguageError
from tertium.models.base import (
    Detections,
    Languages,
    ParaphraseDetector,
    Progress,
    per_row,
)
from tertium.models.card import HEAD, TOKENIZER, DetectorCard, DetectorSettings, FromCard
from tertium.models.encoders.model import CTranslate2Encoder, Rows, TypeIds
from tertium.models.encoders.pooling import Pooling, read_dense_layers
from tertium.models.encoders.reading import JsonReader, Reading
from tertium.models.engine import ComputeType


class EncoderDetector(FromCard[DetectorSettings]):
    """A detector loaded from a folder; P(paraphrase) is the softmax over the classes."""

    def __init__(
        self,
        card: DetectorCard,
        *,
        compute_type: ComputeType = "auto",
        threads: int | None = None,
    ) -> None:
        settings = card.settings
        self.card = card
        self._positive = settings.positive
        self._head = read_dense_layers(card.path / HEAD, settings.activations)
        self._reader = JsonReader(
            card.path / TOKENIZER, settings.max_length, lowercase=settings.lowercase
        )
        kinds: TypeIds | None = "segments" if settings.types else None
        self._encoder = CTranslate2Encoder(
            card,
            self._reader,
            Pooling(("cls",)),
            layer=settings.layers,
            types="positions" if settings.family == "mpnet" else kinds,
            compute_type=compute_type,
            threads=threads,
        )
        engine = self._encoder.settings
        self._settings = {
            "max_length": str(settings.max_length),
            "precision": engine["precision"],
            "engine": engine["engine"],
        }

    def detect(
        self,
        first: Sequence[str],
        second: Sequence[str],
        *,
        lang: Languages = None,
        progress: Progress | None = None,
    ) -> Detections:
        """Judge each pair in the given order; the language is ignored."""
        check_pairs(first, second)
        readings = self._reader.read_pairs(first, second)
        probabilities = self._encoder.encode(readings, self._classify, progress)
        return Detections(
            tuple(probabilities[reading.ids] for reading in readings),
            tuple(reading.cut for reading in readings),
        )

    def _classify(self, reading: Reading, rows: Rows) -> float:
        vector = rows[0]
        for layer in self._head:
            vector = layer(vector)
        powers = np.exp((vector - vector.max()).astype(np.float64))
        return float(powers[self._positive] / powers.sum())


@dataclass(frozen=True)
class Commutative:
    """Averages a detector over both orders of the texts.

    The output of a network that reads two texts as one sequence depends on their order.
    """

    detector: ParaphraseDetector

    @property
    def name(self) -> str:
        return self.detector.name

    @property
    def fingerprint(self) -> str:
        return self.detector.fingerprint

    @property
    def settings(self) -> Mapping[str, str]:
        return {**self.detector.settings, "orders": "both"}

    def detect(
        self,
        first: Sequence[str],
        second: Sequence[str],
        *,
        lang: Languages = None,
        progress: Progress | None = None,
    ) -> Detections:
        """Judge each pair in both orders."""
        one = self.detector.detect(first, second, lang=lang, progress=progress)
        two = self.detector.detect(second, first, lang=lang, progress=progress)
        both = zip(one.probabilities, two.probabilities, strict=True)
        return Detections(
            tuple((a + b) / 2 for a, b in both),
            tuple(a or b for a, b in zip(one.cut, two.cut, strict=True)),
        )


@dataclass(frozen=True)
class ByLanguage:
    """One detector per language, if no detector supports all of them."""

    detectors: Mapping[str, ParaphraseDetector]

    @property
    def name(self) -> str:
        return ",".join(f"{lang}={each.name}" for lang, each in self.detectors.items())

    @property
    def fingerprint(self) -> str:
        return ",".join(f"{lang}={each.fingerprint}" for lang, each in self.detectors.items())

    @property
    def settings(self) -> Mapping[str, str]:
        return {
            f"{lang}-{name}": value
            for lang, each in self.detectors.items()
            for name, value in each.settings.items()
        }

    def detect(
        self,
        first: Sequence[str],
        second: Sequence[str],
        *,
        lang: Languages = None,
        progress: Progress | None = None,
    ) -> Detections:
        """Judge each pair by the detector of its language."""
        check_pairs(first, second)
        langs = per_row(lang, len(first))
        probabilities, cut = [0.0] * len(first), [False] * len(first)
        for code in dict.fromkeys(langs):
            if code is None or code not in self.detectors:
                raise LanguageError(
                    f"no detector for {code or 'texts of unknown language'}; available: "
                    f"{', '.join(self.detectors)}"
                )
            places = [place for place, lang_ in enumerate(langs) if lang_ == code]
            result = self.detectors[code].detect(
                [first[place] for place in places],
                [second[place] for place in places],
                lang=code,
                progress=progress,
            )
            for place, p, shortened in zip(places, result.probabilities, result.cut, strict=True):
                probabilities[place], cut[place] = p, shortened
        return Detections(tuple(probabilities), tuple(cut))


@lru_cache(maxsize=4)
def detector_of(
    card: DetectorCard,  # has the fingerprint: an overwritten folder is another detector
    compute_type: ComputeType,
    threads: int | None,
) -> EncoderDetector:
    """The detector in a folder; the last few stay loaded."""
    return EncoderDetector(card, compute_type=compute_type, threads=threads)


def check_pairs(first: Sequence[str], second: Sequence[str]) -> None:
    """Check that two lists of texts have the same length."""
    if isinstance(first, str) or isinstance(second, str):
        raise InputError("give two lists of texts, not a string")
    if len(first) != len(second):
        texts = counted(len(first), "first text")
        raise InputError(f"{texts}, but {counted(len(second), 'second text')}")
