"""The plan of a training run: every setting that determines the weights, fixed at the start."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_type_hints

from tertium.errors import ResumeError, SettingError
from tertium.storage.atomic import write_text
from tertium.training.checkpoints import list_checkpoints
from tertium.training.schedule import SCHEDULES, Schedule
from tertium.training.worker import Worker

PLAN = "plan.json"
RENAMED = {"max_pieces": "max_tokens", "rate": "peak_rate"}
"""Settings that version 1 saved under another name."""


def wrong(parameter: str, value: object, why: str) -> SettingError:
    """The error for a setting of a training run."""
    return SettingError(why, parameter=parameter, value=value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Updates:
    """How the weights are updated: the part that all recipes share."""

    peak_rate: float
    """The learning rate after warm-up and before decay."""
    warmup_steps: int
    accumulate: int
    """Batches per update."""
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    """Gradients with a larger norm are scaled down to it; 0 leaves them."""
    schedule: Schedule = "constant"
    """How the rate goes on after warm-up."""

    def check_schedule(self) -> None:
        """Refuse an unknown schedule."""
        if self.schedule not in SCHEDULES:
            raise wrong("schedule", self.schedule, f"must be {' or '.join(SCHEDULES)}")


@dataclass(frozen=True, slots=True)
class BasePlan:
    """A plan is a frozen dataclass of JSON values, tuples and such dataclasses."""

    command: ClassVar[str]
    """The command that trains by such a plan."""

    @staticmethod
    def upgrade(content: dict[str, Any]) -> dict[str, Any]:
        """Convert the JSON of a plan that an earlier version saved."""
        return content

    def remarks(self) -> dict[str, Any]:
        """Return what is written beside the settings for readers; it is not read again."""
        return {}


P = TypeVar("P", bound=BasePlan)


def write_plan(run: Path, plan: BasePlan) -> None:
    run.mkdir(parents=True, exist_ok=True)
    content = {**asdict(plan), **plan.remarks()}
    write_text(run / PLAN, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def read_plan(run: Path, kind: type[P]) -> P | None:
    """Read the plan of a run, or return None if the folder has none."""
    try:
        text = (run / PLAN).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        plan: P = _restore(kind, kind.upgrade(json.loads(text)))
    except (AttributeError, KeyError, TypeError, ValueError, SettingError) as error:
        raise ResumeError(
            f"{run / PLAN} is not a plan of `{kind.command}` in this version of Tertium ({error}); "
            "train in another folder"
        ) from None
    return plan


def settle_plan(
    run: Path, plan: P | None, kind: type[P], worker: Worker, *, prepared: Iterable[str]
) -> P:
    """Return the plan of the run; the main process writes it, then the others read it.

    ``prepared`` names files and folders that are made from a plan. They are removed when the plan
    changes, which it may do until the first checkpoint.
    """
    saved = read_plan(run, kind)
    if not worker.is_main:
        if saved is None:
            raise ResumeError(f"{run} must be on a file system that all processes share")
        return saved
    if plan is None:
        if saved is None:
            raise ResumeError(f"{run} is not a training run yet; give the data to train on")
        return saved
    if saved is not None and list_checkpoints(run):
        before, now = asdict(saved), asdict(plan)
        if changed := [name for name in before if before[name] != now[name]]:
            raise ResumeError(
                f"{run} was started with other settings ({', '.join(changed)}); resume it with "
                f"`{kind.command} {run}` and no other settings, or train in another folder"
            )
        return saved
    if saved != plan:
        for path in (run / name for name in prepared):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    write_plan(run, plan)
    return plan


def _restore(kind: Any, content: Any) -> Any:
    """Turn JSON back into dataclasses and tuples."""
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        renamed = {
            name if name in hints else RENAMED.get(name, name): value
            for name, value in content.items()
        }
        return kind(**{name: _restore(hints[name], value) for name, value in renamed.items()})
    return tuple(_restore(None, item) for item in content) if isinstance(content, list) else content
