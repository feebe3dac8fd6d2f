"""``tertium train``."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from tertium.errors import ResumeError, SettingError

train = typer.Typer(no_args_is_help=True, help="Train translation models (extra: train).")

Run = Annotated[Path, typer.Argument(help="The folder of the run.")]


@train.command("model")
def model(
    run: Run,
    bitext: Annotated[
        list[str] | None,
        typer.Option(help="A TSV file (plain, .gz, .xz), or FILE=WEIGHT; again for more."),
    ] = None,
    langs: Annotated[str | None, typer.Option(help="The languages, as in en,de,fr.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="NAME=LANG: the language of a column that is named otherwise."),
    ] = None,
    dev: Annotated[Path | None, typer.Option(help="Held-out pairs, to watch the loss on.")] = None,
    recipe: Annotated[str | None, typer.Option(help="mini (default) or prism.")] = None,
    init: Annotated[
        Path | None, typer.Option(help="A Hugging Face folder (M2M100) to start from.")
    ] = None,
    spm: Annotated[Path | None, typer.Option(help="A SentencePiece model to use.")] = None,
    vocabulary: Annotated[int | None, typer.Option(min=1, help="How many pieces.")] = None,
    paraphrases: Annotated[
        float | None, typer.Option(help="Share of same-language pairs found by pivot (0.15).")
    ] = None,
    copies: Annotated[float | None, typer.Option(help="Share of copies (0.04).")] = None,
    joined: Annotated[
        float | None, typer.Option(help="Share of pairs put end to end with another (0.1).")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="1: directions as they come; more: more even (1.5).")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="The peak learning rate.")] = None,
    warmup_steps: Annotated[int | None, typer.Option(min=0)] = None,
    batch_tokens: Annotated[int | None, typer.Option(min=1, help="Target tokens.")] = None,
    accumulate: Annotated[int | None, typer.Option(min=1, help="Batches an update.")] = None,
    seed: Annotated[int | None, typer.Option(min=0)] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Stop after so many in all.")] = None,
    decay_steps: Annotated[
        int | None,
        typer.Option(min=1, help="Let the rate fall to 0: at the end of --steps, or from now on."),
    ] = None,
    save_minutes: Annotated[float, typer.Option(help="Between checkpoints.")] = 10.0,
    save_steps: Annotated[int | None, typer.Option(min=1, help="Between checkpoints.")] = None,
    keep: Annotated[int, typer.Option(min=1, help="How many checkpoints stay.")] = 5,
    dev_steps: Annotated[int, typer.Option(min=1, help="Between development losses.")] = 500,
    dev_sentences: Annotated[
        int, typer.Option(min=0, help="How many a direction to translate then, for chrF.")
    ] = 20,
    log_steps: Annotated[int, typer.Option(min=1, help="Between lines of the log.")] = 50,
    threads: Annotated[int, typer.Option(min=1)] = 1,
) -> None:
    """Train a model on bitext, or resume a run: name its folder alone.

    The run can be stopped at any time, even killed; on the CPU, and with as many threads, it
    resumes to the very weights that it would have had.
    """
    from tertium.training.mixture import Mixture
    from tertium.training.plan import Plan, read_plan
    from tertium.training.recipes import recipe as recipe_named
    from tertium.training.run import Pace
    from tertium.training.run import train as train_run

    changed_recipe = _given(
        vocabulary=vocabulary,
        peak_rate=rate,
        warmup_steps=warmup_steps,
        batch_tokens=batch_tokens,
        accumulate=accumulate,
    )
    changed_mixture = _given(
        paraphrases=paraphrases, copies=copies, joined=joined, temperature=temperature
    )
    others = _given(dev=_absolute(dev), init=_absolute(init), spm=_absolute(spm), seed=seed)
    plan = None
    if bitext:
        plan = Plan(
            languages=tuple(filter(None, (langs or "").split(","))),
            bitext=tuple(map(_file_and_weight, bitext)),
            columns=tuple(map(_column, column or [])),
            recipe=replace(recipe_named(recipe or "mini"), **changed_recipe),
            mixture=Mixture(**changed_mixture),
            **others,
        )
    elif read_plan(run) is None:
        raise SettingError(f"{run} is no run yet; name the files to train on (--bitext)")
    elif changed_recipe or changed_mixture or others or langs or column or recipe:
        raise ResumeError(
            f"what {run} is trained on and how is settled; to resume it, give only --steps, "
            "--decay-steps, --threads and how often to save and report"
        )
    _require("torch", "transformers")
    progress = train_run(
        run,
        plan,
        Pace(
            steps=steps,
            decay_steps=decay_steps,
            save_minutes=save_minutes,
            save_steps=save_steps,
            keep=keep,
            dev_steps=dev_steps,
            dev_sentences=dev_sentences,
            log_steps=log_steps,
            threads=threads,
        ),
    )
    typer.echo(f"{run}: {progress.step} steps")


@train.command("export")
def export(
    run: Run,
    out: Annotated[Path, typer.Argument(help="The folder to write.")],
    average: Annotated[
        int, typer.Option(min=1, help="Of how many last checkpoints to take the mean.")
    ] = 1,
    hugging_face: Annotated[
        bool,
        typer.Option("--hugging-face", help="Write a Hugging Face folder instead."),
    ] = False,
    name: Annotated[
        str | None, typer.Option(help="The name of the model. Default: that of the folder.")
    ] = None,
    licence: Annotated[str | None, typer.Option(help="For its card.")] = None,
    quantization: Annotated[str | None, typer.Option(help="float32 (default) or int8.")] = None,
) -> None:
    """Write a run's weights as a model that Tertium loads."""
    from tertium.training import export as exporting

    _require("torch", "transformers", "langcodes")
    card = _given(name=name, licence=licence, quantization=quantization)
    if hugging_face and card:
        raise SettingError("--name, --licence and --quantization are not for a Hugging Face folder")
    if quantization not in (None, "float32", "int8"):
        raise SettingError(f"--quantization {quantization}: it must be float32 or int8")
    if hugging_face:
        typer.echo(str(exporting.export(run, out, average=average)))
    else:
        typer.echo(str(exporting.export_model(run, out, average=average, **card).path))


@train.command("curve")
def curve(
    log: Annotated[Path, typer.Argument(help="The log.jsonl of a run.")],
    out: Annotated[Path, typer.Argument(help="The picture to write (.png, .svg, .pdf).")],
) -> None:
    """Draw how the losses of a run fell."""
    from tertium.training.curve import draw_curve

    _require("matplotlib")
    draw_curve(log, out)


def _require(*packages: str) -> None:
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise SettingError(
            f"this needs {' and '.join(missing)}: install Tertium with its extra, "
            "`pip install 'tertium[train]'`"
        )


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.expanduser().absolute())


def _file_and_weight(option: str) -> tuple[str, float]:
    file, equals, weight = option.rpartition("=")
    if not equals:
        return str(_absolute(Path(option))), 1.0
    try:
        return str(_absolute(Path(file))), float(weight)
    except ValueError:
        raise SettingError(f"--bitext {option}: {weight!r} is not a weight") from None


def _column(option: str) -> tuple[str, str]:
    name, equals, lang = option.partition("=")
    if not equals:
        raise SettingError(f"--column {option}: write it as NAME=LANG")
    return name, lang
