"""``tertium score``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertium.cli.measures import Models, load_measures
from tertium.cli.options import (
    DEFAULT_MODEL,
    INPUT,
    MEASURES,
    OUTPUT,
    ComputeType,
    Encoder,
    Format,
    Header,
    Lang,
    Layer,
    Measures,
    Model,
    NoCache,
    Overwrite,
    References,
    RefLang,
    ReplaceInvalid,
    Resume,
    SentenceEncoder,
    Settings,
    Source,
    SrcLang,
    Threads,
)
from tertium.cli.progress import progress_bar
from tertium.data.pairs import FilePairs, Languages, Pairs, TablePairs, TwoStrings, choose_columns
from tertium.data.records import open_table
from tertium.engines.layouts import JsonDocumentLayout, Layout, PeopleLayout, TsvLayout
from tertium.engines.local import ScoringJob
from tertium.engines.outputs import FileOutput, Output, StreamOutput
from tertium.engines.scoring import ROWS_AT_A_TIME, Result
from tertium.errors import InputError
from tertium.measures.base import CUT_REASON
from tertium.measures.registry import DEFAULT_MEASURE

if TYPE_CHECKING:
    from tertium.models.memo import Memo


def score(
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE | TEXT TEXT]",
            help="A file of pairs (TSV, CSV, JSONL, Parquet; - for standard input), or two texts.",
        ),
    ] = None,
    measure: Measures = None,
    lang: Lang = None,
    ref_lang: RefLang = None,
    src_lang: SrcLang = None,
    hyp: Annotated[
        Path | None,
        typer.Option(help="Plain text, a hypothesis a line.", rich_help_panel=INPUT),
    ] = None,
    ref: References = None,
    src: Source = None,
    format: Format = None,  # noqa: A002
    header: Header = True,
    hyp_column: Annotated[str | None, typer.Option(rich_help_panel=INPUT)] = None,
    ref_column: Annotated[
        list[str] | None, typer.Option(help="May be repeated.", rich_help_panel=INPUT)
    ] = None,
    src_column: Annotated[str | None, typer.Option(rich_help_panel=INPUT)] = None,
    lang_column: Annotated[
        str | None, typer.Option(help="The column with the language.", rich_help_panel=INPUT)
    ] = None,
    ref_lang_column: Annotated[str | None, typer.Option(rich_help_panel=INPUT)] = None,
    src_lang_column: Annotated[str | None, typer.Option(rich_help_panel=INPUT)] = None,
    replace_invalid: ReplaceInvalid = False,
    normalized: Annotated[
        bool | None,
        typer.Option(
            "--normalized/--not-normalized",
            help="Relative to an identical text, or not.",
            rich_help_panel=MEASURES,
        ),
    ] = None,
    both_directions: Annotated[
        bool | None,
        typer.Option("--both-directions/--one-way", rich_help_panel=MEASURES),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(help="e, as in the paper, or 2, as in nmtscore.", rich_help_panel=MEASURES),
    ] = None,
    aggregate: Annotated[
        str | None,
        typer.Option(help="H (mean over tokens) or G (sum).", rich_help_panel=MEASURES),
    ] = None,
    references: Annotated[
        str | None,
        typer.Option(help="Over several references: max or mean.", rich_help_panel=MEASURES),
    ] = None,
    pivot_lang: Annotated[str | None, typer.Option(rich_help_panel=MEASURES)] = None,
    target_lang: Annotated[
        str | None,
        typer.Option(help="The language that cross translates to.", rich_help_panel=MEASURES),
    ] = None,
    beam_size: Annotated[int | None, typer.Option(min=1, rich_help_panel=MEASURES)] = None,
    tokenize: Annotated[
        str | None, typer.Option(help="The tokenizer of BLEU.", rich_help_panel=MEASURES)
    ] = None,
    settings: Settings = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the rows to a .tsv, .csv, .jsonl or .parquet file.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    scores_only: Annotated[
        bool,
        typer.Option(
            "--scores-only", help="Leave out the columns of the input.", rich_help_panel=OUTPUT
        ),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print one JSON document.", rich_help_panel=OUTPUT),
    ] = False,
    resume: Resume = False,
    overwrite: Overwrite = False,
    rows_at_a_time: Annotated[
        int,
        typer.Option(
            min=1, help="Rows that are scored, and saved, together.", rich_help_panel=OUTPUT
        ),
    ] = ROWS_AT_A_TIME,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No summary, no bar.", rich_help_panel=OUTPUT)
    ] = False,
    model: Model = DEFAULT_MODEL,
    encoder: Encoder = None,
    sentence_encoder: SentenceEncoder = None,
    layer: Layer = None,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
    no_cache: NoCache = False,
) -> None:
    """Score pairs of texts, row by row and all together. Higher is better.

    [bold]tertium score pairs.tsv[/bold] looks for the columns hyp, ref, src and lang.
    """
    started = time.monotonic()
    languages = Languages(hyp=lang, ref=ref_lang or lang, src=src_lang)
    _check_output(output, [*(texts or [])[:1], hyp, *(ref or []), src])
    pairs = _pairs(
        texts or [],
        files=(hyp, tuple(ref or ()), src),
        languages=languages,
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
    )
    if output is None and (resume or overwrite):
        raise InputError("--resume and --overwrite are about a file: name it with --output")
    names = measure or [DEFAULT_MEASURE]
    sink: Output = (
        StreamOutput(sys.stdout, _layout(names, as_json))
        if output is None
        else FileOutput(output, resume=resume, overwrite=overwrite)
    )
    own_answers = sink.answers if isinstance(sink, FileOutput) else False
    models = Models(
        model,
        encoder=encoder,
        sentence_encoder=sentence_encoder,
        layer=layer,
        compute_type=compute_type,
        threads=threads,
        cache=own_answers if no_cache else True,
    )
    measures = load_measures(
        names,
        models,
        {
            "normalized": normalized,
            "both_directions": both_directions,
            "base": base,
            "aggregate": aggregate,
            "references": references,
            "pivot_lang": pivot_lang,
            "target_lang": target_lang,
            "beam_size": beam_size,
            "tokenize": tokenize,
        },
        settings or [],
    )
    job = ScoringJob(pairs, measures, sink, scores_only, rows_at_a_time)
    try:
        with progress_bar(pairs.count, shown=not quiet) as bar:
            if bar is not None:
                job.advance, job.progress = bar
            results = job.run()
    except KeyboardInterrupt:
        saved = f"; go on with --resume ({output} is not finished)" if output is not None else ""
        print(f"tertium: stopped{saved}", file=sys.stderr)
        raise typer.Exit(130) from None
    if as_json:
        _print_json(job, results, models.translation, closing=output is None)
    elif not quiet:
        _print_summary(job, results, models.translation, time.monotonic() - started)


def _check_output(output: Path | None, inputs: Sequence[str | Path | None]) -> None:
    """An output must not be one of the inputs."""
    if output is None or not output.exists():
        return
    for name in inputs:
        if name is not None and _is_file(str(name)) and output.samefile(name):
            raise InputError(f"{output} is the input; name another file for the output")


def _layout(names: Sequence[str], as_json: bool) -> Layout:
    if as_json:
        return JsonDocumentLayout()
    return PeopleLayout(names) if sys.stdout.isatty() else TsvLayout()


def _pairs(
    texts: Sequence[str],
    *,
    files: tuple[Path | None, tuple[Path, ...], Path | None],
    languages: Languages,
    format: str | None,  # noqa: A002
    header: bool,
    columns: dict[str, Any],
    replace_invalid: bool,
) -> Pairs:
    hyp, refs, src = files
    if any(files):
        if texts:
            raise InputError("give either a file of pairs, or --hyp with --ref or --src")
        if hyp is None:
            raise InputError("--ref and --src need --hyp, the file with the hypotheses")
        return FilePairs(hyp, refs, src, languages, replace_invalid)
    if len(texts) == 2:
        for text in texts:
            if _is_file(text):
                raise InputError(
                    f"{text} is a file, and two arguments are two texts; say --hyp and --ref"
                )
        return TwoStrings(texts[0], texts[1], languages)
    if len(texts) != 1:
        raise InputError("give a file of pairs, or two texts, or --hyp with --ref or --src")
    table = open_table(
        Path(texts[0]),
        format=format,  # type: ignore[arg-type]
        header=header,
        replace_invalid=replace_invalid,
    )
    return TablePairs(table, choose_columns(table, languages, **columns), languages)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a null in it
        return False


def _print_summary(
    job: ScoringJob, results: dict[str, Result], engine: Memo | None, seconds: float
) -> None:
    from rich.console import Console

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for name, result in results.items():
        console.print(f"[bold]{name}[/bold] {result.system:.4f}")
        console.print(result.signature.short, style="dim", markup=False)
    notes = [f"{job.rows} rows in {seconds:.1f} s"]
    if job.resumed:
        notes.append(f"{job.resumed} of them scored before")
    if engine is not None:
        notes.append(str(engine.tally))
    console.print("; ".join(notes))
    if job.cut:
        console.print(f"{job.cut} rows {CUT_REASON} (see the column cut)", style="yellow")


def _print_json(
    job: ScoringJob, results: dict[str, Result], engine: Memo | None, *, closing: bool
) -> None:
    """Print the results; ``closing`` the document that the rows have begun."""
    document: dict[str, Any] = {
        "measures": {
            name: {
                "system": result.system,
                "signature": result.signature.long,
                "short_signature": result.signature.short,
            }
            for name, result in results.items()
        },
        "rows": job.rows,
        "cut": job.cut,
    }
    if engine is not None:
        tally = engine.tally
        document["questions"] = {
            "asked": tally.questions,
            "distinct": tally.distinct,
            "from_cache": tally.from_cache,
        }
    text = json.dumps(document, indent=1, ensure_ascii=False)
    print("],\n" + text.removeprefix("{\n") if closing else text)
