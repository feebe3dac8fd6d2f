"""``tertium align``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from tertium.cli.formats import LAYOUTS
from tertium.cli.groups import (
    ClusterOptions,
    EncoderOptions,
    LanguageOptions,
    RowOptions,
    grouped,
    say,
)
from tertium.cli.inputs import refuse_as_output
from tertium.cli.options import INPUT, OUTPUT, ReplaceInvalid, option
from tertium.cli.running import Running
from tertium.cli.systems import refuse_existing
from tertium.data.aligned import Document, DocumentPair, PairedDocuments, ladder, tmx
from tertium.data.documents import PairedFiles, pair_by_list, pair_by_name
from tertium.data.pairs import FilePairs
from tertium.data.records import counted
from tertium.errors import InputError
from tertium.jobs.output import JsonLinesLayout, Layout
from tertium.jobs.task import Input, Job, OnError, Run, describe_bad
from tertium.jobs.tasks.align import (
    LINKS,
    Alignments,
    AlignTask,
    WordTask,
    alignments,
    word_links,
)
from tertium.stats.alignment import AlignmentSettings, Unit
from tertium.storage.atomic import write_text
from tertium.storage.resume import has_record

ALIGNMENT = "Alignment"
MAX_SIZE, DELETION_QUANTILE, WIDTH = 4, 0.2, 10
LINES_AT_A_TIME = 256
FILES = ("tsv", "csv", "jsonl", "json", "ladder", "tmx")
FORMATS = ("text", "markdown", "latex", *FILES)
PART = ".part"


@dataclass(frozen=True)
class AlignInputs:
    """The documents."""

    panel: ClassVar[str] = INPUT

    pairs: Path | None = option(
        None,
        "Align the documents of a list: two file names per line, with a tab between.",
        "--list",
        metavar="FILE",
    )
    split: bool = option(
        False,
        "Split every line into sentences: by ICU if it is installed (extra: words), "
        "otherwise by simpler rules.",
    )
    replace_invalid: ReplaceInvalid = False


@dataclass(frozen=True)
class AlignmentOptions:
    """How sentences are aligned."""

    panel: ClassVar[str] = ALIGNMENT

    max_size: int = option(
        MAX_SIZE,
        "Most sentences in a unit, both sides together: 4 allows 1-1, 1-2, 1-3 and 2-2.",
        min=2,
    )
    deletion_quantile: float = option(
        DELETION_QUANTILE,
        "Cost of a sentence without counterpart, as a quantile of the costs of random "
        "pairs: lower values leave out more sentences.",
        min=0,
        max=1,
    )
    search_width: int = option(WIDTH, "Search this far from the path of the coarser level.", min=1)
    words: bool = option(
        False,
        "Align the words of each line with those of the same line of the other file, and "
        "write Pharaoh format: one line per pair, 0-0 1-2, counted from 0.",
    )
    words_by: str = option(
        "itermax",
        "With --words: argmax (fewest links), itermax, match (one to one).",
        metavar="METHOD",
    )


@dataclass(frozen=True)
class AlignOutput(RowOptions):
    """What is written."""

    panel: ClassVar[str] = OUTPUT

    output: Path | None = option(
        None,
        f"A file ({', '.join('.' + name for name in FILES)}); a folder if folders are "
        "aligned. Default: standard output.",
        "--output",
        "-o",
    )
    output_format: str | None = option(
        None,
        f"{', '.join(FORMATS)}. Default: by the file name, otherwise tsv.",
        "--format",
        "-f",
        "--output-format",
    )  # type: ignore[assignment]
    resume: bool = option(
        False, "Continue an interrupted run, and leave out documents that are aligned."
    )
    on_error: OnError = option(
        OnError.stop,
        "Documents that cannot be aligned: stop, or skip them.",
        metavar="stop|skip",
        hidden=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.output_format is not None and self.output_format not in FORMATS:
            raise InputError(
                f"--format {self.output_format}: it must be one of {', '.join(FORMATS)}"
            )
        if self.on_error is OnError.mark:
            raise InputError("a document has no row that could be marked: use --on-error skip")

    def form(self, pair: DocumentPair) -> str:
        """The format of a document's alignment."""
        if self.output_format is not None:
            return str(self.output_format)
        return "tsv" if pair.output is None else pair.output.suffix.removeprefix(".")

    def pairs(
        self, source: Path | None, target: Path | None, listed: Path | None
    ) -> list[DocumentPair]:
        """What is aligned, except what is there already."""
        pairs = _pairs(source, target, listed, self.output, self.output_format)
        for pair in pairs:
            if pair.output is not None and not self.resume:
                refuse_existing(pair.output, force=self.force or self.overwrite)
        return [
            pair for pair in pairs if not (self.resume and pair.output and pair.output.exists())
        ]

    def running_documents(self, cluster: ClusterOptions, threads: int | None) -> Running:
        """The run, which is resumed if there is an interrupted one."""
        part = None if self.output is None else self.output.with_name(self.output.name + PART)
        resume = self.resume and (part is None or has_record(part))
        overwrite = self.overwrite or (self.force and not self.resume)
        chosen = cluster.chosen(threads)
        return Running(self.output, resume, overwrite, self.quiet, chosen, what="documents")


@grouped("ref_lang", "no_cache")
def align(
    inputs: AlignInputs,
    languages: LanguageOptions,
    alignment: AlignmentOptions,
    output: AlignOutput,
    models: EncoderOptions,
    cluster: ClusterOptions,
    source: Annotated[
        Path | None,
        typer.Argument(help="A document, one sentence per line; or a folder of documents."),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Argument(
            help="Its translation; or a folder. Documents in folders are paired by their names "
            "up to the first dot."
        ),
    ] = None,
) -> None:
    """Align the sentences of a document with those of its translation; or their words.

    [bold]tertium align de.txt en.txt -l de-en -o pairs.tsv[/bold]
    """
    started = time.monotonic()
    if alignment.words:
        align_words(source, target, inputs, languages, alignment.words_by, output, models, cluster)
        return
    settings = AlignmentSettings(
        alignment.max_size, alignment.deletion_quantile, alignment.search_width
    )
    pairs = output.pairs(source, target, inputs.pairs)
    langs = languages.src, languages.hyp
    forms = {output.form(pair) for pair in pairs}
    if inputs.split and "ladder" in forms:
        raise InputError("a ladder refers to lines, which --split divides; use another format")
    if "tmx" in forms and None in langs:
        raise InputError("TMX names the languages: use -l de-en, or --src-lang and --tgt-lang")
    running = output.running_documents(cluster, models.threads)
    task = AlignTask(models.chosen, settings, inputs.split, inputs.replace_invalid)
    job = Job(task, [Input(PairedDocuments(pairs, langs))], 1, output.on_error, keep=True)

    def plan(run: Run) -> Alignments:
        found = alignments(job, run(job))
        for number, units in found.documents.items():
            pair = pairs[number - 1]
            if pair.output is not None:
                write_text(pair.output, _written(pair, langs, units, output, inputs))
        return found

    found = running.run(plan, job.count, notes_only=True) if pairs else Alignments({})
    if output.output is None:
        for number, units in found.documents.items():
            sys.stdout.write(_written(pairs[number - 1], langs, units, output, inputs))
    if not output.quiet:
        counts = counted(len(found.documents), "document"), counted(found.units, "unit")
        say(f"{', '.join(counts)} in {time.monotonic() - started:.1f} s")
    say(*describe_bad(found.finished.outcomes, output.on_error, "aligned", "document"))


def align_words(
    source: Path | None,
    target: Path | None,
    inputs: AlignInputs,
    languages: LanguageOptions,
    method: str,
    output: AlignOutput,
    models: EncoderOptions,
    cluster: ClusterOptions,
) -> None:
    """Align the words of the lines of two files."""
    started = time.monotonic()
    if source is None or target is None or source.is_dir() or target.is_dir() or inputs.pairs:
        raise InputError("words are aligned in two files, whose lines belong together")
    if inputs.split or output.output_format is not None:
        raise InputError("words are aligned line by line, in Pharaoh format")
    output.check([source, target])
    lines = FilePairs(
        hyp=target,
        src=source,
        languages=languages.languages,
        replace_invalid=inputs.replace_invalid,
        bitext=True,
    )
    suffix = "" if output.output is None else output.output.suffix
    task = WordTask(models.chosen, method)  # type: ignore[arg-type]
    found = output.running(cluster.chosen(models.threads), what="lines")(
        Job(task, [Input(lines)], LINES_AT_A_TIME, output.on_error),
        word_links,
        shown=PharaohLayout(),
        layouts={suffix: PharaohLayout},
    )
    if not output.quiet:
        counts = counted(found.rows, "line"), counted(found.links, "link")
        say(f"{', '.join(counts)} in {time.monotonic() - started:.1f} s")


class PharaohLayout(Layout):
    """The links of each pair of lines, one per line."""

    def body(self, rows: Sequence[Mapping[str, object]]) -> str:
        return "".join(f"{row[LINKS]}\n" for row in rows)


def _pairs(
    source: Path | None,
    target: Path | None,
    listed: Path | None,
    output: Path | None,
    form: str | None,
) -> list[DocumentPair]:
    if listed is not None:
        if source is not None:
            raise InputError("give either two documents or folders, or --list")
        return _pairs_in_folder(pair_by_list(listed), output, form or "tsv")
    if source is None or target is None:
        raise InputError("give two documents, or two folders, or --list FILE")
    if source.is_dir() != target.is_dir():
        raise InputError("align two documents, or two folders, not a document and a folder")
    if source.is_dir():
        return _pairs_in_folder(pair_by_name([source, target]), output, form or "tsv")
    if output is not None:
        refuse_as_output(output, [source, target])
        if output.is_dir():
            raise InputError(f"{output} is a folder; choose a file")
        if form is None and output.suffix.removeprefix(".") not in FILES:
            raise InputError(
                f"{output}: cannot infer the format from the file name; use --format, or one of "
                f"{', '.join('.' + name for name in FILES)}"
            )
    return [DocumentPair(source, target, output)]


def _pairs_in_folder(
    pairs: Sequence[PairedFiles], output: Path | None, form: str
) -> list[DocumentPair]:
    if output is None or output.is_file():
        raise InputError("many aligned documents are written to a folder: use --output FOLDER")
    output.mkdir(parents=True, exist_ok=True)
    inputs = [path for pair in pairs for path in pair.paths]
    found = []
    for name, (source, target) in pairs:
        file = output / f"{name}.{form}"
        refuse_as_output(file, inputs)
        found.append(DocumentPair(source, target, file))
    return found


def _written(
    pair: DocumentPair,
    langs: tuple[str | None, str | None],
    units: Sequence[Unit],
    output: AlignOutput,
    inputs: AlignInputs,
) -> str:
    """The units of a document in a format."""
    source, target = (
        Document.read(path, lang, split=inputs.split, replace_invalid=inputs.replace_invalid)
        for path, lang in zip((pair.source, pair.target), langs, strict=True)
    )
    form = output.form(pair)
    if form in WRITERS:
        return WRITERS[form](source, target, units)
    layout = TABLES[form]()
    layout.digits = output.width
    rows = [
        {
            "src_lines": source.numbers(unit.source),
            "tgt_lines": target.numbers(unit.target),
            "src": source.text(unit.source),
            "tgt": target.text(unit.target),
            "cost": unit.cost,
        }
        for unit in units
    ]
    return layout.head(list(rows[0])) + layout.body(rows) + layout.tail({"units": len(rows)})


WRITERS: Mapping[str, Callable[[Document, Document, Sequence[Unit]], str]] = {
    "ladder": ladder,
    "tmx": tmx,
}
"""What writes the formats that are not tables of units."""
TABLES: Mapping[str, type[Layout]] = {
    "jsonl": JsonLinesLayout,
    **{str(name): layout for name, layout in LAYOUTS.items()},
}
