from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tertium.errors import ModelError, SettingError
from tertium.training.checkpoints import average_weights, list_checkpoints, read_checkpoint
from tertium.training.log import LOG, read_log
from tertium.training.model.plan import Plan
from tertium.training.model.run import Pace, train
from tertium.training.precision import MixedPrecision


def one_weight() -> tuple[torch.nn.Linear, torch.optim.Optimizer]:
    network = torch.nn.Linear(1, 1, bias=False)
    return network, torch.optim.SGD(network.parameters(), lr=0.5)


def update_with(precision: MixedPrecision, gradient: float) -> float:
    """How far an update moves a weight whose unscaled gradient is given; clipped at 1."""
    network, optimizer = one_weight()
    before = float(network.weight.detach())
    network.weight.grad = torch.full((1, 1), gradient * precision.loss_scale())
    precision.update(network, optimizer, clip_norm=1.0)
    assert network.weight.grad is None
    return before - float(network.weight.detach())


@pytest.mark.parametrize("name", ["float32", "bf16", "fp16"])
def test_gradients_are_clipped_without_their_scale(name: str) -> None:
    precision = MixedPrecision(name, "cpu")
    assert precision.loss_scale() == (65536 if name == "fp16" else 1)
    assert update_with(precision, 0.25) == pytest.approx(0.125, abs=1e-6)
    assert update_with(precision, 4.0) == pytest.approx(0.5, abs=1e-5)


def test_an_infinite_gradient_is_skipped_and_the_scale_halved() -> None:
    precision = MixedPrecision("fp16", "cpu")
    assert update_with(precision, float("inf")) == 0
    assert precision.loss_scale() == 32768
    assert update_with(precision, 0.25) == pytest.approx(0.125, abs=1e-6)
    again = MixedPrecision("fp16", "cpu", precision.state)
    assert again.loss_scale() == 32768
    assert again.state == precision.state
    assert MixedPrecision("bf16", "cpu", precision.state).loss_scale() == 1


def test_gradients_that_are_always_infinite_end_the_run() -> None:
    precision = MixedPrecision("fp16", "cpu")
    for _ in range(30):  # 2**16 becomes 2**-14, which is below MIN_SCALE
        update_with(precision, float("nan"))
    with pytest.raises(ModelError, match="too large for fp16"):
        precision.loss_scale()


def test_other_precisions_are_unknown() -> None:
    with pytest.raises(SettingError, match="one of float32, bf16, fp16"):
        MixedPrecision("fp8", "cpu")


@pytest.mark.parametrize("name", ["bf16", "fp16"])
def test_a_run_in_16_bits_learns_and_resumes_to_the_same_weights(
    name: str, tinier_plan: Plan, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    train(run, tinier_plan, Pace(steps=16, save_steps=8, log_steps=4, precision=name))
    losses = [record["loss"] for record in read_log(run / LOG) if "loss" in record]
    assert losses[-1] < losses[0] - 0.4
    last = list_checkpoints(run)[-1]
    states = [read_checkpoint(last)]
    last.unlink()
    train(run, None, Pace(steps=16))
    states.append(read_checkpoint(last))
    assert [state["precision"] for state in states] == [name, name]
    assert states[0]["scaler"] == states[1]["scaler"]
    assert bool(states[0]["scaler"]) == (name == "fp16")
    assert same(states[0]["network"], states[1]["network"])
    assert {tensor.dtype for tensor in states[0]["network"].values()} == {torch.float32}


def test_a_checkpoint_from_before_there_was_a_choice_resumes(
    tinier_plan: Plan, tmp_path: Path
) -> None:
    for run in ("old", "new"):
        train(tmp_path / run, tinier_plan, Pace(steps=2))
    [path] = list_checkpoints(tmp_path / "old")
    state = read_checkpoint(path)
    del state["precision"], state["scaler"]
    torch.save(state, path)
    for run in ("old", "new"):
        train(tmp_path / run, None, Pace(steps=4))
    assert same(*(average_weights(list_checkpoints(tmp_path / run)[-1:]) for run in ("old", "new")))


def same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return left.keys() == right.keys() and all(
        torch.equal(left[name], right[name]) for name in left
    )
