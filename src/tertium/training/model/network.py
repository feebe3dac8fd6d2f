"""The network: M2M100 of transformers, trained on our batches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertium.errors import ModelError
from tertium.models.convert.checkpoint import load_all_weights
from tertium.training.model.batches import Batch
from tertium.training.model.loss import add_loss_gradients, negative_log_probs
from tertium.training.model.plan import Recipe
from tertium.training.model.tokenizer import END, PAD, START

if TYPE_CHECKING:
    from torch import Tensor, dtype


def new_network(recipe: Recipe, vocabulary: int) -> Any:
    """Return an M2M100 of the recipe's size with random weights."""
    from transformers import M2M100Config, M2M100ForConditionalGeneration

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


def train_on(network: Any, batch: Batch, *, smoothing: float, scale: float, dtype: dtype) -> float:
    """Add ``scale`` times the gradients of a batch; return its summed loss."""
    import torch

    with torch.autocast(network.device.type, dtype, enabled=dtype != torch.float32):
        hidden, labels = _hidden(network, batch)
    loss, gradient = add_loss_gradients(
        hidden, network.lm_head.weight, labels, smoothing=smoothing, scale=scale, dtype=dtype
    )
    torch.autograd.backward(hidden, gradient)
    return loss


def negative_log_likelihoods(network: Any, batch: Batch) -> Tensor:
    """Return -log p of each label of a batch, row by row, in nats."""
    import torch

    with torch.no_grad():
        hidden, labels = _hidden(network, batch)
        return negative_log_probs(hidden, network.lm_head.weight, labels)


def _hidden(network: Any, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the decoder's last layer at each position that is predicted, and the labels."""
    import torch

    sources, targets, labels = (
        torch.from_numpy(rows).to(network.device)
        for rows in (batch.sources, batch.targets, batch.labels)
    )
    padded = bool((batch.sources == PAD).any())
    output = network.model(
        input_ids=sources,
        attention_mask=(sources != PAD).long() if padded else None,
        decoder_input_ids=targets,
        use_cache=False,
    )
    counted = labels != PAD
    return output.last_hidden_state[:, 1:][counted], labels[counted]
