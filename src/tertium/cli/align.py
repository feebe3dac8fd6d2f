"""``tertium align``."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from xml.sax.saxutils import escape, quoteattr

import typer

from tertium._version import __version__
from tertium.cli.formats import LAYOUTS
from tertium.cli.groups import EncoderOptions, LanguageOptions, grouped, say
from tertium.cli.inputs import refuse_as_output
from tertium.cli.options import INPUT, OUTPUT, Force, Quiet, ReplaceInvalid, Verbose
from tertium.cli.running import interruptible, log_to_terminal, progress_bar
from tertium.cli.systems import refuse_existing
from tertium.data.documents import PairedFiles, pair_by_list, pair_by_name
from tertium.data.lines import check_file, name_of, read_lines
from tertium.data.records import counted
from tertium.errors import InputError
from tertium.jobs.output import JsonLinesLayout, Layout
from tertium.measures.loading import ModelPool
from tertium.storage.atomic import write_text
from tertium.text import Text

if TYPE_CHECKING:
    from tertium.stats.alignment import Unit

ALIGNMENT = "Alignment"
MAX_SIZE, DELETION_QUANTILE, WIDTH = 4, 0.2, 10
LINES_AT_A_TIME = 256
FILES = ("tsv", "csv", "jsonl", "json", "ladder", "tmx")
FORMATS = ("text", "markdown", "latex", *FILES)
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot contain."""


@dataclass(frozen=True)
class AlignInputs:
    """The documents."""

    pairs: Annotated[
        Path | None,
        typer.Option(
            "--list",
            metavar="FILE",
            help="Align the documents of a list: two file names per line, with a tab between.",
            rich_help_panel=INPUT,
        ),
    ] = None
    split: Annotated[
        bool,
        typer.Option(
            "--split",
            help="Split every line into sentences: by ICU if it is installed (extra: words), "
            "otherwise by simpler rules.",
            rich_help_panel=INPUT,
        ),
    ] = False
    replace_invalid: ReplaceInvalid = False


@dataclass(frozen=True)
class AlignmentOptions:
    """How sentences are aligned."""

    max_size: Annotated[
        int,
        typer.Option(
            min=2,
            help="Most sentences in a unit, both sides together: 4 allows 1-1, 1-2, 1-3 and 2-2.",
            rich_help_panel=ALIGNMENT,
        ),
    ] = MAX_SIZE
    deletion_quantile: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="Cost of a sentence without counterpart, as a quantile of the costs of random "
            "pairs: lower values leave out more sentences.",
            rich_help_panel=ALIGNMENT,
        ),
    ] = DELETION_QUANTILE
    width: Annotated[
        int,
        typer.Option(
            min=1,
            help="Search this far from the path of the coarser level.",
            rich_help_panel=ALIGNMENT,
        ),
    ] = WIDTH
    words: Annotated[
        bool,
        typer.Option(
            "--words",
            help="Align the words of each line with those of the same line of the other file, and "
            "write Pharaoh format: one line per pair, 0-0 1-2, counted from 0.",
            rich_help_panel=ALIGNMENT,
        ),
    ] = False
    words_by: Annotated[
        str,
        typer.Option(
            metavar="METHOD",
            help="With --words: argmax (fewest links), itermax, match (one to one).",
            rich_help_panel=ALIGNMENT,
        ),
    ] = "itermax"


@dataclass(frozen=True)
class AlignOutput:
    """What is written."""

    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help=f"A file ({', '.join('.' + name for name in FILES)}); a folder if folders are "
            "aligned. Default: standard output.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            "--output-format",
            help=f"{', '.join(FORMATS)}. Default: by the file name, otherwise tsv.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    force: Force = False
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Leave out documents that are aligned.", rich_help_panel=OUTPUT
        ),
    ] = False
    quiet: Quiet = False
    verbose: Verbose = False

    def jobs(self, source: Path | None, target: Path | None, pairs: Path | None) -> list[_Job]:
        """What is aligned, except what is there already."""
        jobs = _jobs(source, target, pairs, self.output, self.format)
        if self.resume:
            return [job for job in jobs if job.output is None or not job.output.exists()]
        for job in jobs:
            if job.output is not None:
                refuse_existing(job.output, force=self.force)
        return jobs


@grouped("ref_lang", "no_cache", "device")
def align(
    inputs: AlignInputs,
    languages: LanguageOptions,
    alignment: AlignmentOptions,
    output: AlignOutput,
    models: EncoderOptions,
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
    from tertium.models.encoders.alignment import Aligner
    from tertium.stats.alignment import AlignmentSettings

    log_to_terminal(output.verbose)
    started = time.monotonic()
    if alignment.words:
        align_words(source, target, inputs, languages, alignment.words_by, output, models)
        return
    settings = AlignmentSettings(alignment.max_size, alignment.deletion_quantile, alignment.width)
    jobs = output.jobs(source, target, inputs.pairs)
    langs = languages.src, languages.hyp
    if inputs.split and any(job.format == "ladder" for job in jobs):
        raise InputError("a ladder refers to lines, which --split divides; use another format")
    if any(job.format == "tmx" for job in jobs) and None in langs:
        raise InputError("TMX names the languages: use -l de-en, or --src-lang and --tgt-lang")
    aligner = Aligner(ModelPool(models.chosen)("sentences"), settings)
    units = 0
    with (
        interruptible(None),
        progress_bar(lambda: len(jobs), shown=not output.quiet, what="documents") as progress,
    ):
        for number, job in enumerate(jobs, start=1):
            documents = [
                Document.read(
                    path, lang, split=inputs.split, replace_invalid=inputs.replace_invalid
                )
                for path, lang in zip((job.source, job.target), langs, strict=True)
            ]
            aligned = aligner(documents[0].sentences, documents[1].sentences, progress.detail)
            units += len(aligned)
            content = _written(documents[0], documents[1], aligned, job.format)
            if job.output is None:
                progress.hide()
                sys.stdout.write(content)
            else:
                write_text(job.output, content)
            progress.advance(number)
    if not output.quiet:
        seconds = time.monotonic() - started
        say(f"{counted(len(jobs), 'document')}, {counted(units, 'unit')} in {seconds:.1f} s")


def align_words(
    source: Path | None,
    target: Path | None,
    inputs: AlignInputs,
    languages: LanguageOptions,
    method: str,
    output: AlignOutput,
    models: EncoderOptions,
) -> None:
    """Align the words of the lines of two files."""
    from tertium.explanation.word_alignment import WordAligner, pharaoh

    if source is None or target is None or source.is_dir() or target.is_dir() or inputs.pairs:
        raise InputError("words are aligned in two files, whose lines belong together")
    if inputs.split or output.format is not None or output.resume:
        raise InputError("words are aligned line by line, in Pharaoh format")
    if output.output is not None:
        refuse_as_output(output.output, [source, target])
        refuse_existing(output.output, force=output.force)
    started = time.monotonic()
    sides = []
    for path, lang in ((source, languages.src), (target, languages.hyp)):
        check_file(path)
        lines = read_lines(path, replace_invalid=inputs.replace_invalid)
        sides.append([Text(line, lang) for line in lines])
    if len(sides[0]) != len(sides[1]):
        raise InputError(
            f"{name_of(source)} has {counted(len(sides[0]), 'line')}, and {name_of(target)} has "
            f"{len(sides[1])}: words are aligned line by line"
        )
    aligner = WordAligner(ModelPool(models.chosen)("tokens"), method)  # type: ignore[arg-type]
    pairs = list(zip(*sides, strict=True))
    found = []
    with (
        interruptible(None),
        progress_bar(lambda: len(pairs), shown=not output.quiet, what="lines") as progress,
    ):
        for start in range(0, len(pairs), LINES_AT_A_TIME):
            found += aligner(pairs[start : start + LINES_AT_A_TIME], progress.detail)
            progress.advance(len(found))
    content = "".join(f"{pharaoh(links)}\n" for links in found)
    if output.output is None:
        sys.stdout.write(content)
    else:
        write_text(output.output, content)
    if not output.quiet:
        links = sum(map(len, found))
        seconds = time.monotonic() - started
        say(f"{counted(len(pairs), 'line')}, {counted(links, 'link')} in {seconds:.1f} s")


@dataclass(frozen=True)
class Document:
    """The sentences of a document, the index of the line of each, and the number of lines."""

    sentences: Sequence[Text]
    lines: Sequence[int]
    length: int

    @classmethod
    def read(cls, path: Path, lang: str | None, *, split: bool, replace_invalid: bool) -> Document:
        """Read a file; each line that is not blank is one sentence, or is split into sentences."""
        from tertium.data.sentences import best_splitter, split_sentences

        by = best_splitter()
        check_file(path)
        texts = list(read_lines(path, replace_invalid=replace_invalid))
        found = [
            (index, sentence)
            for index, text in enumerate(texts)
            if text.strip()
            for sentence in (split_sentences(text, lang, by) if split else [text.strip()])
        ]
        if not found:
            raise InputError(f"{name_of(path)} has no sentences: all lines are blank")
        sentences = [Text(sentence, lang) for _, sentence in found]
        return cls(sentences, [index for index, _ in found], len(texts))

    def line_at(self, place: int) -> int:
        """The index of the line of a sentence; behind the last one, the number of lines."""
        return self.lines[place] if place < len(self.lines) else self.length

    def text(self, places: range) -> str:
        from tertium.data.sentences import join

        return join([self.sentences[place] for place in places]).text

    def numbers(self, places: range) -> list[int]:
        """The numbers of the lines, from 1, that sentences are on."""
        return sorted({self.lines[place] + 1 for place in places})


@dataclass(frozen=True)
class _Job:
    source: Path
    target: Path
    output: Path | None
    format: str


def _jobs(
    source: Path | None,
    target: Path | None,
    pairs: Path | None,
    output: Path | None,
    format: str | None,  # noqa: A002
) -> list[_Job]:
    if format is not None and format not in FORMATS:
        raise InputError(f"--format {format}: it must be one of {', '.join(FORMATS)}")
    if pairs is not None:
        if source is not None:
            raise InputError("give either two documents or folders, or --list")
        return _jobs_of(pair_by_list(pairs), output, format or "tsv")
    if source is None or target is None:
        raise InputError("give two documents, or two folders, or --list FILE")
    if source.is_dir() != target.is_dir():
        raise InputError("align two documents, or two folders, not a document and a folder")
    if source.is_dir():
        return _jobs_of(pair_by_name([source, target]), output, format or "tsv")
    if output is None:
        return [_Job(source, target, None, format or "tsv")]
    refuse_as_output(output, [source, target])
    if output.is_dir():
        raise InputError(f"{output} is a folder; choose a file")
    chosen = format or output.suffix.removeprefix(".")
    if chosen not in FORMATS or (format is None and chosen not in FILES):
        raise InputError(
            f"{output}: cannot infer the format from the file name; use --format, or one of "
            f"{', '.join('.' + name for name in FILES)}"
        )
    return [_Job(source, target, output, chosen)]


def _jobs_of(pairs: Sequence[PairedFiles], output: Path | None, format: str) -> list[_Job]:  # noqa: A002
    if output is None or output.is_file():
        raise InputError("many aligned documents are written to a folder: use --output FOLDER")
    output.mkdir(parents=True, exist_ok=True)
    inputs = [path for pair in pairs for path in pair.paths]
    jobs = []
    for name, (source, target) in pairs:
        file = output / f"{name}.{format}"
        refuse_as_output(file, inputs)
        jobs.append(_Job(source, target, file, format))
    return jobs


def _written(source: Document, target: Document, units: Sequence[Unit], form: str) -> str:
    """The units of a document in a format."""
    if form in WRITERS:
        return WRITERS[form](source, target, units)
    layout = TABLES[form]()
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


def _ladder(source: Document, target: Document, units: Sequence[Unit]) -> str:
    """The format of hunalign: where each unit starts, in lines from 0, and how good it is."""
    rungs = [
        f"{source.line_at(unit.source.start)}\t{target.line_at(unit.target.start)}\t{-unit.cost:.6f}"
        for unit in units
    ]
    return "\n".join([*rungs, f"{source.length}\t{target.length}\t0"]) + "\n"


def _tmx(source: Document, target: Document, units: Sequence[Unit]) -> str:
    """Units that have both sides, as a translation memory."""
    langs = [str(document.sentences[0].lang) for document in (source, target)]
    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
        f'<header creationtool="tertium" creationtoolversion={quoteattr(__version__)} '
        f'segtype="block" o-tmf="tertium" adminlang="en" srclang={quoteattr(langs[0])} '
        'datatype="plaintext"/>\n<body>\n'
    )
    body = []
    for unit in units:
        if unit.source and unit.target:
            texts = source.text(unit.source), target.text(unit.target)
            sides = "".join(
                f"<tuv xml:lang={quoteattr(lang)}><seg>{escape(NOT_XML.sub(' ', text))}</seg></tuv>"
                for lang, text in zip(langs, texts, strict=True)
            )
            body.append(f"<tu>{sides}</tu>\n")
    return head + "".join(body) + "</body>\n</tmx>\n"


WRITERS: Mapping[str, Callable[[Document, Document, Sequence[Unit]], str]] = {
    "ladder": _ladder,
    "tmx": _tmx,
}
"""What writes the formats that are not tables of units."""
TABLES: Mapping[str, type[Layout]] = {
    "jsonl": JsonLinesLayout,
    **{str(name): layout for name, layout in LAYOUTS.items()},
}
