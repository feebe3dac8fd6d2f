"""Span F1, detection and false alarms of methods on known edits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tertium.errors import InputError
from tertium.explanation.coverage import coverage_gains
from tertium.explanation.hallucination import contrasts
from tertium.explanation.review import (
    COVERAGE,
    FLAGS,
    HALLUCINATION,
    OPPOSITES,
    WORD_METHODS,
    Reviewer,
    sides_for,
)
from tertium.explanation.spans import flat
from tertium.models.base import Progress
from tertium.report.tables import Cell, Table
from tertium.stats.arrays import Floats
from tertium.stats.classification import auc
from tertium.stats.conventions import SAMPLES
from tertium.stats.resampling import bootstrap_counts, percentile_interval
from tertium.studies.report import Report
from tertium.studies.runner import Job, Runner, Scored, in_parts
from tertium.studies.spans.edits import CONTROLS, EDITS, Edited

STUDIED = (COVERAGE, OPPOSITES, *WORD_METHODS, HALLUCINATION, FLAGS)
"""Methods that give spans."""
TOGETHER = "together"
"""All methods that are chosen, with thresholds for all of them together."""
ROWS_AT_A_TIME = 32
SCORES, SPANS = "scores", "spans"


@dataclass(frozen=True)
class Result:
    """What a method reaches on one kind of edit; intervals are (low, high)."""

    pairs: int
    precision: float
    recall: float
    f1: float
    f1_interval: tuple[float, float]
    found: float
    """The share of pairs with a span that overlaps with the edit."""
    auc: float
    """How often an edited pair has a higher score than its control."""
    auc_interval: tuple[float, float]


def method_scores(reviewer: Reviewer, method: str, pairs: Sequence[Any]) -> list[float]:
    """A score for each pair: that of its worst word or phrase, whether it is reported or not."""
    if method == TOGETHER:
        reviews = reviewer(pairs)
        reported = [float(len(review.spans) + len(review.flags)) for review in reviews]
        chances = [review.error_probability for review in reviews]
        return reported if None in chances else chances  # type: ignore[return-value]
    one = replace(reviewer, methods=(method,))
    if method == COVERAGE and one.model is not None and one.learned is None:
        sides = sides_for(one.model, pairs[0])
        gains = coverage_gains(pairs, one.model, one.coverage, sides=sides)
        return [
            max((each.gain for _, tried in found.values() for each in tried), default=0.0)
            for found in gains
        ]
    if method == HALLUCINATION and one.model is not None:
        return [each.score for each in contrasts(pairs, one.model)]
    if method in WORD_METHODS:
        return [max(scores, default=0.0) for scores in flat(one.word_scores(method, pairs))]
    if method in (COVERAGE, OPPOSITES):
        return [max(each.evidence.values(), default=0.0) for each in one.candidates(pairs)]
    return [float(len(review.spans) + len(review.flags)) for review in one(pairs)]


def evaluate(
    edited: Sequence[Edited], scored: Scored, *, samples: int = SAMPLES, seed: int = 0
) -> tuple[dict[str, Result], dict[str, tuple[int, float]]]:
    """Results for each kind of edit, and for each control its pairs and the share with a span."""
    scores, spans = scored.parts[SCORES], scored.parts[SPANS]
    by_kind: dict[str, list[int]] = {}
    for place, each in enumerate(edited):
        by_kind.setdefault(each.kind, []).append(place)
    alarms = {
        kind: (len(places), float(np.mean([bool(spans[place]) for place in places])))
        for kind, places in by_kind.items()
        if kind in CONTROLS
    }
    results = {}
    for kind in EDITS:
        places = by_kind.get(kind, [])
        if not places:
            continue
        controls = [by_kind.get(name, []) for name in ("translated", "complete")]
        complete = (controls[0] if kind == "deleted" else []) or controls[1]
        counts = np.array([overlap_counts(edited[place], spans[place]) for place in places], float)
        draws = bootstrap_counts(len(places), samples=samples, seed=seed)
        interval = percentile_interval(f1(draws @ counts))
        both = [*places, *complete]
        labels = [1] * len(places) + [0] * len(complete)
        values = [scores[place] for place in both]
        # edits and complete pairs are drawn by themselves, so that no sample lacks one of them
        joint = np.hstack(
            [draws, bootstrap_counts(max(len(complete), 1), samples=samples, seed=seed + 1)]
        )
        area = auc(labels, values) if complete else float("nan")
        area_interval = (
            percentile_interval(auc(labels, values, counts=joint)) if complete else interval
        )
        hit, predicted, gold = counts.sum(axis=0)
        results[kind] = Result(
            len(places),
            hit / predicted if predicted else 0.0,
            hit / gold if gold else 0.0,
            float(f1(counts.sum(axis=0, keepdims=True))[0]),
            (interval.low, interval.high),
            float((counts[:, 0] > 0).mean()),
            area,
            (area_interval.low, area_interval.high),
        )
    return results, alarms


def overlap_counts(edited: Edited, spans: Sequence[tuple[str, int, int]]) -> tuple[int, int, int]:
    """Characters that are both predicted and gold, predicted, and gold, on the edited side.

    >>> from tertium.text import Text
    >>> edited = Edited("inserted", Text("abcdef"), Text(""), "a", 1, 4)
    >>> overlap_counts(edited, [("a", 2, 6), ("b", 0, 3)])
    (2, 4, 3)
    """
    gold = set(range(edited.start, edited.end))
    predicted = {
        place for side, start, end in spans if side == edited.side for place in range(start, end)
    }
    return len(gold & predicted), len(predicted), len(gold)


def f1(counts: Floats) -> Floats:
    """F1 of rows of (both, predicted, gold); 0 if nothing is predicted.

    >>> f1(np.array([[2.0, 4.0, 4.0]]))
    array([0.5])
    """
    both, predicted, gold = counts.T
    total = predicted + gold
    return np.asarray(np.where(total > 0, 2 * both / np.maximum(total, 1), 0.0))


@dataclass
class SpanStudy:
    """Methods over edited pairs."""

    edited: Sequence[Edited]
    reviewer: Reviewer
    samples: int = SAMPLES
    seed: int = 0
    runner: Runner = field(default_factory=Runner)
    name: str = "edits"

    @property
    def methods(self) -> list[str]:
        """The methods, and all of them together if there are several."""
        chosen = [method for method in self.reviewer.methods if method in STUDIED]
        return [*chosen, TOGETHER] if len(chosen) > 1 else chosen

    @property
    def size(self) -> int:
        """How many pairs there are, over all methods."""
        return len(self.methods) * len(self.edited)

    def run(self) -> Report:
        """Run the methods, and make the tables."""
        if not self.edited:
            raise InputError("there are no pairs to edit; give a bitext with some rows")
        if not self.methods:
            raise InputError(f"no method that gives spans: use {', '.join(STUDIED)}")
        scored = self.runner.run([job for method in self.methods for job in self._jobs(method)])
        self.runner.warn()
        results, alarms = {}, {}
        for (_, method), each in scored.items():
            results[method], alarms[method] = evaluate(
                self.edited, each, samples=self.samples, seed=self.seed
            )
        tables = {"edits": edits_table(results), "controls": controls_table(alarms)}
        if any(each.domain for each in self.edited):
            last = next(each for (_, method), each in scored.items() if method == self.methods[-1])
            tables["domains"] = domains_table(self.edited, last.parts[SPANS], self.methods[-1])
        return Report(
            "Spans of known edits",
            tables,
            findings=[
                f"{method}: mean F1 over kinds of edits {np.nanmean(means):.2f}."
                for method, kinds in results.items()
                if len(means := [each.f1 for each in kinds.values()])
            ],
        )

    def _jobs(self, method: str) -> list[Job]:
        one = self.reviewer
        if method != TOGETHER:
            one = replace(one, methods=(method,))

        def compute(some: Sequence[Edited], progress: Progress | None) -> Scored:
            pairs = [each.pair for each in some]
            scores = method_scores(one, method, pairs)
            spans = [
                [(span.side, span.start, span.end) for span in review.spans]
                for review in one(pairs, progress)
            ]
            return Scored({SCORES: scores, SPANS: spans})

        signature = json.dumps(one.description(), sort_keys=True)
        content = [[each.kind, each.a, each.b] for each in self.edited]
        return in_parts(
            self.name,
            method,
            signature,
            self.edited,
            compute,
            size=ROWS_AT_A_TIME,
            content=content,
        )


def edits_table(results: Mapping[str, Mapping[str, Result]]) -> Table:
    """One row per method and kind of edit."""
    rows = [
        [
            Cell(f"{method}, {kind}"),
            Cell(each.pairs),
            Cell(each.precision, ".3f"),
            Cell(each.recall, ".3f"),
            Cell(each.f1, ".3f"),
            Cell("{:.3f}-{:.3f}".format(*each.f1_interval)),
            Cell(each.found, ".3f"),
            Cell(each.auc, ".3f"),
            Cell("{:.3f}-{:.3f}".format(*each.auc_interval)),
        ]
        for method, kinds in results.items()
        for kind, each in kinds.items()
    ]
    header = ["method, edit", "pairs", "precision", "recall", "F1", "95 %", "found", "AUC", "95 %"]
    note = (
        "Precision, recall and F1 over characters of the edited side; found: pairs with a span "
        "that overlaps with the edit; AUC: edited against complete pairs (deleted: against "
        "translations of the whole sources)."
    )
    return Table(header, rows, "Spans of known edits", note)


def controls_table(alarms: Mapping[str, Mapping[str, tuple[int, float]]]) -> Table:
    """The share of pairs with a span, where there is no difference in meaning."""
    rows = [
        [Cell(f"{method}, {kind}"), Cell(count), Cell(share, ".3f")]
        for method, kinds in alarms.items()
        for kind, (count, share) in kinds.items()
    ]
    return Table(["method, control", "pairs", "false alarms"], rows, "False alarms")


def domains_table(
    edited: Sequence[Edited], spans: Sequence[Sequence[tuple[str, int, int]]], method: str
) -> Table:
    """For each kind of edit, how many are found in each domain; for controls, false alarms.

    >>> from tertium.text import Text
    >>> one = Edited("sign", Text("abc"), Text("d"), "a", 0, 1, "news")
    >>> right = Edited("complete", Text("abc"), Text("d"), domain="news")
    >>> table = domains_table([one, right], [[("a", 0, 2)], []], "flags")
    >>> [[str(cell).strip() for cell in row] for row in table.rows]
    [['sign', '100 % of 1', '100 % of 1'], ['complete', '0 % of 1', '0 % of 1']]
    """
    domains = list(dict.fromkeys(each.domain for each in edited))
    rows = []
    for kind in (*EDITS, *CONTROLS):
        of_kind = [
            (each.domain, _is_found(each, found))
            for each, found in zip(edited, spans, strict=True)
            if each.kind == kind
        ]
        if of_kind:
            cells = [[hit for domain, hit in of_kind if domain == name] for name in domains]
            cells.append([hit for _, hit in of_kind])
            rows.append([Cell(kind), *(Cell(_share(hits)) for hits in cells)])
    note = (
        "Edits: pairs with a span that overlaps with the edit. Complete, translated and reordered "
        "pairs: those with any span (false alarms)."
    )
    return Table([method, *domains, "all"], rows, "By domain", note)


def _is_found(edited: Edited, spans: Sequence[tuple[str, int, int]]) -> bool:
    if edited.kind in CONTROLS:
        return bool(spans)
    return overlap_counts(edited, spans)[0] > 0


def _share(hits: Sequence[bool]) -> str:
    return f"{100 * sum(hits) / len(hits):3.0f} % of {len(hits)}" if hits else ""
