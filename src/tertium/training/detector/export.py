"""Results of a finished run: a detector folder, and a table of macro-F1 by language."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tertium.data.datasets.base import LabelledPair
from tertium.data.datasets.plain import read_pairs
from tertium.errors import ResumeError
from tertium.models.base import ParaphraseDetector
from tertium.models.card import DetectorCard
from tertium.models.convert.detector import convert_detector
from tertium.report.tables import Cell, Table
from tertium.stats.classification import accuracy, macro_f1
from tertium.training.detector.network import save_classifier
from tertium.training.detector.plan import DetectorPlan, Files
from tertium.training.detector.run import best_network
from tertium.training.plan import read_plan

HUGGING_FACE, DETECTOR = "hugging-face", "detector"


def export_detector(run: Path, *, name: str | None = None) -> DetectorCard:
    """Write the best checkpoint as a Hugging Face folder and as a detector that Tertium loads."""
    plan = read_plan(run, DetectorPlan)
    if plan is None:
        raise ResumeError(f"{run} is not a training run yet")
    for old in (HUGGING_FACE, DETECTOR):
        shutil.rmtree(run / old, ignore_errors=True)
    save_classifier(best_network(run, plan), run, run / HUGGING_FACE)
    return convert_detector(
        run / HUGGING_FACE,
        run / DETECTOR,
        name=name or run.resolve().name,
        max_length=plan.recipe.max_tokens,
        origin=f"trained from {plan.init or 'random weights'}",
    )


def languages_table(
    detector: ParaphraseDetector, files: Files, *, both_orders: ParaphraseDetector | None = None
) -> Table:
    """Return macro-F1, accuracy and the share of the larger class in each language (table 1)."""
    rows, scores = [], []
    for lang, file in files:
        pairs = read_pairs(Path(file), lang=lang)
        truth = np.array([pair.label for pair in pairs])
        predicted = _decisions(detector, pairs, lang)
        share = float(truth.mean())
        row = [macro_f1(truth, predicted), accuracy(truth, predicted), max(share, 1 - share)]
        if both_orders is not None:
            row.append(macro_f1(truth, _decisions(both_orders, pairs, lang)))
        scores.append(row)
        rows.append([Cell(lang), Cell(len(pairs)), *(Cell(value, ".3f") for value in row)])
    if len(scores) > 1:
        means = np.mean(scores, axis=0).tolist()
        rows.append([Cell("mean"), Cell(None), *(Cell(value, ".3f") for value in means)])
    header = ["language", "pairs", "macro-F1", "accuracy", "larger class"]
    header += ["macro-F1, both orders"] if both_orders is not None else []
    return Table(header, rows, f"Paraphrase detection by {detector.name}")


def _decisions(
    detector: ParaphraseDetector, pairs: Sequence[LabelledPair], lang: str
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    detection = detector.detect(
        [pair.a.text for pair in pairs], [pair.b.text for pair in pairs], lang=lang
    )
    return np.asarray(np.array(detection.probabilities) >= 0.5)
