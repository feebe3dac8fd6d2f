"""``tertium train``."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from tertium.errors import ResumeError, SettingError

train = typer.Typer(
    no_args_is_help=True,
    help="Train translation models and detectors of paraphrases (extra: train).",
)

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
    threads: Annotated[int, typer.Option(min=1, help="Of each process.")] = 1,
    device: Annotated[
        str, typer.Option(help="cpu, cuda, or auto: a GPU if there is one.")
    ] = "auto",
    precision: Annotated[
        str | None,
        typer.Option(help="float32, bf16 or fp16. Default: as before; at first float32."),
    ] = None,
) -> None:
    """Train a model on bitext, or resume a run: name its folder alone.

    The run can be stopped at any time, even killed; on the CPU, and with as many threads, it
    resumes to the very weights that it would have had. For several GPUs, start it as
    `accelerate launch --multi_gpu --num_processes 4 -m tertium train model ...`.
    """
    from tertium.training.model.mixture import Mixture
    from tertium.training.model.plan import Plan, read_plan
    from tertium.training.model.recipes import recipe as recipe_named
    from tertium.training.model.run import Pace
    from tertium.training.model.run import train as train_run
    from tertium.training.precision import check_precision
    from tertium.training.worker import join_workers

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
            "--decay-steps, --threads, --device, --precision and how often to save and report"
        )
    if precision is not None:
        check_precision(precision)
    _require("torch", "transformers", "accelerate")
    pace = Pace(
        steps=steps,
        decay_steps=decay_steps,
        save_minutes=save_minutes,
        save_steps=save_steps,
        keep=keep,
        dev_steps=dev_steps,
        dev_sentences=dev_sentences,
        log_steps=log_steps,
        threads=threads,
        precision=precision,
    )
    with join_workers(device) as worker:
        progress = train_run(run, plan, pace, worker)
        if worker.is_main:
            typer.echo(f"{run}: {progress.step} steps")


@train.command("detector")
def detector(
    run: Run,
    train: Annotated[
        list[str] | None,
        typer.Option(
            help="LANG=FILE: pairs (sentence1, sentence2, label) to learn from; again for more."
        ),
    ] = None,
    dev: Annotated[
        list[str] | None, typer.Option(help="LANG=FILE: pairs to choose the best checkpoint by.")
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option(help="LANG=FILE: pairs for the table at the end.")
    ] = None,
    init: Annotated[
        str | None,
        typer.Option(
            help="A Hugging Face folder with an encoder, or one that a package brings along, such "
            "as all-MiniLM-L6-v2. Without it, a small one is trained from nothing."
        ),
    ] = None,
    layers: Annotated[int | None, typer.Option(min=1, help="Without --init (2).")] = None,
    width: Annotated[int | None, typer.Option(min=8, help="Without --init (128).")] = None,
    vocabulary: Annotated[int | None, typer.Option(min=10, help="Without --init (8000).")] = None,
    rate: Annotated[float | None, typer.Option(help="The learning rate at the start.")] = None,
    warmup_steps: Annotated[int | None, typer.Option(min=0)] = None,
    epochs: Annotated[float | None, typer.Option(help="How often to see each pair (10).")] = None,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Pairs at a time (32).")] = None,
    accumulate: Annotated[int | None, typer.Option(min=1, help="Batches an update (1).")] = None,
    max_pieces: Annotated[int | None, typer.Option(min=8, help="Of both texts (128).")] = None,
    weight_decay: Annotated[float | None, typer.Option(min=0)] = None,
    dev_steps: Annotated[
        int | None, typer.Option(min=1, help="Between accuracies on the validation pairs (500).")
    ] = None,
    both_orders: Annotated[
        bool | None, typer.Option("--both-orders", help="Learn each pair both ways round.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0)] = None,
    save_minutes: Annotated[float, typer.Option(help="Between checkpoints.")] = 10.0,
    save_steps: Annotated[int | None, typer.Option(min=1, help="Between checkpoints.")] = None,
    log_steps: Annotated[int, typer.Option(min=1, help="Between lines of the log.")] = 20,
    stop_at: Annotated[
        int | None, typer.Option(min=1, help="Stop at this step for now; resume later.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1)] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No bar.")] = False,
) -> None:
    """Fine-tune an encoder to detect paraphrases, or resume a run: name its folder alone.

    A run that is finished leaves a detector that loads without PyTorch (RUN/detector), the learning
    curve (RUN/curve.svg) and macro-F1 by language. It can be stopped at any time, even killed.
    """
    from tertium.training.detector.plan import (
        DetectorPlan,
        DetectorRecipe,
        Scratch,
        read_detector_plan,
    )

    recipe = _given(
        rate=rate,
        warmup_steps=warmup_steps,
        epochs=epochs,
        batch_size=batch_size,
        accumulate=accumulate,
        max_pieces=max_pieces,
        weight_decay=weight_decay,
        dev_steps=dev_steps,
        both_orders=both_orders,
    )
    scratch = _given(layers=layers, width=width, vocabulary=vocabulary)
    others = _given(init=_folder_or_name(init), seed=seed)
    plan = None
    if train:
        if init is not None and scratch:
            raise SettingError(f"{init} has its sizes; leave out {', '.join(scratch)}")
        plan = DetectorPlan(
            train=_pair_files("--train", train),
            dev=_pair_files("--dev", dev or []),
            test=_pair_files("--test", test or []),
            recipe=DetectorRecipe(**recipe),
            scratch=Scratch(**scratch),
            **others,
        )
    elif read_detector_plan(run) is None:
        raise SettingError(f"{run} is no run yet; name the pairs to train on (--train LANG=FILE)")
    elif recipe or scratch or others or dev or test:
        raise ResumeError(
            f"what {run} is trained on and how is settled; to resume it, give only --stop-at, "
            "--threads and how often to save and report"
        )
    _require("torch", "transformers", "matplotlib")
    from tertium.cli.progress import progress_bar
    from tertium.training.detector.run import DetectorPace, train_detector

    pace = DetectorPace(
        stop_at=stop_at,
        save_minutes=save_minutes,
        save_steps=save_steps,
        log_steps=log_steps,
        threads=threads,
    )
    with progress_bar(lambda: None, shown=not quiet, what="steps") as bar:
        if bar is not None:
            pace = replace(pace, progress=lambda done, steps: bar.advance(done, steps))
        trained = train_detector(run, plan, pace)
    best = ""
    if trained.best_step:
        best = f"; best on the validation pairs at step {trained.best_step}: accuracy "
        best += f"{trained.best_accuracy:.3f}"
    typer.echo(f"{run}: {trained.step} of {trained.steps} steps{best}")
    if trained.finished:
        _finish_detector(run)


def _finish_detector(run: Path) -> None:
    from rich.console import Console

    from tertium.models.detectors.catalog import load_detector
    from tertium.training.detector.export import (
        draw_detector_curve,
        export_detector,
        languages_table,
    )
    from tertium.training.detector.plan import read_detector_plan
    from tertium.training.log import LOG

    folder = export_detector(run)
    for suffix in (".svg", ".png"):
        draw_detector_curve(run / LOG, run / f"curve{suffix}")
    typer.echo(f"{folder.path}: {folder.detecting.family}, {folder.fingerprint[:12]}")
    plan = read_detector_plan(run)
    if plan is not None and plan.test:
        both = load_detector(folder.path, both_orders=True)
        table = languages_table(load_detector(folder.path), plan.test, both_orders=both)
        table.save(run, "languages")
        typer.echo()
        table.print(Console(highlight=False))


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
    from tertium.training.model import export as exporting

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


def _pair_files(option: str, given: list[str]) -> tuple[tuple[str, str], ...]:
    files = []
    for text in given:
        lang, equals, file = text.partition("=")
        if not equals:
            raise SettingError(f"{option} {text}: write it as LANG=FILE")
        files.append((lang, str(_absolute(Path(file)))))
    return tuple(files)


def _folder_or_name(init: str | None) -> str | None:
    """A folder by its whole path, so that the run can be resumed from anywhere."""
    return _absolute(Path(init)) if init is not None and Path(init).is_dir() else init


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
