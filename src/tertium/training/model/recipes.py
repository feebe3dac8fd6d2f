"""Recipes: how large a model is, and how it is trained."""

from __future__ import annotations

from dataclasses import dataclass

from tertium.errors import SettingError


@dataclass(frozen=True, slots=True)
class Recipe:
    """An M2M100 architecture with tied embeddings, and the settings that suit its size."""

    name: str
    d_model: int
    ffn: int
    encoder_layers: int
    decoder_layers: int
    heads: int
    vocabulary: int
    dropout: float
    peak_rate: float
    warmup_steps: int
    batch_tokens: int
    """Target tokens of a batch, about; an update sees ``accumulate`` batches."""
    accumulate: int
    label_smoothing: float = 0.1
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    max_pieces: int = 128
    """Longer sentences are left out of the training."""
    max_positions: int = 512


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "mini",
            d_model=256,
            ffn=1024,
            encoder_layers=4,
            decoder_layers=2,
            heads=4,
            vocabulary=8_000,
            dropout=0.0,
            peak_rate=2e-3,
            warmup_steps=300,
            batch_tokens=2_000,
            accumulate=1,
        ),
        # The architecture of Thompson and Post (2020), section 4; rate and batch are ours.
        Recipe(
            "prism",
            d_model=1280,
            ffn=12_288,
            encoder_layers=8,
            decoder_layers=8,
            heads=20,
            vocabulary=64_000,
            dropout=0.1,
            peak_rate=4e-4,
            warmup_steps=4_000,
            batch_tokens=3_500,
            accumulate=128,
            max_pieces=200,
            max_positions=1024,
        ),
    )
}


def recipe(name: str) -> Recipe:
    """Look up a recipe by name."""
    try:
        return RECIPES[name]
    except KeyError:
        raise SettingError(f"unknown recipe {name!r}; there are {', '.join(RECIPES)}") from None
