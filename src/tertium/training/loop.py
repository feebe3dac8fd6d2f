"""The training loop: it can be interrupted at any time, and resumes to the same weights."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from tertium.errors import ModelError, ResumeError
from tertium.storage.resume import locked
from tertium.training.checkpoints import (
    Best,
    Progress,
    list_checkpoints,
    load_checkpoint,
    read_best,
    save_best,
    save_checkpoint,
)
from tertium.training.log import LOG, Log
from tertium.training.plan import Updates
from tertium.training.precision import MixedPrecision, check_precision
from tertium.training.schedule import Decay, learning_rate
from tertium.training.worker import Share, Worker, shares

if TYPE_CHECKING:
    from torch import dtype

ALONE = Worker()
P = TypeVar("P", contravariant=True)


class Trainer(Protocol[P]):
    """Starts a run, or resumes it; ``plan`` may be None to resume."""

    def __call__(self, run: Path, plan: P, pace: Pace, worker: Worker = ...) -> Trained: ...


class Sampler(Protocol):
    """Draws batches: a pure function of the seed and the number of the batch."""

    seed: int

    def batch(self, number: int) -> Any:
        """Return a batch, which has a ``count`` and a method ``part(part, parts)`` to split it."""

    def count(self, number: int) -> int:
        """Return the number of labels of a batch that count in the loss, without making it."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is trained. The loop adds the schedule, the processes, the checkpoints and the log."""

    network: Any
    optimizer: Any
    sampler: Sampler
    backward: Callable[[Any, float, dtype], float]
    """Called with a batch, a divisor and the type to multiply in: adds the gradients of the summed
    loss over the divisor, and returns the summed loss."""
    updates: Updates
    unit: str
    """What losses are a mean over."""
    evaluate: Callable[[], Mapping[str, Mapping[str, float]]] | None = None
    """Returns the scores of the development set by kind (dev, chrf, ...) and name, for the log."""
    dev_steps: int | None = None
    """Steps between evaluations, where the plan sets them; otherwise the pace does."""
    steps: int | None = None
    """The length of the training, where the plan sets it; otherwise the pace does."""
    decay: Decay | None = None
    best_by: str | None = None
    """The development score that the best checkpoint is chosen by."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to train, and how often to save and report; may change when a run is resumed."""

    steps: int | None = None
    """Stop when the run has done this many; None trains until interrupted, or until decayed."""
    decay_steps: int | None = None
    """Decay the rate to zero: over the last of ``steps``, otherwise from the current step."""
    save_minutes: float = 10.0
    save_steps: int | None = None
    keep: int = 5
    dev_steps: int = 500
    dev_sentences: int = 0
    """How many sentences per direction to translate for chrF, which takes time."""
    log_steps: int = 50
    threads: int = 1
    """Threads per process."""
    precision: str | None = None
    """float32, bf16 or fp16; None keeps the precision of the run, which is float32 at first."""
    progress: Callable[[int, int | None], None] | None = None
    """Called with the steps done, and the total if there is one."""

    def __post_init__(self) -> None:
        if self.precision is not None:
            check_precision(self.precision)


@dataclass(frozen=True, slots=True)
class Trained:
    """The state of a run when its process stopped."""

    step: int
    steps: int | None
    """The length of the training, if it is known."""
    best: Best

    @property
    def finished(self) -> bool:
        return self.steps is not None and self.step >= self.steps


def exclusive(train: Callable[[Path, P, Pace, Worker], Trained]) -> Trainer[P]:
    """Let one process at a time write to the folder of a run: its main process holds a lock."""

    @wraps(train)
    def locked_train(run: Path, plan: P, pace: Pace, worker: Worker = ALONE) -> Trained:
        if not worker.is_main:
            return train(run, plan, pace, worker)
        run.parent.mkdir(parents=True, exist_ok=True)
        with locked(run):
            return train(run, plan, pace, worker)

    return locked_train


def run_training(run: Path, task: Task, pace: Pace, worker: Worker = ALONE) -> Trained:
    """Train from the last checkpoint of a run, or from the start if there is none.

    With several processes, each calls this, and the main process writes.
    """
    network, optimizer = task.network, task.optimizer
    network.train()
    progress = Progress()
    if checkpoints := list_checkpoints(run):
        progress = load_checkpoint(checkpoints[-1], network, optimizer)
    if worker.sum(progress.step) != worker.count * progress.step:
        raise ResumeError(f"{run}: not all processes see the last checkpoint yet; try again")
    progress = replace(
        progress,
        decay=task.decay or progress.decay or _new_decay(progress.step, pace),
        precision=pace.precision or progress.precision,
    )
    precision = MixedPrecision(progress.precision, worker.device, progress.scaler)
    best = Best() if task.best_by is None else read_best(run, task.best_by)
    steps = _length(task, pace, progress.decay)
    last = min(steps or math.inf, pace.steps or math.inf)

    log_file = run / LOG if worker.is_main else Path(os.devnull)
    with stop_requests() as stop, log_file.open("a", encoding="utf-8") as stream:
        log = Log(stream, task.unit)
        if progress.step:
            log.write_resumed(progress.step)
        last_save, unsaved = time.monotonic(), False
        while progress.step < last and not worker.any(bool(stop)):
            rate = learning_rate(
                progress.step,
                peak=task.updates.peak_rate,
                warmup_steps=task.updates.warmup_steps,
                decay=progress.decay,
                schedule=task.updates.schedule,
            )
            loss, count = update(task, progress.step, rate, worker, precision)
            if not math.isfinite(loss):
                raise ModelError(
                    f"{run}: the loss of step {progress.step} is {loss}",
                    cure="start over in another folder with a lower {peak_rate}",
                )
            progress = replace(progress, step=progress.step + 1, scaler=precision.state)
            log.add(loss, count)
            unsaved = worker.is_main
            complete = progress.step == steps
            if complete or progress.step % pace.log_steps == 0:
                log.write(progress.step, rate=rate)
            dev_due = complete or progress.step % (task.dev_steps or pace.dev_steps) == 0
            if dev_due and worker.is_main and task.evaluate is not None:
                scores = task.evaluate()
                log.write_evaluation(progress.step, scores)
                if task.best_by is not None and scores["dev"][task.best_by] > best.score:
                    best = Best(progress.step, scores["dev"][task.best_by])
                    save_best(run, network, best, task.best_by)
            if worker.is_main and pace.progress is not None:
                pace.progress(progress.step, steps)
            minutes = (time.monotonic() - last_save) / 60
            save_due = pace.save_steps and progress.step % pace.save_steps == 0
            if unsaved and (save_due or minutes >= pace.save_minutes):
                save_checkpoint(run, network, optimizer, progress, keep=pace.keep)
                last_save, unsaved = time.monotonic(), False
        if unsaved:
            save_checkpoint(run, network, optimizer, progress, keep=pace.keep)
    return Trained(progress.step, steps, best)


def update(
    task: Task, step: int, rate: float, worker: Worker, precision: MixedPrecision
) -> tuple[float, int]:
    """Make one update; return the summed loss and the count of labels of all processes.

    Each process divides by the count of all, so that the gradients need only be summed: the loss
    is a mean over labels, however they are distributed.
    """
    import torch

    first = step * task.updates.accumulate
    numbers = range(first, first + task.updates.accumulate)
    count = sum(map(task.sampler.count, numbers))
    divisor = count / precision.loss_scale()
    loss = 0.0
    for share in shares(numbers, worker.index, worker.count):
        batch = task.sampler.batch(share.number).part(share.part, share.parts)
        if not batch.count:
            continue
        if not worker.draws_in_turn:
            torch.manual_seed(dropout_seed(task.sampler.seed, share))
        loss += task.backward(batch, divisor, precision.dtype)
    worker.sum_gradients(task.network.parameters())
    for group in task.optimizer.param_groups:
        group["lr"] = rate
    precision.update(task.network, task.optimizer, clip_norm=task.updates.clip_norm)
    return worker.sum(loss), count


def dropout_seed(seed: int, share: Share) -> int:
    """Return a seed for each part of each batch."""
    return int(np.random.SeedSequence([seed, 2, *share]).generate_state(1, np.uint64)[0])


@contextmanager
def stop_requests() -> Iterator[list[int]]:
    """A list that is empty until SIGINT or SIGTERM requests to save and exit."""
    requests: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: requests.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _new_decay(step: int, pace: Pace) -> Decay | None:
    if pace.decay_steps is None:
        return None
    start = step if pace.steps is None else max(step, pace.steps - pace.decay_steps)
    return Decay(start, pace.decay_steps)


def _length(task: Task, pace: Pace, decay: Decay | None) -> int | None:
    """The step at which the training is complete."""
    ends = [task.steps or pace.steps, None if decay is None else decay.end]
    return min((end for end in ends if end is not None), default=None)
