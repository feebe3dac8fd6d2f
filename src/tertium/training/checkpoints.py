"""Checkpoints: everything that the next step depends on, written atomically."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertium.errors import ResumeError
from tertium.storage.atomic import replacing
from tertium.training.schedule import Decay

if TYPE_CHECKING:
    from torch import Tensor

FOLDER = "checkpoints"
BEST = "best.pt"


@dataclass(frozen=True, slots=True)
class Progress:
    """The steps done, and the settings that a resumed run keeps unless others are given."""

    step: int = 0
    decay: Decay | None = None
    precision: str = "float32"
    scaler: Mapping[str, Any] = field(default_factory=dict)
    """The state of the gradient scaler of fp16."""


@dataclass(frozen=True, slots=True)
class Best:
    """The step with the best evaluation, and its score."""

    step: int = 0
    score: float = -1.0


def list_checkpoints(run: Path) -> list[Path]:
    """List the checkpoints of a run, oldest first."""
    return sorted((run / FOLDER).glob("step-*.pt"))


def save_checkpoint(
    run: Path, network: Any, optimizer: Any, progress: Progress, *, keep: int
) -> Path:
    """Write a checkpoint, and remove all but the last ``keep``."""
    import torch

    path = run / FOLDER / f"step-{progress.step:09d}.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    decay = progress.decay
    state = {
        "step": progress.step,
        "decay": None if decay is None else [decay.start, decay.steps],
        "network": network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "random": torch.get_rng_state(),
        "precision": progress.precision,
        "scaler": dict(progress.scaler),
    }
    with replacing(path) as stream:
        torch.save(state, stream)
    partial = path.parent.glob("step-*.new")  # left by a process that was killed
    for old in [*list_checkpoints(run)[:-keep], *partial]:
        old.unlink()
    return path


def load_checkpoint(path: Path, network: Any, optimizer: Any) -> Progress:
    """Restore the state of a run, including the random number generator."""
    import torch

    state = read_checkpoint(path)
    network.load_state_dict(state["network"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    decay = state["decay"]
    return Progress(
        state["step"],
        None if decay is None else Decay(*decay),
        # Older checkpoints have neither.
        precision=state.get("precision", "float32"),
        scaler=state.get("scaler", {}),
    )


def save_best(run: Path, network: Any, best: Best, name: str) -> None:
    """Write the weights with the best evaluation; ``name`` is that of the score."""
    import torch

    with replacing(run / BEST) as stream:
        torch.save({"step": best.step, name: best.score, "network": network.state_dict()}, stream)


def read_best(run: Path, name: str) -> Best:
    """Return the best step so far.

    It may be later than the last checkpoint: a resumed run reaches it again, with the same weights.
    """
    if not (run / BEST).is_file():
        return Best()
    state = read_checkpoint(run / BEST)
    return Best(int(state["step"]), float(state[name]))


def average_weights(paths: Sequence[Path]) -> dict[str, Tensor]:
    """Return the mean of the weights of several checkpoints."""
    import torch

    total: dict[str, Tensor] = {}
    for path in paths:
        for name, tensor in read_checkpoint(path)["network"].items():
            total[name] = total.get(name, torch.zeros(())) + tensor.double() / len(paths)
    return {name: tensor.float() for name, tensor in total.items()}


def read_checkpoint(path: Path) -> Any:
    """Read a checkpoint; the error for a damaged file names it."""
    import pickle

    import torch

    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, pickle.UnpicklingError) as error:
        raise ResumeError(
            f"{path} cannot be read ({error}); remove it to resume from the checkpoint before it"
        ) from None
