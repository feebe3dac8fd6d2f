"""``tertium study bias``."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertium.cli.options import DEFAULT_MODEL, ComputeType, Lang, NoCache, Threads
from tertium.cli.studies.options import (
    Limit,
    Output,
    Plots,
    check_plots,
    model_loader,
    show_tables,
)
from tertium.data.pairs import Languages, TablePairs, choose_columns
from tertium.data.records import open_table
from tertium.errors import InputError
from tertium.models.languages import known_language

if TYPE_CHECKING:
    from tertium.studies.bias import Pair


def bias(
    pairs: Annotated[
        Path | None,
        typer.Argument(help="Outputs and references in one language: columns hyp and ref."),
    ] = None,
    paraphrases: Annotated[
        Path | None, typer.Option(help="Human paraphrases (hyp) of texts (ref), for table 6.")
    ] = None,
    lang: Lang = None,
    hyp_column: Annotated[str | None, typer.Option()] = None,
    ref_column: Annotated[str | None, typer.Option()] = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", help="A model, again for more.")
    ] = None,
    beam_size: Annotated[int, typer.Option(min=1)] = 5,
    output: Output = None,
    limit: Limit = None,
    plots: Plots = False,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
    no_cache: NoCache = False,
) -> None:
    """Does a model prefer to repeat words, or to change them? (Prism, figure 2 and table 6.)"""
    if pairs is None and paraphrases is None:
        raise InputError("give a file of outputs and references, or --paraphrases, or both")
    check_plots(plots, output)
    from tertium.studies.bias import bins, bins_table, preferences, preferences_table

    load = model_loader(compute_type, threads, cache=not no_cache)
    models = {name: load("translation", name, None) for name in model or [DEFAULT_MODEL]}
    texts = {
        path: _read(path, lang, hyp_column, ref_column, limit)
        for path in (pairs, paraphrases)
        if path is not None
    }
    for engine in models.values():
        for own in texts.values():
            for a, b in own:
                for text in (a, b):
                    known_language(engine, text.lang, "a text")
    tables = {}
    if pairs is not None:
        found = {name: bins(engine, texts[pairs]) for name, engine in models.items()}
        tables["overlap"] = bins_table(found)
        if plots and output is not None:
            from tertium.report.plots import lines

            labels = [
                f"{each.label}\n({100 * each.share:.1f} %)" for each in found[next(iter(found))]
            ]
            series = {name: [each.mean_h for each in own] for name, own in found.items()}
            out = output / "overlap.svg"
            lines(labels, series, out, axes_labels=("sentence BLEU (share)", "H(sys|ref)"))
    if paraphrases is not None:
        table = {
            name: preferences(engine, texts[paraphrases], beam_size=beam_size)
            for name, engine in models.items()
        }
        tables["preferences"] = preferences_table(table)
    show_tables(tables, output)


def _read(
    path: Path, lang: str | None, hyp: str | None, ref: str | None, limit: int | None
) -> list[Pair]:
    """Read pairs in one language; others are left out."""
    table = open_table(path)
    languages = Languages(hyp=lang, ref=lang)
    columns = choose_columns(table, languages, hyp=hyp, refs=[ref] if ref else [])
    items = TablePairs(table, columns, languages)
    found = (
        (item.hypothesis, reference)
        for item in items
        for reference in item.references
        if item.hypothesis.lang == reference.lang
    )
    return list(islice(found, limit))
