"""What a run is: the data, the recipe, the mixture and the seed; fixed from its first step."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tertium.errors import ResumeError, SettingError
from tertium.storage.atomic import write_text
from tertium.training.model.mixture import Mixture
from tertium.training.model.recipes import RECIPES, Recipe

PLAN = "plan.json"


@dataclass(frozen=True, slots=True)
class Plan:
    """All that decides the weights, given the number of steps and the decay."""

    languages: tuple[str, ...]
    bitext: tuple[tuple[str, float], ...]
    """Files, and how much a pair of each counts beside those of the others."""
    columns: tuple[tuple[str, str], ...] = ()
    dev: str | None = None
    init: str | None = None
    """A Hugging Face folder to start from; its sizes and its pieces replace the recipe's."""
    spm: str | None = None
    recipe: Recipe = RECIPES["mini"]
    mixture: Mixture = field(default_factory=Mixture)
    seed: int = 1

    def __post_init__(self) -> None:
        if len(set(self.languages)) < 2:
            raise SettingError("name two languages or more, such as --langs en,de")
        if not self.bitext:
            raise SettingError("name the files to train on (--bitext)")
        if self.init is not None and self.spm is not None:
            raise SettingError("--init brings its own pieces; leave out --spm")


def write_plan(run: Path, plan: Plan) -> None:
    run.mkdir(parents=True, exist_ok=True)
    write_text(run / PLAN, json.dumps(asdict(plan), indent=2, ensure_ascii=False) + "\n")


def read_plan(run: Path) -> Plan | None:
    """The plan of a run that was begun, or None."""
    try:
        content: dict[str, Any] = json.loads((run / PLAN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    try:
        return replace(
            Plan(
                tuple(content.pop("languages")),
                tuple((file, weight) for file, weight in content.pop("bitext")),
            ),
            columns=tuple((name, lang) for name, lang in content.pop("columns")),
            recipe=Recipe(**content.pop("recipe")),
            mixture=Mixture(**content.pop("mixture")),
            **content,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ResumeError(
            f"{run / PLAN} is not a plan of this version of Tertium ({error}); "
            "train in another folder"
        ) from None


def check_same(run: Path, saved: Plan, asked: Plan) -> None:
    """Resuming with another plan would make a model that no plan describes."""
    before, now = asdict(saved), asdict(asked)
    changed = [name for name in before if before[name] != now[name]]
    if changed:
        raise ResumeError(
            f"{run} was begun with other settings ({', '.join(changed)}); resume it with "
            f"`tertium train model {run}` alone, or train in another folder"
        )
