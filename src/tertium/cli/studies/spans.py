"""``tertium study spans``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertium.cli.options import Encoder, SrcLang, option
from tertium.cli.studies.options import StudyOptions, study_command
from tertium.data.pairs import Languages, TablePairs, choose_columns
from tertium.data.records import open_table
from tertium.errors import InputError

if TYPE_CHECKING:
    from tertium.studies.spans.published import LabelledPair
    from tertium.text import Row


@dataclass(frozen=True)
class SpanOptions:
    """Translations and their sources, or labels by people."""

    pairs: Annotated[
        Path | None,
        typer.Argument(help="Translations and their sources: columns hyp and src (or ref)."),
    ] = None
    labels: Path | None = option(
        None,
        "Instead of edits, labels by people: a file in the layout of RSD, MQM, "
        "mt-metrics-eval, the WMT error span task or ESA, or the tags of MLQE-PE. Also finds "
        "the best thresholds.",
    )
    lang: str | None = option(None, "Language of the translations.", "--lang", "-l")
    src_lang: SrcLang = None
    hyp_column: str | None = option(None, "The column of translations.")
    src_column: str | None = option(None, "The column of sources.")

    def __post_init__(self) -> None:
        if (self.pairs is None) == (self.labels is None):
            raise InputError("give either a file of translations and sources, or --labels")

    def labelled(self, limit: int | None) -> list[LabelledPair] | None:
        """Read the labels by people, if they are given."""
        from tertium.studies.spans.published import read_labels

        if self.labels is None:
            return None
        return read_labels(self.labels, self.lang, self.src_lang or self.lang, limit)

    def read(self, limit: int | None) -> list[Row]:
        """Read translations and sources, if they are given."""
        if self.pairs is None:
            return []
        table = open_table(self.pairs)
        languages = Languages(hyp=self.lang, ref=self.src_lang, src=self.src_lang)
        columns = choose_columns(table, hyp=self.hyp_column, src=self.src_column)
        return list(islice(TablePairs(table, columns, languages), limit))


@study_command("measure")
def spans(
    data: SpanOptions,
    options: StudyOptions,
    method: list[str] | None = option(
        None,
        "coverage, opposites, unlikely, contrast, differences, deletion, "
        "hallucination, flags; several with commas. Default: all.",
    ),
    threshold: list[str] | None = option(
        None, "As for `tertium explain`; repeatable.", metavar="METHOD=NUMBER"
    ),
    edit: list[str] | None = option(
        None,
        "deleted, inserted, replaced, number, name, negation, exchanged, decimal, sign, "
        "unit, opposite, half; may be repeated. Default: all.",
    ),
    encoder: Encoder = None,
) -> None:
    """Which method finds omissions, additions and other differences? Edits at known places."""
    from tertium.explanation.review import (
        NEED_ENCODER,
        NEED_MODEL,
        Reviewer,
        learned_for,
        read_methods,
        read_thresholds,
    )
    from tertium.studies.spans.edits import CONTROLS, EDITS, edited_pairs
    from tertium.studies.spans.labels import RANKED, LabelStudy
    from tertium.studies.spans.study import STUDIED, SpanStudy

    kinds = [] if data.labels is not None else edit or list(EDITS)
    for kind in kinds:
        if kind not in EDITS:
            raise InputError(f"--edit {kind}: use {', '.join(EDITS)}")
    names = read_methods(method or list(STUDIED))
    labelled = data.labelled(options.limit)
    if labelled is not None:
        names = tuple(name for name in names if name in RANKED)
    rows = data.read(options.limit)
    load = options.models(encoder=encoder)
    needs_model = NEED_MODEL.intersection(names) or "deleted" in kinds
    model = load("translation") if needs_model else None
    vectors = load("tokens") if NEED_ENCODER.intersection(names) else None
    reviewer = Reviewer(names, model, vectors, thresholds=read_thresholds(threshold or (), names))
    runner = options.runner()
    study: SpanStudy | LabelStudy
    if labelled is not None:
        study = LabelStudy(labelled, reviewer, options.samples, options.seed, runner)
    else:
        learned, aligner = learned_for(model)
        edited = edited_pairs(
            [(row.hypothesis, row.source or row.references[0]) for row in rows],
            [*CONTROLS, *kinds],
            model=model,
            seed=options.seed,
            domains=[str(row.record.get("domain") or "") for row in rows],
        )
        reviewer = replace(reviewer, learned=learned, aligner=aligner)
        study = SpanStudy(edited, reviewer, options.samples, options.seed, runner)
    options.finish(options.run(study), runner)
