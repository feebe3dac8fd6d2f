"""``tertium score``."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tertium.cli.engines import Address, Engine, EngineName, Workers, chosen_cluster
from tertium.cli.habits import language_pair, refuse_source_language, split_pair
from tertium.cli.inputs import Inputs, names_table, refuse_as_output
from tertium.cli.options import (
    DEFAULT_MODEL,
    INPUT,
    OUTPUT,
    Against,
    AsText,
    ComputeType,
    Encoder,
    Force,
    Format,
    Header,
    HypColumn,
    LangColumn,
    LangOrPair,
    Layer,
    Long,
    Measures,
    Model,
    NoCache,
    Overwrite,
    Quiet,
    Quoting,
    RefColumn,
    References,
    RefLang,
    RefLangColumn,
    ReplaceInvalid,
    Resume,
    SentenceEncoder,
    Settings,
    Source,
    SrcColumn,
    SrcLang,
    SrcLangColumn,
    Threads,
)
from tertium.cli.running import Running
from tertium.cli.systems import (
    TableFormat,
    TableSettings,
    document,
    failures,
    print_systems,
    read_thresholds,
    reference_names,
    refuse_existing,
    refuse_existing_mtme,
    write_mtme,
)
from tertium.data.lines import names_of
from tertium.data.pairs import Languages
from tertium.data.records import counted
from tertium.data.test_sets import sacrebleu_test_set
from tertium.errors import InputError, SettingError
from tertium.jobs.output import (
    JsonDocumentLayout,
    Layout,
    TerminalLayout,
    TsvLayout,
    check_output_file,
)
from tertium.jobs.task import Input, Job, OnError
from tertium.jobs.tasks.score import ROWS_AT_A_TIME, ScoreTask, score_table
from tertium.measures.loading import MeasureLoader, ModelSettings, read_specs
from tertium.measures.marks import describe_languages, describe_marks, describe_system_marks
from tertium.measures.registry import DEFAULT_MEASURE, reads_alone, refuse_trained_metrics
from tertium.measures.scores import ScoreTable
from tertium.stats.conventions import SAMPLES
from tertium.storage.atomic import write_text

BELOW_THRESHOLD = 3
"""The exit code if a system score is below --fail-under."""
log = logging.getLogger(__name__)


def score(
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE | TEXT TEXT]",
            help="A file of pairs (TSV, CSV, JSONL, Parquet; - for standard input), or two texts; "
            "with --engine ray, any number of files, folders and patterns.",
        ),
    ] = None,
    hyp: Annotated[
        list[Path] | None,
        typer.Option(
            "--hyp",
            "-t",
            metavar="FILE...",
            help="Hypotheses, one per line. Several files are several systems.",
        ),
    ] = None,
    ref: References = None,
    src: Source = None,
    test_set: Annotated[
        str | None,
        typer.Option(
            "--test-set",
            "-d",
            metavar="NAME",
            help="A test set of sacrebleu: -d wmt20 -l de-en.",
        ),
    ] = None,
    measure: Measures = None,
    lang: LangOrPair = None,
    ref_lang: RefLang = None,
    src_lang: SrcLang = None,
    model: Model = DEFAULT_MODEL,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the scores of the rows to a .tsv, .csv, .jsonl or .parquet file.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    output_format: Annotated[
        TableFormat | None,
        typer.Option(
            "--output-format",
            "-f",
            help="Print a table of system scores as text, markdown, latex or csv, or everything "
            "as json.",
            rich_help_panel=OUTPUT,
            metavar="FORMAT",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="The same as -f json.", rich_help_panel=OUTPUT)
    ] = False,
    score_only: Annotated[
        bool,
        typer.Option(
            "--score-only", "-b", help="Print only the system scores.", rich_help_panel=OUTPUT
        ),
    ] = False,
    width: Annotated[
        int | None,
        typer.Option(
            "--width", "-w", min=0, help="Decimals of system scores.", rich_help_panel=OUTPUT
        ),
    ] = None,
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence",
            help="95 % confidence intervals (bootstrap).",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-under",
            metavar="[MEASURE=]NUMBER",
            help=f"Exit with code {BELOW_THRESHOLD} if a system score is lower.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    on_error: Annotated[
        OnError,
        typer.Option(
            help="Rows that cannot be scored: stop, skip them, or mark them in a column.",
            rich_help_panel=OUTPUT,
            metavar="stop|skip|mark",
        ),
    ] = OnError.stop,
    mtme: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write files for mt-metrics-eval: NAME-refA.seg.score and NAME-refA.sys.score.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    scores_only: Annotated[
        bool,
        typer.Option(
            "--scores-only",
            help="Leave out the input's columns in the rows.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    force: Force = False,
    resume: Resume = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Log what is done.", rich_help_panel=OUTPUT),
    ] = False,
    against: Against = None,
    long: Long = None,
    settings: Settings = None,
    documents: Annotated[
        bool,
        typer.Option(
            "--documents",
            help="Each text is a document (--long always); with --hyp, each file, or each file of "
            "a folder.",
            rich_help_panel=INPUT,
        ),
    ] = False,
    parts: Annotated[
        bool,
        typer.Option(
            "--parts",
            help="Add a column with the parts of split texts.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    format: Format = None,  # noqa: A002
    header: Header = True,
    hyp_column: HypColumn = None,
    ref_column: RefColumn = None,
    src_column: SrcColumn = None,
    lang_column: LangColumn = None,
    ref_lang_column: RefLangColumn = None,
    src_lang_column: SrcLangColumn = None,
    replace_invalid: ReplaceInvalid = False,
    quoting: Quoting = None,
    as_text: AsText = False,
    encoder: Encoder = None,
    sentence_encoder: SentenceEncoder = None,
    layer: Layer = None,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
    no_cache: NoCache = False,
    engine: Engine = EngineName.local,
    address: Address = None,
    workers: Workers = None,
    # Settings of measures have options of their own; `tertium measures` describes them.
    normalized: Annotated[
        bool | None, typer.Option("--normalized/--not-normalized", hidden=True)
    ] = None,
    both_directions: Annotated[
        bool | None, typer.Option("--both-directions/--one-way", hidden=True)
    ] = None,
    base: Annotated[str | None, typer.Option(hidden=True)] = None,
    aggregate: Annotated[str | None, typer.Option(hidden=True)] = None,
    references: Annotated[str | None, typer.Option(hidden=True)] = None,
    pivot_lang: Annotated[str | None, typer.Option(hidden=True)] = None,
    target_lang: Annotated[str | None, typer.Option(hidden=True)] = None,
    beam_size: Annotated[int | None, typer.Option(min=1, hidden=True)] = None,
    tokenize: Annotated[str | None, typer.Option(hidden=True)] = None,
    # Rarely needed, or known from other tools.
    rows_at_a_time: Annotated[int, typer.Option(min=1, hidden=True)] = ROWS_AT_A_TIME,
    samples: Annotated[int, typer.Option(min=1, hidden=True)] = SAMPLES,
    seed: Annotated[int, typer.Option(min=0, hidden=True)] = 0,
    input_: Annotated[list[Path] | None, typer.Option("--input", "-i", hidden=True)] = None,
    to_json: Annotated[Path | None, typer.Option("--to-json", hidden=True)] = None,
) -> None:
    """Score pairs of texts: each row, and all rows together. Higher is better.

    [bold]tertium score pairs.tsv[/bold] reads the columns hyp, ref, src and lang;
    [bold]tertium score -t a.txt b.txt -r ref.txt -m chrf cross[/bold] scores two systems;
    [bold]tertium score -t a.txt b.txt -s src.txt -m prism-src -l de-en[/bold] without references.
    """
    started = time.monotonic()
    _log_to_terminal(verbose)
    if format in list(TableFormat) and format != TableFormat.csv:
        raise SettingError(f"--format {format}: this is the input's; for the output, use -f")
    systems, refs, texts = list(hyp or []), list(ref or []), list(texts or [])
    if input_:  # as sacrebleu: the arguments are references
        if systems:
            raise InputError(
                f"-t is a file of hypotheses, as -i; for a test set use -d {systems[0]}"
            )
        systems, refs, texts = list(input_), [*map(Path, texts), *refs], []
    if systems and texts:
        raise InputError(
            f"{texts[0]!r} is neither a measure nor the value of an option; "
            "give either a file of pairs, or --hyp with --ref or --src"
        )
    if texts and (refs or src is not None):
        raise InputError(f"hypotheses are given with -t: -t {' '.join(texts)}")
    refuse_trained_metrics(model)
    if len(texts) == 2 and not any(map(names_table, texts)):
        refuse_source_language(lang, src_lang)
    pair = language_pair(lang)
    lang, src_lang = split_pair(lang, src_lang)
    if test_set is not None:
        name, _, named_pair = test_set.partition(":")
        pair = language_pair(named_pair) or pair
        if pair is None:
            raise InputError(f"-d {name} needs a language pair: -l de-en")
        if refs or src is not None or not systems:
            raise InputError(f"-d {name} has references and sources: give only hypotheses (-t)")
        found = sacrebleu_test_set(name, pair)
        refs, src = list(found.references), found.source
        src_lang, lang = src_lang or pair[0], pair[1]
    inputs = Inputs(
        texts,
        hyp=systems[0] if systems else None,
        refs=tuple(refs),
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
        quoting=quoting,
        as_text=as_text,
        documents=documents,
        tolerant=on_error is not OnError.stop,
    )
    if output is not None:
        refuse_as_output(output, [*inputs.names, *map(str, systems)])
        refuse_existing(output, force=force or resume or overwrite)
    if to_json is not None:
        check_output_file(to_json)
        refuse_existing(to_json, force=force)
    given = {
        "normalized": normalized,
        "both_directions": both_directions,
        "base": base,
        "aggregate": aggregate,
        "references": references,
        "pivot_lang": pivot_lang,
        "target_lang": target_lang,
        "beam_size": beam_size,
        "tokenize": tokenize,
        "against": against,
        "long": long,
    }
    specs = read_specs(measure or [DEFAULT_MEASURE], given=given, written=settings or [])
    if documents:
        specs = tuple(spec.with_defaults({"long": "always"}) for spec in specs)
    inputs = replace(inputs, alone=all(reads_alone(spec.measure) for spec in specs))
    columns = [spec.label or spec.measure for spec in specs]
    limits = read_thresholds(fail_under or [], columns)
    if mtme is not None and not force:
        refuse_existing_mtme(mtme, columns)
    models = ModelSettings(
        model,
        encoder=encoder,
        sentence_encoder=sentence_encoder,
        layer=layer,
        compute_type=compute_type,
        threads=threads,
        cache=not no_cache,
    )
    as_json = as_json or output_format is TableFormat.json
    as_table = (
        len(systems) > 1
        or bool(input_)
        or output_format not in (None, TableFormat.json)
        or any((score_only, confidence, mtme, to_json))
    )
    cluster = chosen_cluster(engine, address, workers, threads)
    running = Running(output, resume, overwrite, quiet, cluster, force=force)
    task = ScoreTask.requested(
        MeasureLoader(specs, running.models(models), lang),
        scores_only=scores_only,
        parts=parts,
        segments=as_table,
    )
    names = names_of(systems or [Path(text) for text in texts[:1]]) or ("",)
    if len(set(names)) < len(names):
        raise InputError(f"the same file is given twice: {', '.join(names)}")
    chosen = [replace(inputs, hyp=each) for each in systems] or [inputs]
    log.info("reading %s", ", ".join(map(str, [*inputs.names, *systems[1:]])))
    sources = [
        Input(source, name)
        for name, each in zip(names, chosen, strict=False)
        for source in each.sources()
    ]
    for each in sources:
        task.check(each.source)
    keep = as_table and (to_json is not None or (as_json and output is None))
    job = Job(task, sources, rows_at_a_time, on_error, keep)
    result = running(job, score_table, shown=None if as_table else _layout(columns, as_json))
    if not as_table:
        if as_json and output is not None:
            print(json.dumps(result.summary(), indent=1, ensure_ascii=False))
        _report(result, started, quiet=quiet, plain=as_json, scores=True)
        _fail_under({("score", name): result[name].system for name in columns}, limits)
        return
    printed = TableSettings(
        TableFormat.json if as_json else output_format or TableFormat.text,
        score_only,
        confidence,
        samples,
        seed,
        width,
    )
    if mtme is not None:
        for path in write_mtme(result, reference_names(refs) or ["refA"], mtme):
            log.info("wrote %s", path)
    if to_json is not None:
        write_text(to_json, document(result, printed) + "\n")
    print_systems(result, printed)
    _report(result, started, quiet=quiet, plain=score_only or as_json, scores=False)
    _fail_under({key: each.system for key, each in result.scores.items()}, limits)


class _Terminal(logging.Handler):
    """Writes log messages to what is standard error at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr)


def _log_to_terminal(verbose: bool) -> None:
    """Log what is done to standard error, if requested."""
    logger = logging.getLogger("tertium")
    for handler in logger.handlers[:]:
        if isinstance(handler, _Terminal):
            logger.removeHandler(handler)
    if verbose:
        handler = _Terminal()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)


def _layout(names: Sequence[str], as_json: bool) -> Layout:
    if as_json:
        return JsonDocumentLayout()
    return TerminalLayout(names) if sys.stdout.isatty() else TsvLayout()


def _fail_under(scores: Mapping[tuple[str, str], float], limits: Mapping[str, float]) -> None:
    found = failures(scores, limits)
    for line in found:
        print(f"tertium: {line}", file=sys.stderr)
    if found:
        raise typer.Exit(BELOW_THRESHOLD)


def _described(table: ScoreTable) -> list[str]:
    """What is wrong with the texts of several systems, or of one."""
    marks = {system: table.marks(system) for system in table.systems}
    if len(marks) > 1:
        return [*describe_system_marks(marks, table.scored), *table.warnings]
    return [*describe_marks(marks[table.systems[0]], table.scored), *table.warnings]


def _report(table: ScoreTable, started: float, *, quiet: bool, plain: bool, scores: bool) -> None:
    """Print scores, signatures and warnings to standard error.

    If the output itself is plain numbers or JSON, only what is wrong with the texts is printed.
    """
    from rich.console import Console

    if quiet or plain:
        for line in (*([] if quiet else _described(table)), *table.messages):
            print(line, file=sys.stderr)
        return
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for measure in table.measures:
        signatures: dict[str, list[str]] = {}
        for system in table.systems:
            found = table.scores[system, measure]
            signatures.setdefault(found.signature.short, []).append(system)
            if scores:
                console.print(f"[bold]{measure}[/bold] {found.system:.4f}")
        for short, systems in signatures.items():
            which = f"{', '.join(systems)}: " if len(signatures) > 1 else ""
            console.print(f"{which}{short}", style="dim", markup=False)
    rows, count = counted(table.rows, "row"), len(table.systems)
    rows = rows if table.scored == table.rows else f"{table.scored} of {rows} scored"
    each = f"{count} systems, {rows} each, " if count > 1 else f"{rows} "
    facts = [f"{each}in {time.monotonic() - started:.1f} s"]
    if table.resumed:
        facts.append(f"{table.resumed} of them scored before")
    if table.tally is not None:
        facts.append(str(table.tally))
    console.print("; ".join(facts))
    for message in _described(table):
        console.print(message, style="yellow", markup=False)
    if languages := describe_languages(table.identified):
        console.print(languages, markup=False)
    for message in table.messages:
        console.print(message, markup=False)
