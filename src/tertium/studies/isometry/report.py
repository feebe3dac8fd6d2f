"""All that the isometry study says: tables, figures, and the page."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tertium.data.datasets.isometry import Predictions
from tertium.models.base import Progress
from tertium.models.catalog import DEFAULT_MODEL
from tertium.report.study_page import Picture, Section, StudyPage
from tertium.report.tables import Table
from tertium.stats.conventions import ALPHA, SAMPLES
from tertium.stats.resampling import bootstrap_p_value
from tertium.studies.isometry.classes import BEHAVIOURS, THRESHOLD, short_names
from tertium.studies.isometry.correlation import (
    Correlation,
    Protocol,
    SideScores,
    correlate,
    side_scores,
)
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
)
from tertium.studies.isometry.tables import agreement_table, correlation_table, examples_table
from tertium.studies.specs import MeasureSpec, ModelLoader, load_any

ISOMETRIC = BEHAVIOURS[0]
CAPTIONS = {
    "detections": "P(paraphrase) before and after translation, by detector (figure 4)",
    "behaviours": "How many pairs show each behaviour, by who agrees on it (figure 5)",
    "sides": "Scores before and after translation (figure 6)",
    "equivalence": "Scores of pairs that are called paraphrases, and of others (figure 7)",
}


@dataclass(frozen=True)
class Isometry:
    """What came out."""

    predictions: Sequence[Predictions]
    frequencies: Frequencies
    measures: Sequence[str]
    protocols: Sequence[Protocol]
    scores: Mapping[tuple[str, str, str], SideScores]
    """By measure, model and data set."""
    correlations: Mapping[tuple[str, str, str, str], Correlation]
    """By measure, protocol, model and data set."""
    threshold: float
    examples: int

    def tables(self) -> dict[str, Table]:
        """Every table, under the name that its files have."""
        tables = {"frequencies": frequency_table(self.frequencies)}
        differences = difference_table(self.frequencies)
        if differences is not None:
            tables["differences"] = differences
        if len(self.predictions[0].judged) > 1:
            tables["agreement"] = agreement_table(self.predictions, self.threshold)
        if self.correlations:
            tables["correlations"] = correlation_table(self.correlations)
        if self.examples:
            for each in self.predictions:
                name = f"examples-{each.model}-{each.dataset}".replace("/", "-")
                count, threshold = self.examples, self.threshold
                tables[name] = examples_table(each, count=count, threshold=threshold)
        return tables

    def draw(self, folder: Path, suffix: str = ".svg") -> dict[str, Path]:
        """Draw every figure; the files by what they show."""
        drawn = {name: folder / f"{name}{suffix}" for name in ("detections", "behaviours")}
        draw_detections(self.predictions, drawn["detections"])
        draw_behaviours(self.predictions, drawn["behaviours"], self.threshold)
        panels = [(each.model, each.dataset) for each in self.predictions]
        for measure in self.measures:
            scores = {panel: self.scores[(measure, *panel)] for panel in panels}
            out = drawn[f"sides-{measure}"] = folder / f"sides-{_safe(measure)}{suffix}"
            draw_sides(self.predictions, scores, out, measure)
            for protocol in self.protocols:
                found = {panel: self.correlations[(measure, protocol, *panel)] for panel in panels}
                out = folder / f"equivalence-{_safe(measure)}-{protocol}{suffix}"
                drawn[f"equivalence-{measure}-{protocol}"] = out
                draw_equivalence(
                    self.predictions,
                    scores,
                    found,
                    protocol,
                    out,
                    measure=measure,
                    threshold=self.threshold,
                )
        return drawn

    def findings(self) -> list[str]:
        """The frequencies of isometry in words, and whether models differ in them."""
        found, told = self.frequencies, []
        for model in found.models:
            share = found.shares[model, MEAN, ISOMETRIC]
            low, high = share.interval.low, share.interval.high
            told.append(
                f"{model} is isometric on {share.value:.1%} of the pairs (95 % interval "
                f"{low:.1%} to {high:.1%})."
            )
        for place, one in enumerate(found.models):
            for other in found.models[place + 1 :]:
                told.append(_compared(found, one, other))
        return told

    def page(self, facts: Sequence[str] = (), drawn: Mapping[str, Path] | None = None) -> str:
        """Write the page, with its pictures in it (extra: plot); ``drawn`` are those of before."""
        if drawn is None:
            with tempfile.TemporaryDirectory() as folder:
                return self.page(facts, self.draw(Path(folder)))
        return StudyPage(
            "Does translation keep what means the same the same?",
            self._lead(),
            self.findings(),
            self._sections(drawn),
            facts,
        ).html()

    def _lead(self) -> str:
        sizes = ", ".join(f"{name} ({size})" for name, size in self.frequencies.sizes.items())
        source, target = self.predictions[0].langs
        detectors = ", ".join(short_names(list(self.predictions[0].judged)).values())
        return (
            f"Pairs of paraphrases: {sizes}; translated from {source} to {target} by "
            f"{', '.join(self.frequencies.models)}; judged by {detectors}, at "
            f"P(paraphrase) >= {self.threshold:g}."
        )

    def _sections(self, drawn: Mapping[str, Path]) -> list[Section]:
        tables = self.tables()

        def some(*beginnings: str) -> list[Table]:
            return [table for name, table in tables.items() if name.startswith(beginnings)]

        def pictures(*beginnings: str) -> list[Picture]:
            return [
                Picture(path, CAPTIONS[name.partition("-")[0]])
                for name, path in drawn.items()
                if name.startswith(beginnings)
            ]

        sections = [
            Section(
                "How often is meaning kept?",
                "A pair is isometric if its texts are called paraphrases before translation and "
                "after; type 1, only after; type 2, only before. Where the detectors have no most "
                "frequent answer, there is none.",
                some("frequencies", "differences"),
                pictures("behaviours"),
            ),
            Section("The detectors", "", some("agreement"), pictures("detections")),
        ]
        if self.correlations:
            sections.append(
                Section(
                    "Do measures agree with the detectors?",
                    "Scores are the mean of both orders. Majority: what the detectors decide "
                    "together, undecided pairs left out. Pooled: each detector for itself.",
                    some("correlations"),
                    pictures("sides", "equivalence"),
                )
            )
        if self.examples:
            sections.append(Section("Examples", "", some("examples"), of_texts=True))
        return sections


def analyse(
    predictions: Sequence[Predictions],
    specs: Sequence[MeasureSpec],
    *,
    protocols: Sequence[Protocol] = ("majority", "pooled"),
    threshold: float = THRESHOLD,
    examples: int = 1,
    samples: int = SAMPLES,
    seed: int = 0,
    load_model: ModelLoader = load_any,
    default_model: str = DEFAULT_MODEL,
    progress: Progress | None = None,
) -> Isometry:
    """Classify, count, score and correlate."""
    found = frequencies(predictions, threshold=threshold, samples=samples, seed=seed)
    scores: dict[tuple[str, str, str], SideScores] = {}
    correlations: dict[tuple[str, str, str, str], Correlation] = {}
    for spec in specs:
        for each in predictions:
            panel = (each.model, each.dataset)
            own = scores[(str(spec), *panel)] = side_scores(
                each, spec, load_model=load_model, default_model=default_model, progress=progress
            )
            for protocol in protocols:
                correlations[(str(spec), protocol, *panel)] = correlate(
                    each, own, protocol, threshold=threshold, samples=samples, seed=seed
                )
    names = [str(spec) for spec in specs]
    return Isometry(predictions, found, names, protocols, scores, correlations, threshold, examples)


def _compared(found: Frequencies, one: str, other: str) -> str:
    a, b = (found.shares[model, MEAN, ISOMETRIC] for model in (one, other))
    observed = a.value - b.value
    p = bootstrap_p_value(a.replicates, b.replicates, observed, tail="two-sided")
    if p >= ALPHA:
        return f"Between {one} and {other} there is no significant difference (p = {p:.3f})."
    better, worse = (one, other) if observed > 0 else (other, one)
    return (
        f"{better} is isometric more often than {worse}, by {abs(observed):.1%} of the pairs "
        f"(paired bootstrap, p = {p:.3f})."
    )


def _safe(name: str) -> str:
    from tertium.studies.cells import UNSAFE

    return UNSAFE.sub("-", name)
