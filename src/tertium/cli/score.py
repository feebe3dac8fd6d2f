"""``tertium score``."""

from __future__ import annotations

import logging
import os
import stat
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from tertium.cli.formats import OutputFormat
from tertium.cli.gates import GateOptions, check_scores
from tertium.cli.groups import (
    STATISTICS,
    ClusterOptions,
    LanguageOptions,
    MeasureOptions,
    ModelOptions,
    RowOptions,
    StatisticsOptions,
    TextOptions,
    grouped,
)
from tertium.cli.habits import language_pair
from tertium.cli.inputs import Inputs, names_table
from tertium.cli.languages import assume_for_measures, signed
from tertium.cli.options import INPUT, OUTPUT, option
from tertium.cli.systems import (
    TableSettings,
    document,
    print_rows,
    print_systems,
    reference_names,
    refuse_existing_mtme,
    report,
    worst_rows,
    write_mtme,
)
from tertium.data.lines import STDIN, names_of
from tertium.data.records import exists
from tertium.data.test_sets import sacrebleu_test_set
from tertium.errors import InputError, SettingError
from tertium.jobs.output import Layout, TerminalLayout, TsvLayout
from tertium.jobs.task import Input, Job, OnError
from tertium.jobs.tasks.score import ROWS_AT_A_TIME, ScoreTask, score_table
from tertium.measures.loading import MeasureLoader, MeasureSpec
from tertium.measures.registry import reads_alone
from tertium.storage.atomic import write_text

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ScoreInputs(TextOptions):
    """What is scored."""

    test_set: str | None = option(
        None, "A test set of sacrebleu: -d wmt20 -l de-en.", "--test-set", "-d", metavar="NAME"
    )
    documents: bool = option(
        False,
        "Each text is a document (--long always); with --hyp, each file, or each file of a folder.",
        panel=INPUT,
        hidden=True,
    )
    input_: list[Path] | None = option(None, "", "--input", "-i", hidden=True)

    def resolve(self, texts: Sequence[str], languages: LanguageOptions) -> Scored:
        """Find out which arguments are hypotheses, references and texts."""
        if self.format in ("text", "markdown", "latex", "json"):
            raise SettingError(
                f"--format {self.format}: this is the input's; for the output, use -f"
            )
        systems, refs, texts = list(self.hyp or []), list(self.ref or []), list(texts)
        if self.input_:  # as sacrebleu: the arguments are references
            if systems:
                raise InputError(
                    f"-t is a file of hypotheses, as -i; for a test set use -d {systems[0]}"
                )
            systems, refs, texts = list(self.input_), [*map(Path, texts), *refs], []
        if not systems and are_references(texts, self) and is_piped():
            systems, refs, texts = [STDIN], [*map(Path, texts), *refs], []
            log.info("reading hypotheses from standard input")
        self._check(systems, refs, texts)
        scored = Scored(self, systems, refs, self.src, texts, languages)
        if self.test_set is not None:
            return scored.with_test_set(self.test_set)
        if scored.two_texts:
            languages.refuse_source()
        return scored

    def _check(self, systems: Sequence[Path], refs: Sequence[Path], texts: Sequence[str]) -> None:
        if systems and texts:
            raise InputError(
                f"{texts[0]!r} is neither a measure nor the value of an option; "
                "give either a file of pairs, or --hyp with --ref or --src"
            )
        if texts and (refs or self.src is not None):
            raise InputError(f"hypotheses are given with -t: -t {' '.join(texts)}")


@dataclass(frozen=True)
class Scored:
    """The arguments by their roles."""

    options: ScoreInputs
    systems: Sequence[Path]
    refs: Sequence[Path]
    src: Path | None
    texts: Sequence[str]
    languages: LanguageOptions

    @property
    def two_texts(self) -> bool:
        """Whether the arguments are two texts."""
        return len(self.texts) == 2 and not any(map(names_table, self.texts))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the systems; two texts have none."""
        if self.two_texts:
            return ("",)
        names = names_of([*self.systems] or [Path(text) for text in self.texts[:1]]) or ("",)
        if len(set(names)) < len(names):
            raise InputError(f"the same file is given twice: {', '.join(names)}")
        return names

    @property
    def files(self) -> list[str]:
        """All arguments that may be names of files."""
        several = [*self.systems, *self.refs, *([self.src] if self.src else [])]
        return [*self.texts, *map(str, several)]

    def with_test_set(self, text: str) -> Scored:
        """With the references, sources and languages of a test set."""
        name, _, written = text.partition(":")
        pair = language_pair(written) or self.languages.pair
        if pair is None:
            raise InputError(f"-d {name} needs a language pair: -l de-en")
        if self.refs or self.src is not None or not self.systems:
            raise InputError(f"-d {name} has references and sources: give only hypotheses (-t)")
        found = sacrebleu_test_set(name, pair)
        return replace(
            self,
            refs=found.references,
            src=found.source,
            languages=self.languages.of(pair),
        )

    def inputs(self, specs: Sequence[MeasureSpec], *, tolerant: bool) -> list[Input]:
        """The sources of the rows of each system."""
        options = self.options
        inputs = Inputs(
            self.texts,
            hyp=None,
            refs=tuple(self.refs),
            src=self.src,
            languages=self.languages.languages,
            columns=options.columns,
            as_text=options.as_text,
            documents=options.documents,
            alone=all(reads_alone(spec.measure) for spec in specs),
            tolerant=tolerant,
            **options.reading,
        )
        chosen = [replace(inputs, hyp=each) for each in self.systems] or [inputs]
        log.info("reading %s", ", ".join(self.files))
        return [
            Input(source, name)
            for name, each in zip(self.names, chosen, strict=True)
            for source in each.sources()
        ]


def are_references(texts: Sequence[str], inputs: ScoreInputs) -> bool:
    """Whether the arguments are files of plain text (or a test set is named), as for sacrebleu."""
    if inputs.test_set is not None and not texts:
        return True
    if inputs.as_text or inputs.format is not None or not (texts or inputs.ref):
        return False
    return all(
        exists(text) and Path(text).is_file() and (is_plain_text(text) or not names_table(text))
        for text in texts
    )


def is_plain_text(text: str) -> bool:
    """Whether a file of lines is meant: .txt, and no tab in its first line."""
    path = Path(text)
    if path.suffix != ".txt":
        return False
    with path.open("rb") as stream:
        return b"\t" not in stream.readline()


def is_piped() -> bool:
    """Whether standard input is a file or a pipe."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


@dataclass(frozen=True)
class ScoreOutput(RowOptions):
    """What is printed and written."""

    rows: bool = option(False, "Print the rows, not only the scores of all.", panel=OUTPUT)
    worst: int = option(
        0,
        "Also print the rows with the lowest scores, by the first measure.",
        panel=OUTPUT,
        min=0,
        metavar="N",
    )
    score_only: bool = option(
        False, "Print only the system scores.", "--score-only", "-b", panel=OUTPUT
    )
    scores_only: bool = option(
        False, "Leave out the input's columns in the rows.", panel=OUTPUT, hidden=True
    )
    parts: bool = option(
        False, "Add a column with the parts of split texts.", panel=OUTPUT, hidden=True
    )
    on_error: OnError = option(
        OnError.stop,
        "Rows that cannot be scored: stop, skip them, or mark them in a column.",
        panel=OUTPUT,
        metavar="stop|skip|mark",
        hidden=True,
    )
    mtme: Path | None = option(
        None,
        "Write files for mt-metrics-eval: NAME-refA.seg.score and NAME-refA.sys.score.",
        panel=OUTPUT,
        metavar="FOLDER",
        hidden=True,
    )
    to_json: Path | None = option(None, hidden=True)
    rows_at_a_time: int = option(ROWS_AT_A_TIME, min=1, hidden=True)

    @property
    def plain(self) -> bool:
        """Whether the output itself is plain numbers or JSON."""
        return self.score_only or self.as_json

    def printed(self, statistics: ScoreStatistics) -> TableSettings:
        """How the system scores are printed."""
        return TableSettings(
            self.output_format or OutputFormat.text,
            self.score_only,
            statistics.confidence,
            statistics.samples,
            statistics.seed,
            self.width,
        )

    def shown(self, columns: Sequence[str]) -> Layout | None:
        """How the rows are printed, if they are."""
        if not self.rows or self.output is not None:
            return None
        terminal = sys.stdout.isatty()
        return self.layout(TerminalLayout(columns) if terminal else TsvLayout())


@dataclass(frozen=True)
class ScoreStatistics(StatisticsOptions):
    """Confidence intervals."""

    confidence: bool = option(False, "95 % confidence intervals (bootstrap).", panel=STATISTICS)


@grouped()
def score(
    inputs: ScoreInputs,
    measures: MeasureOptions,
    languages: LanguageOptions,
    output: ScoreOutput,
    models: ModelOptions,
    statistics: ScoreStatistics,
    gate: GateOptions,
    cluster: ClusterOptions,
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE | TEXT TEXT]",
            help="A file of pairs (TSV, CSV, JSONL, Parquet; - for standard input), two texts, "
            "or any number of files, folders and patterns.",
        ),
    ] = None,
) -> None:
    """Score pairs of texts: each system, and each row. Higher is better.

    [bold]tertium score pairs.tsv[/bold] reads the columns hyp, ref, src and lang;
    [bold]tertium score -t a.txt b.txt -r ref.txt -m chrf cross[/bold] scores two systems;
    [bold]cat a.txt | tertium score ref.txt -m chrf[/bold] works as with sacrebleu.
    """
    started = time.monotonic()
    scored = inputs.resolve(texts or [], languages)
    specs = measures.specs(**({"long": "always"} if inputs.documents else {}))
    limits = gate.limits(specs)
    output.check(scored.files, output.to_json)
    columns = [spec.column for spec in specs]
    if output.mtme is not None and not output.force:
        refuse_existing_mtme(output.mtme, columns)
    running = output.running(cluster.chosen(models.threads))
    loader = MeasureLoader(specs, running.models(models.chosen), scored.languages.hyp)
    task = ScoreTask.requested(
        loader,
        scores_only=output.scores_only,
        parts=output.parts,
        segments=statistics.confidence or output.mtme is not None,
    )
    sources = scored.inputs(specs, tolerant=output.on_error is not OnError.stop)
    for each in sources:
        task.check(each.source)
    sources, assumed = assume_for_measures(
        sources, specs, loader.models, scored.languages, quiet=output.quiet
    )
    in_document = output.as_json and output.output is None and not output.score_only
    keep = bool(output.worst or output.to_json or in_document) and not output.rows
    job = Job(task, sources, output.rows_at_a_time, output.on_error, keep)
    shown = output.shown(columns)
    result = running(job, score_table, shown=shown).assuming(signed(assumed))
    printed = output.printed(statistics)
    rows = worst_rows(result, output.worst) if output.worst else list(result.written)
    if output.mtme is not None:
        for path in write_mtme(result, reference_names(scored.refs) or ["refA"], output.mtme):
            log.info("wrote %s", path)
    if output.to_json is not None:
        write_text(output.to_json, document(result, printed, result.written) + "\n")
    if shown is None:
        print_systems(result, printed, rows if in_document else ())
        if output.worst and not output.plain:
            print_rows(rows, output.layout(TsvLayout()))
    report(result, started, quiet=output.quiet, plain=output.plain, scores=shown is not None)
    check_scores(result, limits)
