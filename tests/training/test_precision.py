from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tertium.errors import ModelError, PrecisionWarning, SettingError
from tertium.training import precision as precision_module
from tertium.training.checkpoints import average_weights, list_checkpoints, read_checkpoint
from tertium.training.log import LOG, read_log
from tertium.training.model.plan import Plan
from tertium.training.model.run import Pace, train
from tertium.training.plan import write_plan
from tertium.training.precision import ISA_VARIABLE, MixedPrecision, prepare_cpu, survives_product

pytestmark = pytest.mark.filterwarnings("ignore:.*often slower than float32")


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


@pytest.fixture(params=["bf16", "fp16"])
def usable(request: pytest.FixtureRequest) -> str:
    """A precision that does not kill this process."""
    name = str(request.param)
    if not survives_product(name):
        pytest.skip(f"TRAINING IN {name} IS NOT TESTED: its products kill this process")
    return name


def test_a_run_in_16_bits_learns_and_resumes_to_the_same_weights(
    usable: str, tinier_plan: Plan, tmp_path: Path
) -> None:
    name, run = usable, tmp_path / "run"
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


def die_unless(isa: str | None) -> Callable[[str], None]:
    """A product that is an illegal instruction unless oneDNN is limited to an instruction set."""

    def multiply(_: str) -> None:
        if isa is None or os.environ.get(ISA_VARIABLE) != isa:
            os.kill(os.getpid(), signal.SIGILL)

    return multiply


forks = pytest.mark.skipif(sys.platform != "linux", reason="a fork sees what a test has replaced")


@forks
@pytest.mark.parametrize("isa", ["AVX512_CORE_BF16", "AVX512_CORE", "AVX2"])
@pytest.mark.parametrize("before", [None, "ALL"])
def test_fewer_instructions_where_a_product_is_illegal(
    isa: str, before: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision_module, "_multiply", die_unless(isa))
    monkeypatch.setenv(ISA_VARIABLE, before or "")
    with pytest.warns(PrecisionWarning, match=f"continuing with {ISA_VARIABLE}={isa}"):
        MixedPrecision("bf16", "cpu")
    assert os.environ[ISA_VARIABLE] == isa


@forks
@pytest.mark.parametrize("before", [None, "ALL"])
def test_a_precision_that_would_kill_the_process_is_refused(
    before: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision_module, "_multiply", die_unless(None))
    if before is None:
        monkeypatch.delenv(ISA_VARIABLE, raising=False)
    else:
        monkeypatch.setenv(ISA_VARIABLE, before)
    with pytest.raises(SettingError, match=f"set {ISA_VARIABLE}=AVX2 before the process starts"):
        MixedPrecision("bf16", "cpu")
    assert os.environ.get(ISA_VARIABLE) == before


@forks
def test_a_probe_that_fails_or_hangs_leaves_no_word(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def unsupported(_: str) -> None:
        raise RuntimeError("could not create a primitive")

    monkeypatch.setattr(precision_module, "_multiply", unsupported)
    assert not survives_product("fp16")
    monkeypatch.setattr(precision_module, "_multiply", lambda _: time.sleep(600))
    monkeypatch.setattr(precision_module, "PROBE_SECONDS", 0.2)
    assert not survives_product("fp16")
    monkeypatch.setattr(precision_module, "_multiply", die_unless(None))
    assert not survives_product("fp16")
    assert capfd.readouterr().err == ""


def test_the_user_is_told_that_16_bits_are_slow_on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision_module, "survives_product", lambda _: True)
    with pytest.warns(PrecisionWarning, match="bf16 on a CPU is often slower than float32"):
        prepare_cpu("bf16")
    monkeypatch.setattr(precision_module, "survives_product", lambda _: False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepare_cpu("float32")


@pytest.mark.parametrize("name", ["bf16", "fp16"])
def test_no_precision_kills_a_command(name: str, tinier_plan: Plan, tmp_path: Path) -> None:
    """In a fresh process, where fewer instructions can still be chosen."""
    write_plan(tmp_path / "run", tinier_plan)
    command = [sys.executable, "-m", "tertium", "train", "model", str(tmp_path / "run")]
    done = subprocess.run(
        [*command, "--device", "cpu", "--steps", "2", "--precision", name],
        capture_output=True,
        text=True,
    )
    assert f"{name} on a CPU is often slower than float32" in done.stderr
    if done.returncode:  # where no instruction set works
        assert done.returncode == 2
        assert f"--precision {name}: a product of this type kills the process" in done.stderr
    else:
        assert "2 steps" in done.stdout


def same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return left.keys() == right.keys() and all(
        torch.equal(left[name], right[name]) for name in left
    )
