"""Reading of fairseq's checkpoints and dictionaries."""

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
    """The training options of a network, and its tensors by their names in fairseq."""

    options: Mapping[str, Any]
    tensors: Mapping[str, Any]


class Meter:
    """Replaces fairseq's meters (speed, loss), which old checkpoints contain."""


def read_checkpoint(file: Path) -> Checkpoint:
    """Read a checkpoint; it must contain only weights, options and meters.

    The options are an ``argparse.Namespace``, which runs no code, and fairseq's meters are replaced
    by empty objects. PyTorch creates no other objects and calls nothing.
    """
    import torch

    meters = [(Meter, f"fairseq.meters.{name}") for name in METERS]
    try:
        with torch.serialization.safe_globals([Namespace, *meters]):
            content = torch.load(file, map_location="cpu", weights_only=True)
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror or error}") from None
    except Exception as error:  # a file that is not a checkpoint can fail in any way
        if match := FORBIDDEN.search(str(error)):
            raise ModelError(
                f"{file} contains {match[1]}, which is neither a weight nor an option and may run "
                "code; it was not loaded. Download the file from where it was published"
            ) from None
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ModelError(f"{file} is not a checkpoint, or is incomplete: {reason}") from None
    return _checked(file, content)


def _checked(file: Path, content: object) -> Checkpoint:
    parts = content if isinstance(content, dict) else {}
    options, tensors = parts.get("args"), parts.get("model")
    if not isinstance(options, Namespace) or not isinstance(tensors, dict):
        raise ModelError(
            f"{file} is not a checkpoint of fairseq 0.6 to 0.9: it must have a network ('model') "
            "and its options ('args')"
        )
    import torch

    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise ModelError(f"{file}: {name} is {type(tensor).__name__}, not a tensor")
    return Checkpoint(vars(options), tensors)


SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
"""The first tokens of every dictionary, which are not in the file."""
PAD = SPECIAL.index("<pad>")
OVERWRITE = "#fairseq:overwrite"


def read_dictionary(file: Path) -> list[str]:
    """Read the tokens of a dictionary by id.

    A line is a token and its count. In fairseq, a token that occurs twice has the later id; the
    earlier id then gets a name that cannot occur in a text.
    """
    tokens = list(SPECIAL)
    ids: dict[str, int] = {}
    try:
        with file.open(encoding="utf-8") as lines:
            for row, line in enumerate(lines, start=1):
                entry = line.rstrip().removesuffix(f" {OVERWRITE}")
                token, space, count = entry.rpartition(" ")
                if not space or not count.isdigit():
                    raise ModelError(f"{file}, line {row}: {entry!r} is not a token and its count")
                hidden = f"<hidden {len(tokens)}>"
                if token in ids:
                    tokens[ids[token]] = hidden
                ids[token] = len(tokens)
                tokens.append(hidden if token in SPECIAL else token)
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ModelError(f"{file} is not UTF-8: {error}; download it again") from None
    return tokens


def padded(tokens: list[str], size: int) -> list[str]:
    """Add placeholder tokens, as fairseq does, for the rows of an embedding that have no token.

    >>> padded(["a", "b"], 4)
    ['a', 'b', 'madeupword0000', 'madeupword0001']
    """
    if len(tokens) > size:
        raise ModelError(
            f"the dictionary has {len(tokens)} tokens, but the network only {size}; "
            "they do not belong together"
        )
    existing = set(tokens)
    names = (f"madeupword{number:04d}" for number in range(size + len(tokens)))
    free = (name for name in names if name not in existing)
    return [*tokens, *(next(free) for _ in range(size - len(tokens)))]
