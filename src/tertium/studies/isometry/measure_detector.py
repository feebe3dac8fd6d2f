"""Any measure as a detector: a threshold learnt on validation pairs, one per language."""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from tertium.data.datasets.base import LabelledPair
from tertium.errors import CutWarning, LanguageError, SettingError
from tertium.measures.base import CUT_REASON
from tertium.measures.loading import MeasureSpec, ModelSource
from tertium.models.base import Detections, Languages, Progress, per_row
from tertium.stats.arrays import Floats
from tertium.stats.classification import best_threshold
from tertium.studies.runner import SharedModels, Similarity
from tertium.text import Text

STEEPEST, FLATTEST = 1e-3, 1e2
"""The range of the scale, in standard deviations of the scores."""
PRECISION = 1e-9


@dataclass(frozen=True)
class Calibration:
    """From scores to probabilities: a logistic curve, above 0.5 for scores above the threshold."""

    threshold: float
    scale: float
    accuracy: float
    """On the validation pairs."""

    def __call__(self, scores: ArrayLike) -> Floats:
        """P(paraphrase) of scores.

        >>> Calibration(0.5, 0.1, 1.0)([0.4, 0.5, 0.6]).round(3).tolist()
        [0.269, 0.5, 0.731]
        """
        values = np.asarray(scores, dtype=np.float64)
        found: Floats = np.exp(_log_logistic((values - self.threshold) / self.scale))
        # 0.5 is reached strictly above the threshold, so that S is what the threshold decides.
        below = np.minimum(found, np.nextafter(0.5, 0))
        probabilities: Floats = np.where(values > self.threshold, np.maximum(found, 0.5), below)
        return probabilities


def calibrate(labels: ArrayLike, scores: ArrayLike) -> Calibration:
    """Learn the threshold with the best accuracy, then the scale with the best likelihood.

    >>> calibrate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).threshold
    0.4
    """
    found = best_threshold(labels, scores)
    values = np.asarray(scores, dtype=np.float64)
    signs = np.where(np.asarray(labels, dtype=np.float64) > 0, 1.0, -1.0)
    # If it is best to call nothing a paraphrase, the threshold is what no score was above.
    threshold = found.value if np.isfinite(found.value) else float(values.max())
    spread = float(values.std()) or 1.0

    def loss(log_scale: float) -> float:
        return -float(_log_logistic(signs * (values - threshold) / np.exp(log_scale)).mean())

    bounds = (np.log(spread * STEEPEST), np.log(spread * FLATTEST))
    return Calibration(threshold, math.exp(_minimum(loss, *bounds)), found.accuracy)


def _log_logistic(values: Floats) -> Floats:
    return np.asarray(-np.logaddexp(0, -values))


def _minimum(loss: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one minimum has it, by golden-section search.

    >>> round(_minimum(lambda x: (x - 2) ** 2, 0, 5), 6)
    2.0
    """
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    left_loss, right_loss = loss(left), loss(right)
    while high - low > PRECISION:
        if left_loss < right_loss:
            high, right, right_loss = right, left, left_loss
            left = high - ratio * (high - low)
            left_loss = loss(left)
        else:
            low, left, left_loss = left, right, right_loss
            right = low + ratio * (high - low)
            right_loss = loss(right)
    return (low + high) / 2


@dataclass(frozen=True)
class MeasureDetector:
    """A measure with its learnt thresholds; the order of the texts does not matter."""

    spec: MeasureSpec
    similarities: Mapping[str, Similarity]
    calibrations: Mapping[str, Calibration]
    """By language, as the similarities are."""

    @property
    def name(self) -> str:
        return str(self.spec)

    @property
    def fingerprint(self) -> str:
        """A hash of the measure and of its calibrations."""
        learnt = {lang: asdict(each) for lang, each in self.calibrations.items()}
        signed = {lang: each.signature for lang, each in self.similarities.items()}
        spelled = json.dumps([str(self.spec), signed, learnt], sort_keys=True)
        return hashlib.sha256(spelled.encode()).hexdigest()

    @property
    def accuracies(self) -> Mapping[str, float]:
        """The accuracy on the validation pairs, by language."""
        return {lang: each.accuracy for lang, each in self.calibrations.items()}

    @property
    def settings(self) -> Mapping[str, str]:
        thresholds = {lang: f"{each.threshold:.6g}" for lang, each in self.calibrations.items()}
        return {"orders": "both", **{f"threshold-{lang}": t for lang, t in thresholds.items()}}

    def detect(
        self,
        first: Sequence[str],
        second: Sequence[str],
        *,
        lang: Languages = None,
        progress: Progress | None = None,
    ) -> Detections:
        """Judge each pair by the threshold of its language."""
        langs = per_row(lang, len(first))
        probabilities = np.zeros(len(first))
        cut = np.zeros(len(first), dtype=np.bool_)
        for code in dict.fromkeys(langs):
            places = [place for place, own in enumerate(langs) if own == code]
            known = self._known(code)
            pairs = [(Text(first[place], known), Text(second[place], known)) for place in places]
            found = self.similarities[known].segments(pairs, progress)
            probabilities[places] = self.calibrations[known](found.scores)
            cut[places] = found.cut
        return Detections(tuple(probabilities.tolist()), tuple(cut.tolist()))

    def _known(self, lang: str | None) -> str:
        if lang is None and len(self.calibrations) == 1:
            return next(iter(self.calibrations))
        if lang is None or lang not in self.calibrations:
            raise LanguageError(
                f"{self.name} has no threshold for {lang or 'texts of unknown language'}: "
                f"only for {', '.join(self.calibrations)}; give validation pairs in it"
            )
        return lang


def learn_detector(
    spec: MeasureSpec,
    validation: Mapping[str, Sequence[LabelledPair]],
    *,
    models: ModelSource | None = None,
    progress: Progress | None = None,
) -> MeasureDetector:
    """Learn a threshold for each language of the validation pairs.

    >>> from tertium.text import Text
    >>> pairs = [LabelledPair("1", Text("a cat"), Text("a cat"), True),
    ...          LabelledPair("2", Text("a cat"), Text("no dog"), False)]
    >>> detector = learn_detector(MeasureSpec("chrf"), {"en": pairs})
    >>> [p > 0.5 for p in detector.detect(["tea"], ["tea"], lang="en").probabilities]
    [True]
    """
    if not validation:
        raise SettingError(f"{spec} needs validation pairs to learn a threshold from")
    similarities, calibrations = {}, {}
    for lang, pairs in validation.items():
        similarity = Similarity.make(spec, SharedModels() if models is None else models, lang)
        if similarity.needs_all_rows:
            raise SettingError(f"{spec} cannot be a detector: its scores depend on the other pairs")
        texts = [(Text(pair.a.text, lang), Text(pair.b.text, lang)) for pair in pairs]
        result = similarity.segments(texts, progress)
        if any(result.cut):
            text = f"{spec}: {sum(result.cut)} of {len(texts)} validation pairs {CUT_REASON}"
            warnings.warn(text, CutWarning, stacklevel=2)
        calibrations[lang] = calibrate([pair.label for pair in pairs], result.scores)
        similarities[lang] = similarity
    return MeasureDetector(spec, similarities, calibrations)
