"""``tertium explain``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertium.cli.engines import Address, Engine, EngineName, Workers, chosen_cluster
from tertium.cli.habits import refuse_source_language, split_pair
from tertium.cli.inputs import Inputs, check_is_text, names_table, refuse_as_output
from tertium.cli.options import (
    DEFAULT_MODEL,
    INPUT,
    OUTPUT,
    AsText,
    ComputeType,
    Encoder,
    Format,
    Header,
    HtmlFile,
    HypColumn,
    LangColumn,
    LangOrPair,
    Layer,
    Model,
    NoCache,
    Overwrite,
    Quiet,
    RefColumn,
    References,
    RefLang,
    RefLangColumn,
    ReplaceInvalid,
    Resume,
    Source,
    SrcColumn,
    SrcLang,
    SrcLangColumn,
    Threads,
)
from tertium.cli.running import Running
from tertium.data.pairs import Languages, RowList
from tertium.data.pairs import Source as RowSource
from tertium.errors import InputError
from tertium.explanation import explain as explanation
from tertium.explanation.exchange import Exchange, exchange_for
from tertium.explanation.likelihood import document_direction
from tertium.explanation.page import explanation_page
from tertium.explanation.report import review_page
from tertium.explanation.review import read_methods, read_thresholds
from tertium.explanation.terminal import print_explanation
from tertium.measures.loading import ModelSettings
from tertium.models.catalog import load_model
from tertium.storage.atomic import write_text

if TYPE_CHECKING:
    from tertium.jobs.output import Layout
    from tertium.jobs.tasks.explain import Explained

METHODS = "Methods"


def explain(
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE | TEXT TEXT]",
            help="A file of pairs (TSV, CSV, JSONL, Parquet; - for standard input), or two texts; "
            "with --engine ray, any number of files, folders and patterns.",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            help="coverage, unlikely, contrast, differences, deletion, hallucination, direction, "
            "flags; several with commas. Default: coverage,hallucination,flags for files; token "
            "log-probabilities for two texts.",
            rich_help_panel=METHODS,
        ),
    ] = None,
    tokens: Annotated[
        bool,
        typer.Option(
            "--tokens",
            help="Without --method: show subword tokens, not words.",
            rich_help_panel=METHODS,
        ),
    ] = False,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            "--threshold",
            metavar="METHOD=NUMBER",
            help="Report what has at least this score, for example coverage=0.2; may be repeated. "
            "A number alone is that of the first method. `tertium study spans --labels` learns "
            "thresholds.",
            rich_help_panel=METHODS,
        ),
    ] = None,
    max_words: Annotated[
        int | None,
        typer.Option(
            min=1, help="coverage: the longest phrases that are tried.", rich_help_panel=METHODS
        ),
    ] = None,
    min_words: Annotated[
        int | None,
        typer.Option(
            min=1, help="coverage: the shortest phrases that are tried.", rich_help_panel=METHODS
        ),
    ] = None,
    worst: Annotated[
        int,
        typer.Option(
            min=0,
            help="Two texts without --method: at how many of the worst tokens to show "
            "alternatives.",
            rich_help_panel=METHODS,
        ),
    ] = explanation.WORST_PLACES,
    lang: LangOrPair = None,
    ref_lang: RefLang = None,
    src_lang: SrcLang = None,
    hyp: Annotated[
        Path | None,
        typer.Option(help="Plain text, one hypothesis per line.", rich_help_panel=INPUT),
    ] = None,
    ref: References = None,
    src: Source = None,
    format: Format = None,  # noqa: A002
    header: Header = True,
    hyp_column: HypColumn = None,
    ref_column: RefColumn = None,
    src_column: SrcColumn = None,
    lang_column: LangColumn = None,
    ref_lang_column: RefLangColumn = None,
    src_lang_column: SrcLangColumn = None,
    replace_invalid: ReplaceInvalid = False,
    as_text: AsText = False,
    against: Annotated[
        str | None,
        typer.Option(
            help="Compare with the source or with the reference. Default: the source, if there is "
            "one.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the rows to a .tsv, .csv, .jsonl or .parquet file.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option(
            help="Write the layout of another tool: mqm (TSV of MQM ratings), mtme (JSONL ratings "
            "of mt-metrics-eval), wmt (TSV of the WMT error span task), esa (JSONL of ESA). "
            "Default: the columns of the input with spans, flags and severity.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    html: HtmlFile = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    rows_at_a_time: Annotated[
        int | None,
        typer.Option(min=1, help="Rows that are done and saved together.", rich_help_panel=OUTPUT),
    ] = None,
    quiet: Quiet = False,
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
    """Show where two texts differ: unlikely tokens, omissions, additions and other spans.

    [bold]tertium explain pairs.tsv -o spans.jsonl --html report.html[/bold] reads the columns hyp,
    ref, src and lang, and finds the spans of every row.
    """
    from rich.console import Console

    given = list(texts or [])
    two_texts = len(given) == 2 and not any(map(names_table, given))
    for text in given if two_texts and not as_text else []:
        check_is_text(text, "two arguments are two texts; use --hyp and --ref for files")
    if two_texts:
        refuse_source_language(lang, src_lang)
    else:
        lang, src_lang = split_pair(lang, src_lang)
    if two_texts and method is None and hyp is None:
        _refuse_for_two_texts(output, resume, overwrite, layout)
        if threshold:
            raise InputError("--threshold needs --method")
        explained = explanation.explain(
            given[0],
            given[1],
            lang=lang,
            reference_lang=ref_lang,
            model=load_model(model, compute_type=compute_type, threads=threads),  # type: ignore[arg-type]
            worst=worst,
        )
        print_explanation(explained, Console(highlight=False), tokens=tokens)
        if html is not None:
            write_text(html, explanation_page(explained))
        return
    if two_texts:
        _refuse_for_two_texts(output, resume, overwrite, layout)
    inputs = Inputs(
        given,
        hyp=hyp,
        refs=tuple(ref or ()),
        src=src,
        languages=Languages(hyp=lang, ref=ref_lang or lang, src=src_lang),
        format=format,
        header=header,
        columns={
            "hyp": hyp_column,
            "refs": ref_column or [],
            "src": src_column,
            "lang": lang_column,
            "ref_lang": ref_lang_column,
            "src_lang": src_lang_column,
        },
        replace_invalid=replace_invalid,
        as_text=as_text,
    )
    from tertium.explanation.coverage import CoverageSettings
    from tertium.explanation.report import print_review
    from tertium.jobs.output import LAYOUTS, TsvLayout
    from tertium.jobs.task import Input, Job
    from tertium.jobs.tasks.explain import (
        ROWS_AT_A_TIME,
        ExplainTask,
        ReviewerLoader,
        summed_up,
    )

    started = time.monotonic()
    names = read_methods(method)
    cluster = chosen_cluster(engine, address, workers, threads)
    running = Running(output, resume, overwrite, quiet, cluster)
    models = running.models(
        ModelSettings(
            model,
            encoder=encoder,
            layer=layer,
            compute_type=compute_type,
            threads=threads,
            cache=not no_cache,
        )
    )
    coverage = CoverageSettings()
    coverage = replace(
        coverage,
        max_words=coverage.max_words if max_words is None else max_words,
        min_words=coverage.min_words if min_words is None else min_words,
    )
    if output is not None:
        refuse_as_output(output, inputs.names)
    sources = inputs.sources()
    settings = {"coverage": coverage, "thresholds": read_thresholds(threshold or (), names)}
    loader = ReviewerLoader(names, models, settings)
    if isinstance(sources[0], RowList):
        [row] = sources[0]
        reviewer, _ = loader.load()
        [review] = reviewer([(row.hypothesis, row.references[0])])
        print_review(review, Console(highlight=False))
        if html is not None:
            write_text(html, review_page([review], title="Where the texts differ"))
        return
    against_source = choose_side(sources[0], against)
    exchange = choose_exchange(layout, output, against_source)
    layouts = LAYOUTS if exchange is None else {exchange.suffix: layout_of(exchange)}
    shown = TsvLayout() if exchange is None else layout_of(exchange)()
    task = ExplainTask(loader, against_source, exchange, keep=html is not None)
    job = Job(task, [Input(source) for source in sources], rows_at_a_time or ROWS_AT_A_TIME)
    hidden = output is None and html is not None
    result = running(job, summed_up, shown=None if hidden else shown, layouts=layouts)
    if html is not None:
        sides = ("hypothesis", "source" if against_source else "reference")
        title = f"Where the texts of {sources[0].name} differ"
        write_text(html, review_page(result.reviews, title=title, sides=sides))
    if not quiet:
        notes = _document_direction(against_source, result.directions)
        _print_summary(result, time.monotonic() - started, [*notes, *result.finished.messages])


def _refuse_for_two_texts(
    output: Path | None, resume: bool, overwrite: bool, layout: str | None
) -> None:
    if output is not None or resume or overwrite or layout is not None:
        raise InputError(
            "--output, --layout, --resume and --overwrite need a file of pairs, not two texts"
        )


def choose_exchange(
    layout: str | None, output: Path | None, against_source: bool
) -> Exchange | None:
    """The layout of another tool, if one is requested; checks what it needs."""
    if layout is None:
        return None
    exchange = exchange_for(layout)
    if not against_source:
        raise InputError(f"--layout {layout} needs sources: use --src-column or --src")
    if output is not None and output.suffix != exchange.suffix:
        raise InputError(f"--layout {layout} writes a {exchange.suffix} file, not {output.name}")
    return exchange


def layout_of(exchange: Exchange) -> type[Layout]:
    """How the rows of another tool are written."""
    from tertium.jobs.output import JsonLinesLayout, QuotedTsvLayout, TsvLayout

    if exchange.suffix == ".jsonl":
        return JsonLinesLayout
    return QuotedTsvLayout if exchange.quoted else TsvLayout


def choose_side(pairs: RowSource, against: str | None) -> bool:
    """Whether hypotheses are compared with their sources: by default, if there are any."""
    if against not in (None, "source", "reference"):
        raise InputError(f"--against {against}: use source or reference")
    if against == "source" and not pairs.has_source:
        raise InputError(f"{pairs.name} has no sources: use --src-column or --src")
    if against == "reference" and not pairs.has_references:
        raise InputError(f"{pairs.name} has no references: use --ref-column or --ref")
    return pairs.has_source if against is None else against == "source"


def _document_direction(against_source: bool, directions: Sequence[float]) -> list[str]:
    if not directions:
        return []
    found = document_direction(directions)
    other = "src" if against_source else "ref"
    original = other if found.score > 0 else "hyp"
    return [
        f"[bold]direction[/bold] {original} is more likely the original "
        f"({found.score:+.3f}, p = {found.p_value:.4f})"
    ]


def _print_summary(result: Explained, seconds: float, notes: Sequence[str]) -> None:
    """Print how many rows have which kinds of spans to standard error."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    rows = "1 row" if result.rows == 1 else f"{result.rows} rows"
    console.print(f"{result.marked} of {rows} with a span or a flag, in {seconds:.1f} s")
    for kind, count in sorted(result.kinds.items()):
        console.print(f"[bold]{kind}[/bold] {count}")
    for note in notes:
        console.print(note)
    if result.finished.resumed:
        console.print(f"{result.finished.resumed} rows done before")
    if result.finished.tally is not None:
        console.print(str(result.finished.tally), style="dim")
