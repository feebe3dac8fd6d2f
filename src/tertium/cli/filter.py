"""``tertium filter``."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from tertium.cli.groups import (
    ClusterOptions,
    LanguageOptions,
    ModelOptions,
    RowOptions,
    TableOptions,
    grouped,
    say,
)
from tertium.cli.inputs import refuse_as_output
from tertium.cli.options import ENGINE, INPUT, OUTPUT, Source, option
from tertium.cli.systems import refuse_existing
from tertium.data.l10n import SUFFIXES, open_translations
from tertium.data.lines import STDIN, suffix_of
from tertium.data.pairs import FilePairs, Languages, TablePairs, bitext_columns
from tertium.data.pairs import Source as Rows
from tertium.data.records import counted, open_table
from tertium.errors import InputError
from tertium.filters.loading import FilterLoader
from tertium.filters.prism import prism_filters
from tertium.filters.registry import FEWEST_FOR_MARGIN, FILTERS, PRISM, USUAL
from tertium.filters.units import WORDS, unit_for
from tertium.jobs.output import ParallelSink, RowSink, StreamSink, TableSink, TsvLayout
from tertium.jobs.task import OnError
from tertium.jobs.tasks.filter import FilterPlan, removed_columns
from tertium.models.engine import available_cores

if TYPE_CHECKING:
    from tertium.jobs.tasks.filter import FilterResult

FILTER = "Filters"


@dataclass(frozen=True)
class BitextOptions(TableOptions):
    """The pairs."""

    panel: ClassVar[str] = INPUT

    src: Source = None
    tgt: Path | None = option(None, "Plain text, one target per line.", "--tgt", "-t")
    src_column: str | None = option(None, "Default: named by the language, or src.")
    tgt_column: str | None = option(None, "Default: named by the language, or tgt.", hidden=True)
    format: str | None = option(None, "tsv, csv, jsonl, parquet or tmx. Default: by the file name.")
    on_error: OnError = option(
        OnError.stop,
        "What to do with a row that cannot be judged: stop, skip it, or mark it in --rejected.",
        metavar="stop|skip|mark",
        hidden=True,
    )

    def parallel(self, src: Path | None, tgt: Path) -> BitextOptions:
        """Two files that are given without options."""
        if self.src is not None or self.tgt is not None:
            raise InputError(
                "sources and targets are given twice: with --src or --tgt, and without"
            )
        return replace(self, src=src, tgt=tgt)

    @contextmanager
    def spooled(self, file: Path | None) -> Iterator[tuple[BitextOptions, Path | None]]:
        """Copy standard input to a file for a while, since it is read more than once."""
        with tempfile.TemporaryDirectory() as scratch:

            def kept(path: Path | None) -> Path | None:
                if path != STDIN:
                    return path
                spool = Path(scratch) / "standard-input.tsv"
                with spool.open("wb") as stream:
                    shutil.copyfileobj(sys.stdin.buffer, stream)
                return spool

            yield replace(self, src=kept(self.src), tgt=kept(self.tgt)), kept(file)

    def rows(self, file: Path | None, languages: Languages) -> Rows:
        """A table, a translation memory, or two parallel files."""
        if (file is None) == (self.src is None) or (self.src is None) != (self.tgt is None):
            raise InputError("give either a file of pairs, or --src and --tgt")
        if self.src is not None and self.tgt is not None:
            return FilePairs(self.tgt, (), self.src, languages, self.replace_invalid, bitext=True)
        assert file is not None
        if self.format == "tmx" or (self.format is None and suffix_of(file) in SUFFIXES):
            return open_translations(file, languages)
        table = open_table(file, **self.reading)
        roles = bitext_columns(table, src=self.src_column, tgt=self.tgt_column, langs=languages)
        return TablePairs(table, roles, languages, self.on_error is not OnError.stop)


@dataclass(frozen=True)
class FilterOptions:
    """The filters."""

    panel: ClassVar[str] = FILTER

    filters: str | None = option(
        None,
        "Filters in the order of application: "
        f"{', '.join(FILTERS.builtin_names())}. Default: {','.join(USUAL)}; margin needs an "
        "--encoder and is left out without one.",
    )
    settings: list[str] | None = option(
        None,
        "A setting of a filter: --set length.longest=100 --set overlap.four=0.5.",
        "--set",
        metavar="FILTER.NAME=VALUE",
    )
    prism: bool = option(
        False,
        "Exactly the filters of the Prism paper, instead of --filters; margin only where "
        "the encoder has both languages.",
    )
    unit: str | None = option(
        None,
        "The unit of lengths and n-grams: the tokens of a model (its name, or a "
        "SentencePiece file), or words. Default: the tokens of --model if it supports the "
        "languages, otherwise words.",
        hidden=True,
    )
    measure: str | None = option(
        None, "The measure that the filter measure uses.", "--measure", "-m"
    )
    at_least: float | None = option(None, "Its lowest score.")
    at_most: float | None = option(None, "Its highest score.", hidden=True)

    def names(self, rows: Rows, *, supported: bool) -> tuple[str, ...]:
        """The filters that are given, or the default for these rows."""
        if self.filters is not None:
            names = [name.strip().lower() for name in self.filters.split(",") if name.strip()]
        else:
            count = rows.count()
            enough = count is None or count >= FEWEST_FOR_MARGIN
            names = list(USUAL if supported and enough else PRISM)
        if self.measure is not None and "measure" not in names:
            names.append("measure")
        return tuple(dict.fromkeys(names))

    def loader(self, rows: Rows, models: ModelOptions, langs: Sequence[str | None]) -> FilterLoader:
        """The filters, with their models."""
        by_model = unit_for(models.model, list(langs))
        known = None not in langs and by_model != WORDS
        names, settings = self.names(rows, supported=known), tuple(self.settings or ())
        unit = self.unit or by_model
        if self.prism:
            if self.filters is not None:
                raise InputError("give either --prism or --filters")
            encoder = models.sentence_encoder or models.encoder
            names, settings = prism_filters(
                unit, settings=settings, with_margin=encoder is not None
            )
            if encoder is None:
                say("tertium: without --encoder, the filter margin is left out")
            if self.measure is not None:
                names = (*names, "measure")
        return FilterLoader(
            names,
            replace(models.chosen, cache=False),
            settings,
            unit,
            self.measure,
            self.at_least,
            self.at_most,
        )


@dataclass(frozen=True)
class FilterOutput(RowOptions):
    """What is printed and written."""

    output: list[Path] | None = option(
        None,
        "A .tsv, .csv, .jsonl or .parquet file; or, given twice, two plain text files.",
        "--output",
        "-o",
        panel=OUTPUT,
    )  # type: ignore[assignment]  # one file elsewhere
    rejected: Path | None = option(
        None, "Write removed rows, with the reason, to this file.", panel=OUTPUT
    )
    counts: bool = option(False, "Print the counts as JSON.", "--json", panel=OUTPUT)
    rows_at_a_time: int = option(
        4096, "Rows that are judged and saved together.", panel=OUTPUT, min=1, hidden=True
    )
    processes: int | None = option(
        None, "Default: the cores available to this process.", panel=ENGINE, min=1, hidden=True
    )

    @property
    def files(self) -> list[Path]:
        """The files of the pairs that are kept."""
        return list(self.output or [])

    def single(self) -> RowOptions:
        """The same for the one file that a run is resumed by."""
        first = self.files[0] if self.files else None
        return RowOptions(
            output=first,
            output_format=self.output_format,
            width=self.width,
            force=self.force,
            quiet=self.quiet,
            verbose=self.verbose,
            resume=self.resume,
            overwrite=self.overwrite,
        )

    def check_files(self, inputs: Sequence[Path | None]) -> None:
        """Refuse outputs that are the same file, one of the inputs, or there already."""
        outputs = [*self.files, *([self.rejected] if self.rejected else [])]
        if len({path.absolute() for path in outputs}) < len(outputs):
            raise InputError("two outputs have the same name")
        for path in outputs:
            refuse_as_output(path, [other for other in inputs if other is not None])
            refuse_existing(path, force=self.force or self.resume or self.overwrite)

    def sink(self, rows: Rows) -> RowSink:
        """Where the pairs that are kept go."""
        outputs = self.files
        if not outputs:
            return StreamSink(sys.stdout, rows.columns, self.layout(TsvLayout()))
        if len(outputs) == 1:
            return TableSink(outputs[0], rows.columns)
        if len(outputs) > 2:
            raise InputError("--output is one table, or two plain text files")
        names = list(rows.columns)
        if isinstance(rows, TablePairs):
            names = [str(rows.roles.src), str(rows.roles.hyp)]
        return ParallelSink(outputs[0], outputs[1], names)


@grouped("ref_lang", "no_cache", "as_json", "width")
def filter_command(
    inputs: BitextOptions,
    languages: LanguageOptions,
    filters: FilterOptions,
    output: FilterOutput,
    models: ModelOptions,
    cluster: ClusterOptions,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="Pairs: TSV, CSV, JSONL, Parquet or TMX, also compressed; - for standard input. "
            "Or sources, one per line, before their targets.",
        ),
    ] = None,
    targets: Annotated[
        Path | None, typer.Argument(metavar="[TARGETS]", help="Targets, one per line.")
    ] = None,
) -> None:
    """Remove bad pairs from a bitext, and report how many each filter removed, and why.

    [bold]tertium filter pairs.tsv -l de-en -o clean.tsv[/bold]
    """
    started = time.monotonic()
    if targets is not None:
        inputs, file = inputs.parallel(file, targets), None
    named = [file, inputs.src, inputs.tgt]
    if output.resume and STDIN in named:
        raise InputError("standard input cannot be read again: --resume needs a file")
    running = output.single().running(cluster.chosen(models.threads))
    output.check_files(named)
    langs = languages.src, languages.hyp
    with inputs.spooled(file) as (bitext, table):
        rows = bitext.rows(table, Languages(hyp=languages.hyp, src=languages.src))
        loader = filters.loader(rows, models, langs)
        removed = None
        if output.rejected is not None:
            removed = TableSink(output.rejected, removed_columns(rows))
        plan = FilterPlan(
            rows,
            loader.outlines(),
            output.sink(rows),
            removed,
            output.rows_at_a_time,
            inputs.on_error,
            loader,
        )
        result = running.run(
            plan, plan.count, notes_only=True, processes=output.processes or available_cores()
        )
    say(*(f"tertium: {message}" for message in result.messages))
    if output.counts:
        stream = sys.stdout if output.files else sys.stderr
        print(json.dumps(result.summary(), indent=1), file=stream)
    elif not output.quiet:
        fallen_back = filters.unit is None and loader.unit == WORDS
        _print_counts(result, time.monotonic() - started, models.model if fallen_back else None)
        if not filters.filters and not filters.prism and "margin" not in loader.names:
            say(
                "margin was left out: it needs both languages (-l de-en), an encoder that has "
                f"them, and at least {FEWEST_FOR_MARGIN} pairs; --filters chooses filters"
            )


def _print_counts(result: FilterResult, seconds: float, unsupporting_model: str | None) -> None:
    from rich.console import Console

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    width = max(len("filter"), *(len(count.filter) for count in result.counts))
    digits = max(len("removed"), len(str(result.rows)))
    console.print(
        f"{'filter':<{width}}  {'removed':>{digits}}  {'left':>{digits}}  why", style="dim"
    )
    for count in result.counts:
        why = ", ".join(f"{reason} {many}" for reason, many in count.reasons.items())
        line = f"{count.filter:<{width}}  {count.removed:>{digits}}  {count.after:>{digits}}  {why}"
        console.print(line.rstrip(), markup=False)
    kept = result.counts[-1].after
    share = f"{100 * kept / result.rows:.1f} %"
    summary = f"{kept} of {counted(result.rows, 'row')} kept ({share}) in {seconds:.1f} s"
    if result.resumed:
        summary += f"; {result.resumed} of them judged before"
    console.print(summary)
    if unsupporting_model is not None:
        console.print(
            f"lengths and n-grams were counted in words: {unsupporting_model} does not support "
            "both languages (see --unit)",
            style="yellow",
        )
