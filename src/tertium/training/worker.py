"""The processes that train one model together: how they share the work and sum the results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from tertium.errors import SettingError

if TYPE_CHECKING:
    from torch.nn import Parameter

DEVICES = ("auto", "cpu", "cuda")
TIMEOUT = timedelta(days=1)
"""The others wait while the main process prepares the data or evaluates the model."""


class Share(NamedTuple):
    """A batch, or every ``parts``-th of its rows, starting at ``part``."""

    number: int
    part: int = 0
    parts: int = 1


@dataclass(frozen=True, slots=True)
class Worker:
    """One of ``count`` processes, each with its own device; the default is a single CPU process."""

    device: str = "cpu"
    index: int = 0
    count: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this process writes the files."""
        return self.index == 0

    @property
    def draws_in_turn(self) -> bool:
        """Whether random numbers are drawn in sequence, with their state in the checkpoint.

        Otherwise the generator is seeded for each batch, so that no state of a GPU or of another
        process has to be saved.
        """
        return self.count == 1 and self.device == "cpu"

    def main_first(self) -> AbstractContextManager[None]:
        """A block that the other processes enter when the main process has left it."""
        if self.count == 1:
            return nullcontext()
        from accelerate import PartialState

        first: AbstractContextManager[None] = PartialState().main_process_first()
        return first

    def sum(self, value: float) -> float:
        """Return the sum of the values of all processes."""
        if self.count == 1:
            return value
        import torch

        total = torch.tensor(value, dtype=torch.float64, device=self.device)
        torch.distributed.all_reduce(total)
        return float(total)

    def any(self, flag: bool) -> bool:
        """Whether the flag is set in any process."""
        return self.sum(float(flag)) > 0

    def sum_gradients(self, parameters: Iterable[Parameter]) -> None:
        """Sum the gradients of all processes; a missing gradient counts as zeros."""
        if self.count == 1:
            return
        import torch

        pending = []
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            pending.append(torch.distributed.all_reduce(parameter.grad, async_op=True))
        for work in pending:
            work.wait()


def _wrong(device: str, why: str) -> SettingError:
    return SettingError(why, parameter="device", value=device)


@contextmanager
def join_workers(device: str) -> Iterator[Worker]:
    """Join the processes started by ``accelerate launch`` or ``torchrun``, if there are any."""
    import torch
    from accelerate import PartialState

    if device not in DEVICES:
        raise _wrong(device, f"must be one of {', '.join(DEVICES)}")
    available = torch.cuda.is_available()
    if device == "cuda" and not available:
        raise _wrong(device, "PyTorch finds no GPU here")
    chosen = "cuda" if available and device != "cpu" else "cpu"
    state = PartialState(cpu=chosen == "cpu", timeout=TIMEOUT)
    if state.device.type != chosen:
        raise _wrong(device, f"accelerate assigns {state.device} to this process")
    yield Worker(str(state.device), state.process_index, state.num_processes)
    state.destroy_process_group()  # not after an error: the other processes may never join in


def shares(numbers: Sequence[int], index: int, count: int) -> list[Share]:
    """Return the batches that one of ``count`` processes works on.

    Whole batches are assigned while there is one for each process; the rest are split by rows.

    >>> shares(range(5), index=1, count=2)
    [Share(number=1, part=0, parts=1), Share(number=3, part=0, parts=1),
     Share(number=4, part=1, parts=2)]
    """
    whole = len(numbers) - len(numbers) % count
    return [
        *(Share(number) for number in numbers[index:whole:count]),
        *(Share(number, index, count) for number in numbers[whole:]),
    ]
