"""What the training of a detector is: the encoder, the pairs, the recipe; fixed from its start."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tertium.errors import ResumeError, SettingError
from tertium.storage.atomic import write_text
from tertium.training.model.plan import PLAN

Files = tuple[tuple[str, str], ...]
"""Languages, and files of labelled pairs in them."""


@dataclass(frozen=True, slots=True)
class DetectorRecipe:
    """How an encoder is fine-tuned: Shankar (2020), 4.2.3, but for the size of an update."""

    rate: float = 2e-5
    """The learning rate at the start; it falls to zero in a straight line."""
    warmup_steps: int = 0
    epochs: float = 10.0
    batch_size: int = 32
    """Pairs that go through the network together."""
    accumulate: int = 1
    """How many such batches make an update."""
    max_pieces: int = 128
    weight_decay: float = 0.0
    """As XTREME has it; the paper does not say."""
    clip_norm: float = 1.0
    dev_steps: int = 500
    """How often the accuracy on the validation pairs is taken: the best checkpoint is kept."""
    both_orders: bool = False
    """Whether a pair is also learnt the other way round."""

    def __post_init__(self) -> None:
        for name in ("rate", "epochs", "batch_size", "accumulate", "max_pieces", "dev_steps"):
            if getattr(self, name) <= 0:
                raise SettingError(f"{name} is {getattr(self, name)}; it must be above 0")


@dataclass(frozen=True, slots=True)
class Scratch:
    """A small encoder with random weights, for want of one that knows a language."""

    layers: int = 2
    width: int = 128
    heads: int = 4
    vocabulary: int = 8000


@dataclass(frozen=True, slots=True)
class DetectorPlan:
    """All that decides the weights."""

    train: Files
    dev: Files
    test: Files = ()
    """Only for the table of macro-F1 at the end."""
    init: str | None = None
    """A Hugging Face folder with an encoder; without one, a small one is begun from nothing."""
    scratch: Scratch = Scratch()
    recipe: DetectorRecipe = DetectorRecipe()
    seed: int = 1

    def __post_init__(self) -> None:
        if not self.train:
            raise SettingError("name the pairs to train on (--train LANG=FILE)")
        if not self.dev:
            raise SettingError(
                "name pairs to choose the best checkpoint by (--dev LANG=FILE), which are no "
                "training pairs"
            )


def write_detector_plan(run: Path, plan: DetectorPlan) -> None:
    run.mkdir(parents=True, exist_ok=True)
    write_text(run / PLAN, json.dumps(asdict(plan), indent=2, ensure_ascii=False) + "\n")


def read_detector_plan(run: Path) -> DetectorPlan | None:
    """The plan of a run that was begun, or None."""
    try:
        content: dict[str, Any] = json.loads((run / PLAN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    try:
        return DetectorPlan(
            train=_files(content.pop("train")),
            dev=_files(content.pop("dev")),
            test=_files(content.pop("test")),
            recipe=DetectorRecipe(**content.pop("recipe")),
            scratch=Scratch(**content.pop("scratch")),
            **content,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ResumeError(
            f"{run / PLAN} is not the plan of a detector, or of another version of Tertium "
            f"({error}); train in another folder"
        ) from None


def check_same_detector(run: Path, saved: DetectorPlan, asked: DetectorPlan) -> None:
    """Resuming with another plan would make a detector that no plan describes."""
    before, now = asdict(saved), asdict(asked)
    changed = [name for name in before if before[name] != now[name]]
    if changed:
        raise ResumeError(
            f"{run} was begun with other settings ({', '.join(changed)}); resume it with "
            f"`tertium train detector {run}` alone, or train in another folder"
        )


def _files(content: Sequence[Sequence[str]]) -> Files:
    return tuple((lang, file) for lang, file in content)
