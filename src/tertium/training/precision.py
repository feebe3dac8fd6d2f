"""Mixed precision: products in 16 bits, weights and sums in 32."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tertium.errors import ModelError, SettingError

if TYPE_CHECKING:
    from torch import dtype

PRECISIONS = {"float32": "float32", "bf16": "bfloat16", "fp16": "float16"}
"""Names of ours, and PyTorch's."""
MIN_SCALE = 1e-4


class MixedPrecision:
    """The type to multiply in; and for fp16, gradients that are scaled so as not to vanish.

    fp16 has no numbers below 6e-8, so the loss is multiplied by as much as its range allows:
    too much shows as an infinite gradient, then the update is skipped and the scale halved.
    """

    def __init__(self, name: str, device: str, state: Mapping[str, Any] | None = None) -> None:
        import torch

        check_precision(name)
        self.name = name
        self.dtype: dtype = getattr(torch, PRECISIONS[name])
        self._one = torch.ones((), device=device)
        self._scaler = torch.amp.GradScaler(torch.device(device).type, enabled=name == "fp16")
        if state and self._scaler.is_enabled():
            self._scaler.load_state_dict(dict(state))

    @property
    def state(self) -> dict[str, Any]:
        """What a checkpoint must hold; nothing, unless it is fp16."""
        return self._scaler.state_dict()

    def loss_scale(self) -> float:
        """By how much to multiply the gradients of the next update."""
        scale = float(self._scaler.scale(self._one))
        if scale < MIN_SCALE:
            raise ModelError(
                "the gradients are too large for fp16, however they are scaled; resume with "
                "--precision bf16 or float32"
            )
        return scale

    def update(self, network: Any, optimizer: Any, *, clip_norm: float) -> None:
        """Undo the scale, clip, and make the update unless a gradient is infinite."""
        import torch

        self._scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(network.parameters(), clip_norm)
        self._scaler.step(optimizer)
        self._scaler.update()
        optimizer.zero_grad()


def check_precision(name: str) -> None:
    if name not in PRECISIONS:
        raise SettingError(f"--precision {name}: it must be one of {', '.join(PRECISIONS)}")
