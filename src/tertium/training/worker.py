"""The processes that train one model together: which of them this is, and how they add up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from tertium.errors import SettingError

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Parameter

DEVICES = ("auto", "cpu", "cuda")
BUCKET_NUMBERS = 16_000_000
"""How many numbers of the gradients are added up at once."""
PATIENCE = timedelta(days=1)
"""The others wait while the main process prepares the data or translates the development set."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One of ``count`` processes, with a device of its own; without more, a CPU alone."""

    device: str = "cpu"
    index: int = 0
    count: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this is the one that writes."""
        return self.index == 0

    @property
    def draws_in_turn(self) -> bool:
        """Whether random numbers are drawn one after another, their state in the checkpoint.

        Otherwise they are drawn anew for each batch: then nothing of them need be saved, neither of
        a GPU nor of the other processes.
        """
        return self.count == 1 and self.device == "cpu"

    def main_first(self) -> AbstractContextManager[None]:
        """The others come in when the main process has gone out."""
        if self.count == 1:
            return nullcontext()
        from accelerate import PartialState

        first: AbstractContextManager[None] = PartialState().main_process_first()
        return first

    def sum(self, value: float) -> float:
        """Add up a number of each process."""
        if self.count == 1:
            return value
        import torch

        total = torch.tensor(value, dtype=torch.float64, device=self.device)
        torch.distributed.all_reduce(total)
        return float(total)

    def any(self, flag: bool) -> bool:
        """Whether it is so in one of the processes."""
        return self.sum(float(flag)) > 0

    def sum_gradients(self, parameters: Iterable[Parameter]) -> None:
        """Add up the gradients of all processes; one that had nothing to do counts as zeros."""
        if self.count == 1:
            return
        import torch

        for gradients in _buckets(parameters):
            flat = torch.cat([gradient.flatten() for gradient in gradients])
            torch.distributed.all_reduce(flat)
            sums = torch.split(flat, [gradient.numel() for gradient in gradients])
            for gradient, total in zip(gradients, sums, strict=True):
                gradient.copy_(total.view_as(gradient))


@contextmanager
def join_workers(device: str) -> Iterator[Worker]:
    """Join the processes that ``accelerate launch`` or ``torchrun`` started, or be alone."""
    import torch
    from accelerate import PartialState

    if device not in DEVICES:
        raise SettingError(f"--device {device}: it must be one of {', '.join(DEVICES)}")
    there = torch.cuda.is_available()
    if device == "cuda" and not there:
        raise SettingError("--device cuda: PyTorch finds no GPU here")
    wanted = "cuda" if there and device != "cpu" else "cpu"
    state = PartialState(cpu=wanted == "cpu", timeout=PATIENCE)
    if state.device.type != wanted:
        raise SettingError(f"--device {device}: accelerate has this process use {state.device}")
    yield Worker(str(state.device), state.process_index, state.num_processes)
    state.destroy_process_group()  # not after an error: the others may not be there to agree


def _buckets(parameters: Iterable[Parameter]) -> Iterator[list[Tensor]]:
    """The gradients in order, some at a time, so that little memory is needed beside them."""
    import torch

    bucket: list[Tensor] = []
    size = 0
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        if bucket and size + parameter.numel() > BUCKET_NUMBERS:
            yield bucket
            bucket, size = [], 0
        bucket.append(parameter.grad)
        size += parameter.numel()
    if bucket:
        yield bucket
