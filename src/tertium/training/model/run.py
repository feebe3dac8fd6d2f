"""A training run: it can be killed at any time and goes on as if it had not been."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tertium.errors import ModelError, ResumeError
from tertium.training.checkpoints import (
    Progress,
    list_checkpoints,
    load_checkpoint,
    save_checkpoint,
)
from tertium.training.log import LOG, Report
from tertium.training.model.development import development_batches, development_loss
from tertium.training.model.network import load_network, new_network
from tertium.training.model.pieces import Pieces
from tertium.training.model.plan import Plan, check_same, read_plan, write_plan
from tertium.training.model.preparation import (
    discard_preparation,
    prepare_corpus,
    prepare_development,
    prepare_pieces,
)
from tertium.training.model.recipes import Recipe
from tertium.training.model.sampler import Sampler
from tertium.training.model.translations import development_chrf
from tertium.training.model.update import step
from tertium.training.precision import MixedPrecision
from tertium.training.schedule import Decay, learning_rate
from tertium.training.worker import Worker

BETAS = (0.9, 0.98)
ALONE = Worker()


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to train, and how often to save and report; it may change from run to resume."""

    steps: int | None = None
    """Stop when the run has this many; None is to go on until stopped, or until decayed."""
    decay_steps: int | None = None
    """Let the rate fall to zero: over the last of ``steps``, or else from now on."""
    save_minutes: float = 10.0
    save_steps: int | None = None
    keep: int = 5
    dev_steps: int = 500
    dev_sentences: int = 0
    """How many of each direction to translate for chrF; none by default, for it takes time."""
    log_steps: int = 50
    threads: int = 1
    """Of each process."""
    precision: str | None = None
    """float32, bf16 or fp16; None is to go on as before, and to begin with float32."""


def train(run: Path, plan: Plan | None, pace: Pace, worker: Worker = ALONE) -> Progress:
    """Begin a run, or resume it from its last checkpoint; ``plan`` may be None to resume.

    Of several processes each calls it, and the main one writes.
    """
    import torch

    torch.set_num_threads(pace.threads)
    with worker.main_first():
        plan = _settled_plan(run, plan, worker)
        pieces = prepare_pieces(run, plan)
        corpus = prepare_corpus(run, plan, pieces)
    sampler = Sampler(
        corpus,
        plan.mixture,
        pieces.tags,
        batch_tokens=plan.recipe.batch_tokens,
        max_pieces=plan.recipe.max_pieces,
        seed=plan.seed,
    )
    dev = prepare_development(plan, pieces) if worker.is_main else None
    dev_batches = [] if dev is None else development_batches(dev, pieces.tags)

    torch.manual_seed(plan.seed)
    network = first_network(plan, pieces).to(worker.device)
    network.train()
    optimizer = new_optimizer(network, plan.recipe)
    progress = Progress()
    if checkpoints := list_checkpoints(run):
        progress = load_checkpoint(checkpoints[-1], network, optimizer)
    if worker.sum(progress.step) != worker.count * progress.step:
        raise ResumeError(f"{run}: not all processes see the last checkpoint yet; try again")
    progress = replace(
        progress,
        decay=progress.decay or _decay(progress.step, pace),
        precision=pace.precision or progress.precision,
    )
    precision = MixedPrecision(progress.precision, worker.device, progress.scaler)

    log_file = run / LOG if worker.is_main else Path(os.devnull)
    with stop_asked() as stop, log_file.open("a", encoding="utf-8") as log:
        report = Report(log)
        if progress.step:
            report.write_resumed(progress.step)
        last_save, unsaved = time.monotonic(), False
        while not _finished(progress, pace) and not worker.any(bool(stop)):
            rate = learning_rate(
                progress.step,
                peak=plan.recipe.peak_rate,
                warmup_steps=plan.recipe.warmup_steps,
                decay=progress.decay,
            )
            loss, tokens = step(
                network, optimizer, sampler, progress.step, rate, plan.recipe, worker, precision
            )
            if not math.isfinite(loss):
                raise ModelError(
                    f"{run}: the loss of step {progress.step} is {loss}; train anew, in another "
                    "folder, at a lower --rate"
                )
            progress = replace(progress, step=progress.step + 1, scaler=precision.state)
            report.add(loss, tokens)
            unsaved = worker.is_main
            if progress.step % pace.log_steps == 0 or _finished(progress, pace):
                report.write(progress.step, rate=rate)
            if dev_batches and (progress.step % pace.dev_steps == 0 or _finished(progress, pace)):
                losses = development_loss(network, dev_batches)
                chrf = (
                    development_chrf(
                        network, dev_batches, pieces.decode, sentences=pace.dev_sentences
                    )
                    if pace.dev_sentences
                    else {}
                )
                report.write_dev(progress.step, losses, chrf)
            minutes = (time.monotonic() - last_save) / 60
            due = pace.save_steps and progress.step % pace.save_steps == 0
            if unsaved and (minutes >= pace.save_minutes or due):
                save_checkpoint(run, network, optimizer, progress, keep=pace.keep)
                last_save, unsaved = time.monotonic(), False
        if unsaved:
            save_checkpoint(run, network, optimizer, progress, keep=pace.keep)
    return progress


def first_network(plan: Plan, pieces: Pieces) -> Any:
    """The network that a run starts with."""
    if plan.init is not None:
        return load_network(Path(plan.init), pieces.size)
    return new_network(plan.recipe, pieces.size)


def new_optimizer(network: Any, recipe: Recipe) -> Any:
    import torch

    return torch.optim.AdamW(
        network.parameters(),
        lr=recipe.peak_rate,
        betas=BETAS,
        weight_decay=recipe.weight_decay,
        fused=True,
    )


def _settled_plan(run: Path, plan: Plan | None, worker: Worker) -> Plan:
    """The plan of the run; the main process writes it, and the others read it then."""
    saved = read_plan(run)
    if not worker.is_main:
        if saved is None:
            raise ResumeError(f"{run} must be on a file system that all processes share")
        return saved
    if plan is None:
        if saved is None:
            raise ResumeError(f"{run} is no run yet; say what to train on")
        plan = saved
    elif saved is not None and list_checkpoints(run):
        check_same(run, saved, plan)
    elif saved != plan:
        discard_preparation(run)
    write_plan(run, plan)
    return plan


def _decay(step: int, pace: Pace) -> Decay | None:
    if pace.decay_steps is None:
        return None
    start = step if pace.steps is None else max(step, pace.steps - pace.decay_steps)
    return Decay(start, pace.decay_steps)


def _finished(progress: Progress, pace: Pace) -> bool:
    decay = progress.decay
    if decay is not None and progress.step >= decay.start + decay.steps:
        return True
    return pace.steps is not None and progress.step >= pace.steps


@contextmanager
def stop_asked() -> Iterator[list[int]]:
    """A list that is empty until SIGINT or SIGTERM asks us to save and leave."""
    asked: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: asked.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
