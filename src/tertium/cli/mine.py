"""``tertium mine``."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import IO, Annotated, Any, ClassVar

import typer

from tertium.cli.groups import (
    ClusterOptions,
    EncoderOptions,
    LanguageOptions,
    RowOptions,
    grouped,
    say,
)
from tertium.cli.options import ENGINE, INPUT, OUTPUT, ReplaceInvalid, option
from tertium.cli.running import Running
from tertium.data.lines import check_file, name_of, read_lines
from tertium.data.records import counted, listed, open_table
from tertium.errors import InputError
from tertium.filters.loading import FilterLoader
from tertium.filters.sequence import judge_in_turn
from tertium.filters.units import unit_for
from tertium.jobs.output import RowSink, StreamSink, TableSink, TsvLayout, layout_for
from tertium.jobs.task import Run
from tertium.jobs.vectors import VectorStore
from tertium.measures.loading import MeasureLoader, ModelSettings, outline, read_specs
from tertium.mining.candidates import NeighbourSettings
from tertium.mining.mine import PAIRS_AT_A_TIME, Mined, MinedPair, Miner, Task, TextList
from tertium.mining.thresholds import Labels, curve, sampled_precision
from tertium.text import Row

MINING = "Mining"
K, SEARCH_K = 4, 5
COLUMNS = ("src", "tgt", "src_line", "tgt_line", "cosine", "margin")


class MarginName(Enum):
    """The margins of Artetxe and Schwenk (2019)."""

    ratio = "ratio"
    distance = "distance"
    absolute = "absolute"


class SelectionName(Enum):
    """Which candidates become pairs."""

    one_to_one = "one-to-one"
    mutual = "mutual"
    all = "all"


class MethodName(Enum):
    """How nearest neighbours are found."""

    auto = "auto"
    exact = "exact"
    index = "index"


@dataclass(frozen=True)
class MineInputs:
    """The lists of texts."""

    corpus: Path | None = option(None, "Search this file, one text per line.", "--in", panel=INPUT)
    replace_invalid: ReplaceInvalid = False

    def paths(self, files: Sequence[Path]) -> list[Path]:
        """The files of one or two lists."""
        if len(files) > 2 or (self.corpus is not None and len(files) > 1):
            raise InputError("give two lists, or one list, or queries and --in CORPUS")
        return [*files, *([self.corpus] if self.corpus is not None else [])]

    def sides(self, paths: Sequence[Path], languages: LanguageOptions) -> list[TextList]:
        """The texts of each list; the second is in the language of the first by default."""
        first = languages.src or languages.hyp
        sides = []
        for path, lang in zip(paths, (first, languages.hyp or first), strict=False):
            check_file(path)
            lines = read_lines(path, replace_invalid=self.replace_invalid)
            sides.append(TextList.read(lines, lang))
            if not sides[-1].texts:
                raise InputError(f"{name_of(path)} has no texts: all lines are blank")
        return sides

    def task(self, sides: Sequence[TextList]) -> Task:
        """What is looked for."""
        if self.corpus is not None:
            return "search"
        return "bitext" if len(sides) == 2 else "paraphrases"


@dataclass(frozen=True)
class MiningOptions:
    """How pairs are found, scored and selected."""

    k: int | None = option(
        None,
        f"Candidates per text: its nearest neighbours. Default: {K}; with --in: {SEARCH_K}.",
        "-k",
        panel=MINING,
        min=1,
    )
    margin: MarginName | None = option(
        None,
        "Margin of the cosine over the nearest neighbours; absolute is the cosine itself. "
        "Default: ratio; with --in: absolute.",
        panel=MINING,
    )
    margin_k: int = option(4, "Neighbours in the margin.", panel=MINING, min=1, hidden=True)
    pairs: SelectionName | None = option(
        None,
        "one-to-one: best pairs first, each text once; mutual: each is the other's best; "
        "all: every candidate. Default: one-to-one; for one list: all.",
        panel=MINING,
    )
    rescore: str | None = option(
        None,
        "Score the candidates by a measure, such as cross, and rank by it.",
        "--rescore",
        "--measure",
        "-m",
        panel=MINING,
        metavar="MEASURE",
    )
    max_overlap: float | None = option(
        None,
        "Leave out near-copies: pairs that share more than this proportion of their "
        "character 3-grams. Default: keep them.",
        panel=MINING,
        min=0,
        max=1,
    )
    filters: str | None = option(
        None,
        "Filters of `tertium filter` for the candidates: length,ratio,lid,overlap.",
        panel=MINING,
    )
    neighbours: MethodName = option(
        MethodName.auto,
        "exact: compare all texts; index: inverted file index of faiss (extra: margin); "
        "auto: index beyond 50 000 texts.",
        panel=ENGINE,
        hidden=True,
    )
    vectors: Path | None = option(
        None,
        "Folder to keep vectors in, and to reuse them from. Default: they are deleted at the end.",
        panel=ENGINE,
        metavar="FOLDER",
        hidden=True,
    )
    rows_at_a_time: int = option(
        PAIRS_AT_A_TIME,
        "Candidates that are rescored and saved together.",
        panel=OUTPUT,
        min=1,
        hidden=True,
    )

    def miner(
        self,
        task: Task,
        models: ModelSettings,
        loader: MeasureLoader | None,
        langs: tuple[str | None, str | None],
    ) -> Miner:
        """What finds the pairs."""
        search = task == "search"
        margin = self.margin or (MarginName.absolute if search else MarginName.ratio)
        pairs = self.pairs or (
            SelectionName.all if task == "paraphrases" else SelectionName.one_to_one
        )
        return Miner(
            models,
            NeighbourSettings(
                self.k or (SEARCH_K if search else K),
                margin.value,
                self.margin_k,
                self.neighbours.value,
            ),
            pairs.value,
            loader,
            self.max_overlap,
            None if self.filters is None else _Filters(self.filters, models, langs),
            VectorStore(self.vectors) if self.vectors else None,
            self.rows_at_a_time,
        )


@dataclass(frozen=True)
class ThresholdOptions:
    """Which pairs are kept."""

    threshold: float | None = option(
        None,
        "Lowest score: of the measure with --rescore, otherwise of the margin. Default "
        "for two lists: the margin that pairs seldom reach by chance.",
        panel=MINING,
    )
    labelled: Path | None = option(
        None,
        "Choose the threshold with the best F1 on this table with the columns src, tgt "
        "and label (1 or 0). Without label, it must hold all true pairs.",
        panel=MINING,
    )
    plot: Path | None = option(
        None,
        "Plot precision, recall and F1 over the threshold (.png or .svg; extra: plot).",
        panel=OUTPUT,
        hidden=True,
    )

    def check(self) -> None:
        """Refuse a figure that cannot be drawn, before any work."""
        if self.plot is None:
            return
        if self.labelled is None:
            raise InputError("--plot needs --labelled")
        from tertium.report.plots import blank_figure

        blank_figure(1, 1, self.plot)

    @property
    def labels(self) -> tuple[Labels, bool] | None:
        """The labels, and whether they name all true pairs."""
        return None if self.labelled is None else _read_labels(self.labelled)


@dataclass(frozen=True)
class MineOutput(RowOptions):
    """What is printed and written."""

    panel: ClassVar[str] = OUTPUT

    sample: Path | None = option(
        None,
        "Also write a random sample of the pairs, with an empty column label: fill in 1 "
        "or 0, and read it with --labelled, which then estimates the precision.",
        metavar="FILE",
    )
    sample_size: int = option(100, "Pairs in --sample.", min=1, hidden=True)

    def check_files(self, inputs: Sequence[Path], plot: Path | None) -> None:
        """Refuse outputs that cannot be written, before any work."""
        for path in (self.output, self.sample):
            if path is not None:
                layout_for(path)
        self.check(inputs, self.sample, plot)
        if self.sample is not None and self.sample == self.output:
            raise InputError("two outputs have the same name")


@dataclass(frozen=True)
class _Plan:
    """Mines, chooses the pairs above the threshold, and writes them."""

    miner: Miner
    sides: Sequence[TextList]
    task: Task
    options: ThresholdOptions
    output: MineOutput
    by_chance: bool
    """Whether the threshold is the margin that pairs seldom reach by chance."""
    stdout: IO[str]
    measure: str | None
    summary: list[str] = field(default_factory=list)

    def __call__(self, run: Run) -> Mined:
        mined = self.miner.run(run, *self.sides, task=self.task)
        self.summary.append(counted(len(mined.pairs), "candidate"))
        labels, lowest = self.options.labels, self.options.threshold
        if labels is not None:
            lowest = self._learned(run, mined, labels, lowest)
        chosen = mined.above(lowest, self.by_chance)
        if lowest is not None:
            self.summary.append(f"{len(chosen)} with a score of at least {lowest:.4f}")
        elif self.by_chance and mined.chance is not None:
            self.summary.append(
                f"{len(chosen)} with a margin of at least {mined.chance:.4f}, which pairs seldom "
                "reach by chance (to choose another, use --threshold)"
            )
        if labels is not None and not labels[1]:
            estimate = sampled_precision([(each.source, each.target) for each in chosen], labels[0])
            self.summary.extend([] if estimate is None else [str(estimate)])
        self._write(run, [_row(pair, self.measure) for pair in chosen])
        return mined

    def _learned(
        self, run: Run, mined: Mined, labels: tuple[Labels, bool], lowest: float | None
    ) -> float:
        """The threshold with the best F1 on the labels, unless one is given."""
        found = curve(
            [(pair.source, pair.target) for pair in mined.pairs],
            [pair.score for pair in mined.pairs],
            labels[0],
            complete=labels[1],
        )
        if self.options.plot is not None:
            found.plot(self.options.plot)
        if not self.output.quiet:
            run.progress.hide()
            say(found.table().text())
        return found.best.threshold if lowest is None else lowest

    def _write(self, run: Run, rows: list[dict[str, Any]]) -> None:
        columns = [*COLUMNS, *([self.measure] if self.measure else []), "cut"]
        with run.explaining():
            if self.output.sample is not None:
                drawn = random.Random(0).sample(rows, min(self.output.sample_size, len(rows)))
                labelless = [{**row, "label": ""} for row in drawn]
                sink: RowSink = TableSink(self.output.sample, [*columns, "label"])
                _write(sink, labelless, run.folder / "removed")
            if self.output.output is None:
                run.progress.hide()
                sink = StreamSink(self.stdout, columns, self.output.layout(TsvLayout()))
            else:
                sink = TableSink(self.output.output, columns)
            _write(sink, rows, run.folder / "kept")


@grouped("ref_lang")
def mine(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE [FILE]",
            help="One text per line, also compressed: two lists to find translations, or one "
            "list to find paraphrases, or (with --in) queries.",
        ),
    ],
    inputs: MineInputs,
    languages: LanguageOptions,
    mining: MiningOptions,
    thresholds: ThresholdOptions,
    output: MineOutput,
    models: EncoderOptions,
    cluster: ClusterOptions,
) -> None:
    """Find pairs of texts with the same meaning: translations, paraphrases, or results of a search.

    [bold]tertium mine de.txt en.txt -l de-en --rescore cross -o pairs.tsv[/bold]
    """
    started = time.monotonic()
    paths = inputs.paths(files)
    thresholds.check()
    running = output.running(cluster.chosen(models.threads), what="texts")
    output.check_files(paths, thresholds.plot)
    sides = inputs.sides(paths, languages)
    thresholds.labels  # noqa: B018  # read before any work
    langs = sides[0].lang, sides[-1].lang
    loader = None
    if mining.rescore is not None:
        specs = read_specs([mining.rescore])
        loader = MeasureLoader(specs, running.models(models.chosen), langs[1])
    task = inputs.task(sides)
    plan = _Plan(
        mining.miner(task, models.chosen, loader, langs),
        sides,
        task,
        thresholds,
        output,
        task == "bitext" and mining.pairs is not SelectionName.all,
        sys.stdout,  # before the progress bar, which puts another stream in its place
        None if loader is None else outline(loader.specs[0]).name,
    )
    _run(plan, running, started)


def _run(plan: _Plan, running: Running, started: float) -> None:
    texts = [len(side.texts) for side in plan.sides]
    mined = running.run(plan, lambda: sum(texts), notes_only=True)
    say(*(f"tertium: {message}" for message in mined.messages))
    if not plan.output.quiet:
        counts = " and ".join(map(str, texts))
        seconds = time.monotonic() - started
        say(f"{', '.join(plan.summary)}; {counts} texts in {seconds:.1f} s")


def _row(pair: MinedPair, measure: str | None) -> dict[str, Any]:
    row = dict(zip(COLUMNS, pair[: len(COLUMNS)], strict=True))
    return {**row, **({} if measure is None else {measure: pair.rescored}), "cut": pair.cut}


def _write(sink: RowSink, rows: Sequence[dict[str, Any]], scratch: Path) -> None:
    with sink.open(scratch) as write:
        for row in rows:
            write(row)


class _Filters:
    """Applies filters of ``tertium filter`` to candidates."""

    def __init__(
        self, names: str, models: ModelSettings, langs: tuple[str | None, str | None]
    ) -> None:
        chosen = tuple(name.strip().lower() for name in names.split(",") if name.strip())
        loader = FilterLoader(chosen, models, unit=unit_for(models.model, list(langs)))
        self._filters, _ = loader.load(chosen)

    def __call__(self, rows: Sequence[Row]) -> list[bool]:
        return [outcome.place is None for outcome in judge_in_turn(self._filters, rows)]


def _read_labels(path: Path) -> tuple[Labels, bool]:
    """The labels of pairs, and whether they name all true pairs (there is no column label)."""
    table = open_table(path)
    names = table.columns()
    for name in ("src", "tgt"):
        if name not in names:
            raise InputError(f"{path} has no column {name!r}; it has the columns {listed(names)}")
    labels = {}
    for row, record in enumerate(table, start=1):
        given = record.get("label", 1)
        value = "" if given is None else str(given).strip().lower()
        if not value:
            continue  # of a sample, not everything needs a label
        if value not in ("0", "1", "false", "true"):
            raise InputError(f"{path}, row {row}: the label is {value!r}; it must be 1 or 0")
        labels[record["src"], record["tgt"]] = value in ("1", "true")
    return labels, "label" not in names
