"""Paraphrase identification: the benchmark of the NMTScore paper (section 4).

With a validation set, the threshold with the best accuracy there is applied to the test set, and
accuracy is reported; without one, the area under the ROC curve (AUC). Differences are tested by
paired bootstrap.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tertium.data.datasets.base import LabelledPair
from tertium.errors import LanguageError
from tertium.measures.loading import MeasureSpec, ModelSource
from tertium.stats.arrays import Bools, Counts, Floats
from tertium.stats.classification import accuracy, auc, best_threshold, decide
from tertium.stats.conventions import SAMPLES
from tertium.stats.resampling import bootstrap_counts, spawn
from tertium.studies.paraphrase_id.tasks import Task
from tertium.studies.runner import Job, Runner, Scored, SharedModels, Similarity, similarity_job

SAMPLES_AT_A_TIME = 100
"""Bounds the memory that the samples of a large test set take."""


@dataclass(frozen=True)
class Outcome:
    """How well a measure does on a task."""

    value: float
    """Accuracy, or AUC: from 0 to 1."""
    replicates: Floats
    """The same in each bootstrap sample; all measures share their samples."""
    scores: Floats
    """The scores of the test pairs."""
    threshold: float | None = None


@dataclass(frozen=True)
class Results:
    """The outcomes by task and measure; one that could not be scored is missing."""

    tasks: Sequence[Task]
    measures: Sequence[str]
    outcomes: Mapping[tuple[str, str], Outcome]
    samples: int
    seed: int

    def counts(self, task: Task) -> Counts:
        """The bootstrap samples of a task; each task has its own seed."""
        seeds = spawn(self.seed, len(self.tasks))
        place = [each.name for each in self.tasks].index(task.name)
        return bootstrap_counts(len(task.test), samples=self.samples, seed=seeds[place])


@dataclass
class ParaphraseStudy:
    """Measures over tasks; each pair is scored once."""

    tasks: Sequence[Task]
    specs: Sequence[MeasureSpec]
    models: ModelSource = field(default_factory=SharedModels)
    runner: Runner = field(default_factory=Runner)
    samples: int = SAMPLES
    seed: int = 0

    @property
    def size(self) -> int:
        """How many pairs there are to score, over all measures."""
        return len(self.specs) * sum(task.size for task in self.tasks)

    def run(self) -> Results:
        """Score what is not scored yet, and evaluate."""
        scored = self.runner.run(self.jobs())
        self.runner.warn()
        names = [str(spec) for spec in self.specs]
        results = Results(self.tasks, names, {}, self.samples, self.seed)
        outcomes = {
            (task.name, name): evaluate(task, scored[task.name, name], counts)
            for task, counts in ((task, results.counts(task)) for task in self.tasks)
            for name in names
            if (task.name, name) in scored
        }
        return replace(results, outcomes=outcomes)

    def time_per_pair(
        self, pairs: Sequence[LabelledPair], models: Callable[[], ModelSource]
    ) -> dict[str, float]:
        """Seconds per pair of each measure (table A1); ``models`` must have no cached results."""
        texts = [(pair.a, pair.b) for pair in pairs]
        langs = (texts[0][0].lang or "", texts[0][1].lang or "")
        seconds = {}
        for spec in self.specs:
            try:
                Similarity.make(spec, models(), *langs).segments(texts[:1])  # load everything
                similarity = Similarity.make(spec, models(), *langs)
                begun = time.perf_counter()
                similarity.segments(texts)
            except LanguageError:
                continue
            seconds[str(spec)] = (time.perf_counter() - begun) / len(texts)
        return seconds

    def jobs(self) -> list[Job]:
        """One cell per task and measure."""
        jobs = []
        for task in self.tasks:
            sets = {"validation": task.validation, "test": task.test}
            parts = {name: [(pair.a, pair.b) for pair in pairs] for name, pairs in sets.items()}
            jobs += [
                similarity_job(task.name, spec, parts, self.models, task.langs)
                for spec in self.specs
            ]
        return jobs


def evaluate(task: Task, scored: Scored, counts: Counts) -> Outcome:
    """Accuracy with the threshold of the validation set; AUC if there is none."""
    truth = labels(task.test)
    scores = np.array(scored.parts["test"], dtype=np.float64)
    if not task.validation:
        return Outcome(auc(truth, scores), auc_samples(truth, scores, counts), scores)
    threshold = best_threshold(labels(task.validation), scored.parts["validation"]).value
    decisions = decide(scores, threshold)
    replicates = _in_parts(counts, lambda c: accuracy(truth, decisions, counts=c))
    return Outcome(accuracy(truth, decisions), replicates, scores, threshold)


def labels(pairs: Sequence[LabelledPair]) -> Bools:
    """Which pairs are paraphrases."""
    return np.array([pair.label for pair in pairs], dtype=np.bool_)


def auc_samples(truth: Bools, scores: Floats, counts: Counts) -> Floats:
    """The area under the ROC curve of each sample."""
    return _in_parts(counts, lambda own: auc(truth, scores, counts=own))


def _in_parts(counts: Counts, statistic: Callable[[Counts], Floats]) -> Floats:
    starts = range(0, len(counts), SAMPLES_AT_A_TIME)
    return np.concatenate(
        [statistic(counts[start : start + SAMPLES_AT_A_TIME]) for start in starts]
    )
