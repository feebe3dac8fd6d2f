"""The options of all studies, and what the commands do with them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, get_args

import typer

from tertium._version import __version__
from tertium.cli.groups import grouped, say
from tertium.cli.options import (
    ComputeType,
    HtmlFile,
    Model,
    NoCache,
    Threads,
    option,
)
from tertium.cli.running import progress_bar
from tertium.data.records import counted
from tertium.errors import InputError, SettingError
from tertium.models.catalog import DEFAULT_MODEL
from tertium.stats.conventions import SAMPLES

if TYPE_CHECKING:
    from tertium.measures.loading import MeasureSpec
    from tertium.studies.judgements.sets import JudgedSet
    from tertium.studies.report import Report
    from tertium.studies.runner import Runner, SharedModels

HUB = "hub"
FEWEST_SAMPLES = 20
"""With n samples, no p-value is below 1 / (n + 1)."""
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")]
AsPublished = Annotated[
    bool,
    typer.Option(
        "--as-published",
        help="Compute measures as the authors' code does (base, references, scale, BLEU), and show "
        "the numbers of the paper, where it prints any, beside those that were obtained.",
    ),
]


@dataclass(frozen=True)
class StudyOptions:
    """The options that studies share; a command has all of them but those that it replaces."""

    measure: list[str] | None = option(
        None,
        "A measure; may be repeated: chrf, sss+wmd, cross@MODEL, direct:normalized=no.",
        "--measure",
        "-m",
    )
    output: Path | None = option(
        None, "A folder for tables and scores; scores that are there are reused.", "--output", "-o"
    )
    overwrite: bool = option(False, "Score everything again, and replace the scores.")
    plots: bool = option(False, "Draw figures: SVG, PNG and PDF (extra: plot).")
    html: HtmlFile = None
    limit: int | None = option(None, "Only this many items of each set, for a trial.", min=1)
    samples: int = option(SAMPLES, "The number of bootstrap samples.", min=1)
    seed: int = option(0, "The seed of the bootstrap.")
    quiet: Quiet = False
    model: Model = DEFAULT_MODEL
    compute_type: ComputeType = "auto"
    threads: Threads = None
    no_cache: NoCache = False

    def specs(self, default: Sequence[str]) -> list[MeasureSpec]:
        """The measures."""
        from tertium.measures.loading import read_specs

        return list(read_specs(self.measure or default))

    def models(self, **settings: Any) -> SharedModels:
        """The source of models."""
        from tertium.measures.loading import ModelSettings
        from tertium.studies.runner import SharedModels

        given = ModelSettings(
            model=self.model,
            compute_type=self.compute_type,
            threads=self.threads,
            cache=not self.no_cache,
        )
        return SharedModels(replace(given, **settings))

    def runner(self, *, processes: int = 1) -> Runner:
        """The runner, which keeps its cells in the output folder."""
        from tertium.studies.runner import CellFolder, Runner

        folder = None if self.output is None else CellFolder(self.output / "scores")
        return Runner(folder, processes=processes, overwrite=self.overwrite)

    def about(self, runner: Runner) -> dict[str, list[str]]:
        """What the page says about a run: data, settings, signatures of the measures, command."""
        rows = [f"{name}: {counted(size, 'row')}" for name, size in runner.sizes.items()]
        default = StudyOptions()
        settings = [
            f"{name} {value}"
            for name in ("limit", "samples", "seed", "model", "compute_type")
            if (value := getattr(self, name)) is not None
            and (value != getattr(default, name) or name in ("samples", "seed"))
        ]
        found = {
            "Data": rows,
            "Settings": [f"tertium {__version__}, {', '.join(settings)}"],
            "Measures": [f"{name}: {own}" for name, own in runner.signatures.items()],
            "Command": [shlex.join(["tertium", *sys.argv[1:]])],
        }
        return {name: lines for name, lines in found.items() if lines}

    def run(self, study: Study, what: str = "rows") -> Any:
        """Run a study with a progress bar."""
        with progress_bar(lambda: study.size, shown=not self.quiet, what=what) as bar:
            if bar is not None:
                study.runner.advance, study.runner.progress = bar.advance, bar.detail
            return study.run()

    def finish(self, report: Report, runner: Runner) -> None:
        """Print the tables, and write what was requested."""
        from rich.console import Console

        report = replace(
            report, tables={**report.tables, **runner.tables()}, about=self.about(runner)
        )
        if self.samples < FEWEST_SAMPLES:
            say(
                f"with {self.samples} bootstrap samples, no difference can be significant: all "
                f"measures are in the top cluster; use --samples {FEWEST_SAMPLES} or more"
            )
        console = Console(highlight=False)
        for number, table in enumerate(report.tables.values()):
            if number:
                console.print()
            table.print(console)
        report.write(self.output, plots=self.plots, html=self.html)
        if runner.reused:
            print(
                f"tertium: {runner.reused} of {runner.count} cells were reused from {self.output}",
                file=sys.stderr,
            )


class Study(Protocol):
    """What the commands run."""

    runner: Runner

    @property
    def size(self) -> int: ...

    def run(self) -> Any: ...


def study_command(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of all studies, which it receives as ``options``.

    Those of ``without`` are left out; an option that the command declares itself replaces the one
    of the same name. While it runs, no other study writes into the same folder.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(options: StudyOptions, **given: Any) -> None:
            from tertium.storage.resume import locked
            from tertium.studies.report import check_outputs

            check_outputs(options.output, plots=options.plots, html=options.html)
            with nullcontext() if options.output is None else locked(options.output):
                command(options=options, **given)

        return grouped(*without)(run)

    return decorate


@dataclass(frozen=True)
class JudgedOptions:
    """Datasets with judgements by people."""

    dataset: Annotated[
        list[str],
        typer.Option(
            "--dataset",
            help="NAME=FOLDER; may be repeated. Plain files (LANG.tsv or SRC-TGT.tsv), outputs in "
            "columns with human.tsv, or as published: wmt, mqm, or any dataset that NAME begins "
            "with (tertium data list), such as webnlg, amr, mlqe, multi30k, stsb; stsb=hub, "
            "wmt-da=hub and wmt-mqm=hub are downloaded.",
        ),
    ]
    langs: str | None = option(None, "Only these languages or pairs, as in en or de-en,fi-en.")
    score: str | None = option(
        None,
        "The judgement: its column in plain files, or its name in a test set of "
        "mt-metrics-eval (mqm, esa, esa-gemba, wmt, wmt-z, wmt-raw).",
    )
    against_source: bool = option(False, "Compare with sources: quality estimation as a metric.")

    def sets(self, limit: int | None) -> list[JudgedSet]:
        """Read the datasets."""
        from tertium.studies.judgements.sets import read_sets

        chosen = self.langs.split(",") if self.langs is not None else None
        sets: list[JudgedSet] = []
        for text in self.dataset:
            name, place = named(text, "--dataset", f"NAME=FOLDER or NAME={HUB}")
            folder = None if place == HUB else Path(place).expanduser()
            sets += read_sets(name, folder, chosen, self.score)
        if not sets:
            raise InputError(f"the data have nothing in {self.langs}")
        return [each.limited(limit) for each in sets]


def named(option: str, flag: str, form: str) -> tuple[str, str]:
    """Split NAME=VALUE."""
    name, equals, value = option.partition("=")
    if not equals:
        raise SettingError(f"{flag} {option}: write it as {form}")
    return name, value


def check_choice(value: str, allowed: Any) -> Any:
    """Refuse what is not a value of a Literal type."""
    if value not in get_args(allowed):
        raise SettingError(f"{value}: it must be one of {', '.join(get_args(allowed))}")
    return value
