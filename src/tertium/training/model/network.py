"""The network: M2M100 of transformers, or GPT-2 as a language model, trained on our batches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tertium.errors import ModelError
from tertium.models.convert.checkpoint import load_all_weights
from tertium.training.model.batches import CONTRASTED_EVERY, RANKED_EVERY, Batch, WrongTargets
from tertium.training.model.loss import (
    add_loss_gradients,
    contrast_losses,
    log_prob_means,
    negative_log_probs,
    ranking_losses,
)
from tertium.training.model.plan import Recipe
from tertium.training.model.tokenizer import END, PAD, START

if TYPE_CHECKING:
    from torch import Tensor, dtype


def new_network(recipe: Recipe, vocabulary: int) -> Any:
    """Return a network of the recipe's size with random weights."""
    from transformers import (
        GPT2Config,
        GPT2LMHeadModel,
        M2M100Config,
        M2M100ForConditionalGeneration,
    )

    if recipe.is_language_model:
        return GPT2LMHeadModel(
            GPT2Config(
                vocab_size=vocabulary,
                n_embd=recipe.d_model,
                n_inner=recipe.ffn,
                n_layer=recipe.decoder_layers,
                n_head=recipe.heads,
                n_positions=recipe.max_positions,
                activation_function="gelu",
                resid_pdrop=recipe.dropout,
                embd_pdrop=recipe.dropout,
                attn_pdrop=recipe.dropout,
                bos_token_id=END,  # as in fairseq, a sentence begins after the end of another
                eos_token_id=END,
                pad_token_id=PAD,
            )
        )
    config = M2M100Config(
        vocab_size=vocabulary,
        d_model=recipe.d_model,
        encoder_ffn_dim=recipe.ffn,
        decoder_ffn_dim=recipe.ffn,
        encoder_layers=recipe.encoder_layers,
        decoder_layers=recipe.decoder_layers,
        encoder_attention_heads=recipe.heads,
        decoder_attention_heads=recipe.heads,
        encoder_layerdrop=0.0,
        decoder_layerdrop=0.0,
        dropout=recipe.dropout,
        attention_dropout=0.0,
        activation_dropout=0.0,
        max_position_embeddings=recipe.max_positions,
        scale_embedding=True,
        # With the library's default of 0.02, position embeddings dominate those of a small model.
        init_std=recipe.d_model**-0.5,
        bos_token_id=START,
        pad_token_id=PAD,
        eos_token_id=END,
        decoder_start_token_id=END,
    )
    return M2M100ForConditionalGeneration(config)


def load_network(folder: Path, vocabulary: int) -> Any:
    """Load a Hugging Face folder to start from."""
    from transformers import M2M100ForConditionalGeneration

    network = load_all_weights(
        M2M100ForConditionalGeneration, folder, use_safetensors=True, local_files_only=True
    )
    if network.config.vocab_size != vocabulary:
        raise ModelError(
            f"{folder}: the weights are for {network.config.vocab_size} tokens, but the "
            f"SentencePiece model has {vocabulary}"
        )
    return network


def grow_network(network: Any, recipe: Recipe) -> Any:
    """Return a network with the recipe's layers and inner width that computes the same.

    New layers come after the old ones, and add zeros to what they read; so do new inner units of
    old layers. What is added learns from the first step on.
    """
    import torch
    from transformers import M2M100ForConditionalGeneration

    config = type(network.config).from_dict(network.config.to_dict())
    config.encoder_ffn_dim = max(config.encoder_ffn_dim, recipe.ffn)
    config.decoder_ffn_dim = max(config.decoder_ffn_dim, recipe.ffn)
    config.encoder_layers = max(config.encoder_layers, recipe.encoder_layers)
    config.decoder_layers = max(config.decoder_layers, recipe.decoder_layers)
    config.init_std = config.d_model**-0.5
    grown = M2M100ForConditionalGeneration(config)
    old = network.state_dict()
    with torch.no_grad():
        for name, weights in grown.state_dict().items():
            adds = name.endswith((".fc2.weight", ".out_proj.weight"))
            if name not in old:
                if adds or name.endswith(".bias"):
                    weights.zero_()
            elif old[name].shape == weights.shape:
                weights.copy_(old[name])
            else:  # the inner width has grown
                if adds or name.endswith(".bias"):
                    weights.zero_()
                weights[tuple(slice(size) for size in old[name].shape)] = old[name]
    return grown


def train_on(
    network: Any,
    batch: Batch,
    *,
    smoothing: float,
    scale: float,
    dtype: dtype,
    ranking: float = 0.0,
    contrast: float = 0.0,
) -> float:
    """Add ``scale`` times the gradients of a batch; return its summed cross-entropy.

    ``ranking`` is the weight of the ranking loss, to which each pair contributes in proportion to
    its labels. It is computed for one of ``RANKED_EVERY`` batches, with so many times the weight;
    ``contrast`` likewise is that of the contrast loss, with ``CONTRASTED_EVERY``.
    """
    import torch

    losses: list[tuple[Tensor, float]] = []
    with torch.autocast(network.device.type, dtype, enabled=dtype != torch.float32):
        hidden, labels, states = _hidden(network, batch)
        if ranking and batch.ranked:
            losses.append((_ranking_loss(network, batch, states), RANKED_EVERY * ranking))
        if contrast and batch.wrong is not None:
            contrasted = _contrast_loss(network, batch, hidden, labels, states, batch.wrong)
            losses.append((contrasted, CONTRASTED_EVERY * contrast))
    loss, gradient = add_loss_gradients(
        hidden, network.lm_head.weight, labels, smoothing=smoothing, scale=scale, dtype=dtype
    )
    torch.autograd.backward(
        [hidden, *(added for added, _ in losses)],
        [gradient, *(torch.full_like(added, weight * scale) for added, weight in losses)],
    )
    return loss


def sentence_vectors(network: Any, ids: NDArray[np.int64]) -> Tensor:
    """Return the mean of the encoder's states of each row, as Tertium's encoders compute it."""
    import torch

    rows = torch.from_numpy(ids).to(network.device)
    output = network.model.encoder(input_ids=rows, attention_mask=(rows != PAD).long())
    return _pooled(output.last_hidden_state, rows)


def negative_log_likelihoods(network: Any, batch: Batch) -> Tensor:
    """Return -log p of each label of a batch, row by row, in nats."""
    import torch

    with torch.no_grad():
        hidden, labels, _ = _hidden(network, batch)
        return negative_log_probs(hidden, network.lm_head.weight, labels)


def _ranking_loss(network: Any, batch: Batch, states: Tensor) -> Tensor:
    """Return the ranking losses of a batch, times the number of labels of each pair.

    A copy is no translation: it counts as a negative only.
    """
    import torch

    same = np.zeros((len(batch.labels), len(batch.labels)), bool)
    for rows in (batch.sources, batch.labels):
        _, texts = np.unique(rows, axis=0, return_inverse=True)
        same |= texts.reshape(-1, 1) == texts.reshape(1, -1)
    weights = (batch.labels != PAD).sum(axis=1) * ~batch.copies
    sources = torch.from_numpy(batch.sources).to(network.device)
    losses = ranking_losses(
        _pooled(states, sources),
        sentence_vectors(network, batch.labels),
        torch.from_numpy(same).to(network.device),
    )
    return losses @ torch.from_numpy(weights).to(losses)


def _contrast_loss(
    network: Any, batch: Batch, hidden: Tensor, labels: Tensor, states: Tensor, wrong: WrongTargets
) -> Tensor:
    """Return the summed contrast losses; sources are encoded once for both targets."""
    import torch

    device = network.device
    rows = torch.from_numpy(wrong.rows).to(device)
    sources = torch.from_numpy(batch.sources).to(device)[rows]
    wrong_labels = torch.from_numpy(wrong.labels).to(device)
    output = network.model.decoder(
        input_ids=torch.from_numpy(wrong.targets).to(device),
        encoder_hidden_states=states[rows],
        encoder_attention_mask=(sources != PAD).long(),
        use_cache=False,
    )
    counted = wrong_labels != PAD
    weight = network.lm_head.weight
    wrong_means = log_prob_means(
        output.last_hidden_state[:, 1:][counted], weight, wrong_labels[counted], counted.sum(dim=1)
    )
    counts = torch.from_numpy((batch.labels != PAD).sum(axis=1)).to(device)
    chosen = torch.zeros(len(counts), dtype=torch.bool, device=device)
    chosen[rows] = True
    tokens = torch.repeat_interleave(chosen, counts)
    right_means = log_prob_means(hidden[tokens], weight, labels[tokens], counts[rows])
    return contrast_losses(right_means, wrong_means, counts[rows]).sum()


def _pooled(states: Tensor, ids: Tensor) -> Tensor:
    """Return the mean of the states of each row's tokens, without the end."""
    counted = ((ids != PAD) & (ids != END)).unsqueeze(2)
    return (states.float() * counted).sum(dim=1) / counted.sum(dim=1).clamp(min=1)


def _hidden(network: Any, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Return the decoder's last layer at each position that is predicted, the labels, and the
    encoder's last layer.
    """
    import torch

    sources, targets, labels = (
        torch.from_numpy(rows).to(network.device)
        for rows in (batch.sources, batch.targets, batch.labels)
    )
    counted = labels != PAD
    if network.config.model_type == "gpt2":  # without the tag: it reads any language
        states = network.transformer(
            input_ids=torch.cat([targets[:, :1], targets[:, 2:]], dim=1), use_cache=False
        ).last_hidden_state
        return states[counted], labels[counted], states
    padded = bool((batch.sources == PAD).any())
    output = network.model(
        input_ids=sources,
        attention_mask=(sources != PAD).long() if padded else None,
        decoder_input_ids=targets,
        use_cache=False,
    )
    hidden = output.last_hidden_state[:, 1:][counted]
    return hidden, labels[counted], output.encoder_last_hidden_state
