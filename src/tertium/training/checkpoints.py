"""Checkpoints: all that the next step depends on, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertium.errors import ResumeError
from tertium.training.schedule import Decay

if TYPE_CHECKING:
    from torch import Tensor

FOLDER = "checkpoints"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come: the steps done, and what it goes on with unless told otherwise."""

    step: int = 0
    decay: Decay | None = None
    precision: str = "float32"
    scaler: Mapping[str, Any] = field(default_factory=dict)
    """The state of the scale of fp16's gradients."""


def list_checkpoints(run: Path) -> list[Path]:
    """The checkpoints of a run, oldest first."""
    return sorted((run / FOLDER).glob("step-*.pt"))


def save_checkpoint(
    run: Path, network: Any, optimizer: Any, progress: Progress, *, keep: int
) -> Path:
    """Write a checkpoint beside the others, and remove all but the last ``keep``."""
    import torch

    folder = run / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"step-{progress.step:09d}.pt"
    scratch = path.with_suffix(".new")
    decay = progress.decay
    with scratch.open("wb") as stream:
        torch.save(
            {
                "step": progress.step,
                "decay": None if decay is None else [decay.start, decay.steps],
                "network": network.state_dict(),
                "optimizer": optimizer.state_dict(),
                "random": torch.get_rng_state(),
                "precision": progress.precision,
                "scaler": dict(progress.scaler),
            },
            stream,
        )
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(scratch, path)
    half_written = folder.glob("step-*.new")  # when an earlier process was killed
    for old in [*list_checkpoints(run)[:-keep], *half_written]:
        old.unlink()
    return path


def load_checkpoint(path: Path, network: Any, optimizer: Any) -> Progress:
    """Put a run back to where it was, random numbers included."""
    import torch

    state = read_checkpoint(path)
    network.load_state_dict(state["network"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    decay = state["decay"]
    return Progress(
        state["step"],
        None if decay is None else Decay(*decay),
        # Checkpoints from before there was a choice do not say.
        precision=state.get("precision", "float32"),
        scaler=state.get("scaler", {}),
    )


def average_weights(paths: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of the weights of several checkpoints."""
    import torch

    total: dict[str, Tensor] = {}
    for path in paths:
        for name, tensor in read_checkpoint(path)["network"].items():
            total[name] = total.get(name, torch.zeros(())) + tensor.double() / len(paths)
    return {name: tensor.float() for name, tensor in total.items()}


def read_checkpoint(path: Path) -> Any:
    """Read what was saved; a broken file is named."""
    import pickle

    import torch

    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, pickle.UnpicklingError) as error:
        raise ResumeError(
            f"{path} cannot be read ({error}); remove it to resume from the one before"
        ) from None
