"""Export of checkpoints as a model that Tertium loads, or as a Hugging Face folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from tertium.errors import ModelError
from tertium.models.card import TOKENIZER, LanguageCard, TranslationCard
from tertium.models.convert.language import convert_language_model
from tertium.models.convert.translation import Quantization, convert
from tertium.storage.atomic import appearing, scratch_beside
from tertium.training.checkpoints import average_weights, list_checkpoints
from tertium.training.model.plan import Plan
from tertium.training.model.run import first_network
from tertium.training.model.tokenizer import SPM, Tokenizer, write_tokenizer_json
from tertium.training.plan import read_plan


def export_model(
    run: Path,
    out: Path,
    *,
    average: int = 1,
    name: str | None = None,
    licence: str = "unknown",
    quantization: Quantization = "float32",
) -> TranslationCard | LanguageCard:
    """Write the mean of a run's last checkpoints as a model that Tertium loads."""
    if out.exists():  # before the work, not after it
        raise ModelError(f"{out} exists already; remove it or choose another folder")
    plan = read_plan(run, Plan)
    with scratch_beside(out) as scratch:
        folder = export(run, scratch / "hugging-face", average=average)
        if plan is not None and plan.recipe.is_language_model:
            return convert_language_model(
                folder,
                out,
                name=name or out.name,
                licence=licence,
                quantization=quantization,
                origin=origin(plan),
            )
        return convert(
            folder,
            out,
            name=name or out.name,
            dialect="prism",
            licence=licence,
            quantization=quantization,
            origin="trained with `tertium train model`" if plan is None else origin(plan),
        )


def origin(plan: Plan) -> str:
    """Say by which recipe a model was trained, and which of its settings were changed.

    >>> from tertium.training.model.plan import get_recipe
    >>> from dataclasses import replace
    >>> recipe = replace(get_recipe("mini"), clip_norm=2.0)
    >>> origin(Plan(("en", "de"), (("pairs.tsv", 1.0),), recipe=recipe))
    'trained with `tertium train model --recipe mini` (clip_norm 2.0)'
    """
    changes = ", ".join(f"{name} {values['here']}" for name, values in plan.changes.items())
    started = "" if plan.init is None else f", from {Path(plan.init).name}"
    command = f"trained with `tertium train model --recipe {plan.recipe.name}`{started}"
    return f"{command} ({changes})" if changes else command


def export(run: Path, out: Path, *, average: int = 1) -> Path:
    """Write the same as a Hugging Face folder, atomically."""
    plan = read_plan(run, Plan)
    checkpoints = list_checkpoints(run)
    if plan is None or not checkpoints:
        raise ModelError(f"{run} has no checkpoint; it is not a run of `tertium train model`")
    if len(checkpoints) < average:
        raise ModelError(
            f"{run} has fewer than {average} checkpoints ({len(checkpoints)})",
            cure="reduce {average}",
        )
    with appearing(out) as folder:
        network = first_network(plan, Tokenizer(run / SPM, plan.languages))
        network.load_state_dict(average_weights(checkpoints[-average:]))
        network.save_pretrained(str(folder))
        shutil.copyfile(run / SPM, folder / SPM)
        if plan.recipe.is_language_model:
            write_tokenizer_json(run / SPM, folder / TOKENIZER)
    return out
