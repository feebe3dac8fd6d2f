"""``tertium study spans``."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from tertium.cli.options import Encoder, SrcLang
from tertium.cli.studies.options import StudyOptions, study_command
from tertium.data.pairs import Languages, TablePairs, choose_columns
from tertium.data.records import open_table
from tertium.errors import InputError


@study_command("measure")
def spans(
    options: StudyOptions,
    pairs: Annotated[
        Path | None,
        typer.Argument(help="Translations and their sources: columns hyp and src (or ref)."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Instead of edits, labels by people: a file in the layout of RSD, MQM, "
            "mt-metrics-eval, the WMT error span task or ESA, or the tags of MLQE-PE. Also finds "
            "the best thresholds."
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            help="coverage, opposites, unlikely, contrast, differences, deletion, "
            "hallucination, flags; several with commas. Default: all.",
        ),
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            "--threshold", metavar="METHOD=NUMBER", help="As for `tertium explain`; repeatable."
        ),
    ] = None,
    edit: Annotated[
        list[str] | None,
        typer.Option(
            "--edit",
            help="deleted, inserted, replaced, number, name, negation, exchanged, decimal, sign, "
            "unit, opposite, half; may be repeated. Default: all.",
        ),
    ] = None,
    lang: Annotated[
        str | None, typer.Option("--lang", "-l", help="Language of the translations.")
    ] = None,
    src_lang: SrcLang = None,
    hyp_column: Annotated[str | None, typer.Option(help="The column of translations.")] = None,
    src_column: Annotated[str | None, typer.Option(help="The column of sources.")] = None,
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
    from tertium.studies.spans.published import read_labels
    from tertium.studies.spans.study import STUDIED, SpanStudy

    if (pairs is None) == (labels is None):
        raise InputError("give either a file of translations and sources, or --labels")
    kinds = [] if pairs is None else edit or list(EDITS)
    for kind in kinds:
        if kind not in EDITS:
            raise InputError(f"--edit {kind}: use {', '.join(EDITS)}")
    names = read_methods(method or list(STUDIED))
    thresholds = read_thresholds(threshold or (), names)
    load = options.models(encoder=encoder)
    study: SpanStudy | LabelStudy
    if labels is not None:
        labelled = read_labels(labels, lang, src_lang or lang, options.limit)
        names = tuple(name for name in names if name in RANKED)
        reviewer = Reviewer(
            names,
            load("translation") if NEED_MODEL.intersection(names) else None,
            load("tokens") if NEED_ENCODER.intersection(names) else None,
            thresholds=thresholds,
        )
        study = LabelStudy(labelled, reviewer, options.samples, options.seed, options.runner())
        options.finish(options.run(study), study.runner)
        return
    assert pairs is not None
    table = open_table(pairs)
    languages = Languages(hyp=lang, ref=src_lang, src=src_lang)
    columns = choose_columns(table, hyp=hyp_column, src=src_column)
    items = list(islice(TablePairs(table, columns, languages), options.limit))
    read = [(item.hypothesis, item.source or item.references[0]) for item in items]
    domains = [str((item.record or {}).get("domain") or "") for item in items]
    needs_model = NEED_MODEL.intersection(names) or "deleted" in kinds
    model = load("translation") if needs_model else None
    vectors = load("tokens") if NEED_ENCODER.intersection(names) else None
    learned, aligner = learned_for(model)
    reviewer = Reviewer(
        *(names, model, vectors), thresholds=thresholds, learned=learned, aligner=aligner
    )
    edited = edited_pairs(
        *(read, [*CONTROLS, *kinds]), model=model, seed=options.seed, domains=domains
    )
    study = SpanStudy(edited, reviewer, options.samples, options.seed, options.runner())
    options.finish(options.run(study), study.runner)
