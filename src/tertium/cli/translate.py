"""``tertium translate``."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tertium.cli.groups import (
    ClusterOptions,
    LanguageOptions,
    RowOptions,
    TableOptions,
    TranslationModelOptions,
    grouped,
    say,
)
from tertium.cli.languages import assume
from tertium.cli.options import OUTPUT, AsText, SrcColumn, SrcLangColumn, option
from tertium.data.codes import language_code
from tertium.data.l10n import BILINGUAL, open_translations
from tertium.data.lines import STDIN, suffix_of
from tertium.data.pairs import (
    FilePairs,
    Languages,
    Source,
    TablePairs,
    single_row,
    source_columns,
)
from tertium.data.records import SUFFIXES, counted, exists, looks_like_path, open_table
from tertium.errors import InputError
from tertium.jobs.output import CANDIDATE_LAYOUTS, TextLayout, TsvLayout
from tertium.jobs.task import Input, Job
from tertium.jobs.tasks.translate import Translated, TranslateTask, translated
from tertium.measures.loading import ModelPool
from tertium.models.base import Search
from tertium.models.translation.translate import make_search

SAMPLING = "Sampling"


@dataclass(frozen=True)
class TranslateInputs(TableOptions):
    """What is translated."""

    src_column: SrcColumn = None
    src_lang_column: SrcLangColumn = None
    as_text: AsText = False

    def source(self, text: str, lang: str | None, target: str | None = None) -> Source:
        """A text, the lines of a file, or a column of a table."""
        path, languages = Path(text), Languages(src=lang)
        if not self.as_text and (path == STDIN or (exists(text) and path.is_file())):
            if self.format == "tmx" or (self.format is None and suffix_of(path) in BILINGUAL):
                return open_translations(path, Languages(hyp=target, src=lang))
            if not _is_table(path, self.format):
                return FilePairs(
                    src=path,
                    languages=languages,
                    replace_invalid=self.replace_invalid,
                    alone=True,
                )
            table = open_table(path, **self.reading)
            columns = source_columns(table, src=self.src_column, src_lang=self.src_lang_column)
            return TablePairs(table, columns, languages)
        if not self.as_text and looks_like_path(text):
            raise InputError(
                f"{text}: there is no such file (if it is meant as a text, add --text)"
            )
        return single_row(languages, src=text)


@dataclass(frozen=True)
class SearchOptions:
    """How translations are found."""

    count: int | None = option(None, "Candidates per text. Default: 1.", "--count", "-n", min=1)
    beam_size: int | None = option(
        None, "Default: 5, or the number of candidates if that is more.", min=1
    )
    sample: bool = option(
        False, "Sample candidates; --epsilon 0.02 leaves out improbable words.", panel=SAMPLING
    )
    temperature: float = option(1.0, "Below 1, probable tokens get more probable.", panel=SAMPLING)
    top_k: int = option(0, "Only the K most probable tokens.", panel=SAMPLING, min=0)
    top_p: float = option(
        1.0, "Only the most probable tokens that together have probability P.", panel=SAMPLING
    )
    epsilon: float = option(
        0.0, "Only tokens with at least this probability, such as 0.02.", panel=SAMPLING
    )
    seed: int = option(0, panel=SAMPLING, min=0)

    @property
    def search(self) -> Search:
        """The search; options that exclude each other are errors."""
        if self.sample and self.beam_size is not None:
            raise InputError(
                "--beam-size is for beam search, --sample is without it: use one of them"
            )
        return make_search(
            self.count or 1,
            sampling=self.sample,
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            epsilon=self.epsilon,
            seed=self.seed,
            **({} if self.beam_size is None else {"beam_size": self.beam_size}),
        )


@dataclass(frozen=True)
class TranslateOutput(RowOptions):
    """What is printed and written."""

    output: Path | None = option(
        None,
        "A .txt file (one translation per line), a .tsv, .csv or .parquet file (one row "
        "per candidate), a .jsonl file (with lists of candidates), or an .nbest file (Moses). "
        "Default: standard output.",
        "--output",
        "-o",
        panel=OUTPUT,
    )
    rows_at_a_time: int = option(64, min=1, hidden=True)

    def check_candidates(self, count: int) -> None:
        """A file with one line per text has no room for several candidates."""
        if self.output is not None and self.output.suffix == ".txt" and count > 1:
            raise InputError(
                f"{self.output} has one line per text, and there are {count} candidates; write "
                "a .tsv, .csv, .jsonl, .parquet or .nbest file"
            )


@grouped("ref_lang")
def translate(
    text: Annotated[
        str,
        typer.Argument(
            metavar="FILE | TEXT",
            help="One text per line (- for standard input), a table with a column src (.tsv, .csv, "
            ".jsonl, .parquet), or a text.",
        ),
    ],
    inputs: TranslateInputs,
    languages: LanguageOptions,
    searching: SearchOptions,
    output: TranslateOutput,
    models: TranslationModelOptions,
    cluster: ClusterOptions,
) -> None:
    """Translate texts: the best translation, n-best lists, or samples.

    [bold]tertium translate src.txt -l en-de -o hyp.txt[/bold];
    [bold]tertium translate src.txt -l en-de -n 16 --sample --epsilon 0.02 -o samples.jsonl[/bold]
    """
    started = time.monotonic()
    search = searching.search
    src_lang = None if languages.src is None else language_code(languages.src)
    source = inputs.source(text, src_lang, languages.hyp)
    output.check([text])
    output.check_candidates(search.count)
    running = output.running(cluster.chosen(models.threads), what="texts")
    chosen = running.models(models.chosen)
    sources = [Input(source)]
    if src_lang is None:
        model = ModelPool(chosen)("translation")
        if model.needs_source_language:
            sources, _ = assume(sources, ["source"], model.languages, quiet=output.quiet)
    nested = output.output is not None and output.output.suffix == ".jsonl"
    task = TranslateTask(chosen, languages.hyp, search, nested)
    result = running(
        Job(task, sources, output.rows_at_a_time),
        translated,
        shown=output.layout(TextLayout() if searching.count is None else TsvLayout()),
        layouts=CANDIDATE_LAYOUTS,
    )
    if not output.quiet:
        _report(result, search, started, written=output.output is not None)


def _report(result: Translated, search: Search, started: float, *, written: bool) -> None:
    """Say how much was translated, and what was only in part."""
    if written:
        facts = [f"{counted(result.rows, 'text')} in {time.monotonic() - started:.1f} s"]
        if result.finished.resumed:
            facts.append(f"{result.finished.resumed} of them before")
        if search.count > 1:
            facts.append(counted(result.candidates, "candidate"))
        say("; ".join(facts))
    if result.cut:
        say(
            f"tertium: {counted(result.cut, 'text')} marked as cut: longer than the model reads, "
            "or with a translation that did not terminate"
        )


def _is_table(path: Path, table_format: str | None) -> bool:
    """Whether a file has columns: by its format or its name; plain text is .txt or any other."""
    if table_format is not None:
        return True
    return suffix_of(path) in SUFFIXES and suffix_of(path) != ".txt"
