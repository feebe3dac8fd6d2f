"""Training a translation model: its network, batches, loss and evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertium.training.loop import Pace, Task, Trained, exclusive, run_training
from tertium.training.model.batches import Batch, Contraster, Sampler
from tertium.training.model.corpus import (
    CORPUS,
    development_pairs,
    prepare_corpus,
    prepare_development,
)
from tertium.training.model.evaluation import (
    contrast_accuracy,
    contrast_batches,
    development_batches,
    development_chrf,
    development_loss,
    retrieval_accuracy,
)
from tertium.training.model.names import NameReplacer
from tertium.training.model.network import grow_network, load_network, new_network, train_on
from tertium.training.model.optimizer import new_optimizer
from tertium.training.model.plan import Plan
from tertium.training.model.tokenizer import SPM, Tokenizer, prepare_tokenizer
from tertium.training.plan import settle_plan
from tertium.training.worker import Worker

if TYPE_CHECKING:
    from torch import dtype

__all__ = ["Pace", "first_network", "train"]


@exclusive
def train(run: Path, plan: Plan | None, pace: Pace, worker: Worker) -> Trained:
    """Start a run, or resume it from its last checkpoint; ``plan`` may be None to resume.

    With several processes, each calls this, and the main process writes.
    """
    import torch

    torch.set_num_threads(pace.threads)
    with worker.main_first():
        plan = settle_plan(run, plan, Plan, worker, prepared=(SPM, CORPUS))
        tokenizer = prepare_tokenizer(run, plan)
        corpus = prepare_corpus(run, plan, tokenizer)
    recipe = plan.recipe
    replacer = None
    if corpus.lexicon is not None:
        replacer = NameReplacer(corpus.lexicon, tokenizer, max_tokens=recipe.max_tokens)
    contraster = None
    if recipe.contrast:
        contraster = Contraster(corpus.lexicon, tokenizer, max_tokens=recipe.max_tokens)
    dev_batches, contrasts = [], []
    if worker.is_main:
        for domain, dev in prepare_development(plan, tokenizer).items():
            dev_batches += development_batches(dev, tokenizer.tags, domain)
        if corpus.lexicon is not None or recipe.contrast:
            for domain, pairs in development_pairs(plan).items():
                contrasts += contrast_batches(
                    pairs,
                    corpus.lexicon,
                    tokenizer,
                    max_tokens=recipe.max_tokens,
                    domain=domain,
                    seed=plan.seed,
                )
    torch.manual_seed(plan.seed)
    network = first_network(plan, tokenizer).to(worker.device)
    if network.device.type == "cpu":
        # The fused attention of PyTorch is made for long sequences: for sentences on two cores,
        # training was 8 % slower with it in float32, and 30 % in bf16.
        network.set_attn_implementation("eager")

    def backward(batch: Batch, divisor: float, dtype: dtype) -> float:
        return train_on(
            network,
            batch,
            smoothing=recipe.label_smoothing,
            scale=1 / divisor,
            dtype=dtype,
            ranking=recipe.ranking,
            contrast=recipe.contrast,
        )

    def evaluate() -> dict[str, dict[str, float]]:
        scores = {
            "dev": development_loss(network, dev_batches),
        }
        if recipe.is_language_model:
            return scores
        scores["retrieval"] = retrieval_accuracy(network, dev_batches)
        if contrasts:
            scores["contrast"] = contrast_accuracy(network, contrasts)
        if pace.dev_sentences:
            scores["chrf"] = development_chrf(
                network, dev_batches, tokenizer.decode, sentences=pace.dev_sentences
            )
        return scores

    task = Task(
        network=network,
        optimizer=new_optimizer(network, recipe),
        sampler=Sampler(
            corpus,
            plan.mixture,
            tokenizer.tags,
            batch_tokens=recipe.batch_tokens,
            max_tokens=recipe.max_tokens,
            seed=plan.seed,
            replacer=replacer,
            contraster=contraster,
        ),
        backward=backward,
        updates=recipe,
        unit="tokens",
        evaluate=evaluate if dev_batches else None,
    )
    return run_training(run, task, pace, worker)


def first_network(plan: Plan, tokenizer: Tokenizer) -> Any:
    """Return the network that a run starts with."""
    if plan.init is not None:
        network = load_network(Path(plan.init), tokenizer.size)
        return grow_network(network, plan.recipe) if plan.grow else network
    return new_network(plan.recipe, tokenizer.size)
