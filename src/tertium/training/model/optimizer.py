"""The optimizers of translation models: AdamW, and Muon for matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tertium.training.model.plan import MUON, Recipe

BETAS = (0.9, 0.98)


def new_optimizer(network: Any, recipe: Recipe) -> Any:
    """Return the optimizer that a recipe names, for all parameters of a network."""
    import torch

    def adamw(parameters: Any) -> Any:
        return torch.optim.AdamW(
            parameters,
            lr=recipe.peak_rate,
            betas=BETAS,
            weight_decay=recipe.weight_decay,
            fused=True,
        )

    if recipe.optimizer != MUON:
        return adamw(network.parameters())
    tables = {
        id(module.weight) for module in network.modules() if isinstance(module, torch.nn.Embedding)
    }
    matrices: list[Any] = []
    others: list[Any] = []
    for parameter in network.parameters():
        chosen = matrices if parameter.ndim == 2 and id(parameter) not in tables else others
        chosen.append(parameter)
    muon = torch.optim.Muon(
        matrices,
        lr=recipe.peak_rate,
        weight_decay=recipe.weight_decay,
        adjust_lr_fn="match_rms_adamw",  # so that one rate suits both
    )
    return Together(muon=muon, adamw=adamw(others))


class Together:
    """Several optimizers, each for some of the parameters, that are stepped and saved as one."""

    def __init__(self, **optimizers: Any) -> None:
        self._optimizers = optimizers

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The groups of all, each with its rate."""
        return [group for each in self._optimizers.values() for group in each.param_groups]

    def step(self) -> None:
        """Update the weights."""
        for each in self._optimizers.values():
            each.step()

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for each in self._optimizers.values():
            each.zero_grad()

    def state_dict(self) -> dict[str, Any]:
        """The state of each, by name."""
        return {name: each.state_dict() for name, each in self._optimizers.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`state_dict` returned."""
        for name, each in self._optimizers.items():
            each.load_state_dict(state[name])
