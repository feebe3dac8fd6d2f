"""``tertium rerank``."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertium.cli.habits import split_pair
from tertium.cli.inputs import refuse_as_output
from tertium.cli.options import (
    DEFAULT_MODEL,
    INPUT,
    OUTPUT,
    Against,
    ComputeType,
    Encoder,
    Force,
    Header,
    HypColumn,
    LangOrPair,
    Layer,
    Measures,
    Model,
    NoCache,
    Overwrite,
    Quiet,
    Quoting,
    RefColumn,
    References,
    ReplaceInvalid,
    Resume,
    SentenceEncoder,
    Settings,
    Source,
    SrcColumn,
    SrcLang,
    Threads,
)
from tertium.cli.progress import progress_bar
from tertium.cli.running import Running
from tertium.cli.systems import refuse_existing
from tertium.data.records import counted
from tertium.errors import InputError, SettingError
from tertium.measures.registry import DEFAULT_MEASURE

if TYPE_CHECKING:
    from tertium.jobs.tasks.rerank import Reranked
    from tertium.measures.base import Measure

MIXTURE, BAYES = "Mixture", "Minimum Bayes risk"
JUDGE = "chrf"


def rerank(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Lists of candidates: JSON Lines with a list each, a table with a column that "
            "groups them, an n-best list of Moses, or the output of fairseq-generate.",
        ),
    ],
    measure: Measures = None,
    src: Source = None,
    ref: References = None,
    lang: LangOrPair = None,
    src_lang: SrcLang = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="W,W",
            help="Weights of the measures. Default: equal.",
            rich_help_panel=MIXTURE,
        ),
    ] = None,
    decoder: Annotated[
        float,
        typer.Option(
            min=0, help="Weight of the decoder's own score (column score).", rich_help_panel=MIXTURE
        ),
    ] = 0.0,
    tune: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Tune the weights on these lists, which have references (column ref).",
            rich_help_panel=MIXTURE,
        ),
    ] = None,
    tune_by: Annotated[
        str,
        typer.Option(
            metavar="MEASURE", help="The measure that is tuned for.", rich_help_panel=MIXTURE
        ),
    ] = JUDGE,
    prune: Annotated[
        float | None,
        typer.Option(
            metavar="CONFIDENCE",
            help="Compare candidates that cannot win with fewer references; 0.99 is usual.",
            rich_help_panel=BAYES,
        ),
    ] = None,
    aggregate: Annotated[
        bool,
        typer.Option(
            "--aggregate",
            help="Compare with the aggregate of all candidates: chrf and sss.",
            rich_help_panel=BAYES,
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of --prune.", rich_help_panel=BAYES)] = 0,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE",
            help="Compare the first, the chosen and the best candidates with the references. "
            f"Default: {JUDGE}. May be repeated.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A .txt file (the chosen texts), or a .tsv, .csv, .jsonl or .parquet file with "
            "scores. Default: the chosen texts to standard output.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    ranking: Annotated[
        bool,
        typer.Option("--ranking", help="Write all candidates, best first.", rich_help_panel=OUTPUT),
    ] = False,
    force: Force = False,
    resume: Resume = False,
    overwrite: Overwrite = False,
    lists_at_a_time: Annotated[int, typer.Option(min=1, hidden=True)] = 16,
    quiet: Quiet = False,
    against: Against = None,
    settings: Settings = None,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            help="jsonl, tsv, csv, parquet, moses or fairseq. Default: by content and file name.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    header: Header = True,
    hyp_column: HypColumn = None,
    group_column: Annotated[
        str | None,
        typer.Option(help="The column that groups candidates.", rich_help_panel=INPUT),
    ] = None,
    score_column: Annotated[
        str | None,
        typer.Option(help="The column of the decoder's score.", rich_help_panel=INPUT),
    ] = None,
    src_column: SrcColumn = None,
    ref_column: RefColumn = None,
    replace_invalid: ReplaceInvalid = False,
    quoting: Quoting = None,
    model: Model = DEFAULT_MODEL,
    encoder: Encoder = None,
    sentence_encoder: SentenceEncoder = None,
    layer: Layer = None,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
    no_cache: NoCache = False,
) -> None:
    """Choose the best of several candidate translations.

    A measure that reads sources (prism-src) estimates the quality of each one.
    Any other compares the candidates with each other: minimum Bayes risk.

    [bold]tertium rerank samples.jsonl -m cross chrf -l en-de -o best.txt[/bold]
    """
    from dataclasses import replace

    from tertium.data.nbest import ParallelTexts, open_lists
    from tertium.data.pairs import Languages
    from tertium.jobs.output import TEXT_LAYOUTS, TextLayout, TsvLayout
    from tertium.jobs.task import Input, Job
    from tertium.jobs.tasks.rerank import RerankTask, reranked
    from tertium.measures.loading import (
        MeasureLoader,
        ModelPool,
        ModelSettings,
        make_measure,
        read_specs,
    )
    from tertium.reranking.utilities import UtilitySettings

    started = time.monotonic()
    lang, src_lang = split_pair(lang, src_lang)
    if tune is not None and weights is not None:
        raise InputError("--tune finds the weights, --weights gives them: use one of them")
    languages = Languages(hyp=lang, ref=lang, src=src_lang)
    options: dict[str, Any] = {
        "format": format,
        "header": header,
        "replace_invalid": replace_invalid,
        "quoting": quoting,
        "hyp": hyp_column,
        "group": group_column,
        "score": score_column,
        "src": src_column,
        "refs": ref_column or [],
    }
    parallel = ParallelTexts(src, tuple(ref or []), languages)
    lists = open_lists(file, languages, parallel, **options)
    specs = read_specs(
        measure or [DEFAULT_MEASURE], given={"against": against}, written=settings or []
    )
    judges = read_specs(judge or [JUDGE]) if lists.has_references else ()
    if judge and not judges:
        raise InputError(f"--judge needs references, and {lists.name} has none; use --ref")
    if output is not None:
        refuse_as_output(output, [file, *(ref or []), *([src] if src else [])])
        refuse_existing(output, force=force or resume or overwrite)
        if ranking and output.suffix == ".txt":
            raise InputError(
                f"{output} has one line per list: leave out --ranking, or write a .tsv"
            )
    running = Running(output, resume, overwrite, quiet, what="lists")
    models = running.models(
        ModelSettings(
            model,
            encoder=encoder,
            sentence_encoder=sentence_encoder,
            layer=layer,
            compute_type=compute_type,
            threads=threads,
            cache=not no_cache,
        )
    )
    task = RerankTask(
        MeasureLoader(specs, models, languages.hyp),
        _weights(weights),
        decoder,
        UtilitySettings(prune, aggregate, seed),
        MeasureLoader(judges, models, languages.hyp) if judges else None,
        ranking,
        lists.has_source,
    )
    task.check(lists)
    pool = ModelPool(models)
    if tune is not None:
        if len(task.names) < 2:
            raise InputError("--tune needs several measures, or --decoder with any weight")
        dev = open_lists(tune, languages, **options)
        task.check(dev)
        reranker = task.with_models(pool).reranker
        [objective] = read_specs([tune_by])
        with progress_bar(lambda: None, shown=not quiet, what="tuning") as progress:
            found = reranker.tuned(
                list(dev), make_measure(objective, pool, lang=languages.hyp), progress.detail
            )
        kept = len(specs)
        task = replace(
            task,
            weights=found.weights[:kept],
            decoder=found.weights[kept] if len(found.weights) > kept else 0.0,
        )
        if not quiet:
            written = ", ".join(
                f"{name} {weight:.3f}"
                for name, weight in zip(task.names, found.weights, strict=True)
            )
            print(
                f"tuned weights: {written}; {tune_by} on {dev.name}: {found.score:.4f}",
                file=sys.stderr,
            )
    chooser = task.with_models(pool)
    result = running(
        Job(task, [Input(lists)], lists_at_a_time),
        reranked,
        shown=TsvLayout() if ranking else TextLayout(),
        layouts=TEXT_LAYOUTS,
        loaded=lambda: chooser,
    )
    if not quiet:
        _print_summary(result, chooser.judges, time.monotonic() - started)


def _weights(text: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(",")) if text else ()
    except ValueError:
        raise SettingError(f"--weights {text}: write numbers with commas, such as 1,0.5") from None


def _print_summary(done: Reranked, judges: Sequence[Measure], seconds: float) -> None:
    """Print what was chosen, and the gain if there are references, to standard error."""
    from tertium.reranking.gain import CHOSEN, FIRST, ORACLE

    facts = [
        f"{counted(done.lists, 'list')}, {done.candidates} candidates in {seconds:.1f} s",
        f"another than the first in {done.changed}",
        f"{counted(done.pairs, 'pair')} scored",
    ]
    if done.finished.resumed:
        facts.append(f"{counted(done.finished.resumed, 'list')} before")
    if done.finished.tally is not None:
        facts.append(str(done.finished.tally))
    print("; ".join(facts), file=sys.stderr)
    for measure in judges:
        systems = done.gains[measure.column].systems(measure)
        gain = systems[CHOSEN] - systems[FIRST]
        print(
            f"{measure.column}: first {systems[FIRST]:.4f}, chosen {systems[CHOSEN]:.4f} "
            f"({gain:+.4f}), best possible {systems[ORACLE]:.4f}",
            file=sys.stderr,
        )
    if done.cut:
        print(
            f"tertium: {counted(done.cut, 'list')} with text that is longer than the model reads",
            file=sys.stderr,
        )
