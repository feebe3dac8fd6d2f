"""Isometry against the quality of the model: the hypothesis of Shankar (2020), section 1.

The paper compares two models. Here it is the correlation over any number of models, or of
checkpoints of one training run. Quality is that of the translations that are judged: BLEU and chrF
against the texts that the paraphrases are translations of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tertium.data.datasets.isometry import Predictions
from tertium.errors import InputError
from tertium.measures.loading import MeasureSpec, ModelSource, make_measure
from tertium.report.plots import MAIN, blank_figure, save_figure
from tertium.report.tables import Cell, Table
from tertium.stats.arrays import Floats
from tertium.stats.association import permutation_test
from tertium.stats.conventions import SAMPLES, Interval
from tertium.stats.correlation import pearson, spearman
from tertium.stats.resampling import bootstrap_counts, percentile_interval
from tertium.studies.isometry.classes import BEHAVIOURS, Behaviour
from tertium.studies.isometry.frequencies import MEAN, Frequencies
from tertium.studies.runner import SharedModels, rows_of, score_alone
from tertium.text import Text

MEASURES = (MeasureSpec("bleu"), MeasureSpec("chrf"))
CORRELATED = (BEHAVIOURS[0], BEHAVIOURS[3])
"""Isometric, and type 2: the meaning of one text was lost."""
FEWEST = 3
"""Two models always give 1 or -1."""


@dataclass(frozen=True)
class Quality:
    """The scores of a model on a data set, of all pairs and of samples of pairs."""

    value: float
    replicates: Floats


@dataclass(frozen=True)
class Hypothesis:
    """A correlation over models: of a measure of quality with the share of a behaviour."""

    models: int
    r: float
    rho: float
    interval: Interval | None
    """Of r, from samples of pairs: how much r depends on the texts, with these models."""
    p: float
    """Two-sided, by permutation of the models."""


@dataclass(frozen=True)
class QualityStudy:
    """The quality of all models, and what it has to do with isometry."""

    qualities: Mapping[tuple[str, str, str], Quality]
    """By measure, model and data set (or MEAN)."""
    hypotheses: Mapping[tuple[str, str, Behaviour], Hypothesis]
    """By measure, data set (or MEAN) and behaviour."""
    frequencies: Frequencies

    @property
    def measures(self) -> list[str]:
        return list(dict.fromkeys(key[0] for key in self.qualities))

    def table(self) -> Table:
        """One row per model, with intervals; the best models last."""
        found = self.frequencies
        columns = [name for _, name in found.columns()[: len(found.columns()) // len(found.models)]]
        first = self.measures[0]
        order = sorted(found.models, key=lambda m: self.qualities[first, m, columns[-1]].value)
        rows, data = [], []
        for model in order:
            cells, limits = [], []
            for name in columns:
                share = found.shares[model, name, BEHAVIOURS[0]]
                for measure in self.measures:
                    quality = self.qualities[measure, model, name]
                    interval = percentile_interval(quality.replicates)
                    numbers = (quality.value, interval.low, interval.high)
                    cells.append(Cell(quality.value, ".1f"))
                    limits.append(Cell(f"{interval.low:.1f}-{interval.high:.1f}"))
                    data.append(_data(model, name, measure, *numbers))
                cells.append(Cell(share.value, ".3f"))
                limits.append(Cell(f"{share.interval.low:.3f}-{share.interval.high:.3f}"))
                numbers = (share.value, share.interval.low, share.interval.high)
                data.append(_data(model, name, "isometric", *numbers))
            rows += [[Cell(model), *cells], [Cell(""), *limits]]
        header = [f"{each}, {name}" for name in columns for each in (*self.measures, "isometric")]
        return Table(
            ["model", *header],
            rows,
            "Quality of the models, and how often they are isometric",
            "Quality: of the translations of both paraphrases, against the texts that they are "
            "translations of. Below: 95 % intervals (quality: bootstrap over pairs).",
            Table(["model", "data", "what", "value", "low", "high"], data),
        )

    def correlations(self) -> Table:
        """One row per measure and behaviour, for each data set."""
        rows = []
        for (measure, name, behaviour), each in self.hypotheses.items():
            low, high = (each.interval.low, each.interval.high) if each.interval else (None, None)
            rows.append(
                [
                    *map(Cell, (measure, f"{behaviour.symbol} {behaviour.name}", name)),
                    *(Cell(None if np.isnan(x) else x, ".3f") for x in (each.r, each.rho)),
                    *(Cell(x, ".3f") for x in (low, high)),
                    Cell(None if np.isnan(each.p) else each.p, ".3f"),
                    Cell(each.models),
                ]
            )
        return Table(
            ["quality", "M(S)", "data", "r", "rho", "low", "high", "p", "models"],
            rows,
            "Does isometry rise with the quality of the model?",
            "r: Pearson's, over models; rho: Spearman's. Low, high: 95 % interval of r over "
            "samples of pairs, for these models. p: two-sided, over permutations of the models.",
        )

    def finding(self) -> str:
        """The result in a sentence."""
        measure, name = self.measures[0], self.frequencies.columns()[-1][1]
        found = self.hypotheses.get((measure, name, BEHAVIOURS[0]))
        if found is None or np.isnan(found.r):
            return ""
        direction = "rises" if found.r > 0 else "falls"
        strength = "significant" if found.p < 0.05 else "not significant"
        return (
            f"The share of isometric pairs {direction} with {measure}: r = {found.r:.2f} over "
            f"{found.models} models, {strength} (p = {found.p:.3f})."
        )

    def draw(self, out: Path) -> None:
        """The share of isometric pairs against each measure of quality; one panel per measure."""
        found = self.frequencies
        name = found.columns()[-1][1]
        figure = blank_figure(4.2 * len(self.measures) + 0.6, 4.2, out)
        grid = figure.subplots(1, len(self.measures), sharey=True, squeeze=False)[0]
        for axes, measure in zip(grid, self.measures, strict=True):
            order = sorted(found.models, key=lambda m: self.qualities[measure, m, name].value)
            for number, model in enumerate(order):
                share = found.shares[model, name, BEHAVIOURS[0]]
                quality = self.qualities[measure, model, name]
                limits = percentile_interval(quality.replicates)
                x, y = quality.value, share.value
                axes.plot([limits.low, limits.high], [y, y], color=MAIN, linewidth=1)
                axes.plot([x, x], [share.interval.low, share.interval.high], color=MAIN, lw=1)
                axes.plot(x, y, marker="o", color=MAIN)
                offset = {"xytext": (5, -10 if number % 2 else 4), "textcoords": "offset points"}
                axes.annotate(model, (x, y), fontsize="x-small", **offset)
            own = self.hypotheses.get((measure, name, BEHAVIOURS[0]))
            if own is not None and not np.isnan(own.r):
                title = f"r = {own.r:.2f}, p = {own.p:.3f}"
                if own.interval is not None:
                    title += f"\n95 %: {own.interval.low:.2f} to {own.interval.high:.2f}"
                axes.set_title(title, fontsize="small")
            axes.set_xlabel(measure)
            axes.margins(x=0.18, y=0.1)
            axes.grid(alpha=0.3)
        grid[0].set_ylabel("share of isometric pairs")
        save_figure(figure, out)


def quality_study(
    predictions: Sequence[Predictions],
    found: Frequencies,
    originals: Sequence[str],
    *,
    models: ModelSource | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
) -> QualityStudy:
    """Score all translations against the originals, and correlate over models.

    Samples are of the same pairs for all models.
    """
    source = SharedModels() if models is None else models
    for name, size in found.sizes.items():
        if size != len(originals):
            raise InputError(f"{name} has {size} pairs, but there are {len(originals)} originals")
    counts = bootstrap_counts(len(originals), samples=samples, seed=seed)
    qualities: dict[tuple[str, str, str], Quality] = {}
    for spec in MEASURES:
        for each in predictions:
            key = (str(spec), each.model, each.dataset)
            qualities[key] = _quality(each, spec, originals, counts, source)
        for model in found.models:
            parts = [qualities[str(spec), model, name] for name in found.datasets]
            qualities[str(spec), model, MEAN] = Quality(
                float(np.mean([part.value for part in parts])),
                np.asarray(np.mean([part.replicates for part in parts], axis=0)),
            )
    names = list(dict.fromkeys(name for _, name in found.columns()))
    hypotheses = {
        (str(spec), name, behaviour): _hypothesis(
            found,
            behaviour,
            name,
            {model: qualities[str(spec), model, name] for model in found.models},
            np.asarray(counts / len(originals)),
            samples=samples,
            seed=seed,
        )
        for spec in MEASURES
        for behaviour in CORRELATED
        for name in names
        if len(found.models) >= FEWEST
    }
    return QualityStudy(qualities, hypotheses, found)


def _data(model: str, name: str, what: str, *numbers: float) -> list[Cell]:
    return [Cell(model), Cell(name), Cell(what), *map(Cell, numbers)]


def _quality(
    each: Predictions,
    spec: MeasureSpec,
    originals: Sequence[str],
    counts: Floats,
    models: ModelSource,
) -> Quality:
    """The score of a corpus that has each original twice, for both paraphrases."""
    lang = each.langs[1]
    measure = make_measure(spec, models, lang=lang)
    pairs = [
        (Text(target, lang), Text(original, lang))
        for targets, original in zip(each.targets, originals, strict=True)
        for target in targets
    ]
    statistics = np.array(score_alone(measure, rows_of(pairs)).statistics, dtype=np.float64)
    by_pair = statistics.reshape(len(originals), 2, -1).sum(axis=1)
    sums = np.asarray(counts @ by_pair)
    return Quality(
        measure.system(by_pair.sum(axis=0).tolist()),
        np.array([measure.system(row) for row in sums.tolist()]),
    )


def _hypothesis(
    found: Frequencies,
    behaviour: Behaviour,
    name: str,
    qualities: Mapping[str, Quality],
    weights: Floats,
    *,
    samples: int,
    seed: int,
) -> Hypothesis:
    """Correlate over models; samples of pairs give qualities and shares at once."""
    shares = [found.shares[model, name, behaviour] for model in qualities]
    x = [each.value for each in qualities.values()]
    y = [share.value for share in shares]
    r = pearson(x, y)
    drawn_y = [
        np.mean([weights @ np.asarray(own, np.float64) for own in share.members], axis=0)
        for share in shares
    ]
    drawn_x = [each.replicates for each in qualities.values()]
    replicates = np.array(
        [pearson(a, b) for a, b in zip(np.transpose(drawn_x), np.transpose(drawn_y), strict=True)]
    )
    undefined = np.isnan(r) or np.isnan(replicates).all()
    return Hypothesis(
        len(x),
        r,
        spearman(x, y),
        None if undefined else percentile_interval(replicates),
        float("nan") if np.isnan(r) else permutation_test(x, y, samples=samples, seed=seed),
    )
