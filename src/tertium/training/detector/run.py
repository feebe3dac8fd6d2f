"""Training a detector: it can be killed at any time, and goes on as if it had not been."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tertium.errors import ModelError, ResumeError
from tertium.stats.classification import accuracy
from tertium.training.checkpoints import (
    Progress,
    list_checkpoints,
    load_checkpoint,
    read_checkpoint,
    save_checkpoint,
)
from tertium.training.detector.data import Example, PairSampler, in_order, read_examples
from tertium.training.detector.network import (
    TOKENIZER,
    logits,
    new_classifier,
    padding,
    prepare_tokenizer,
)
from tertium.training.detector.plan import (
    DetectorPlan,
    DetectorRecipe,
    check_same_detector,
    read_detector_plan,
    write_detector_plan,
)
from tertium.training.log import LOG, Report
from tertium.training.model.run import stop_asked
from tertium.training.schedule import Decay, learning_rate

BETAS = (0.9, 0.999)
BEST = "best.pt"
DEV_PAIRS = 64
"""How many pairs are judged together."""


@dataclass(frozen=True, slots=True)
class DetectorPace:
    """How often to save and report; it may change from run to resume."""

    stop_at: int | None = None
    """Stop when the run has this many steps, before its end; the rate falls as it was planned."""
    save_minutes: float = 10.0
    save_steps: int | None = None
    keep: int = 2
    log_steps: int = 20
    threads: int = 1
    progress: Callable[[int, int], None] | None = None
    """Called with the steps done and the steps there are."""


@dataclass(frozen=True, slots=True)
class Trained:
    """How far a run has come, and the best accuracy on the validation pairs so far."""

    step: int
    steps: int
    best_step: int
    best_accuracy: float

    @property
    def finished(self) -> bool:
        return self.step >= self.steps


def train_detector(run: Path, plan: DetectorPlan | None, pace: DetectorPace) -> Trained:
    """Begin a run, or resume it from its last checkpoint; ``plan`` may be None to resume."""
    import torch

    torch.set_num_threads(pace.threads)
    plan = _settled_plan(run, plan)
    tokenizer = prepare_tokenizer(run, plan)
    recipe = plan.recipe
    examples = read_examples(
        plan.train, tokenizer, recipe.max_pieces, both_orders=recipe.both_orders
    )
    dev = read_examples(plan.dev, tokenizer, recipe.max_pieces)
    network = new_classifier(plan, tokenizer)
    network.train()
    sampler = PairSampler(examples, recipe, padding(network), plan.seed)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=recipe.rate, betas=BETAS, weight_decay=recipe.weight_decay
    )
    progress = Progress()
    if checkpoints := list_checkpoints(run):
        progress = load_checkpoint(checkpoints[-1], network, optimizer)
    best_step, best = _best(run)
    decay = Decay(recipe.warmup_steps, max(1, sampler.steps - recipe.warmup_steps))
    last = min(sampler.steps, pace.stop_at or sampler.steps)

    with stop_asked() as stop, (run / LOG).open("a", encoding="utf-8") as log:
        report = Report(log, "pairs")
        if progress.step:
            report.write_resumed(progress.step)
        saved, unsaved = time.monotonic(), False
        while not stop and progress.step < last:
            rate = learning_rate(
                progress.step, peak=recipe.rate, warmup_steps=recipe.warmup_steps, decay=decay
            )
            loss, pairs = update(network, optimizer, sampler, progress.step, rate, recipe)
            if not math.isfinite(loss):
                raise ModelError(
                    f"{run}: the loss of step {progress.step} is {loss}; train anew, in another "
                    "folder, at a lower --rate"
                )
            progress = replace(progress, step=progress.step + 1)
            report.add(loss, pairs)
            unsaved = True
            ended = progress.step >= sampler.steps
            if progress.step % pace.log_steps == 0 or ended:
                report.write(progress.step, rate=rate)
            if progress.step % recipe.dev_steps == 0 or ended:
                found = accuracies(network, dev)
                report.write_dev(progress.step, found)
                if found["accuracy"] > best:
                    best_step, best = progress.step, found["accuracy"]
                    _keep_best(run, network, best_step, best)
            if pace.progress is not None:
                pace.progress(progress.step, sampler.steps)
            minutes = (time.monotonic() - saved) / 60
            due = pace.save_steps and progress.step % pace.save_steps == 0
            if minutes >= pace.save_minutes or due:
                save_checkpoint(run, network, optimizer, progress, keep=pace.keep)
                saved, unsaved = time.monotonic(), False
        if unsaved:
            save_checkpoint(run, network, optimizer, progress, keep=pace.keep)
    return Trained(progress.step, sampler.steps, best_step, best)


def update(
    network: Any,
    optimizer: Any,
    sampler: PairSampler,
    number: int,
    rate: float,
    recipe: DetectorRecipe,
) -> tuple[float, int]:
    """Make one update; return the summed loss and the number of pairs."""
    import torch

    total, batches = 0.0, sampler.batches(number)
    pairs = sum(len(batch.labels) for batch in batches)
    for batch in batches:
        loss = torch.nn.functional.cross_entropy(
            logits(network, batch), torch.from_numpy(batch.labels), reduction="sum"
        )
        (loss / pairs).backward()  # type: ignore[no-untyped-call]
        total += float(loss.detach())
    torch.nn.utils.clip_grad_norm_(network.parameters(), recipe.clip_norm)
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    optimizer.zero_grad()
    return total, pairs


def accuracies(network: Any, dev: Sequence[Example]) -> dict[str, float]:
    """The accuracy over all validation pairs, and that of each language."""
    import torch

    network.eval()
    told = np.zeros(len(dev), dtype=np.int64)
    with torch.no_grad():
        for places, batch in in_order(dev, DEV_PAIRS, padding(network)):
            told[places] = logits(network, batch).argmax(dim=1).numpy()
    network.train()
    truth = np.array([example.label for example in dev])
    langs = np.array([example.lang for example in dev])
    found = {"accuracy": accuracy(truth, told)}
    for lang in dict.fromkeys(langs.tolist()):
        found[lang] = accuracy(truth[langs == lang], told[langs == lang])
    return found


def best_network(run: Path, plan: DetectorPlan) -> Any:
    """The network of the best checkpoint."""
    if not (run / BEST).is_file():
        raise ModelError(f"{run} has no best checkpoint yet; train on (--dev-steps)")
    network = new_classifier(plan, prepare_tokenizer(run, plan))
    network.load_state_dict(read_checkpoint(run / BEST)["network"])
    return network.eval()


def _settled_plan(run: Path, plan: DetectorPlan | None) -> DetectorPlan:
    saved = read_detector_plan(run)
    if plan is None:
        if saved is None:
            raise ResumeError(f"{run} is no run yet; say what to train on")
        return saved
    if saved is not None and list_checkpoints(run):
        check_same_detector(run, saved, plan)
    elif saved != plan:
        (run / TOKENIZER).unlink(missing_ok=True)
        (run / BEST).unlink(missing_ok=True)
    write_detector_plan(run, plan)
    return plan


def _keep_best(run: Path, network: Any, step: int, found: float) -> None:
    import torch

    scratch = run / f"{BEST}.new"
    with scratch.open("wb") as stream:
        torch.save({"step": step, "accuracy": found, "network": network.state_dict()}, stream)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(scratch, run / BEST)


def _best(run: Path) -> tuple[int, float]:
    """The best so far; one that came after the checkpoint will come again, the same."""
    if not (run / BEST).is_file():
        return 0, -1.0
    state = read_checkpoint(run / BEST)
    return int(state["step"]), float(state["accuracy"])
