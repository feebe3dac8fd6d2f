"""Training a detector: its network, batches, loss and evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tertium.errors import ModelError
from tertium.stats.classification import accuracy
from tertium.training.checkpoints import BEST, read_checkpoint
from tertium.training.detector.data import (
    Example,
    PairBatch,
    PairSampler,
    in_order,
    read_examples,
)
from tertium.training.detector.network import (
    TOKENIZER,
    logits,
    new_classifier,
    padding,
    prepare_tokenizer,
)
from tertium.training.detector.plan import DetectorPlan
from tertium.training.loop import Pace, Task, Trained, exclusive, run_training
from tertium.training.plan import settle_plan
from tertium.training.schedule import Decay
from tertium.training.worker import Worker

if TYPE_CHECKING:
    from torch import dtype

BETAS = (0.9, 0.999)
DEV_PAIRS = 64
"""Pairs per batch of an evaluation."""
ACCURACY = "accuracy"


@exclusive
def train_detector(run: Path, plan: DetectorPlan | None, pace: Pace, worker: Worker) -> Trained:
    """Start a run, or resume it from its last checkpoint; ``plan`` may be None to resume.

    With several processes, each calls this, and the main process writes.
    """
    import torch

    torch.set_num_threads(pace.threads)
    with worker.main_first():
        plan = settle_plan(run, plan, DetectorPlan, worker, prepared=(TOKENIZER, BEST))
        tokenizer = prepare_tokenizer(run, plan)
    recipe = plan.recipe
    examples = read_examples(
        plan.train, tokenizer, recipe.max_tokens, both_orders=recipe.both_orders
    )
    dev = read_examples(plan.dev, tokenizer, recipe.max_tokens)
    torch.manual_seed(plan.seed)
    network = new_classifier(plan, tokenizer).to(worker.device)
    sampler = PairSampler(examples, recipe, padding(network), plan.seed)

    def backward(batch: PairBatch, divisor: float, dtype: dtype) -> float:
        with torch.autocast(network.device.type, dtype, enabled=dtype != torch.float32):
            outputs = logits(network, batch)
        labels = torch.from_numpy(batch.labels).to(network.device)
        loss = torch.nn.functional.cross_entropy(outputs.float(), labels, reduction="sum")
        (loss / divisor).backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    task = Task(
        network=network,
        optimizer=torch.optim.AdamW(
            network.parameters(),
            lr=recipe.peak_rate,
            betas=BETAS,
            weight_decay=recipe.weight_decay,
        ),
        sampler=sampler,
        backward=backward,
        updates=recipe,
        unit="pairs",
        evaluate=lambda: {"dev": accuracies(network, dev)},
        dev_steps=recipe.dev_steps,
        steps=sampler.steps,
        decay=Decay(recipe.warmup_steps, max(1, sampler.steps - recipe.warmup_steps)),
        best_by=ACCURACY,
    )
    return run_training(run, task, pace, worker)


def accuracies(network: Any, dev: Sequence[Example]) -> dict[str, float]:
    """Return the accuracy over all validation pairs, and for each language."""
    import torch

    network.eval()
    predicted = np.zeros(len(dev), dtype=np.int64)
    with torch.no_grad():
        for places, batch in in_order(dev, DEV_PAIRS, padding(network)):
            predicted[places] = logits(network, batch).argmax(dim=1).cpu().numpy()
    network.train()
    truth = np.array([example.label for example in dev])
    langs = np.array([example.lang for example in dev])
    scores = {ACCURACY: accuracy(truth, predicted)}
    for lang in dict.fromkeys(langs.tolist()):
        scores[lang] = accuracy(truth[langs == lang], predicted[langs == lang])
    return scores


def best_network(run: Path, plan: DetectorPlan) -> Any:
    """Load the network of the best checkpoint."""
    if not (run / BEST).is_file():
        raise ModelError(
            f"{run} has no best checkpoint yet", cure=("train longer", "with smaller {dev_steps}")
        )
    network = new_classifier(plan, prepare_tokenizer(run, plan))
    network.load_state_dict(read_checkpoint(run / BEST)["network"])
    return network.eval()
