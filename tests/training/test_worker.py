from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from unittest.mock import patch

import pytest
import torch

from tertium.errors import ResumeError, SettingError
from tertium.training.checkpoints import list_checkpoints, read_checkpoint
from tertium.training.log import LOG, read_log
from tertium.training.loop import Pace
from tertium.training.model.plan import Plan
from tertium.training.model.run import train
from tertium.training.plan import write_plan
from tertium.training.worker import Share, Worker, join_workers, shares

from .processes import finish, several, start

STEPS = 12
SAVE = ["--save-steps", "1", "--keep", "1000", "--dev-sentences", "0", "--log-steps", "4"]


def weights(run: Path, step: int = STEPS) -> dict[str, torch.Tensor]:
    state = read_checkpoint(run / f"checkpoints/step-{step:09d}.pt")
    return dict(state["network"])


def begin(run: Path, plan: Plan, steps: int = STEPS) -> list[str | Path]:
    """A command that trains a plan; the processes get it from the run's folder."""
    write_plan(run, plan)
    return ["train", "model", run, "--device", "cpu", "--steps", str(steps), *SAVE]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("batches", [1, 2, 3, 6, 128])
def test_every_row_of_every_batch_is_somebodys(batches: int, count: int) -> None:
    rows = 5
    seen = [
        (share.number, row)
        for index in range(count)
        for share in shares(range(40, 40 + batches), index, count)
        for row in range(rows)[share.part :: share.parts]
    ]
    assert sorted(seen) == [(40 + batch, row) for batch in range(batches) for row in range(rows)]


def test_whole_batches_are_dealt_out_as_long_as_there_are_enough() -> None:
    assert shares(range(4), 1, 4) == [Share(1)]
    assert shares(range(128), 0, 8) == [Share(number) for number in range(0, 128, 8)]
    assert shares([9], 1, 2) == [Share(9, 1, 2)]


@several
def test_two_processes_make_the_weights_of_one(tinier_plan: Plan, tmp_path: Path) -> None:
    """Of three batches an update, each process gets one whole and half the rows of the third."""
    plan = replace(tinier_plan, recipe=replace(tinier_plan.recipe, dropout=0.0, accumulate=3))
    processes = start(*begin(tmp_path / "two", plan))
    train(tmp_path / "one", plan, Pace(steps=STEPS, log_steps=4))
    assert finish(processes) == [0, 0]
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    for name in one:
        # A key's bias moves all scores of a query alike, so its gradient is zero: Adam makes
        # updates of the rounding errors, and the softmax makes nothing of them.
        if not name.endswith("k_proj.bias"):
            torch.testing.assert_close(one[name], two[name], rtol=0, atol=2e-6)
    logs = [read_log(tmp_path / run / LOG) for run in ("one", "two")]
    assert [record["step"] for record in logs[1]] == [record["step"] for record in logs[0]]
    for alone, together in zip(*logs, strict=True):
        assert together.get("tokens") == alone.get("tokens")
        assert together.get("loss", 0) == pytest.approx(alone.get("loss", 0), abs=2e-4)
        assert together.get("dev", {}) == pytest.approx(alone.get("dev", {}), abs=2e-4)


@several
def test_two_processes_with_whole_batches_have_the_ranking_loss_of_one(
    tinier_plan: Plan, tmp_path: Path
) -> None:
    """Each process gets one of two batches, so that no negatives are lost."""
    recipe = replace(tinier_plan.recipe, dropout=0.0, accumulate=2, ranking=0.5)
    plan = replace(tinier_plan, recipe=recipe, dev=())
    processes = start(*begin(tmp_path / "two", plan, steps=4))
    train(tmp_path / "one", plan, Pace(steps=4))
    assert finish(processes) == [0, 0]
    one, two = weights(tmp_path / "one", 4), weights(tmp_path / "two", 4)
    for name in one:
        if not name.endswith("k_proj.bias"):
            torch.testing.assert_close(one[name], two[name], rtol=0, atol=2e-6)


@several
def test_two_processes_that_were_killed_resume_to_the_same_weights(
    tinier_plan: Plan, tmp_path: Path
) -> None:
    """With dropout, so that the random numbers of both must be right."""
    unbroken, killed = tmp_path / "unbroken", tmp_path / "killed"
    processes = start(*begin(unbroken, tinier_plan, steps=1000))
    wait_for_checkpoint(unbroken, 8, processes)
    processes[1].terminate()  # one is asked, and both stop, after the same step
    assert finish(processes) == [0, 0]
    steps = last_step(unbroken)

    processes = start(*begin(killed, tinier_plan, steps=1000))
    wait_for_checkpoint(killed, 2, processes)
    for process in processes:
        process.kill()
    finish(processes)
    for late in list_checkpoints(killed)[steps - 1 :]:
        late.unlink()
    assert finish(start(*begin(killed, tinier_plan, steps))) == [0, 0]
    found, expected = weights(killed, steps), weights(unbroken, steps)
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def wait_for_checkpoint(run: Path, step: int, processes: list[BaseProcess]) -> None:
    while last_step(run) < step:
        assert all(process.is_alive() for process in processes)
        time.sleep(0.01)


def last_step(run: Path) -> int:
    checkpoints = list_checkpoints(run)
    return int(checkpoints[-1].stem.removeprefix("step-")) if checkpoints else 0


def test_what_the_main_process_wrote_must_be_seen_by_the_others(tmp_path: Path) -> None:
    with (
        patch.object(Worker, "main_first", return_value=nullcontext()),
        pytest.raises(ResumeError, match="file system that all processes share"),
    ):
        train(tmp_path, None, Pace(), Worker(index=1, count=2))


def test_alone_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with join_workers("auto") as worker:
        assert worker == Worker("cpu", 0, 1)
        assert worker.draws_in_turn
    assert not Worker("cuda").draws_in_turn
    with pytest.raises(SettingError, match="no GPU"), join_workers("cuda"):
        pass
    with pytest.raises(SettingError, match="one of auto, cpu, cuda"), join_workers("tpu"):
        pass
