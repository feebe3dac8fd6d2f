"""``tertium explain``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from tertium.cli.groups import (
    ClusterOptions,
    EncoderOptions,
    LanguageOptions,
    RowOptions,
    TextOptions,
    grouped,
    refuse_together,
)
from tertium.cli.inputs import Inputs, check_is_text, names_table
from tertium.cli.languages import assume
from tertium.cli.options import INPUT, OUTPUT, HtmlFile, option
from tertium.data.pairs import Source as RowSource
from tertium.data.records import counted
from tertium.errors import InputError
from tertium.explanation import explain as explanation
from tertium.explanation.coverage import CoverageSettings
from tertium.explanation.decisions import FALSE_ALARMS, check_rate
from tertium.explanation.exchange import Exchange, exchange_for
from tertium.explanation.likelihood import document_direction
from tertium.explanation.page import explanation_page
from tertium.explanation.report import print_review, review_page
from tertium.explanation.review import NEED_MODEL, read_methods, read_thresholds
from tertium.explanation.terminal import print_explanation
from tertium.explanation.verdict import learned_verdict
from tertium.jobs.output import LAYOUTS, JsonLinesLayout, Layout, QuotedTsvLayout, TsvLayout
from tertium.jobs.task import Input, Job
from tertium.jobs.tasks.explain import ROWS_AT_A_TIME, ExplainTask, ReviewerLoader, summed_up
from tertium.measures.loading import ModelPool, ModelSettings
from tertium.storage.atomic import write_text

if TYPE_CHECKING:
    from rich.console import Console

    from tertium.jobs.tasks.explain import Explained

METHODS = "Methods"
NO_FILE = "two texts are not rows; give a file of pairs"


@dataclass(frozen=True)
class ExplainInputs(TextOptions):
    """What is explained."""

    against: str | None = option(
        None,
        "Compare with the source or with the reference. Default: the source, if there is one.",
        panel=INPUT,
    )

    def inputs(self, texts: Sequence[str], languages: LanguageOptions) -> Inputs:
        """The arguments by their roles."""
        if len(self.hyp or []) > 1:
            raise InputError("explain takes one system at a time: give one file with -t")
        return Inputs(
            texts,
            hyp=self.hyp[0] if self.hyp else None,
            refs=tuple(self.ref or ()),
            src=self.src,
            languages=languages.languages,
            columns=self.columns,
            as_text=self.as_text,
            **self.reading,
        )


@dataclass(frozen=True)
class MethodOptions:
    """How differences are found."""

    panel: ClassVar[str] = METHODS

    method: list[str] | None = option(
        None,
        "coverage, opposites, unlikely, contrast, differences, deletion, hallucination, "
        "direction, flags; several with commas. Default: "
        "coverage,opposites,hallucination,flags for files; token log-probabilities for two "
        "texts.",
    )
    tokens: bool = option(False, "Without --method: show subword tokens, not words.")
    threshold: list[str] | None = option(
        None,
        "Report what has at least this score, for example coverage=0.2; may be repeated. "
        "A number alone is that of the first method. `tertium study spans --labels` learns "
        "thresholds.",
        metavar="METHOD=NUMBER",
    )
    false_alarms: float = option(
        FALSE_ALARMS,
        "Report so much that this share of right rows is reported, with thresholds that "
        "were learned for the model. --threshold replaces them.",
    )
    decisions: Path | None = option(
        None,
        "Thresholds that scripts/learn_decisions.py learned. Default: decisions.json in "
        "the folder of the model, if there is one.",
        metavar="FILE",
        hidden=True,
    )
    error_free: bool = option(
        False,
        "Add the columns error_probability, score (0 to 100) and error_free (1 if "
        "nothing is reported).",
    )
    max_words: int | None = option(
        None, "coverage: the longest phrases that are tried.", min=1, hidden=True
    )
    min_words: int | None = option(
        None, "coverage: the shortest phrases that are tried.", min=1, hidden=True
    )
    worst: int = option(
        explanation.WORST_PLACES,
        "Two texts without --method: at how many of the worst tokens to show alternatives.",
        min=0,
        hidden=True,
    )

    @property
    def names(self) -> tuple[str, ...]:
        """The methods."""
        return read_methods(self.method)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of a reviewer."""
        given: dict[str, Any] = {"max_words": self.max_words, "min_words": self.min_words}
        coverage = replace(
            CoverageSettings(), **{name: n for name, n in given.items() if n is not None}
        )
        thresholds = read_thresholds(self.threshold or (), self.names)
        return {
            "coverage": coverage,
            "thresholds": thresholds,
            "false_alarms": check_rate(self.false_alarms),
        }

    def loader(self, models: ModelSettings) -> ReviewerLoader:
        """What loads the reviewer."""
        return ReviewerLoader(
            self.names, models, self.settings, self.decisions, error_free=self.error_free
        )


@dataclass(frozen=True)
class ExplainOutput(RowOptions):
    """What is printed and written."""

    panel: ClassVar[str] = OUTPUT

    exchange: str | None = option(
        None,
        "Write the layout of another tool: mqm (TSV of MQM ratings), mtme (JSONL ratings "
        "of mt-metrics-eval), wmt (TSV of the WMT error span task), esa (JSONL of ESA). "
        "Default: the columns of the input with spans, flags and severity.",
        "--layout",
    )
    html: HtmlFile = None
    rows_at_a_time: int = option(
        ROWS_AT_A_TIME, "Rows that are done and saved together.", min=1, hidden=True
    )

    def refuse_for_two_texts(self) -> None:
        """Refuse what only files have."""
        given = {
            "--output": self.output is not None,
            "--layout": self.exchange is not None,
            "--resume": self.resume,
            "--overwrite": self.overwrite,
        }
        refuse_together(given, NO_FILE)

    def page(self, content: str) -> None:
        """Write the page, if one is requested."""
        if self.html is not None:
            write_text(self.html, content)


@grouped()
def explain(
    inputs: ExplainInputs,
    languages: LanguageOptions,
    methods: MethodOptions,
    output: ExplainOutput,
    models: EncoderOptions,
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
    """Show where two texts differ: unlikely tokens, omissions, additions and other spans.

    [bold]tertium explain pairs.tsv -o spans.jsonl --html report.html[/bold] reads the columns hyp,
    ref, src and lang, and finds the spans of every row.
    """
    given = list(texts or [])
    arguments = inputs.inputs(given, languages)
    output.check(arguments.names, output.html)
    if len(given) == 2 and not any(map(names_table, given)):
        for text in given if not inputs.as_text else []:
            check_is_text(text, "two arguments are two texts; use --hyp and --ref for files")
        languages.refuse_source()
        output.refuse_for_two_texts()
        explain_texts(arguments, methods, output, models)
        return
    started = time.monotonic()
    running = output.running(cluster.chosen(models.threads))
    loader = methods.loader(running.models(models.chosen))
    sources = [Input(source) for source in arguments.sources()]
    against_source = choose_side(sources[0].source, inputs.against)
    if NEED_MODEL.intersection(loader.methods) and not all(vars(arguments.languages).values()):
        roles = ("hypothesis", "source" if against_source else "reference")
        model = ModelPool(loader.models)("translation")
        sources, _ = assume(sources, roles, model.languages, quiet=output.quiet)
    exchange = choose_exchange(output.exchange, output.output, against_source)
    layouts = LAYOUTS if exchange is None else {exchange.suffix: layout_of(exchange)}
    shown = output.layout(TsvLayout() if exchange is None else layout_of(exchange)())
    task = ExplainTask(loader, against_source, exchange, keep=output.html is not None)
    job = Job(task, sources, output.rows_at_a_time)
    hidden = output.output is None and output.html is not None
    result = running(job, summed_up, shown=None if hidden else shown, layouts=layouts)
    if output.html is not None:
        sides = ("hypothesis", "source" if against_source else "reference")
        title = f"Where the texts of {sources[0].source.name} differ"
        output.page(review_page(result.reviews, title=title, sides=sides, names=result.names))
    if not output.quiet:
        notes = _document_direction(against_source, result.directions)
        _print_summary(result, time.monotonic() - started, [*notes, *result.finished.messages])


def explain_texts(
    inputs: Inputs, methods: MethodOptions, output: ExplainOutput, models: EncoderOptions
) -> None:
    """Explain two texts."""
    console = _console()
    pool = ModelPool(models.chosen)
    sources = [Input(source) for source in inputs.sources()]
    needs = methods.method is None or NEED_MODEL.intersection(methods.names)
    if needs and None in (inputs.languages.hyp, inputs.languages.ref):
        roles = ("hypothesis", "reference")
        languages = pool("translation").languages
        sources, _ = assume(sources, roles, languages, quiet=output.quiet)
    row: Any = next(iter(sources[0].source))
    a, b = row.hypothesis, row.references[0]
    if methods.method is None:
        if methods.threshold:
            raise InputError("--threshold needs --method")
        model = pool("translation")
        explained = explanation.explain(
            a.text, b.text, lang=a.lang, reference_lang=b.lang, model=model, worst=methods.worst
        )
        if (found := learned_verdict(a, b, model)) is not None:
            console.print(found.sentence, style="bold", markup=False, soft_wrap=True)
            console.print()
        print_explanation(explained, console, tokens=methods.tokens)
        output.page(explanation_page(explained))
        return
    reviewer, _ = methods.loader(models.chosen).load()
    [review] = reviewer([(a, b)])
    print_review(review, console, methods=methods.names)
    output.page(review_page([review], title="Where the texts differ"))


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


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False)


def _print_summary(result: Explained, seconds: float, notes: Sequence[str]) -> None:
    """Print how many rows have which kinds of spans to standard error."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    rows = counted(result.rows, "row")
    console.print(f"{result.marked} of {rows} with a span or a flag, in {seconds:.1f} s")
    for kind, count in sorted(result.kinds.items()):
        console.print(f"[bold]{kind}[/bold] {count}")
    for note in notes:
        console.print(note)
    if result.finished.resumed:
        console.print(f"{counted(result.finished.resumed, 'row')} done before")
    if result.finished.tally is not None:
        console.print(str(result.finished.tally), style="dim")
