"""The tables and figures of paraphrase identification, as in the NMTScore paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from tertium.errors import InputError
from tertium.measures.loading import MeasureSpec
from tertium.report.plots import RocCurve, heat_map, roc
from tertium.report.tables import Cell, Table
from tertium.stats.arrays import Floats
from tertium.stats.bands import pointwise_band
from tertium.stats.classification import auc, roc_curve, sampled_roc
from tertium.stats.correlation import kendall
from tertium.stats.resampling import combine, percentile_interval
from tertium.studies.columns import Column, agreement_table, finding, with_averages
from tertium.studies.paraphrase_id.study import Results, auc_samples, labels
from tertium.studies.paraphrase_id.tasks import Task
from tertium.studies.published import PUBLISHED, published_table
from tertium.studies.report import Figure, Report

PERCENT = ".1f"
MEASURE = "measure"
RATES = np.linspace(0, 1, 101)
"""Where the band of a ROC curve is computed."""


def paraphrase_report(
    results: Results,
    tasks: Sequence[Task],
    crosslingual: Sequence[Task] = (),
    *,
    correlated: bool = True,
    examples: int = 0,
    compared: tuple[str, str] | None = None,
    published: bool = False,
) -> Report:
    """All tables and figures; ``compared`` names the measures whose disagreements are shown.

    With ``published``, also the numbers of the paper.
    """
    tables: dict[str, Table] = {}
    figures: dict[str, Figure] = {}
    if tasks:
        tables["monolingual"] = accuracy_table(results, tasks, "Paraphrase identification")
    if crosslingual:
        title = "Paraphrase identification across languages (PAWS-X)"
        tables["cross-lingual"] = accuracy_table(results, crosslingual, title)
    if published:
        tables[PUBLISHED] = published_table(
            "paraphrase-id",
            [_column(results, task) for task in [*tasks, *crosslingual]],
            scale=100,
            digits=PERCENT,
        )
    if correlated and len(results.measures) > 1 and tasks:
        found = correlations(results, tasks)
        if len(found.measures) > 1:
            tables["correlations"] = found.table()
            figures["correlations"] = Figure(found.draw, "Kendall's tau-b between the measures")
    ablation = ablation_table(results, tasks) if tasks else None
    if ablation is not None:
        tables["ablation"] = ablation
    for task in results.tasks:
        figures[f"roc-{task.name}"] = Figure(partial(_draw_roc, results, task), f"ROC: {task.name}")
        if (
            examples
            and compared
            and all((task.name, name) in results.outcomes for name in compared)
        ):
            table = disagreements(results, task, *compared, count=examples)
            tables[f"disagreements-{task.name}"] = table
    findings = [
        finding(columns(results, own), f"{title}, percent", scale=100, digits=PERCENT)
        for own, title in ((tasks, "In one language"), (crosslingual, "Across languages"))
        if own
    ]
    lead = (
        "Which measure tells paraphrases from other pairs? Accuracy with a threshold from "
        "validation pairs, or the area under the ROC curve (AUC), in percent; 50 is chance where "
        "both classes are equally frequent."
    )
    return Report("Paraphrase identification", tables, figures, lead=lead, findings=findings)


def columns(results: Results, tasks: Sequence[Task]) -> list[Column]:
    """One column per task, and the averages."""
    return with_averages([(task.group, _column(results, task)) for task in tasks])


def accuracy_table(results: Results, tasks: Sequence[Task], title: str) -> Table:
    """Tables 1 and 2: accuracy, or AUC, in percent; the top significance cluster in bold."""
    return agreement_table(
        columns(results, tasks), title, results.measures, scale=100, digits=PERCENT
    )


def ablation_table(results: Results, tasks: Sequence[Task]) -> Table | None:
    """Table 4: measures with and without normalization; the significantly better one in bold.

    None where no measure was run both ways.
    """
    couples = []
    for measure in results.measures:
        spec = MeasureSpec.parse(measure)
        bare = MeasureSpec(spec.measure, spec.model, {**spec.settings, "normalized": False})
        if "normalized" not in spec.settings and str(bare) in results.measures:
            couples.append((measure, str(bare)))
    if not couples:
        return None
    found = columns(results, tasks)
    rows = []
    for couple in couples:
        tops = [column.top(couple) for column in found]
        for measure in couple:
            cells = [
                _percent(column.values.get(measure), top == {measure})
                for column, top in zip(found, tops, strict=True)
            ]
            rows.append([Cell(measure), *cells])
    return Table(
        [MEASURE, *(column.heading for column in found)],
        rows,
        "Ablation of normalization",
        "Bold, *: significantly better than the other variant (paired bootstrap, p < 0.05).",
    )


@dataclass(frozen=True)
class Correlations:
    """Kendall's tau-b of each pair of measures, averaged as accuracy is; with intervals."""

    measures: Sequence[str]
    values: Floats
    reach: Floats
    """The distance from the value to the farther limit of the 95 % interval."""

    def draw(self, out: Path) -> None:
        """The same as a heat map."""
        heat_map(self.measures, self.values.tolist(), out, label="Kendall's tau-b")

    def table(self) -> Table:
        """Table 3: below the diagonal."""
        rows = [
            [Cell(measure)]
            + [
                Cell(f"{self.values[row, place]:.2f}±{self.reach[row, place]:.2f}")
                if place < row
                else Cell(None)
                for place in range(len(self.measures) - 1)
            ]
            for row, measure in enumerate(self.measures)
            if row
        ]
        title = "Kendall's tau-b between the measures"
        return Table([MEASURE, *self.measures[:-1]], rows, title, "±: 95 % interval, by bootstrap.")


def correlations(results: Results, tasks: Sequence[Task]) -> Correlations:
    """Correlate each pair of the measures that have scores on all tasks."""
    measures = [
        measure
        for measure in results.measures
        if all((task.name, measure) in results.outcomes for task in tasks)
    ]
    size = len(measures)
    values, reach = np.eye(size), np.zeros((size, size))
    counts = {task.name: results.counts(task) for task in tasks}
    for row in range(size):
        for place in range(row):
            groups: dict[str, list[tuple[float, Floats]]] = {}
            for task in tasks:
                x, y = (results.outcomes[task.name, measures[each]].scores for each in (row, place))
                tau = (kendall(x, y), kendall(x, y, counts=counts[task.name]))
                groups.setdefault(task.group, []).append(tau)
            value = float(np.mean([np.mean([tau for tau, _ in each]) for each in groups.values()]))
            samples = combine([combine([sample for _, sample in each]) for each in groups.values()])
            interval = percentile_interval(samples)
            values[row, place] = values[place, row] = value
            longer = max(value - interval.low, interval.high - value)
            reach[row, place] = reach[place, row] = longer
    return Correlations(measures, values, reach)


def disagreements(results: Results, task: Task, one: str, two: str, *, count: int = 5) -> Table:
    """Tables A9 to A11: the test pairs that two measures rank most differently.

    Measures differ in scale, so ranks are compared: the share of pairs that score lower.
    """
    for measure in (one, two):
        if (task.name, measure) not in results.outcomes:
            raise InputError(f"{measure} has no scores on {task.name}")
    first, second = (results.outcomes[task.name, measure].scores for measure in (one, two))
    apart = np.abs(_ranks(first) - _ranks(second))
    rows = []
    for label in (False, True):
        places = [
            int(place)
            for place in np.argsort(-apart, kind="stable")
            if task.test[place].label is label
        ]
        for place in places[:count]:
            pair = task.test[place]
            texts = [pair.a.text, pair.b.text]
            if pair.a.lang != pair.b.lang:
                texts = [f"{text.lang}: {text.text}" for text in (pair.a, pair.b)]
            rows.append(
                [
                    Cell(" / ".join(texts)),
                    Cell(int(label)),
                    Cell(float(first[place]), ".2f"),
                    Cell(float(second[place]), ".2f"),
                ]
            )
    title = f"{task.name}: where {one} and {two} disagree most"
    return Table(["pair", "gold", one, two], rows, title)


def timing_table(seconds: Mapping[str, float], pairs: int) -> Table:
    """Table A1: milliseconds per pair."""
    rows = [[Cell(measure), Cell(1000 * value, ".2f")] for measure, value in seconds.items()]
    return Table([MEASURE, "ms per pair"], rows, f"Time, over {pairs} pairs")


def _draw_roc(results: Results, task: Task, out: Path) -> None:
    truth, counts = labels(task.test), results.counts(task)
    curves = {}
    for measure in results.measures:
        if (task.name, measure) in results.outcomes:
            scores = results.outcomes[task.name, measure].scores
            curve = roc_curve(truth, scores)
            limits = percentile_interval(auc_samples(truth, scores, counts))
            curves[measure] = RocCurve(
                curve.false_positive_rate.tolist(),
                curve.true_positive_rate.tolist(),
                auc(truth, scores),
                (limits.low, limits.high),
                pointwise_band(RATES, sampled_roc(truth, scores, RATES, counts)),
            )
    roc(curves, out)


def _column(results: Results, task: Task) -> Column:
    found = {
        measure: results.outcomes[task.name, measure]
        for measure in results.measures
        if (task.name, measure) in results.outcomes
    }
    return Column(
        task.heading,
        {measure: outcome.value for measure, outcome in found.items()},
        {measure: outcome.replicates for measure, outcome in found.items()},
    )


def _percent(value: float | None, bold: bool) -> Cell:
    return Cell(None if value is None else 100 * value, PERCENT, bold)


def _ranks(scores: Floats) -> Floats:
    """The share of pairs that score lower; equal scores count half."""
    ordered = np.sort(scores)
    ends = (np.searchsorted(ordered, scores, side=side) for side in ("left", "right"))
    return np.asarray(sum(ends) / (2 * len(scores)))
