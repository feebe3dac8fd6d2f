"""``tertium study layers``."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from tertium.cli.options import DEFAULT_MODEL, ComputeType, Threads
from tertium.cli.studies.judged import (
    SEGMENT_STATISTICS,
    AgainstSource,
    Datasets,
    Langs,
    Score,
    check_choice,
    judged_sets,
    run_study,
)
from tertium.cli.studies.options import (
    Limit,
    Output,
    Plots,
    Quiet,
    check_plots,
    model_loader,
    show_tables,
)
from tertium.errors import SettingError

RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def layers(
    dataset: Datasets,
    encoder: Annotated[
        str, typer.Option(help="An encoder, with all of its layers.")
    ] = DEFAULT_MODEL,
    measure: Annotated[
        str, typer.Option("--measure", "-m", help="One that compares vectors of pieces.")
    ] = "bertscore",
    only: Annotated[
        str | None, typer.Option("--layers", help="Only these, as in 8-12 or 1,6,12.")
    ] = None,
    langs: Langs = None,
    score: Score = None,
    statistic: Annotated[str, typer.Option(help="pearson, spearman or kendall.")] = "pearson",
    against_source: AgainstSource = False,
    output: Output = None,
    limit: Limit = None,
    plots: Plots = False,
    quiet: Quiet = False,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
) -> None:
    """Which layer of an encoder goes best with people's scores? (SentSim, figures 3 and 4.)"""
    from tertium.studies.cells import CellFolder
    from tertium.studies.judgements.layers import layer_curves, layer_specs, layer_table
    from tertium.studies.judgements.study import JudgementStudy

    check_plots(plots, output)
    check_choice(statistic, SEGMENT_STATISTICS)
    sets = judged_sets(dataset, langs, score, limit)
    load = model_loader(compute_type, threads, cache=False)
    chosen = _layers(only, deepest=int(load("tokens", encoder, None).settings["layer"]))
    specs = layer_specs(measure, encoder, chosen)
    study = JudgementStudy(
        sets,
        specs,
        against_source=against_source,
        cells=CellFolder(output / "scores") if output is not None else None,
        load_model=load,
    )
    scores = run_study(study, quiet=quiet)
    curves = layer_curves(sets, scores, specs, statistic)  # type: ignore[arg-type]
    title = f"{measure} with each layer of {encoder}: {statistic}"
    if plots and output is not None:
        from tertium.report.plots import lines

        names = [str(layer) for layer in chosen]
        lines(names, curves, output / "layers.svg", axes_labels=("layer", statistic))
    show_tables({"layers": layer_table(curves, chosen, title)}, output)


def _layers(only: str | None, *, deepest: int) -> list[int]:
    """All layers, or those that were named."""
    if only is None:
        return list(range(1, deepest + 1))
    chosen: list[int] = []
    for part in only.split(","):
        if (found := RANGE.fullmatch(part.strip())) is None:
            raise SettingError(f"--layers {only}: say it as 8-12 or 1,6,12")
        chosen += range(int(found[1]), int(found[2] or found[1]) + 1)
    return chosen
