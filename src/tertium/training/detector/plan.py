"""What a detector is trained on and how: the plan and its recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tertium.errors import SettingError
from tertium.training.plan import BasePlan, Updates

Files = tuple[tuple[str, str], ...]
"""Languages, and files of labelled pairs in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorRecipe(Updates):
    """How an encoder is fine-tuned: Shankar (2020), 4.2.3, except for the size of an update."""

    peak_rate: float = 2e-5
    """The learning rate after warm-up; it decays linearly to zero."""
    warmup_steps: int = 0
    epochs: float = 10.0
    batch_size: int = 32
    """Pairs per batch."""
    accumulate: int = 1
    max_tokens: int = 128
    weight_decay: float = 0.0
    """As in XTREME; the paper does not give it."""
    dev_steps: int = 500
    """Steps between evaluations, which choose the best checkpoint."""
    both_orders: bool = False
    """Whether each pair is also trained on in reverse order."""

    def __post_init__(self) -> None:
        for name in ("peak_rate", "epochs", "batch_size", "accumulate", "max_tokens", "dev_steps"):
            if getattr(self, name) <= 0:
                raise SettingError(f"{name} is {getattr(self, name)}; it must be above 0")


DETECTOR_RECIPES = {
    "base": DetectorRecipe(),
    "large": DetectorRecipe(peak_rate=1e-6, batch_size=8, accumulate=4),
}
"""Of the paper: mBERT and XLM-R base; XLM-R large, which makes updates of the same size."""


def get_detector_recipe(name: str) -> DetectorRecipe:
    """Look up a recipe by name."""
    try:
        return DETECTOR_RECIPES[name]
    except KeyError:
        available = ", ".join(DETECTOR_RECIPES)
        raise SettingError(f"unknown recipe {name!r}; available: {available}") from None


@dataclass(frozen=True, slots=True)
class Scratch:
    """The sizes of a small encoder with random weights, if no pretrained one is given."""

    layers: int = 2
    width: int = 128
    heads: int = 4
    vocabulary: int = 8000


@dataclass(frozen=True, slots=True)
class DetectorPlan(BasePlan):
    """Everything that determines the weights."""

    command: ClassVar[str] = "tertium train detector"

    train: Files
    dev: Files
    test: Files = ()
    """Only for the table of macro-F1 at the end."""
    init: str | None = None
    """A Hugging Face folder with an encoder; None starts from random weights."""
    scratch: Scratch = Scratch()
    recipe: DetectorRecipe = DetectorRecipe()
    seed: int = 1

    def __post_init__(self) -> None:
        if not self.train:
            raise SettingError("there are no pairs to train on", cure="give {train:LANG=FILE}")
        if not self.dev:
            raise SettingError(
                "there are no pairs, beside those to train on, to choose the best checkpoint by",
                cure="give {dev:LANG=FILE}",
            )
