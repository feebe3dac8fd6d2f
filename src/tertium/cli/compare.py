"""``tertium compare``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from tertium.cli.commands import flag
from tertium.cli.formats import OutputFormat
from tertium.cli.gates import (
    GATES,
    GateOptions,
    check_system,
    failures,
    stop,
    worse_than_others,
)
from tertium.cli.groups import (
    STATISTICS,
    ClusterOptions,
    LanguageOptions,
    MeasureOptions,
    ModelOptions,
    PairOptions,
    RowOptions,
    StatisticsOptions,
    grouped,
    say,
)
from tertium.cli.languages import assume_for_measures, signed
from tertium.cli.options import INPUT, OUTPUT, option
from tertium.comparison.result import SEGMENTS_SHOWN, Comparison
from tertium.comparison.significance import check_comparison, compare_scores
from tertium.data.pairs import Languages
from tertium.data.records import open_table
from tertium.data.systems import (
    SystemOutputs,
    outputs_from_files,
    outputs_from_table,
    outputs_from_translations,
)
from tertium.errors import InputError
from tertium.jobs.output import rounded, to_json
from tertium.jobs.task import Input, Job, Run
from tertium.jobs.tasks.score import ROWS_AT_A_TIME, ScoreTask, score_table
from tertium.measures.loading import MeasureLoader
from tertium.measures.scores import ScoreTable
from tertium.report.tables import FORMATS
from tertium.stats.conventions import ALPHA
from tertium.storage.atomic import write_text

PIPED_WIDTH = 1000
SUFFIXES = {
    OutputFormat.markdown: ".md",
    OutputFormat.latex: ".tex",
    OutputFormat.csv: ".csv",
    OutputFormat.tsv: ".tsv",
}
"""How :class:`tertium.report.tables.Table` calls the formats."""


@dataclass(frozen=True)
class CompareInputs(PairOptions):
    """The outputs of the systems."""

    systems: str | None = option(
        None,
        "The columns of the systems, separated by commas. Default: all other columns of text.",
        panel=INPUT,
    )

    def outputs(self, files: Sequence[Path], languages: Languages) -> SystemOutputs:
        """Read the outputs of all systems."""
        if self.hyp or self.ref or self.src is not None:
            if files:
                raise InputError("give either a table, or --hyp with --ref or --src")
            if len(self.hyp or []) < 2:
                raise InputError("give --hyp at least twice, once for each system")
            return outputs_from_files(
                self.hyp or [],
                self.ref or [],
                self.src,
                languages,
                replace_invalid=self.replace_invalid,
            )
        if not files:
            raise InputError(
                "give a table with one column per system, or --hyp with --ref or --src"
            )
        if len(files) > 1:
            return outputs_from_translations(files, languages)
        [table] = files
        names = [name for name in (self.systems or "").split(",") if name]
        opened = open_table(table, **self.reading)
        return outputs_from_table(opened, languages, systems=names, **self.columns)


@dataclass(frozen=True)
class CompareOutput(RowOptions):
    """What is printed and written."""

    panel: ClassVar[str] = OUTPUT

    output: Path | None = option(
        None,
        "Write a table of all systems and measures to a .csv, .tsv, .md, .tex or .txt "
        "file, or everything to a .json file.",
        "--output",
        "-o",
    )
    segments: int = option(
        SEGMENTS_SHOWN,
        "How many of the segments that differ most to show.",
        "--segments",
        "--worst",
        min=0,
        metavar="N",
    )
    html: Path | None = option(None, "Write an HTML page with plots to this file.")

    def check_format(self) -> None:
        """Refuse a file whose name does not tell its format."""
        if self.output is not None and self.output.suffix not in (*FORMATS, ".json"):
            raise InputError(
                f"{self.output}: cannot infer the format from the file name; use "
                f"{', '.join(FORMATS)}, .json"
            )

    def document(self, result: Comparison) -> str:
        """Everything, as JSON."""
        return to_json(rounded(result.document(count=self.segments), self.width))

    def write(self, result: Comparison) -> None:
        """Write the files that are requested."""
        if self.output is not None and self.output.suffix == ".json":
            write_text(self.output, self.document(result) + "\n")
        elif self.output is not None:
            write_text(self.output, result.table().as_format(self.output.suffix))
        if self.html is not None:
            from tertium.comparison.page import comparison_page

            write_text(self.html, comparison_page(result, segments=self.segments))

    def print(self, result: Comparison) -> None:
        """Print the comparison."""
        result = result.with_digits(self.width)
        if self.as_json:
            print(self.document(result))
        elif self.output_format in SUFFIXES:
            suffix = SUFFIXES[self.output_format]
            print(result.table().as_format(suffix), end="")
        elif not (self.quiet and (self.output is not None or self.html is not None)):
            from rich.console import Console

            from tertium.comparison.text import print_comparison

            console = Console(highlight=False)
            if not console.is_terminal:  # names of systems are not broken
                console.width = PIPED_WIDTH
            print_comparison(result, console, segments=self.segments)
            if any(each.identified for each in result.measures) and not self.quiet:
                say(f"if an identified language is wrong, use {flag('lang')}")


@dataclass(frozen=True)
class CompareStatistics(StatisticsOptions):
    """The tests."""

    panel: ClassVar[str] = STATISTICS

    baseline: str | None = option(
        None, "Compare all others with this system. Default: the best system."
    )
    alpha: float = option(ALPHA, "Significance level.")

    @property
    def tests(self) -> dict[str, Any]:
        """The settings of the tests."""
        return {"baseline": self.baseline, "samples": self.samples, "alpha": self.alpha}


@dataclass(frozen=True)
class CompareGate(GateOptions):
    """When the command ends with exit code 3."""

    fail_if_worse: str | None = option(
        None,
        "Exit with code 3 if this system is significantly worse than --baseline, or than "
        "any other, or if a score says nothing.",
        panel=GATES,
        metavar="SYSTEM",
    )


@dataclass(frozen=True)
class Compared:
    """The scores of all systems, and their comparison."""

    scores: ScoreTable
    result: Comparison

    def summary(self) -> dict[str, Any]:
        return self.scores.summary()


@grouped()
def compare(
    inputs: CompareInputs,
    measures: MeasureOptions,
    languages: LanguageOptions,
    output: CompareOutput,
    statistics: CompareStatistics,
    gate: CompareGate,
    models: ModelOptions,
    cluster: ClusterOptions,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="A table (TSV, CSV, JSONL, Parquet) with one column per system, or several "
            "localisation files of the same texts, one per system.",
        ),
    ] = None,
) -> None:
    """Compare two or more systems on one test set: which is better, and is it significant?

    A table has one column per system; references, sources, languages and metadata are recognised.
    """
    output.check_format()
    output.check([*(inputs.hyp or []), *(inputs.ref or []), *(files or [])], output.html)
    outputs = inputs.outputs(files or [], languages.languages)
    specs = measures.specs()
    limits = gate.limits(specs)
    tests = statistics.tests
    check_comparison(outputs, **tests)
    check_system(gate.fail_if_worse, outputs.systems)
    running = output.running(cluster.chosen(models.threads))
    loader = MeasureLoader(specs, running.models(models.chosen), languages.languages.hyp)
    task = ScoreTask.requested(loader, scores_only=True, segments=True)
    for source in outputs.sources.values():
        task.check(source)
    if not output.quiet and not output.as_json:
        say(f"systems: {', '.join(outputs.systems)}")
        if outputs.left_out:
            say(
                f"left out, as numbers or metadata: {', '.join(outputs.left_out)} (to choose the "
                "systems, use --systems)"
            )
        if outputs.unpaired:
            counts = ", ".join(f"{count} of {name}" for name, count in outputs.unpaired.items())
            say(f"left out, because not all files have them: {counts}")
    chosen = [Input(source, system) for system, source in outputs.sources.items()]
    chosen, assumed = assume_for_measures(
        chosen, specs, models.chosen, languages, quiet=output.quiet
    )
    job = Job(task, chosen, ROWS_AT_A_TIME)

    def plan(run: Run) -> Compared:
        table = score_table(job, run(job, None)).assuming(signed(assumed))
        made = Compared(table, compare_scores(table, outputs, seed=statistics.seed, **tests))
        output.write(made.result)
        return made

    compared = running.run(plan, job.count, notes_only=True)
    scores, result = compared.scores, compared.result
    output.print(result)
    if scores.tally is not None and not output.quiet and not output.as_json:
        print(scores.tally, file=sys.stderr)
    stop([*failures(scores, limits), *worse_than_others(result, scores, gate.fail_if_worse)])
