"""``tertium train``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

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

OPTIONS = {
    "peak_rate": "rate",
    "languages": "langs",
    "columns": "column",
    "d_model": "width",
    "ffn": "inner_width",
    "clip_norm": "clip",
}
"""Options that are not named like their settings."""
SIZES = ("d_model", "ffn", "encoder_layers", "decoder_layers", "heads", "vocabulary")
"""Settings that an existing model has already."""
Run = Annotated[Path, Argument(help="The folder of the training run.")]
Rate = Annotated[float | None, Option("--rate", help="The peak learning rate.")]
WarmupSteps = Annotated[int | None, Option(min=0, help="Steps of linear warm-up.")]
Accumulate = Annotated[int | None, Option(min=1, help="Batches per update.")]
Seed = Annotated[int | None, Option(min=0, help="The random seed (1).")]
SaveMinutes = Annotated[float, Option(help="Minutes between checkpoints.")]
SaveSteps = Annotated[int | None, Option(min=1, help="Steps between checkpoints.")]
Keep = Annotated[int, Option(min=1, help="How many checkpoints to keep.")]
LogSteps = Annotated[int, Option(min=1, help="Steps between lines of the log.")]
Threads = Annotated[int, Option(min=1, help="Threads per process.")]
Device = Annotated[str, Option(help="cpu, cuda, or auto: a GPU if there is one.")]
Precision = Annotated[
    str | None, Option(help="float32, bf16 or fp16. Default: that of the run, at first float32.")
]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Show no progress bar.")]


@train.command("model")
def model(
    run: Run,
    bitext: Annotated[
        list[str] | None, Option(help="A TSV file (plain, .gz, .xz), or FILE=WEIGHT; repeatable.")
    ] = None,
    languages: Annotated[
        str | None, Option("--langs", help="The languages, such as en,de,fr.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        Option("--column", help="NAME=LANG: the language of a column; repeatable."),
    ] = None,
    dev: Annotated[
        list[str] | None,
        Option(help="A development set to evaluate on; NAME=FILE if there are several."),
    ] = None,
    recipe: Annotated[
        str | None, Option(help="mini (default), mini-encoder, prism, parabank2, lm or scaling.")
    ] = None,
    init: Annotated[
        Path | None, Option(help="A Hugging Face folder (M2M100) to start from.")
    ] = None,
    grow: Annotated[
        bool | None,
        Option(
            "--grow",
            help="Add layers and width to --init, up to the recipe's, that add nothing at first.",
        ),
    ] = None,
    spm: Annotated[Path | None, Option(help="A SentencePiece model to use.")] = None,
    vocabulary: Annotated[int | None, Option(min=1, help="Number of tokens.")] = None,
    d_model: Annotated[int | None, Option("--width", min=1, help="Width of the network.")] = None,
    ffn: Annotated[int | None, Option("--inner-width", min=1, help="Of its inner layers.")] = None,
    encoder_layers: Annotated[int | None, Option(min=1, help="Layers of the encoder.")] = None,
    decoder_layers: Annotated[int | None, Option(min=1, help="Layers of the decoder.")] = None,
    heads: Annotated[int | None, Option(min=1, help="Attention heads; they share --width.")] = None,
    dropout: Annotated[float | None, Option(help="Dropout.")] = None,
    max_tokens: Annotated[
        int | None, Option(min=1, help="Longer sentences are not trained on.")
    ] = None,
    paraphrases: Annotated[
        float | None, Option(help="Share of pivot paraphrases (mini 0.15, prism 0).")
    ] = None,
    copies: Annotated[float | None, Option(help="Share of copies (mini 0.04, prism 0).")] = None,
    joined: Annotated[
        float | None,
        Option(help="Share of pairs concatenated with another pair (mini 0.1, prism 0)."),
    ] = None,
    joined_tokens: Annotated[
        int | None,
        Option(min=8, help="Join several pairs, up to this many tokens. Default: two pairs."),
    ] = None,
    names: Annotated[
        float | None,
        Option(help="Share of pairs whose names and numbers are replaced by random ones (0)."),
    ] = None,
    ranking: Annotated[
        float | None,
        Option(help="Weight of a translation-ranking loss on sentence vectors (0)."),
    ] = None,
    contrast: Annotated[
        float | None,
        Option(help="Weight of a loss that makes wrong targets less probable than right ones (0)."),
    ] = None,
    temperature: Annotated[
        float | None,
        Option(help="1 (prism): proportional to size; higher (mini 1.5): directions more even."),
    ] = None,
    peak_rate: Rate = None,
    warmup_steps: WarmupSteps = None,
    schedule: Annotated[
        str | None, Option(help="The rate after warm-up: constant (mini) or inverse-sqrt (prism).")
    ] = None,
    clip_norm: Annotated[
        float | None, Option("--clip", help="Largest norm of the gradients; 0: any.")
    ] = None,
    label_smoothing: Annotated[float | None, Option(help="Label smoothing (0.1).")] = None,
    weight_decay: Annotated[float | None, Option(min=0, help="Of AdamW.")] = None,
    batch_tokens: Annotated[int | None, Option(min=1, help="Target tokens per batch.")] = None,
    accumulate: Accumulate = None,
    seed: Seed = None,
    steps: Annotated[int | None, Option(min=1, help="Stop at this step.")] = None,
    decay_steps: Annotated[
        int | None,
        Option(min=1, help="Decay the rate to 0: at the end of --steps, or from now on."),
    ] = None,
    save_minutes: SaveMinutes = 10.0,
    save_steps: SaveSteps = None,
    keep: Keep = 5,
    dev_steps: Annotated[int, Option(min=1, help="Steps between evaluations.")] = 500,
    dev_sentences: Annotated[
        int, Option(min=0, help="Sentences per direction to translate for chrF.")
    ] = 20,
    log_steps: LogSteps = 50,
    threads: Threads = 1,
    device: Device = "auto",
    precision: Precision = None,
    quiet: Quiet = False,
) -> None:
    """Train a translation model on bitext, or resume a run: give only its folder.

    A run can be interrupted at any time, even killed. On the CPU, with the same number of threads,
    it resumes to exactly the weights of an uninterrupted run. For several GPUs, start it with
    `accelerate launch --multi_gpu --num_processes 4 -m tertium train model ...`.
    """
    options = locals()
    from tertium.training.model.plan import MIXTURES, Mixture, Plan, Recipe, get_recipe
    from tertium.training.model.run import train as train_model

    plan = None
    if bitext:
        original = get_recipe(recipe or "mini")
        sizes = {name: options[name] for name in SIZES if options[name] is not None}
        if init is not None and not grow and sizes:
            raise SettingError(f"--init sets the sizes; leave out {_names(sizes)}, or use --grow")
        plan = Plan(
            languages=tuple(filter(None, (languages or "").split(","))),
            bitext=tuple(map(_file_and_weight, bitext)),
            columns=tuple(_split("--column", "NAME=LANG", text) for text in columns or []),
            recipe=replace(original, **_given(options, Recipe)),
            mixture=replace(MIXTURES[original.name], **_given(options, Mixture)),
            dev=tuple(map(_named_file, dev or [])),
            init=_absolute(init),
            grow=bool(grow),
            spm=_absolute(spm),
            seed=1 if seed is None else seed,
        )
    else:
        _check_resuming(run, Plan, _given(options, Plan, Recipe, Mixture), "--bitext FILE")
    if plan is not None and plan.changes and not quiet:
        typer.echo(f"{plan.recipe.name} with other settings: {_changes(plan.changes)}", err=True)
    trained = _train(train_model, plan, options)
    if trained is not None:
        typer.echo(f"{run}: {counted(trained.step, 'step')}")


@train.command("detector")
def detector(
    run: Run,
    train: Annotated[
        list[str] | None,
        Option(
            help="LANG=FILE: pairs to train on (columns sentence1, sentence2, label); repeatable."
        ),
    ] = None,
    dev: Annotated[
        list[str] | None,
        Option(help="LANG=FILE: pairs to choose the best checkpoint by; repeatable."),
    ] = None,
    test: Annotated[
        list[str] | None,
        Option(help="LANG=FILE: pairs for the final table of results; repeatable."),
    ] = None,
    init: Annotated[
        str | None,
        Option(
            help="A Hugging Face folder with an encoder, or the name of one that a package "
            "contains, such as all-MiniLM-L6-v2. Default: a small encoder with random weights."
        ),
    ] = None,
    recipe: Annotated[
        str | None, Option(help="base (default; mBERT, XLM-R base) or large: a rate of 1e-6.")
    ] = None,
    layers: Annotated[int | None, Option(min=1, help="Layers, without --init (2).")] = None,
    width: Annotated[int | None, Option(min=8, help="Hidden size, without --init (128).")] = None,
    vocabulary: Annotated[int | None, Option(min=10, help="Tokens, without --init (8000).")] = None,
    peak_rate: Rate = None,
    warmup_steps: WarmupSteps = None,
    epochs: Annotated[float | None, Option(help="Number of epochs (10).")] = None,
    batch_size: Annotated[int | None, Option(min=1, help="Pairs per batch (32).")] = None,
    accumulate: Accumulate = None,
    max_tokens: Annotated[
        int | None, Option("--max-tokens", "--max-pieces", min=8, help="Tokens per pair (128).")
    ] = None,
    weight_decay: Annotated[float | None, Option(min=0, help="Of AdamW (0).")] = None,
    dev_steps: Annotated[int | None, Option(min=1, help="Steps between evaluations (500).")] = None,
    both_orders: Annotated[
        bool | None, Option("--both-orders", help="Also train on each pair in reverse order.")
    ] = None,
    seed: Seed = None,
    steps: Annotated[
        int | None, Option("--stop-at", min=1, help="Pause at this step, to resume later.")
    ] = None,
    save_minutes: SaveMinutes = 10.0,
    save_steps: SaveSteps = None,
    keep: Keep = 2,
    log_steps: LogSteps = 20,
    threads: Threads = 1,
    device: Device = "auto",
    precision: Precision = None,
    quiet: Quiet = False,
) -> None:
    """Fine-tune an encoder as a paraphrase detector, or resume a run: give only its folder.

    A finished run has a detector that loads without PyTorch (RUN/detector), the learning curve
    (RUN/curve.svg) and macro-F1 by language. A run can be interrupted at any time, even killed.
    """
    options = locals()
    from tertium.training.detector.plan import (
        DetectorPlan,
        DetectorRecipe,
        Scratch,
        get_detector_recipe,
    )
    from tertium.training.detector.run import train_detector

    plan = None
    if train:
        scratch = _given(options, Scratch)
        if init is not None and scratch:
            raise SettingError(f"--init sets the sizes; leave out {_names(scratch)}")
        if init is not None and Path(init).is_dir():
            init = _absolute(init)
        plan = DetectorPlan(
            train=_pair_files("--train", train),
            dev=_pair_files("--dev", dev or []),
            test=_pair_files("--test", test or []),
            init=init,
            recipe=replace(
                get_detector_recipe(recipe or "base"), **_given(options, DetectorRecipe)
            ),
            scratch=Scratch(**scratch),
            seed=1 if seed is None else seed,
        )
    else:
        given = _given(options, DetectorPlan, DetectorRecipe, Scratch)
        _check_resuming(run, DetectorPlan, given, "--train LANG=FILE")
    check_extras("the learning curve", [_extra("matplotlib")])
    trained = _train(train_detector, plan, {**options, "dev_steps": None})
    if trained is None:
        return
    typer.echo(f"{run}: {trained.step} of {trained.steps} steps", nl=False)
    if best := trained.best.step:
        typer.echo(f"; best validation accuracy {trained.best.score:.3f} at step {best}", nl=False)
    typer.echo()
    if trained.finished:
        _finish_detector(run)


@train.command("export")
def export(
    run: Run,
    out: Annotated[Path, Argument(help="The folder to write.")],
    average: Annotated[
        int, Option(min=1, help="Average the weights of this many last checkpoints.")
    ] = 1,
    hugging_face: Annotated[
        bool, Option("--hugging-face", help="Write a Hugging Face folder instead.")
    ] = False,
    name: Annotated[
        str | None, Option(help="The name of the model. Default: that of the folder.")
    ] = None,
    licence: Annotated[str | None, Option(help="The licence of the model.")] = None,
    quantization: Annotated[str | None, Option(help="float32 (default) or int8.")] = None,
) -> None:
    """Export the weights of a run as a model that Tertium loads."""
    from tertium.training.model import export as exporting

    check_extras("an export", [_extra("torch", "transformers", "langcodes")])
    card: dict[str, Any] = {"name": name, "licence": licence, "quantization": quantization}
    card = {key: value for key, value in card.items() if value is not None}
    if hugging_face and card:
        raise SettingError(f"a Hugging Face folder has no setting {_names(card)}")
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
    start: Callable[..., Trained], plan: BasePlan | None, options: Mapping[str, Any]
) -> Trained | None:
    """Train in this process; None if another one is the main process."""
    from tertium.cli.progress import progress_bar
    from tertium.training.loop import Pace
    from tertium.training.worker import join_workers

    pace = Pace(**_given(options, Pace))
    check_extras("training", [_extra("torch", "transformers", "accelerate")])
    with join_workers(options["device"]) as worker:
        shown = worker.is_main and not options["quiet"]
        with progress_bar(lambda: None, shown=shown, what="steps") as bar:
            if bar is not None:
                pace = replace(pace, progress=bar.advance)
            trained = start(options["run"], plan, pace, worker)
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
            f"{run} was started already, so these settings cannot be changed: {_names(given)}; "
            "when resuming, only the number of steps, --threads, --device, --precision, and how "
            "often to save and report can be given"
        )


def _extra(*modules: str) -> Extra:
    return Extra("train", modules)


def _given(options: Mapping[str, Any], *kinds: Any) -> dict[str, Any]:
    """Return the options that were given and are fields of one of these dataclasses."""
    names = [field.name for kind in kinds for field in fields(kind)]
    return {name: options[name] for name in names if options.get(name) not in (None, [])}


def _changes(changes: Mapping[str, Mapping[str, Any]]) -> str:
    """Say how settings differ from the recipe."""
    return ", ".join(
        f"{_names([name])} {values['here']} ({values['recipe']})"
        for name, values in changes.items()
    )


def _names(settings: Iterable[str]) -> str:
    """Name the options of settings."""
    return ", ".join(f"--{OPTIONS.get(name, name).replace('_', '-')}" for name in settings)


def _absolute(path: str | Path | None) -> str | None:
    """Make a path absolute, so that the run can be resumed from any folder."""
    return None if path is None else str(Path(path).expanduser().absolute())


def _split(option: str, form: str, text: str) -> tuple[str, str]:
    before, equals, after = text.partition("=")
    if not equals:
        raise SettingError(f"{option} {text}: must have the form {form}")
    return before, after


def _pair_files(option: str, given: list[str]) -> tuple[tuple[str, str], ...]:
    files = [_split(option, "LANG=FILE", text) for text in given]
    return tuple((lang, str(_absolute(file))) for lang, file in files)


def _named_file(option: str) -> tuple[str, str]:
    name, equals, file = option.partition("=")
    if not equals or Path(option).is_file():
        return "", str(_absolute(option))
    return name, str(_absolute(file))


def _file_and_weight(option: str) -> tuple[str, float]:
    file, equals, weight = option.rpartition("=")
    if not equals:
        return str(_absolute(option)), 1.0
    try:
        return str(_absolute(file)), float(weight)
    except ValueError:
        raise SettingError(f"--bitext {option}: {weight!r} is not a weight") from None
