"""Paraphrase identification: the benchmark of the NMTScore paper (section 4).

With a validation set, the threshold that is best there is applied to the test set, and accuracy is
reported; without, the area under the ROC curve. Differences are tested by paired bootstrap.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tertium.data.datasets.base import LabelledPair
from tertium.errors import CutWarning, DataWarning, LanguageError
from tertium.measures.base import CUT_REASON
from tertium.models.base import Progress
from tertium.models.catalog import DEFAULT_MODEL
from tertium.stats.arrays import Bools, Counts, Floats
from tertium.stats.classification import accuracy, auc, best_threshold, decide
from tertium.stats.conventions import SAMPLES
from tertium.stats.resampling import bootstrap_counts, spawn
from tertium.studies.cells import CellFolder, Scored
from tertium.studies.paraphrase_id.tasks import Task
from tertium.studies.specs import MeasureSpec, ModelLoader, Similarity, load_any

ROWS_AT_A_TIME = 1024
SAMPLES_AT_A_TIME = 100
"""So that the samples of a large test set need not all be in memory."""


@dataclass(frozen=True)
class Outcome:
    """How well a measure does on a task."""

    value: float
    """Accuracy, or AUC: from 0 to 1."""
    replicates: Floats
    """The same in each bootstrap sample; the samples are those of every other measure."""
    scores: Floats
    """Of the test pairs."""
    threshold: float | None = None


@dataclass(frozen=True)
class Results:
    """What came out, by task and measure; a measure that cannot do a task is missing there."""

    tasks: Sequence[Task]
    measures: Sequence[str]
    outcomes: Mapping[tuple[str, str], Outcome]
    samples: int
    seed: int

    def counts(self, task: Task) -> Counts:
        """The bootstrap samples of a task: each task has its own."""
        seeds = spawn(self.seed, len(self.tasks))
        place = [each.name for each in self.tasks].index(task.name)
        return bootstrap_counts(len(task.test), samples=self.samples, seed=seeds[place])


@dataclass
class ParaphraseStudy:
    """Measures over tasks, each pair scored once; ``cells`` keeps what is done."""

    tasks: Sequence[Task]
    specs: Sequence[MeasureSpec]
    model: str = DEFAULT_MODEL
    """For measures that name no model of their own."""
    cells: CellFolder | None = None
    samples: int = SAMPLES
    seed: int = 0
    load_model: ModelLoader = load_any
    progress: Progress | None = None
    advance: Callable[[int], None] | None = None
    done: int = field(default=0, init=False)
    reused: int = field(default=0, init=False)

    @property
    def size(self) -> int:
        """How many pairs there are to score, over all measures."""
        return len(self.specs) * sum(task.size for task in self.tasks)

    def run(self) -> Results:
        """Score what is not scored yet, and evaluate."""
        scored: dict[tuple[str, str], Scored] = {}
        for task in self.tasks:
            for spec in self.specs:
                try:
                    scored[task.name, str(spec)] = self._score(task, spec)
                except LanguageError as error:
                    warnings.warn(
                        f"{spec} is left out of {task.name}: {error}", DataWarning, stacklevel=2
                    )
                self._report(task.size)
        results = Results(
            self.tasks, [str(spec) for spec in self.specs], {}, self.samples, self.seed
        )
        outcomes = {
            (task.name, spec): evaluate(task, scored[task.name, spec], counts)
            for task, counts in ((task, results.counts(task)) for task in self.tasks)
            for spec in results.measures
            if (task.name, spec) in scored
        }
        cut = sum(each.cut for each in scored.values())
        if cut:
            warnings.warn(f"{cut} pairs {CUT_REASON}", CutWarning, stacklevel=2)
        return Results(self.tasks, results.measures, outcomes, self.samples, self.seed)

    def time_per_pair(self, pairs: Sequence[LabelledPair]) -> dict[str, float]:
        """Seconds per pair of each measure (table A1), with nothing remembered from before.

        ``load_model`` must give a model without a cache for this to mean anything.
        """
        texts = [(pair.a, pair.b) for pair in pairs]
        found = {}
        for spec in self.specs:
            similarity = self._similarity(spec, (texts[0][0].lang or "", texts[0][1].lang or ""))
            try:
                similarity.segments(texts[:1])  # what is loaded late is loaded now
                similarity = self._similarity(
                    spec, (texts[0][0].lang or "", texts[0][1].lang or "")
                )
                begun = time.perf_counter()
                similarity.segments(texts)
            except LanguageError:
                continue
            found[str(spec)] = (time.perf_counter() - begun) / len(texts)
        return found

    def _similarity(self, spec: MeasureSpec, langs: tuple[str, str]) -> Similarity:
        forth, back = (spec.make(lang, self.load_model, self.model) for lang in langs)
        return Similarity(forth, back)

    def _score(self, task: Task, spec: MeasureSpec) -> Scored:
        similarity = self._similarity(spec, task.langs)
        key = (task.name, str(spec), similarity.signature, task.fingerprint)
        if self.cells is not None and (known := self.cells.get(*key)) is not None:
            self.reused += 1
            return known
        parts: dict[str, list[float]] = {"validation": [], "test": []}
        cut, before = 0, 0
        for name, pairs in (("validation", task.validation), ("test", task.test)):
            step = len(pairs) if similarity.needs_all_rows else ROWS_AT_A_TIME
            for start in range(0, len(pairs), step):
                texts = [(pair.a, pair.b) for pair in pairs[start : start + step]]
                found = similarity.segments(texts, self.progress)
                parts[name] += found.scores
                cut += sum(found.cut)
                before += len(texts)
                if self.advance is not None:
                    self.advance(self.done + before)
        scored = Scored(parts, cut)
        if self.cells is not None:
            self.cells.put(*key, scored)
        return scored

    def _report(self, pairs: int) -> None:
        self.done += pairs
        if self.advance is not None:
            self.advance(self.done)


def evaluate(task: Task, scored: Scored, counts: Counts) -> Outcome:
    """Accuracy with the threshold of the validation set; AUC where there is none."""
    truth = labels(task.test)
    scores = np.array(scored.parts["test"], dtype=np.float64)
    if not task.validation:
        return Outcome(
            auc(truth, scores), _each(counts, lambda c: auc(truth, scores, counts=c)), scores
        )
    threshold = best_threshold(labels(task.validation), scored.parts["validation"]).value
    decisions = decide(scores, threshold)
    replicates = _each(counts, lambda c: accuracy(truth, decisions, counts=c))
    return Outcome(accuracy(truth, decisions), replicates, scores, threshold)


def labels(pairs: Sequence[LabelledPair]) -> Bools:
    """Which pairs are paraphrases."""
    return np.array([pair.label for pair in pairs], dtype=np.bool_)


def _each(counts: Counts, statistic: Callable[[Counts], Floats]) -> Floats:
    starts = range(0, len(counts), SAMPLES_AT_A_TIME)
    return np.concatenate(
        [statistic(counts[start : start + SAMPLES_AT_A_TIME]) for start in starts]
    )
