"""``tertium mine``."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertium.cli.engines import (
    Address,
    Engine,
    EngineName,
    Workers,
    chosen_cluster,
)
from tertium.cli.inputs import refuse_as_output
from tertium.cli.options import (
    DEFAULT_MODEL,
    ENGINE,
    INPUT,
    OUTPUT,
    ComputeType,
    Encoder,
    Layer,
    Model,
    NoCache,
    Overwrite,
    Quiet,
    ReplaceInvalid,
    Resume,
    Threads,
)
from tertium.cli.running import Running
from tertium.cli.systems import refuse_existing
from tertium.data.lines import check_file, name_of, read_lines
from tertium.errors import InputError
from tertium.measures.loading import MeasureLoader, ModelSettings, outline, read_specs
from tertium.text import Row

if TYPE_CHECKING:
    from tertium.jobs.output import RowSink

MINING = "Mining"
K, SEARCH_K = 4, 5
ROWS_AT_A_TIME = 1024


class MarginName(Enum):
    """The margins of Artetxe and Schwenk (2019)."""

    ratio = "ratio"
    distance = "distance"
    absolute = "absolute"


class SelectionName(Enum):
    """Which candidates become pairs."""

    one_to_one = "one-to-one"
    mutual = "mutual"
    all = "all"


class MethodName(Enum):
    """How nearest neighbours are found."""

    auto = "auto"
    exact = "exact"
    index = "index"


def mine(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE [FILE]",
            help="One text per line, also compressed: two lists to find translations, or one "
            "list to find paraphrases, or (with --in) queries.",
        ),
    ],
    corpus: Annotated[
        Path | None,
        typer.Option("--in", help="Search this file, one text per line.", rich_help_panel=INPUT),
    ] = None,
    src_lang: Annotated[
        str | None, typer.Option(help="Language of the first list.", rich_help_panel=INPUT)
    ] = None,
    tgt_lang: Annotated[
        str | None,
        typer.Option(
            help="Language of the second list. Default: that of the first.", rich_help_panel=INPUT
        ),
    ] = None,
    replace_invalid: ReplaceInvalid = False,
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            min=1,
            help=f"Candidates per text: its nearest neighbours. Default: {K}; with --in: "
            f"{SEARCH_K}.",
            rich_help_panel=MINING,
        ),
    ] = None,
    margin: Annotated[
        MarginName | None,
        typer.Option(
            help="Margin of the cosine over the nearest neighbours; absolute is the cosine itself. "
            "Default: ratio; with --in: absolute.",
            rich_help_panel=MINING,
        ),
    ] = None,
    margin_k: Annotated[
        int, typer.Option(min=1, help="Neighbours in the margin.", rich_help_panel=MINING)
    ] = 4,
    pairs: Annotated[
        SelectionName | None,
        typer.Option(
            help="one-to-one: best pairs first, each text once; mutual: each is the other's best; "
            "all: every candidate. Default: one-to-one; for one list: all.",
            rich_help_panel=MINING,
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "--rescore",
            metavar="MEASURE",
            help="Score the candidates by a measure, such as cross, and rank by it.",
            rich_help_panel=MINING,
        ),
    ] = None,
    max_overlap: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Leave out near-copies: pairs that share more than this proportion of their "
            "character 3-grams. Default: keep them.",
            rich_help_panel=MINING,
        ),
    ] = None,
    filters: Annotated[
        str | None,
        typer.Option(
            "--filters",
            "-f",
            help="Filters of `tertium filter` for the candidates: length,ratio,lid,overlap.",
            rich_help_panel=MINING,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Lowest score: of the measure with --rescore, otherwise of the margin.",
            rich_help_panel=MINING,
        ),
    ] = None,
    labelled: Annotated[
        Path | None,
        typer.Option(
            help="Choose the threshold with the best F1 on this table with the columns src, tgt "
            "and label (1 or 0). Without label, it must hold all true pairs.",
            rich_help_panel=MINING,
        ),
    ] = None,
    sample: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write a random sample of the pairs, with an empty column label: fill in 1 "
            "or 0, and read it with --labelled, which then estimates the precision.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    sample_size: Annotated[
        int, typer.Option(min=1, help="Pairs in --sample.", rich_help_panel=OUTPUT)
    ] = 100,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Plot precision, recall and F1 over the threshold (.png or .svg; extra: plot).",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A .tsv, .csv, .jsonl or .parquet file. Default: TSV to standard output.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    rows_at_a_time: Annotated[
        int,
        typer.Option(
            min=1, help="Candidates that are rescored and saved together.", rich_help_panel=OUTPUT
        ),
    ] = ROWS_AT_A_TIME,
    quiet: Quiet = False,
    neighbours: Annotated[
        MethodName,
        typer.Option(
            help="exact: compare all texts; index: inverted file index of faiss (extra: margin); "
            "auto: index beyond 50 000 texts.",
            rich_help_panel=ENGINE,
        ),
    ] = MethodName.auto,
    vectors: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder to store and reuse vectors. Default: the cache folder.",
            rich_help_panel=ENGINE,
        ),
    ] = None,
    model: Model = DEFAULT_MODEL,
    encoder: Encoder = None,
    layer: Layer = None,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
    no_cache: NoCache = False,
    engine: Engine = EngineName.local,
    address: Address = None,
    workers: Workers = None,
) -> None:
    """Find pairs of texts with the same meaning: translations, paraphrases, or results of a search.

    [bold]tertium mine de.txt en.txt --src-lang de --tgt-lang en --rescore cross -o pairs.tsv[/bold]
    """
    from tertium.jobs.output import StreamSink, TableSink, layout_for
    from tertium.jobs.task import Run
    from tertium.jobs.vectors import VectorStore
    from tertium.mining.candidates import NeighbourSettings
    from tertium.mining.mine import Mined, Miner, Task, TextList
    from tertium.mining.thresholds import curve, sampled_precision

    started = time.monotonic()
    if len(files) > 2 or (corpus is not None and len(files) > 1):
        raise InputError("give two lists, or one list, or queries and --in CORPUS")
    if plot is not None and labelled is None:
        raise InputError("--plot needs --labelled")
    if plot is not None:
        from tertium.report.plots import blank_figure

        blank_figure(1, 1, plot)  # refuses a wrong name, and a missing package, before any work
    second_file = corpus or (files[1] if len(files) == 2 else None)
    inputs = [files[0]] if second_file is None else [files[0], second_file]
    cluster = chosen_cluster(engine, address, workers, threads)
    running = Running(output, resume, overwrite, quiet, cluster, what="texts")
    if output is not None:
        layout_for(output)
        refuse_as_output(output, inputs)
    if sample is not None:
        layout_for(sample)
        refuse_as_output(sample, [*inputs, *([output] if output is not None else [])])
        refuse_existing(sample, force=overwrite)
    if tgt_lang is None:
        tgt_lang = src_lang
    sides = []
    for path, lang in zip(inputs, (src_lang, tgt_lang), strict=False):
        check_file(path)
        sides.append(TextList.read(read_lines(path, replace_invalid=replace_invalid), lang))
        if not sides[-1].texts:
            raise InputError(f"{name_of(path)} has no texts: all lines are blank")
    task: Task = "search" if corpus is not None else "bitext" if len(sides) == 2 else "paraphrases"
    labels = None if labelled is None else _read_labels(labelled)
    models = ModelSettings(
        model,
        encoder=encoder,
        layer=layer,
        compute_type=compute_type,
        threads=threads,
        cache=not no_cache,
    )
    loader = None
    if measure is not None:
        loader = MeasureLoader(read_specs([measure]), running.models(models), tgt_lang)
    name = None if loader is None else outline(loader.specs[0]).name
    search = task == "search"
    miner = Miner(
        models,
        NeighbourSettings(
            k or (SEARCH_K if search else K),
            (margin or (MarginName.absolute if search else MarginName.ratio)).value,
            margin_k,
            neighbours.value,
        ),
        (pairs.value if pairs else "all" if task == "paraphrases" else "one-to-one"),
        loader,
        max_overlap,
        None if filters is None else _Filters(filters, models, (src_lang, tgt_lang)),
        VectorStore(vectors) if vectors else None if no_cache else VectorStore.default(),
        rows_at_a_time,
    )
    summary: list[str] = []

    def plan(run: Run) -> Mined:
        lowest = threshold
        mined = miner.run(run, *sides, task=task)
        chosen = mined.pairs
        summary.append(f"{len(chosen)} candidates" if len(chosen) != 1 else "1 candidate")
        if labels is not None:
            found = curve(
                [(pair.source, pair.target) for pair in chosen],
                [pair.score for pair in chosen],
                labels[0],
                complete=labels[1],
            )
            if plot is not None:
                found.plot(plot)
            if lowest is None:
                lowest = found.best.threshold
            if not quiet:
                run.progress.hide()
                print(found.table().text(), file=sys.stderr)
        if lowest is not None:
            chosen = [pair for pair in chosen if pair.score >= lowest]
            summary.append(f"{len(chosen)} with a score of at least {lowest:.4f}")
        if labels is not None and not labels[1]:
            estimate = sampled_precision([(pair.source, pair.target) for pair in chosen], labels[0])
            summary.extend([] if estimate is None else [str(estimate)])
        rows = [_row(pair, name) for pair in chosen]
        columns = [*COLUMNS, *([name] if name else []), "cut"]
        with run.explaining():
            if sample is not None:
                drawn = random.Random(0).sample(rows, min(sample_size, len(rows)))
                labelless = [{**row, "label": ""} for row in drawn]
                _write(TableSink(sample, [*columns, "label"]), labelless, run.folder / "removed")
            if output is None:
                run.progress.hide()
            sink = StreamSink(stdout, columns) if output is None else TableSink(output, columns)
            _write(sink, rows, run.folder / "kept")
        return mined

    stdout = sys.stdout  # before the progress bar, which puts another stream in its place
    mined = running.run(plan, lambda: sum(len(side.texts) for side in sides), notes_only=True)
    for message in mined.messages:
        print(f"tertium: {message}", file=sys.stderr)
    if not quiet:
        counts = " and ".join(str(len(side.texts)) for side in sides)
        facts = ", ".join(summary)
        print(f"{facts}; {counts} texts in {time.monotonic() - started:.1f} s", file=sys.stderr)


COLUMNS = ("src", "tgt", "src_line", "tgt_line", "cosine", "margin")


def _row(pair: Any, measure: str | None) -> dict[str, Any]:
    row = dict(zip(COLUMNS, pair[: len(COLUMNS)], strict=True))
    return {**row, **({} if measure is None else {measure: pair.rescored}), "cut": pair.cut}


def _write(sink: RowSink, rows: Sequence[dict[str, Any]], scratch: Path) -> None:
    with sink.open(scratch) as write:
        for row in rows:
            write(row)


class _Filters:
    """Applies filters of ``tertium filter`` to candidates."""

    def __init__(
        self, names: str, models: ModelSettings, langs: tuple[str | None, str | None]
    ) -> None:
        from tertium.filters.loading import FilterLoader
        from tertium.filters.units import unit_for

        chosen = tuple(name.strip().lower() for name in names.split(",") if name.strip())
        loader = FilterLoader(chosen, models, unit=unit_for(models.model, list(langs)))
        self._filters, _ = loader.load(chosen)

    def __call__(self, rows: Sequence[Row]) -> list[bool]:
        from tertium.filters.sequence import judge_in_turn

        return [outcome.place is None for outcome in judge_in_turn(self._filters, rows)]


def _read_labels(path: Path) -> tuple[dict[tuple[str, str], bool], bool]:
    """The labels of pairs, and whether they name all true pairs (there is no column label)."""
    from tertium.data.records import listed, open_table

    table = open_table(path)
    names = table.columns()
    for name in ("src", "tgt"):
        if name not in names:
            raise InputError(f"{path} has no column {name!r}; it has the columns {listed(names)}")
    labels = {}
    for row, record in enumerate(table, start=1):
        given = record.get("label", 1)
        value = "" if given is None else str(given).strip().lower()
        if not value:
            continue  # of a sample, not everything needs a label
        if value not in ("0", "1", "false", "true"):
            raise InputError(f"{path}, row {row}: the label is {value!r}; it must be 1 or 0")
        labels[record["src"], record["tgt"]] = value in ("1", "true")
    return labels, "label" not in names
