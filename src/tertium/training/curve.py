"""The learning curve: how the losses of a run fell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tertium.errors import InputError
from tertium.training.log import read_log

Points = tuple[list[int], list[float]]


def curve_points(records: Sequence[dict[str, Any]]) -> dict[str, Points]:
    """Steps and losses: in training (with smoothing), and for each development direction.

    >>> curve_points([{"step": 5, "loss": 2.0}, {"step": 10, "dev": {"de-en": 1.5}}])
    {'training': ([5], [2.0]), 'de-en': ([10], [1.5])}
    """
    points: dict[str, Points] = {}
    for record in records:
        losses = {"training": record["loss"]} if "loss" in record else record.get("dev", {})
        for name, loss in losses.items():
            steps, values = points.setdefault(name, ([], []))
            steps.append(record["step"])
            values.append(loss)
    return points


def draw_curve(log: Path, out: Path) -> None:
    """Draw the curve of a log; ``out`` is of the kind that its suffix says."""
    from matplotlib.figure import Figure

    points = curve_points(read_log(log))
    if not points:
        raise InputError(f"{log} has no losses yet")
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for name, (steps, losses) in points.items():
        whole = name in ("training", "translation")
        axes.plot(steps, losses, label=name, linewidth=2 if whole else 0.8)
    axes.set_xlabel("step")
    axes.set_ylabel("nats a piece")
    axes.legend(fontsize="x-small", ncols=2)
    figure.savefig(out)
