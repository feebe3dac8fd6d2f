"""A fairseq checkpoint, read without fairseq, and without running anything that is in it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tertium.errors import ModelError
from tertium.models.convert.checkpoint import FORBIDDEN

METERS = ("AverageMeter", "StopwatchMeter", "TimeMeter")


@dataclass(frozen=True)
class Checkpoint:
    """The options that a network was trained with, and its tensors by fairseq's names."""

    options: Mapping[str, Any]
    tensors: Mapping[str, Any]


class Meter:
    """Stands for fairseq's meters (speed, loss), which old checkpoints carry along."""


def read_checkpoint(file: Path) -> Checkpoint:
    """Read a checkpoint; one that holds more than weights, options and meters is refused.

    Options are an ``argparse.Namespace``, which has no code of its own; fairseq's meters become
    empty objects of ours. PyTorch makes nothing else, and calls nothing.
    """
    try:
        import torch
    except ImportError:
        raise ModelError(
            f"{file}: to convert it PyTorch is needed; "
            "install Tertium with its extra, `pip install 'tertium[convert]'`"
        ) from None

    meters = [(Meter, f"fairseq.meters.{name}") for name in METERS]
    try:
        with torch.serialization.safe_globals([Namespace, *meters]):
            content = torch.load(file, map_location="cpu", weights_only=True)
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror or error}") from None
    except Exception as error:  # a file that is no checkpoint can fail in any way
        if found := FORBIDDEN.search(str(error)):
            raise ModelError(
                f"{file} holds {found[1]}, which is neither a weight nor an option and may run "
                "code; it was not loaded. Get the file from where it was published"
            ) from None
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ModelError(f"{file} is no checkpoint, or an incomplete one: {reason}") from None
    return _checked(file, content)


def _checked(file: Path, content: object) -> Checkpoint:
    parts = content if isinstance(content, dict) else {}
    options, tensors = parts.get("args"), parts.get("model")
    if not isinstance(options, Namespace) or not isinstance(tensors, dict):
        raise ModelError(
            f"{file} is no checkpoint of fairseq 0.6 to 0.9: it must have a network ('model') "
            "and its options ('args')"
        )
    import torch

    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise ModelError(f"{file}: {name} is {type(tensor).__name__}, not a tensor")
    return Checkpoint(vars(options), tensors)
