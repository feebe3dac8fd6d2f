"""``tertium study bias``."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertium.cli.options import Lang, option
from tertium.cli.studies.options import StudyOptions, check_choice, study_command
from tertium.data.pairs import Languages, TablePairs, choose_columns
from tertium.data.records import open_table
from tertium.errors import InputError
from tertium.models.catalog import DEFAULT_MODEL

if TYPE_CHECKING:
    from tertium.studies.bias import Pair


@study_command("measure")
def bias(
    options: StudyOptions,
    pairs: Annotated[
        Path | None,
        typer.Argument(
            help="Outputs and references in one language: columns hyp and ref; or the folder of a "
            "WMT metrics package, with --langs."
        ),
    ] = None,
    paraphrases: Path | None = option(None, "Human paraphrases (hyp) of texts (ref), for table 6."),
    lang: Lang = None,
    langs: str | None = option(None, "The pairs of a package, as in de-en,fi-en."),
    hyp_column: str | None = option(None, "The column of the outputs."),
    ref_column: str | None = option(None, "The column of the references."),
    model: list[str] | None = option(None, "A model; may be repeated."),
    beam_size: int = option(5, "The beam size of table 6.", min=1),
    smoothing: str = option(
        "exp",
        "Of sentence BLEU: exp (that of the measure bleu), or by 1 as in the paper: floor "
        "(of counts that are zero) or add-k (of all).",
    ),
    listed: int = option(10, "So many texts are listed with all outputs (figure 3).", min=0),
) -> None:
    """Is the mode of a model a copy, and does H rise with overlap? (Prism, figure 2, table 6.)"""
    if pairs is None and paraphrases is None:
        raise InputError("give a file of outputs and references, or --paraphrases, or both")
    from tertium.studies.bias import BiasStudy, Smoothing, package_pairs

    load = options.models()
    first, second = (
        None
        if path is None or path.is_dir()
        else _read(path, lang, hyp_column, ref_column, options.limit)
        for path in (pairs, paraphrases)
    )
    if pairs is not None and pairs.is_dir():
        first = package_pairs(pairs, (langs or "").split(",") if langs else [])[: options.limit]
    models = {name: load("translation", name) for name in model or [DEFAULT_MODEL]}
    study = BiasStudy(
        models,
        first,
        second,
        beam_size,
        options.runner(),
        check_choice(smoothing, Smoothing),
        listed,
        options.samples,
        options.seed,
    )
    options.finish(options.run(study), study.runner)


def _read(
    path: Path, lang: str | None, hyp: str | None, ref: str | None, limit: int | None
) -> list[Pair]:
    """Read pairs in one language; others are left out."""
    table = open_table(path)
    languages = Languages(hyp=lang, ref=lang)
    columns = choose_columns(table, hyp=hyp, refs=[ref] if ref else [])
    pairs = (
        (item.hypothesis, reference)
        for item in TablePairs(table, columns, languages)
        for reference in item.references
        if item.hypothesis.lang == reference.lang
    )
    return list(islice(pairs, limit))
