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
        Path, typer.Argument(help="Translations and their sources: columns hyp and src (or ref).")
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            help="coverage, unlikely, differences, flags; several with commas. Default: all.",
        ),
    ] = None,
    edit: Annotated[
        list[str] | None,
        typer.Option(
            "--edit",
            help="deleted, inserted, replaced, number, name, negation; may be repeated. "
            "Default: all.",
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
    from tertium.explanation.review import DIFFERENCES, NEED_MODEL, Reviewer, read_methods
    from tertium.studies.spans.edits import CONTROLS, EDITS, edited_pairs
    from tertium.studies.spans.study import STUDIED, SpanStudy

    kinds = edit or list(EDITS)
    for kind in kinds:
        if kind not in EDITS:
            raise InputError(f"--edit {kind}: use {', '.join(EDITS)}")
    names = read_methods(method or list(STUDIED))
    load = options.models(encoder=encoder)
    table = open_table(pairs)
    languages = Languages(hyp=lang, ref=src_lang, src=src_lang)
    columns = choose_columns(table, languages, hyp=hyp_column, src=src_column)
    read = [
        (item.hypothesis, item.source or item.references[0])
        for item in islice(TablePairs(table, columns, languages), options.limit)
    ]
    needs_model = NEED_MODEL.intersection(names) or "deleted" in kinds
    model = load("translation") if needs_model else None
    reviewer = Reviewer(names, model, load("tokens") if DIFFERENCES in names else None)
    edited = edited_pairs(read, [*CONTROLS, *kinds], model=model, seed=options.seed)
    study = SpanStudy(edited, reviewer, options.samples, options.seed, options.runner())
    options.finish(options.run(study), study.runner)
