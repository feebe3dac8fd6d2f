"""``tertium rerank``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from tertium.cli.groups import (
    ClusterOptions,
    LanguageOptions,
    MeasureOptions,
    ModelOptions,
    RowOptions,
    TableOptions,
    grouped,
    say,
)
from tertium.cli.languages import assume_for_lists
from tertium.cli.options import (
    INPUT,
    OUTPUT,
    HypColumn,
    RefColumn,
    References,
    Source,
    SrcColumn,
    option,
)
from tertium.cli.running import progress_bar
from tertium.data.nbest import CandidateLists, ParallelTexts, open_lists
from tertium.data.pairs import Languages
from tertium.data.records import counted
from tertium.errors import InputError, SettingError
from tertium.jobs.output import TEXT_LAYOUTS, TextLayout, TsvLayout
from tertium.jobs.task import Input, Job
from tertium.jobs.tasks.rerank import LISTS_AT_A_TIME, RerankTask, reranked
from tertium.measures.loading import (
    MeasureLoader,
    MeasureSpec,
    ModelPool,
    ModelSettings,
    guarded,
    make_measure,
    read_specs,
)
from tertium.reranking.utilities import UtilitySettings

if TYPE_CHECKING:
    from tertium.jobs.tasks.rerank import Reranked

MIXTURE, BAYES = "Mixture", "Minimum Bayes risk"
JUDGE = "chrf"


@dataclass(frozen=True)
class RerankInputs(TableOptions):
    """The lists of candidates."""

    panel: ClassVar[str] = INPUT

    src: Source = None
    ref: References = None
    format: str | None = option(
        None, "jsonl, tsv, csv, parquet, moses or fairseq. Default: by content and file name."
    )
    hyp_column: HypColumn = None
    group_column: str | None = option(None, "The column that groups candidates.", hidden=True)
    score_column: str | None = option(None, "The column of the decoder's score.", hidden=True)
    src_column: SrcColumn = None
    ref_column: RefColumn = None

    @property
    def files(self) -> list[Path]:
        """The files beside the lists."""
        return [*(self.ref or []), *([self.src] if self.src else [])]

    def lists(self, file: Path, languages: Languages, *, parallel: bool = True) -> CandidateLists:
        """Open lists; sources and references may be in files beside them."""
        options: dict[str, Any] = {
            **self.reading,
            "hyp": self.hyp_column,
            "group": self.group_column,
            "score": self.score_column,
            "src": self.src_column,
            "refs": self.ref_column or [],
        }
        beside = ParallelTexts(self.src, tuple(self.ref or []), languages)
        return open_lists(file, languages, *([beside] if parallel else []), **options)


@dataclass(frozen=True)
class Mixture:
    """How the measures are weighted, and candidates compared."""

    weights: str | None = option(
        None, "Weights of the measures. Default: equal.", panel=MIXTURE, metavar="W,W"
    )
    decoder: float = option(
        0.0, "Weight of the decoder's own score (column score).", panel=MIXTURE, min=0
    )
    tune: Path | None = option(
        None,
        "Tune the weights on these lists, which have references (column ref).",
        panel=MIXTURE,
        metavar="FILE",
    )
    tune_by: str = option(JUDGE, "The measure that is tuned for.", panel=MIXTURE, metavar="MEASURE")
    prune: float | None = option(
        None,
        "Compare candidates that cannot win with fewer references; 0.99 is usual.",
        panel=BAYES,
        metavar="CONFIDENCE",
    )
    aggregate: bool = option(
        False, "Compare with the aggregate of all candidates: chrf and sss.", panel=BAYES
    )
    seed: int = option(0, "Seed of --prune.", panel=BAYES, min=0)

    def __post_init__(self) -> None:
        if self.tune is not None and self.weights is not None:
            raise InputError("--tune finds the weights, --weights gives them: use one of them")

    @property
    def numbers(self) -> tuple[float, ...]:
        """The weights."""
        try:
            return tuple(map(float, self.weights.split(","))) if self.weights else ()
        except ValueError:
            raise SettingError(
                f"--weights {self.weights}: write numbers with commas, such as 1,0.5"
            ) from None

    @property
    def utility(self) -> UtilitySettings:
        """How candidates are compared with each other."""
        return UtilitySettings(self.prune, self.aggregate, self.seed)

    def tuned(self, task: RerankTask, dev: CandidateLists, *, quiet: bool) -> RerankTask:
        """The task with the weights that are best on other lists."""
        task.check(dev)
        pool = ModelPool(task.measures.models)
        reranker = task.with_models(pool).reranker
        [objective] = read_specs([self.tune_by])
        with progress_bar(lambda: None, shown=not quiet, what="tuning") as progress:
            found = reranker.tuned(
                list(dev), make_measure(objective, pool, lang=task.measures.lang), progress.detail
            )
        if not quiet:
            pairs = zip(task.names, found.weights, strict=True)
            listed = ", ".join(f"{name} {weight:.3f}" for name, weight in pairs)
            say(f"tuned weights: {listed}; {self.tune_by} on {dev.name}: {found.score:.4f}")
        kept = len(task.measures.specs)
        decoder = found.weights[kept] if len(found.weights) > kept else 0.0
        return replace(task, weights=found.weights[:kept], decoder=decoder)


@dataclass(frozen=True)
class RerankOutput(RowOptions):
    """What is printed and written."""

    output: Path | None = option(
        None,
        "A .txt file (the chosen texts), or a .tsv, .csv, .jsonl or .parquet file with "
        "scores. Default: the chosen texts to standard output.",
        "--output",
        "-o",
        panel=OUTPUT,
    )
    ranking: bool = option(False, "Write all candidates, best first.", panel=OUTPUT)
    judge: list[str] | None = option(
        None,
        "Compare the first, the chosen and the best candidates with the references. "
        f"Default: {JUDGE}. May be repeated.",
        panel=OUTPUT,
        metavar="MEASURE",
    )
    lists_at_a_time: int = option(LISTS_AT_A_TIME, min=1, hidden=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.output is not None and self.ranking and self.output.suffix == ".txt":
            raise InputError(
                f"{self.output} has one line per list: leave out --ranking, or write a .tsv"
            )

    def judges(self, lists: CandidateLists) -> tuple[MeasureSpec, ...]:
        """The measures that compare the choice with references, if there are any."""
        if lists.has_references:
            return read_specs(self.judge or [JUDGE])
        if self.judge:
            raise InputError(f"--judge needs references, and {lists.name} has none; use --ref")
        return ()


@grouped("long", "ref_lang")
def rerank(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Lists of candidates: JSON Lines with a list each, a table with a column that "
            "groups them, an n-best list of Moses, or the output of fairseq-generate.",
        ),
    ],
    inputs: RerankInputs,
    measures: MeasureOptions,
    options: LanguageOptions,
    mixture: Mixture,
    output: RerankOutput,
    models: ModelOptions,
    cluster: ClusterOptions,
) -> None:
    """Choose the best of several candidate translations.

    A measure that reads sources (prism-src) estimates the quality of each one.
    Any other compares the candidates with each other: minimum Bayes risk.

    [bold]tertium rerank samples.jsonl -m cross chrf -l en-de -o best.txt[/bold]
    """
    started = time.monotonic()
    lists = inputs.lists(file, options.languages)
    specs = guarded(measures.specs())
    judges = output.judges(lists)
    output.check([file, *inputs.files])
    running = output.running(cluster.chosen(models.threads), what="lists")
    loaded = running.models(models.chosen)

    def task_in(languages: Languages) -> RerankTask:
        return RerankTask(
            MeasureLoader(specs, loaded, languages.hyp),
            mixture.numbers,
            mixture.decoder,
            mixture.utility,
            MeasureLoader(judges, loaded, languages.hyp) if judges else None,
            output.ranking,
            lists.has_source,
        )

    task_in(options.languages).check(lists)
    languages = assume_for_lists(lists, specs, loaded, options.languages, quiet=output.quiet)
    lists, task = inputs.lists(file, languages), task_in(languages)
    if mixture.tune is not None:
        if len(task.names) < 2:
            raise InputError("--tune needs several measures, or --decoder with any weight")
        dev = inputs.lists(mixture.tune, languages, parallel=False)
        task = mixture.tuned(task, dev, quiet=output.quiet)
    result = running(
        Job(task, [Input(lists)], output.lists_at_a_time),
        reranked,
        shown=output.layout(TsvLayout() if output.ranking else TextLayout()),
        layouts=TEXT_LAYOUTS,
    )
    if not output.quiet:
        _print_summary(result, judges, loaded, time.monotonic() - started)


def _print_summary(
    done: Reranked, judges: Sequence[MeasureSpec], models: ModelSettings, seconds: float
) -> None:
    """Print what was chosen, and the gain if there are references, to standard error."""
    from tertium.reranking.gain import CHOSEN, FIRST, ORACLE

    facts = [
        f"{counted(done.lists, 'list')}, {done.candidates} candidates in {seconds:.1f} s",
        f"another than the first in {done.changed}",
        f"{counted(done.pairs, 'pair')} scored",
    ]
    if done.finished.resumed:
        facts.append(f"{counted(done.finished.resumed, 'list')} before")
    if done.finished.tally is not None:
        facts.append(str(done.finished.tally))
    say("; ".join(facts))
    pool = ModelPool(models)
    for measure in (make_measure(spec, pool) for spec in judges):
        systems = done.gains[measure.column].systems(measure)
        gain = systems[CHOSEN] - systems[FIRST]
        say(
            f"{measure.column}: first {systems[FIRST]:.4f}, chosen {systems[CHOSEN]:.4f} "
            f"({gain:+.4f}), best possible {systems[ORACLE]:.4f}"
        )
    if done.cut:
        say(f"tertium: {counted(done.cut, 'list')} with text that is longer than the model reads")
