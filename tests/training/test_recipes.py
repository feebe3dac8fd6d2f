"""Recipes are complete, have the sizes of the paper, and record what was changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tertium.errors import SettingError
from tertium.training.model.batches import stream_probabilities
from tertium.training.model.corpus import Stream
from tertium.training.model.export import origin
from tertium.training.model.plan import MIXTURES, RECIPES, Plan, get_recipe
from tertium.training.plan import read_plan, write_plan
from tertium.training.schedule import learning_rate

BITEXT = (("pairs.tsv", 1.0),)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "millions"), [("prism", 745), ("parabank2", 253), ("lm", 369), ("scaling", 210)]
)
def test_networks_have_as_many_parameters_as_in_the_paper(name: str, millions: int) -> None:
    """Thompson and Post (2020), C.1 to C.3; Shankar (2020), 4.2.2: "210M"."""
    torch = pytest.importorskip("torch")
    from tertium.training.model.network import new_network

    recipe = get_recipe(name)
    with torch.device("meta"):
        network = new_network(recipe, recipe.vocabulary)
    parameters = sum(weights.numel() for weights in network.parameters())
    assert parameters / 1e6 == pytest.approx(millions, rel=0.01)


def test_prism_is_trained_as_in_the_paper() -> None:
    """C.1, and 4.1: bitext only, no copies."""
    recipe = get_recipe("prism")
    assert (recipe.batch_tokens, recipe.accumulate) == (1800, 200)
    assert (recipe.clip_norm, recipe.dropout, recipe.peak_rate) == (1.2, 0.1, 0.0004)
    assert (recipe.max_tokens, recipe.vocabulary) == (200, 64_000)
    streams = [
        Stream("translation", "de", "en", 1.0, 0, 90),
        Stream("translation", "fr", "en", 1.0, 90, 100),
        Stream("paraphrase", "en", "en", 1.0, 100, 140),
        Stream("copy", "en", "en", 1.0, 140, 200),
    ]
    shares = stream_probabilities(MIXTURES["prism"], streams)
    assert shares.tolist() == [0.9, 0.1, 0.0, 0.0]
    assert MIXTURES["prism"].joined == 0


def test_the_language_model_is_trained_as_in_the_paper() -> None:
    """C.3: fairseq's transformer_lm_gpt2_small, rate 0.0005, updates of about 131k tokens."""
    recipe = get_recipe("lm")
    assert recipe.is_language_model
    assert (recipe.decoder_layers, recipe.d_model, recipe.ffn, recipe.heads) == (24, 1024, 4096, 16)
    assert recipe.peak_rate == 0.0005
    assert recipe.batch_tokens * recipe.accumulate == 131_072


def test_the_schedule_of_the_isometry_paper() -> None:
    """4.2.2: to 1e-3 in 4000 steps, then as the inverse square root; 8 batches of 7168 tokens."""
    recipe = get_recipe("scaling")
    assert (recipe.batch_tokens, recipe.accumulate, recipe.label_smoothing) == (7168, 8, 0.1)
    rates = [
        learning_rate(
            step,
            peak=recipe.peak_rate,
            warmup_steps=recipe.warmup_steps,
            schedule=recipe.schedule,
        )
        for step in (1999, 3999, 15_999)
    ]
    assert rates == pytest.approx([5e-4, 1e-3, 5e-4])


def test_every_recipe_has_a_mixture() -> None:
    assert (
        list(MIXTURES)
        == list(RECIPES)
        == ["mini", "mini-encoder", "prism", "parabank2", "lm", "scaling"]
    )
    assert get_recipe("mini-encoder").ranking > get_recipe("mini").ranking == 0


def test_changes_are_recorded_with_the_value_of_the_recipe(tmp_path: Path) -> None:
    prism = Plan(("en", "de"), BITEXT, recipe=get_recipe("prism"), mixture=MIXTURES["prism"])
    assert prism.changes == {}
    changed = replace(
        prism,
        recipe=replace(prism.recipe, clip_norm=1.0),
        mixture=replace(prism.mixture, copies=0.04),
    )
    write_plan(tmp_path, changed)
    content = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert content["changes"] == {
        "clip_norm": {"recipe": 1.2, "here": 1.0},
        "copies": {"recipe": 0.0, "here": 0.04},
    }
    assert read_plan(tmp_path, Plan) == changed
    expected = "trained with `tertium train model --recipe prism` (clip_norm 1.0, copies 0.04)"
    assert origin(changed) == expected


def test_the_rate_falls_with_the_root_of_the_updates() -> None:
    """fairseq's inverse_sqrt: the peak, times the root of the warm-up, over that of the updates."""
    rates = [
        learning_rate(updates - 1, peak=4e-4, warmup_steps=4000, schedule="inverse-sqrt")
        for updates in (1, 2000, 4000, 16_000, 100_000)
    ]
    assert rates == pytest.approx([1e-7, 2e-4, 4e-4, 2e-4, 8e-5])


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"heads": 7}, "width of 320 cannot be divided among 7 heads"),
        ({"dropout": 1.0}, "dropout=1.0: must be at least 0"),
        ({"clip_norm": -1.0}, "clip_norm=-1.0: must not be"),
        ({"schedule": "cosine"}, "must be constant or inverse-sqrt"),
    ],
)
def test_recipes_that_cannot_be(wrong: dict[str, Any], reason: str) -> None:
    with pytest.raises(SettingError, match=reason):
        replace(get_recipe("mini"), **wrong)
