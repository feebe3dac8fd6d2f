"""Mixed precision: matrix products in 16 bits, weights and sums in 32."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import sys
import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tertium.errors import ModelError, PrecisionWarning, SettingError

if TYPE_CHECKING:
    from torch import dtype

PRECISIONS = {"float32": "float32", "bf16": "bfloat16", "fp16": "float16"}
"""Our names, and PyTorch's."""
MIN_SCALE = 1e-4
ISA_VARIABLE = "ONEDNN_MAX_CPU_ISA"
FALLBACK_ISAS = ("AVX512_CORE_BF16", "AVX512_CORE", "AVX2")
"""oneDNN's instruction sets without AMX, fastest first."""
PROBE_SECONDS = 120.0
PROBE_SIZE = 128


class MixedPrecision:
    """The type of the matrix products; for fp16, also the loss scale.

    fp16 has no numbers below 6e-8, so the loss is multiplied by as large a factor as its range
    allows. If a gradient is infinite, the update is skipped and the factor halved.
    """

    def __init__(self, name: str, device: str, state: Mapping[str, Any] | None = None) -> None:
        import torch

        check_precision(name)
        if torch.device(device).type == "cpu":
            prepare_cpu(name)
        self.name = name
        self.dtype: dtype = getattr(torch, PRECISIONS[name])
        self._one = torch.ones((), device=device)
        self._scaler = torch.amp.GradScaler(torch.device(device).type, enabled=name == "fp16")
        if state and self._scaler.is_enabled():
            self._scaler.load_state_dict(dict(state))

    @property
    def state(self) -> dict[str, Any]:
        """The state to save in a checkpoint; empty unless the precision is fp16."""
        return self._scaler.state_dict()

    def loss_scale(self) -> float:
        """The factor of the gradients of the next update."""
        scale = float(self._scaler.scale(self._one))
        if scale < MIN_SCALE:
            raise ModelError(
                "the gradients are too large for fp16 at any loss scale",
                cure="resume with {precision:bf16} or {precision:float32}",
            )
        return scale

    def update(self, network: Any, optimizer: Any, *, clip_norm: float) -> None:
        """Undo the scale, clip, and update the weights unless a gradient is infinite."""
        import torch

        self._scaler.unscale_(optimizer)
        if clip_norm:
            torch.nn.utils.clip_grad_norm_(network.parameters(), clip_norm)
        self._scaler.step(optimizer)
        self._scaler.update()
        optimizer.zero_grad()


def check_precision(name: str) -> None:
    if name not in PRECISIONS:
        raise SettingError(
            f"must be one of {', '.join(PRECISIONS)}", parameter="precision", value=name
        )


def prepare_cpu(name: str) -> None:
    """Make sure that 16-bit products do not kill this process; raise SettingError if they would.

    oneDNN, which computes them for PyTorch, uses what the processor advertises. Some virtual
    machines advertise AMX and do not have it: the first bf16 product is an illegal instruction.
    So a product is tried in a child process first; if that dies, oneDNN is limited to fewer
    instructions. It reads the limit when it is first used in a process, and never again.
    """
    if name == "float32":
        return
    warnings.warn(
        f"{name} on a CPU is often slower than float32: training was measured at half the speed "
        "without instructions for it, and in bf16 at 3 times the speed with AVX-512 BF16; compare "
        "both before a long run",
        PrecisionWarning,
        stacklevel=3,
    )
    if survives_product(name):
        return
    before = os.environ.get(ISA_VARIABLE)
    for isa in FALLBACK_ISAS:
        os.environ[ISA_VARIABLE] = isa
        if survives_product(name):
            warnings.warn(
                f"{name} products are illegal instructions on this machine with all that its "
                f"processor advertises; continuing with {ISA_VARIABLE}={isa}",
                PrecisionWarning,
                stacklevel=3,
            )
            return
    if before is None:
        del os.environ[ISA_VARIABLE]
    else:
        os.environ[ISA_VARIABLE] = before
    raise SettingError(
        "a product of this type kills the process on this machine, and it is too late to limit its "
        "instructions",
        cure=(
            f"set {ISA_VARIABLE}={FALLBACK_ISAS[-1]} before the process starts",
            "use {precision:float32}",
        ),
        parameter="precision",
        value=name,
    )


def survives_product(name: str) -> bool:
    """Whether a child process lives through a matrix product of this precision.

    On Linux it is a fork of this process, so that oneDNN is in the state that it has here.
    """
    context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    child = context.Process(target=_probe, args=(name,), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads: as safe as
        child.start()  # PyTorch's own data loaders, since the child has one thread
    child.join(PROBE_SECONDS)
    if child.is_alive():
        child.kill()
        child.join()
    return bool(child.exitcode == 0)


def _probe(name: str) -> None:
    """Try a product, and leave nothing behind if it kills this process: no traceback, no core."""
    faulthandler.disable()
    with suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        _multiply(name)
    except RuntimeError:  # of oneDNN: no kernel for this type
        os._exit(1)


def _multiply(name: str) -> None:
    """Compute what training does: a linear layer, attention, and a gradient of weights."""
    import torch

    torch.set_num_threads(1)
    dtype = getattr(torch, PRECISIONS[name])
    with torch.no_grad():
        rows = torch.ones(2, PROBE_SIZE, PROBE_SIZE, dtype=dtype)
        weight = torch.full((PROBE_SIZE, PROBE_SIZE), 0.01, dtype=dtype)
        hidden = torch.nn.functional.linear(rows, weight, weight[0])
        attended = torch.nn.functional.scaled_dot_product_attention(hidden, hidden, hidden)
        gradient = attended.flatten(0, 1).T @ rows.flatten(0, 1)
        if not bool(torch.isfinite(gradient.float()).all()):
            raise RuntimeError("the product is not finite")
