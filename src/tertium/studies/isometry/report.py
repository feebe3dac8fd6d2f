"""The tables, figures and page of the isometry study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from tertium.data.datasets.isometry import Predictions
from tertium.measures.loading import MeasureSpec, ModelSource
from tertium.report.plots import lines
from tertium.report.tables import Cell, Table
from tertium.stats.conventions import ALPHA, SAMPLES
from tertium.stats.correlation import stars
from tertium.storage.atomic import write_text
from tertium.studies.isometry.classes import (
    ALL,
    BEHAVIOURS,
    THRESHOLD,
    agreement_counts,
    decisions,
    short_names,
)
from tertium.studies.isometry.correlation import (
    BOTH,
    SIDES,
    Correlation,
    Protocol,
    SideScores,
    correlate,
    mean_correlation,
    score_sides,
)
from tertium.studies.isometry.detectors import Accuracies, detector_table, warn_degenerate
from tertium.studies.isometry.figures import (
    draw_behaviours,
    draw_detections,
    draw_equivalence,
    draw_sides,
)
from tertium.studies.isometry.frequencies import (
    MEAN,
    Frequencies,
    difference_table,
    frequencies,
    frequency_table,
    sweep,
    sweep_table,
)
from tertium.studies.isometry.pairs import chosen_table, pair_lines
from tertium.studies.isometry.quality import QualityStudy, quality_study
from tertium.studies.report import Chapter, Figure, Report, file_name
from tertium.studies.runner import Runner

ISOMETRIC = BEHAVIOURS[0]
FREQUENCIES = (
    "A pair is isometric if its texts are called paraphrases before and after translation; type 1 "
    "only after, type 2 only before. If several answers of the detectors are equally frequent, "
    "there is no decision."
)
CORRELATIONS = (
    "Scores are the mean of both orders. Majority: the decision of all detectors, without "
    "undecided pairs. Pooled: each detector by itself."
)
Correlations = Mapping[tuple[str, str, str, str, str], Correlation]
"""By measure, protocol, model, data set and side (or BOTH)."""


@dataclass(frozen=True)
class Isometry:
    """The results of the study."""

    predictions: Sequence[Predictions]
    frequencies: Frequencies
    measures: Sequence[str]
    protocols: Sequence[Protocol]
    scores: Mapping[tuple[str, str, str], SideScores]
    """By measure, model and data set."""
    correlations: Correlations
    threshold: float
    examples: int
    chosen: Sequence[int] = ()
    """The numbers of pairs to show."""
    by_threshold: Mapping[float, Frequencies] = field(default_factory=dict)
    accuracies: Accuracies = field(default_factory=dict)
    """Of detectors, on validation pairs."""
    quality: QualityStudy | None = None
    """Of the models, if the originals of the paraphrases are known."""

    def report(self, facts: Sequence[str] = ()) -> Report:
        """Everything to print, write and draw."""
        return Report(
            "Does translation preserve equivalence in meaning?",
            self.tables(),
            self.figures(),
            lead=self._lead(),
            findings=self.findings(),
            chapters=self._chapters(),
            facts=facts,
        )

    def tables(self) -> dict[str, Table]:
        """Every table, by the name of its files."""
        tables = {"frequencies": frequency_table(self.frequencies)}
        differences = difference_table(self.frequencies)
        if differences is not None:
            tables["differences"] = differences
        if self.quality is not None:
            tables["quality"] = self.quality.table()
            if self.quality.hypotheses:
                tables["quality-correlation"] = self.quality.correlations()
        tables["detectors"] = detector_table(self.predictions, self.threshold, self.accuracies)
        if len(self.predictions[0].judged) > 1:
            tables["agreement"] = agreement_table(self.predictions, self.threshold)
        if self.correlations:
            tables["correlations"] = correlation_table(self.correlations)
        if self.by_threshold:
            tables["thresholds"] = sweep_table(self.by_threshold)
        for each in self.predictions if self.chosen else ():
            name = f"examples-chosen-{file_name(each.model)}-{file_name(each.dataset)}"
            tables[name] = chosen_table(each, self.chosen, self.threshold)
        if self.examples:
            for each in self.predictions:
                name = f"examples-{each.model}-{each.dataset}".replace("/", "-")
                count, threshold = self.examples, self.threshold
                tables[name] = examples_table(each, count=count, threshold=threshold)
        return tables

    def figures(self) -> dict[str, Figure]:
        """Every figure, by the name of its file."""
        figures = {
            "detections": Figure(
                partial(draw_detections, self.predictions, threshold=self.threshold),
                "P(paraphrase) before and after translation, by detector (figure 4)",
            ),
            "behaviours": Figure(
                partial(draw_behaviours, self.predictions, threshold=self.threshold),
                "Pairs by behaviour, and by the detectors that agree on it (figure 5)",
            ),
        }
        if self.by_threshold:
            labels = [f"{threshold:g}" for threshold in self.by_threshold]
            heights = {
                f"{model}, {name}": [
                    own.shares[model, name, ISOMETRIC].value for own in self.by_threshold.values()
                ]
                for model, name in self.frequencies.columns()
            }
            axes_labels = ("threshold of P(paraphrase)", "share of isometric pairs")
            figures["thresholds"] = Figure(
                partial(lines, labels, heights, axes_labels=axes_labels),
                "How often models are isometric, by threshold",
            )
        if self.quality is not None:
            figures["quality"] = Figure(
                self.quality.draw, "How often models are isometric, by their quality"
            )
        panels = [(each.model, each.dataset) for each in self.predictions]
        for measure in self.measures:
            scores = {panel: self.scores[(measure, *panel)] for panel in panels}
            figures[f"sides-{file_name(measure)}"] = Figure(
                partial(draw_sides, self.predictions, scores, measure=measure),
                "Scores before and after translation (figure 6)",
            )
            for protocol in self.protocols:
                found = {
                    (*panel, side): self.correlations[(measure, protocol, *panel, side)]
                    for panel in panels
                    for side in SIDES
                }
                figures[f"equivalence-{file_name(measure)}-{protocol}"] = Figure(
                    partial(
                        draw_equivalence,
                        self.predictions,
                        scores,
                        found,
                        protocol,
                        measure=measure,
                        threshold=self.threshold,
                    ),
                    "Scores of pairs that are called paraphrases, and of others, before and after "
                    "translation (figure 7)",
                )
        return figures

    def write_pairs(self, folder: Path) -> None:
        """Write ``MODEL.DATASET.pairs.tsv`` with what is known about each pair."""
        for each in self.predictions:
            scores = {name: self.scores[name, each.model, each.dataset] for name in self.measures}
            name = f"{file_name(each.model)}.{file_name(each.dataset)}.pairs.tsv"
            found = pair_lines(each, scores, self.threshold)
            write_text(folder / name, "".join(f"{line}\n" for line in found))

    def findings(self) -> list[str]:
        """The frequencies of isometry in words, and whether models differ in them."""
        found, sentences = self.frequencies, []
        for model in found.models:
            share = found.shares[model, MEAN, ISOMETRIC]
            low, high = share.interval.low, share.interval.high
            sentences.append(
                f"{model} is isometric on {share.value:.1%} of the pairs (95 % interval "
                f"{low:.1%} to {high:.1%}): they are paraphrases before and after translation."
            )
        for place, one in enumerate(found.models):
            sentences += [_compared(found, one, other) for other in found.models[place + 1 :]]
        if self.quality is not None and (finding := self.quality.finding()):
            sentences.insert(0, finding)
        return sentences

    def _lead(self) -> str:
        sizes = ", ".join(f"{name} ({size})" for name, size in self.frequencies.sizes.items())
        source, target = self.predictions[0].langs
        detectors = ", ".join(short_names(list(self.predictions[0].judged)).values())
        return (
            f"Pairs of paraphrases: {sizes}; translated from {source} to {target} by "
            f"{', '.join(self.frequencies.models)}; judged by {detectors}, at "
            f"P(paraphrase) >= {self.threshold:g}."
        )

    def _chapters(self) -> list[Chapter]:
        names: tuple[str, ...] = ("frequencies", "differences", "behaviours", "thresholds")
        chapters = [
            Chapter("How often is meaning preserved?", names, FREQUENCIES),
            *([Chapter("Isometry and quality", ("quality",))] if self.quality else []),
            Chapter("The detectors", ("detectors", "agreement", "detections")),
        ]
        if self.correlations:
            names = ("correlations", "sides", "equivalence")
            chapters.append(Chapter("Do measures agree with the detectors?", names, CORRELATIONS))
        if self.examples or self.chosen:
            chapters.append(Chapter("Examples", ("examples",), of_texts=True))
        return chapters


def analyse(
    predictions: Sequence[Predictions],
    specs: Sequence[MeasureSpec],
    *,
    protocols: Sequence[Protocol] = ("majority", "pooled"),
    threshold: float = THRESHOLD,
    examples: int = 1,
    thresholds: Sequence[float] = (),
    accuracies: Accuracies | None = None,
    originals: Sequence[str] | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
    models: ModelSource | None = None,
    runner: Runner | None = None,
) -> Isometry:
    """Classify, count, score and correlate; a measure that lacks a language is left out."""
    found = frequencies(predictions, threshold=threshold)
    warn_degenerate(predictions, threshold, accuracies)
    run = Runner() if runner is None else runner
    scores = score_sides(predictions, specs, models=models, runner=run)
    run.warn()
    panels = [(each.model, each.dataset) for each in predictions]
    names = [str(spec) for spec in specs if all((str(spec), *panel) in scores for panel in panels)]
    correlations: dict[tuple[str, str, str, str, str], Correlation] = {
        (name, protocol, each.model, each.dataset, side): correlate(
            each,
            scores[name, each.model, each.dataset],
            protocol,
            side=side,
            threshold=threshold,
            samples=samples,
            seed=seed,
        )
        for name in names
        for each in predictions
        for protocol in protocols
        for side in (BOTH, *SIDES)
    }
    by_threshold = sweep(predictions, thresholds) if thresholds else {}
    quality = None
    if originals is not None:
        quality = quality_study(
            predictions, found, originals, models=models, samples=samples, seed=seed
        )
    return Isometry(
        predictions,
        found,
        names,
        protocols,
        scores,
        correlations,
        threshold,
        examples,
        by_threshold=by_threshold,
        accuracies=accuracies or {},
        quality=quality,
    )


def correlation_table(found: Correlations) -> Table:
    """Table 3, for every measure and protocol, and for each side as in figure 7.

    The last column of a model is the mean of its r.
    """
    models = list(dict.fromkeys(key[2] for key in found))
    datasets = list(dict.fromkeys(key[3] for key in found))
    sides = list(dict.fromkeys(key[4] for key in found))
    extra = [MEAN] if len(datasets) > 1 else []
    names = [(model, name) for model in models for name in (*datasets, *extra)]
    rows, data = [], []
    for measure, protocol in dict.fromkeys(key[:2] for key in found):
        for side in sides:
            own = []
            for model in models:
                parts = [found[measure, protocol, model, name, side] for name in datasets]
                own += [*parts, *([mean_correlation(parts)] if extra else [])]
            values = [f"{each.r:.3f}{stars(each.p)}" if each.strength else "" for each in own]
            rows.append([Cell(measure), Cell(protocol), Cell(side), *map(Cell, values)])
            rows.append([Cell(""), Cell(""), Cell("95 % interval"), *map(_limits, own)])
            if side == BOTH:
                words = [Cell(each.strength) for each in own]
                rows.append([Cell(""), Cell(""), Cell("strength"), *words])
            for place, each in zip(names, own, strict=True):
                first = [*map(Cell, (measure, protocol, side, *place)), Cell(each.items)]
                limits = each.interval
                low, high = (limits.low, limits.high) if limits else (None, None)
                numbers = (_known(each.r), low, high, _known(each.p), _known(each.t_p))
                data.append([*first, *map(Cell, numbers), Cell(each.strength)])
    header = ["measure", "protocol", "side", "model", "data", "points", "r", "low", "high", "p"]
    return Table(
        ["measure", "protocol", "side", *(f"{model}, {name}" for model, name in names)],
        rows,
        "Pearson's r of scores with S",
        "Intervals and p: bootstrap over pairs, two-sided: *** p <= 0.001, ** 0.01, * 0.05. The "
        "paper's t-test takes the points of a pair for independent; its p (one-tailed) is in the "
        "CSV file.",
        Table([*header, "p of the t-test", "strength"], data),
    )


def agreement_table(predictions: Sequence[Predictions], threshold: float = THRESHOLD) -> Table:
    """Figure 5 in numbers: how many pairs show a behaviour, by the detectors that agree on it."""
    counts = agreement_counts(predictions, threshold)
    patterns = list(dict.fromkeys(key for own in counts.values() for _, key in own))
    patterns.sort(key=lambda key: (key == "", key != ALL, -key.count("+"), key))
    rows = []
    for (model, name), own in counts.items():
        for behaviour in BEHAVIOURS:
            numbers = [own.get((behaviour.code, pattern), 0) for pattern in patterns]
            first = [Cell(f"{model}, {name}"), Cell(f"{behaviour.symbol} {behaviour.name}")]
            rows.append([*first, *map(Cell, numbers), Cell(sum(numbers))])
    header = ["model, data", "M(S)", *(pattern or "nobody" for pattern in patterns), "pairs"]
    return Table(header, rows, "Which detectors agree on the behaviour")


def examples_table(
    predictions: Predictions, *, count: int = 1, threshold: float = THRESHOLD
) -> Table:
    """Table 4: pairs on which all detectors agree, the most certain ones first."""
    codes = decisions(predictions, threshold)
    whole = (codes == codes[0]).all(axis=0)
    probabilities = np.array(
        [[each.source, each.target] for each in predictions.judged.values()], dtype=np.float64
    )
    certainty = np.abs(probabilities - threshold).min(axis=(0, 1))
    rows = []
    for behaviour in BEHAVIOURS:
        places = np.flatnonzero(whole & (codes[0] == behaviour.code))
        for place in places[np.argsort(-certainty[places], kind="stable")][:count].tolist():
            symbol = Cell(f"{behaviour.symbol} {behaviour.name}")
            rows.append(
                [symbol, Cell(place), Cell("source"), *map(Cell, predictions.sources[place])]
            )
            rows.append(
                [Cell(""), Cell(""), Cell("target"), *map(Cell, predictions.targets[place])]
            )
    return Table(
        ["M(S)", "pair", "side", "sentence", "paraphrase"],
        rows,
        f"Examples on which all detectors agree: {predictions.name}",
    )


def _limits(each: Correlation) -> Cell:
    if each.interval is None:
        return Cell("")
    return Cell(f"{each.interval.low:.3f} to {each.interval.high:.3f}")


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _compared(found: Frequencies, one: str, other: str) -> str:
    a, b = (found.shares[model, MEAN, ISOMETRIC] for model in (one, other))
    found_difference = a.less(b)
    p = f"p = {found_difference.p:.3f}" if found_difference.p >= 0.001 else "p < 0.001"
    if found_difference.p >= ALPHA:
        return f"Between {one} and {other} there is no significant difference ({p})."
    better, worse = (one, other) if found_difference.value > 0 else (other, one)
    return (
        f"{better} is isometric more often than {worse}, by {abs(found_difference.value):.1%} of "
        f"the pairs ({p})."
    )
