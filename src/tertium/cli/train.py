"""``tertium train``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument

from tertium.cli.commands import flag, flags
from tertium.cli.groups import grouped
from tertium.cli.options import option
from tertium.cli.training import (
    DataOptions,
    DetectorDataOptions,
    DetectorPaceOptions,
    FineTuningOptions,
    LossOptions,
    MachineOptions,
    MixtureOptions,
    ModelPaceOptions,
    PaceOptions,
    SizeOptions,
    UpdateOptions,
    fields_of,
    given_in,
)
from tertium.data.records import counted
from tertium.errors import ResumeError, SettingError
from tertium.registry import Extra, check_extras

if TYPE_CHECKING:
    from tertium.training.loop import Trained
    from tertium.training.plan import BasePlan

train = typer.Typer(
    no_args_is_help=True,
    help="Train translation models and paraphrase detectors (extra: train).",
)

Run = Annotated[Path, Argument(help="The folder of the training run.")]


@train.command("model")
@grouped()
def model(
    run: Run,
    data: DataOptions,
    sizes: SizeOptions,
    mixture: MixtureOptions,
    losses: LossOptions,
    updates: UpdateOptions,
    pace: ModelPaceOptions,
    machine: MachineOptions,
) -> None:
    """Train a translation model on bitext, or resume a run: give only its folder.

    A run can be interrupted at any time, even killed. On the CPU, with the same number of threads,
    it resumes to exactly the weights of an uninterrupted run. For several GPUs, start it with
    `accelerate launch --multi_gpu --num_processes 4 -m tertium train model ...`.
    """
    from tertium.training.model.plan import Mixture, Plan, Recipe
    from tertium.training.model.run import train as train_model

    given = given_in(data, sizes, mixture, losses, updates)
    plan = None
    if data.bitext:
        plan = data.plan(given)
        if plan.changes and not machine.quiet:
            changes = _changes(plan.changes)
            typer.echo(f"{plan.recipe.name} with other settings: {changes}", err=True)
    else:
        fixed = fields_of(given, Plan, Recipe, Mixture)
        _check_resuming(run, Plan, fixed, "--bitext FILE")
    trained = _train(train_model, run, plan, pace, machine)
    if trained is not None:
        typer.echo(f"{run}: {counted(trained.step, 'step')}")


@train.command("detector")
@grouped()
def detector(
    run: Run,
    data: DetectorDataOptions,
    fine_tuning: FineTuningOptions,
    updates: UpdateOptions,
    pace: DetectorPaceOptions,
    machine: MachineOptions,
) -> None:
    """Fine-tune an encoder as a paraphrase detector, or resume a run: give only its folder.

    A finished run has a detector that loads without PyTorch (RUN/detector), the learning curve
    (RUN/curve.svg) and macro-F1 by language. A run can be interrupted at any time, even killed.
    """
    from tertium.training.detector.plan import DetectorPlan, DetectorRecipe, Scratch
    from tertium.training.detector.run import train_detector

    given = given_in(data, fine_tuning, updates)
    plan = None
    if data.train:
        plan = data.plan(given)
    else:
        fixed = fields_of(given, DetectorPlan, DetectorRecipe, Scratch)
        _check_resuming(run, DetectorPlan, fixed, "--train LANG=FILE")
    check_extras("the learning curve", [_extra("matplotlib")])
    trained = _train(train_detector, run, plan, pace, machine)
    if trained is None:
        return
    typer.echo(f"{run}: {trained.step} of {trained.steps} steps", nl=False)
    if best := trained.best.step:
        typer.echo(f"; best validation accuracy {trained.best.score:.3f} at step {best}", nl=False)
    typer.echo()
    if trained.finished:
        _finish_detector(run)


@train.command("export")
@grouped()
def export(
    run: Run,
    out: Annotated[Path, Argument(help="The folder to write.")],
    average: int = option(1, "Average the weights of this many last checkpoints.", min=1),
    hugging_face: bool = option(False, "Write a Hugging Face folder instead."),
    name: str | None = option(None, "The name of the model. Default: that of the folder."),
    licence: str | None = option(None, "The licence of the model."),
    quantization: str | None = option(None, "float32 (default) or int8."),
) -> None:
    """Export the weights of a run as a model that Tertium loads."""
    from tertium.training.model import export as exporting

    check_extras("an export", [_extra("torch", "transformers", "langcodes")])
    card: dict[str, Any] = {"name": name, "licence": licence, "quantization": quantization}
    card = {key: value for key, value in card.items() if value is not None}
    if hugging_face and card:
        raise SettingError(f"a Hugging Face folder has no setting {flags(card)}")
    if quantization not in (None, "float32", "int8"):
        raise SettingError(f"--quantization {quantization}: must be float32 or int8")
    if hugging_face:
        typer.echo(str(exporting.export(run, out, average=average)))
    else:
        typer.echo(str(exporting.export_model(run, out, average=average, **card).path))


@train.command("curve")
def curve(
    log: Annotated[Path, Argument(help="The log.jsonl of a run.")],
    out: Annotated[Path, Argument(help="The figure to write (.png, .svg, .pdf).")],
) -> None:
    """Draw the learning curve of a run."""
    from tertium.training.log import draw_curve

    check_extras("the learning curve", [_extra("matplotlib")])
    draw_curve(log, out)


def _train(
    start: Callable[..., Trained],
    run: Path,
    plan: BasePlan | None,
    options: PaceOptions,
    machine: MachineOptions,
) -> Trained | None:
    """Train in this process; None if another one is the main process."""
    from tertium.cli.running import progress_bar
    from tertium.training.loop import Pace
    from tertium.training.worker import join_workers

    pace = Pace(**fields_of(given_in(options, machine), Pace))
    check_extras("training", [_extra("torch", "transformers", "accelerate")])
    with join_workers(machine.device) as worker:
        shown = worker.is_main and not machine.quiet
        with progress_bar(lambda: None, shown=shown, what="steps") as bar:
            if bar is not None:
                pace = replace(pace, progress=bar.advance)
            trained = start(run, plan, pace, worker)
    return trained if worker.is_main else None


def _finish_detector(run: Path) -> None:
    from rich.console import Console

    from tertium.models.catalog import load_detector
    from tertium.training.detector.export import export_detector, languages_table
    from tertium.training.detector.plan import DetectorPlan
    from tertium.training.log import LOG, draw_curve
    from tertium.training.plan import read_plan

    folder = export_detector(run)
    for suffix in (".svg", ".png"):
        draw_curve(run / LOG, run / f"curve{suffix}")
    typer.echo(f"{folder.path}: {folder.settings.family}, {folder.fingerprint[:12]}")
    plan = read_plan(run, DetectorPlan)
    if plan is not None and plan.test:
        both = load_detector(folder.path, both_orders=True)
        table = languages_table(load_detector(folder.path), plan.test, both_orders=both)
        table.save(run, "languages")
        typer.echo()
        table.print(Console(highlight=False))


def _check_resuming(
    run: Path, kind: type[BasePlan], given: Mapping[str, Any], data_option: str
) -> None:
    """Without data to train on, there must be a run, and its plan cannot be changed."""
    from tertium.training.plan import read_plan

    if read_plan(run, kind) is None:
        raise SettingError(f"{run} is not a training run yet; give its data ({data_option})")
    if given:
        raise ResumeError(
            f"{run} was started already, so these settings cannot be changed: {flags(given)}; "
            "when resuming, only the number of steps, --threads, --device, --precision, and how "
            "often to save and report can be given"
        )


def _extra(*modules: str) -> Extra:
    return Extra("train", modules)


def _changes(changes: Mapping[str, Mapping[str, Any]]) -> str:
    """Say how settings differ from the recipe."""
    return ", ".join(
        f"{flag(name)} {values['here']} ({values['recipe']})" for name, values in changes.items()
    )
