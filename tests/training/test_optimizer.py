from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tertium.errors import SettingError  # noqa: E402
from tertium.training.checkpoints import average_weights, list_checkpoints  # noqa: E402
from tertium.training.log import LOG, read_log  # noqa: E402
from tertium.training.loop import Pace  # noqa: E402
from tertium.training.model.network import new_network  # noqa: E402
from tertium.training.model.optimizer import new_optimizer  # noqa: E402
from tertium.training.model.plan import MUON, Plan  # noqa: E402
from tertium.training.model.run import train  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def muon_plan(tiny_plan: Plan) -> Plan:
    return replace(tiny_plan, recipe=replace(tiny_plan.recipe, optimizer=MUON))


def test_muon_has_the_matrices_of_layers_and_adamw_all_else(muon_plan: Plan) -> None:
    network = new_network(muon_plan.recipe, 340)
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    muon, adamw = new_optimizer(network, muon_plan.recipe).param_groups
    matrices = {names[id(parameter)] for parameter in muon["params"]}
    others = {names[id(parameter)] for parameter in adamw["params"]}
    assert matrices | others == set(names.values())
    assert not matrices & others
    # self-attention and two inner layers in the encoder; the decoder has an attention more
    assert len(matrices) == (4 + 2) + (8 + 2)
    assert all(name.endswith("weight") and ".layers." in name for name in matrices)
    assert "model.shared.weight" in others


def test_an_update_of_muon_is_orthogonal(muon_plan: Plan) -> None:
    """Keller Jordan (2024): the update is the nearest (semi-)orthogonal matrix, about: singular
    values near 1, here times 0.2 sqrt(max(n, m)) to have the size of AdamW's."""
    torch.manual_seed(1)
    network = new_network(muon_plan.recipe, 340)
    optimizer = new_optimizer(network, replace(muon_plan.recipe, weight_decay=0.0))
    matrix = network.model.encoder.layers[0].fc1.weight
    before = matrix.detach().clone()
    matrix.grad = torch.randn_like(matrix)
    optimizer.step()
    rate = muon_plan.recipe.peak_rate
    change = (before - matrix.detach()) / (rate * 0.2 * max(matrix.shape) ** 0.5)
    singular = torch.linalg.svdvals(change)
    assert 0.6 < float(singular.min()) <= float(singular.max()) < 1.3


def test_a_stopped_run_with_muon_ends_with_the_same_weights(
    muon_plan: Plan, tmp_path: Path
) -> None:
    pace = Pace(steps=40, decay_steps=8, save_steps=20, dev_steps=40, log_steps=10)
    train(tmp_path / "unbroken", muon_plan, pace)
    train(tmp_path / "broken", muon_plan, replace(pace, steps=17, decay_steps=None))
    train(tmp_path / "broken", None, pace)
    one, other = (
        average_weights(list_checkpoints(tmp_path / name)[-1:]) for name in ("unbroken", "broken")
    )
    assert all(torch.equal(one[name], other[name]) for name in one)
    losses = [
        record["loss"] for record in read_log(tmp_path / "unbroken" / LOG) if "loss" in record
    ]
    assert losses[-1] < losses[0] - 1


def test_an_unknown_optimizer_is_an_error(tiny_plan: Plan) -> None:
    with pytest.raises(SettingError, match="optimizer='sgd': must be adamw or muon"):
        replace(tiny_plan, recipe=replace(tiny_plan.recipe, optimizer="sgd"))
