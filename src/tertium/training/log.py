"""The log of a training run, and the learning curve drawn from it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from tertium.data.lines import read_lines
from tertium.errors import InputError

LOG = "log.jsonl"
DIGITS = {"dev": 4, "chrf": 2, "retrieval": 4, "contrast": 4}
Points = tuple[list[int], list[float]]


class Log:
    """Writes one JSON object per line; ``unit`` is what losses are a mean over."""

    def __init__(self, stream: TextIO, unit: str) -> None:
        self._stream = stream
        self._unit = unit
        self._loss, self._count, self._since = 0.0, 0, time.monotonic()

    def write_resumed(self, step: int) -> None:
        """Record that the run was resumed after ``step``; later steps before this line are void."""
        self._write(step=step, resumed=True)

    def add(self, loss: float, count: int) -> None:
        """Add the summed loss of an update over ``count`` units."""
        self._loss += loss
        self._count += count

    def write(self, step: int, *, rate: float) -> None:
        """Write the mean training loss (with smoothing) since the last line, and the speed."""
        seconds = time.monotonic() - self._since
        self._write(
            step=step,
            rate=round(rate, 8),
            loss=round(self._loss / max(1, self._count), 4),
            **{
                self._unit: self._count,
                f"{self._unit}_per_second": round(self._count / max(seconds, 1e-9), 1),
            },
        )
        self._loss, self._count, self._since = 0.0, 0, time.monotonic()

    def write_evaluation(self, step: int, evaluation: Mapping[str, Mapping[str, float]]) -> None:
        """Write the scores of an evaluation, whose time does not count in the speed."""
        self._write(
            step=step,
            **{
                kind: {name: round(score, DIGITS[kind]) for name, score in scores.items()}
                for kind, scores in evaluation.items()
            },
        )
        self._since = time.monotonic() if self._count == 0 else self._since

    def _write(self, **record: object) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        self._stream.write(json.dumps({"time": now, **record}, ensure_ascii=False) + "\n")
        self._stream.flush()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Read a log; of steps that were repeated after an interruption, the last record counts."""
    records: list[dict[str, Any]] = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            record = json.loads(line)
        except ValueError:
            raise InputError(
                f"{path}, line {number} is not JSON; give the {LOG} of a training run"
            ) from None
        if record.get("resumed"):
            records = [earlier for earlier in records if earlier["step"] <= record["step"]]
        else:
            records.append(record)
    return records


def curve_points(records: Sequence[dict[str, Any]]) -> dict[str, Points]:
    """Return steps and values of the training loss and of each development score.

    >>> curve_points([{"step": 5, "loss": 2.0}, {"step": 10, "dev": {"de-en": 1.5}}])
    {'training': ([5], [2.0]), 'de-en': ([10], [1.5])}
    """
    points: dict[str, Points] = {}
    for record in records:
        scores = {"training": record["loss"]} if "loss" in record else record.get("dev", {})
        for name, score in scores.items():
            steps, values = points.setdefault(name, ([], []))
            steps.append(record["step"])
            values.append(score)
    return points


def draw_curve(log: Path, out: Path) -> None:
    """Draw the losses of a log, and beside them the accuracies if there are any.

    For a detector this is figure 3 of Shankar (2020).
    """
    from matplotlib.figure import Figure

    from tertium.report.plots import SUFFIXES, save_figure

    points = curve_points(read_log(log))
    if not points:
        raise InputError(f"{log} has no losses yet")
    accuracies = "accuracy" in points
    figure = Figure(figsize=(8, 3.6 if accuracies else 5), layout="constrained")
    panels = figure.subplots(1, 1 + accuracies, squeeze=False)[0]
    for name, (steps, values) in points.items():
        panels[0 if name == "training" else -1].plot(
            steps,
            values,
            label="all languages" if name == "accuracy" else name,
            linewidth=2 if name in ("training", "translation", "accuracy") else 0.8,
            marker="." if accuracies and name != "training" else None,
        )
    panels[0].set_ylabel("cross-entropy, training" if accuracies else "nats per token")
    if accuracies:
        panels[-1].set_ylabel("accuracy, validation")
    for axes in panels:
        axes.set_xlabel("step")
        axes.grid(alpha=0.3)
    panels[-1].legend(fontsize="x-small", ncols=2)
    if out.suffix in SUFFIXES:
        save_figure(figure, out)  # the same bytes every time
    else:
        figure.savefig(out)
