"""What a finished run leaves: a detector folder, a learning curve, and macro-F1 by language."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tertium.data.datasets.base import LabelledPair
from tertium.data.datasets.plain import read_pairs
from tertium.errors import InputError, ResumeError
from tertium.models.base import ParaphraseDetector
from tertium.models.convert.detector import convert_detector
from tertium.models.detectors.folder import DetectorFolder
from tertium.report.plots import blank_figure, save_figure
from tertium.report.tables import Cell, Table
from tertium.stats.classification import accuracy, macro_f1
from tertium.training.curve import curve_points
from tertium.training.detector.network import save_classifier
from tertium.training.detector.plan import Files, read_detector_plan
from tertium.training.detector.run import best_network
from tertium.training.log import read_log

HUGGING_FACE, DETECTOR = "hugging-face", "detector"


def export_detector(run: Path, *, name: str | None = None) -> DetectorFolder:
    """Write the best checkpoint as a Hugging Face folder and as a detector that Tertium loads."""
    plan = read_detector_plan(run)
    if plan is None:
        raise ResumeError(f"{run} is no run yet")
    for old in (HUGGING_FACE, DETECTOR):
        shutil.rmtree(run / old, ignore_errors=True)
    save_classifier(best_network(run, plan), run, run / HUGGING_FACE)
    return convert_detector(
        run / HUGGING_FACE,
        run / DETECTOR,
        name=name or run.resolve().name,
        max_length=plan.recipe.max_pieces,
        origin=f"trained from {plan.init or 'random weights'}",
    )


def languages_table(
    detector: ParaphraseDetector, files: Files, *, both_orders: ParaphraseDetector | None = None
) -> Table:
    """Table 1: macro-F1 and accuracy in each language, and what naming the larger class gives."""
    rows, scores = [], []
    for lang, file in files:
        pairs = read_pairs(Path(file), lang=lang)
        truth = np.array([pair.label for pair in pairs])
        told = _decisions(detector, pairs, lang)
        share = float(truth.mean())
        row = [macro_f1(truth, told), accuracy(truth, told), max(share, 1 - share)]
        if both_orders is not None:
            row.append(macro_f1(truth, _decisions(both_orders, pairs, lang)))
        scores.append(row)
        rows.append([Cell(lang), Cell(len(pairs)), *(Cell(value, ".3f") for value in row)])
    if len(scores) > 1:
        means = np.mean(scores, axis=0).tolist()
        rows.append([Cell("mean"), Cell(None), *(Cell(value, ".3f") for value in means)])
    header = ["language", "pairs", "macro-F1", "accuracy", "larger class"]
    header += ["macro-F1, both orders"] if both_orders is not None else []
    return Table(header, rows, f"Paraphrases found by {detector.name}")


def draw_detector_curve(log: Path, out: Path) -> None:
    """Figure 3: the loss in training and the accuracy on the validation pairs, over the steps."""
    points = curve_points(read_log(log))
    if not points:
        raise InputError(f"{log} has no losses yet")
    figure = blank_figure(8, 3.6, out)
    left, right = figure.subplots(1, 2)
    for name, (steps, values) in points.items():
        if name == "training":
            left.plot(steps, values, linewidth=1.5)
        else:
            whole = name == "accuracy"
            label = "all languages" if whole else name
            right.plot(steps, values, marker=".", label=label, linewidth=2 if whole else 0.8)
    left.set_ylabel("cross-entropy, training")
    right.set_ylabel("accuracy, validation")
    for axes in (left, right):
        axes.set_xlabel("step")
        axes.grid(alpha=0.3)
    if len(points) > 1:
        right.legend(fontsize="small")
    save_figure(figure, out)


def _decisions(
    detector: ParaphraseDetector, pairs: Sequence[LabelledPair], lang: str
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    found = detector.detect(
        [pair.a.text for pair in pairs], [pair.b.text for pair in pairs], lang=lang
    )
    return np.asarray(np.array(found.probabilities) >= 0.5)
