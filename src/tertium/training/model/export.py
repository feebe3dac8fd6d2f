"""From checkpoints to a model that Tertium loads, or to a Hugging Face folder."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tertium.errors import ModelError
from tertium.models.convert.translation import Quantization, convert
from tertium.models.folder import ModelFolder
from tertium.training.checkpoints import average_weights, list_checkpoints
from tertium.training.model.pieces import Pieces
from tertium.training.model.plan import read_plan
from tertium.training.model.preparation import SPM
from tertium.training.model.run import first_network


def export_model(
    run: Path,
    out: Path,
    *,
    average: int = 1,
    name: str | None = None,
    licence: str = "unknown",
    quantization: Quantization = "float32",
) -> ModelFolder:
    """Write the mean of a run's last checkpoints as a model that Tertium loads."""
    if out.exists():
        raise ModelError(f"{out} is there already; remove it or name another folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        return convert(
            export(run, Path(scratch) / "hugging-face", average=average),
            out,
            name=name or out.name,
            dialect="prism",
            licence=licence,
            quantization=quantization,
            origin="trained with `tertium train model`",
        )


def export(run: Path, out: Path, *, average: int = 1) -> Path:
    """Write the same as a Hugging Face folder; ``out`` appears whole, or not at all."""
    plan = read_plan(run)
    checkpoints = list_checkpoints(run)
    if plan is None or not checkpoints:
        raise ModelError(f"{run} has no checkpoint; it is not a run of `tertium train model`")
    if len(checkpoints) < average:
        raise ModelError(
            f"{run} has {len(checkpoints)} checkpoints, not {average}; average fewer (--average)"
        )
    if out.exists():
        raise ModelError(f"{out} is there already; remove it or name another folder")
    network = first_network(plan, Pieces(run / SPM, plan.languages))
    network.load_state_dict(average_weights(checkpoints[-average:]))
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        made = Path(scratch) / out.name
        network.save_pretrained(str(made))
        shutil.copyfile(run / SPM, made / SPM)
        made.rename(out)
    return out
