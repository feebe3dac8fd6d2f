"""``tertium study rephrasing``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from tertium.cli.options import DEFAULT_MODEL, ComputeType, Encoder, Model, NoCache, Threads
from tertium.cli.progress import progress_bar
from tertium.cli.studies.options import (
    Output,
    Plots,
    Quiet,
    StudyMeasures,
    check_plots,
    measure_specs,
    show_tables,
)
from tertium.data.datasets.base import ParaphraseSet
from tertium.errors import SettingError

PERMUTATIONS = 10_000
PAPER = "paper"
DEFAULT_MEASURES = ("bleu-nltk", "chrf-nltk", "nist")


def rephrasing(
    data: Annotated[
        Path,
        typer.Argument(
            help="Sets of paraphrases: a file with the columns lang, set_id and sentence, a folder "
            "with sets.tsv, or one with TaPaCo's LANG.txt."
        ),
    ],
    measures: Annotated[
        str | None, typer.Option("--measures", help="Several at once: bleu-nltk,nist,cross.")
    ] = None,
    measure: StudyMeasures = None,
    tokenize: Annotated[
        str,
        typer.Option(
            help="Words for nist and bleu-nltk: split (at spaces, as the paper), segment (also "
            "within scripts without spaces), or sacrebleu's names."
        ),
    ] = "split",
    langs: Annotated[
        str | None, typer.Option(help=f"Only these languages, as in de,fin; {PAPER}: the paper's.")
    ] = None,
    pairs: Annotated[
        int | None, typer.Option(min=1, help="Draw so many pairs a language. Default: all.")
    ] = None,
    min_sets: Annotated[
        int, typer.Option(min=1, help="Leave out languages with fewer sets, and say so.")
    ] = 1,
    features: Annotated[
        str | None, typer.Option(help="Feature sets of URIEL. Default: the paper's five.")
    ] = None,
    known: Annotated[
        float,
        typer.Option(min=0, max=1, help="Which share of a set must be known of a language."),
    ] = 0.25,
    typology: Annotated[
        bool, typer.Option("--typology/--no-typology", help="Correlate with URIEL's features.")
    ] = True,
    output: Output = None,
    plots: Plots = False,
    processes: Annotated[
        int, typer.Option(min=1, help="Languages are shared among so many processes.")
    ] = 1,
    samples: Annotated[
        int, typer.Option(min=1, help="Shuffles, and samples of the bootstrap.")
    ] = PERMUTATIONS,
    seed: Annotated[int, typer.Option(help="Of the draw, the shuffles and the bootstrap.")] = 0,
    quiet: Quiet = False,
    model: Model = DEFAULT_MODEL,
    encoder: Encoder = None,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
    no_cache: NoCache = False,
) -> None:
    """How do measures respond to rephrasing, in many languages? (Wang, Chen and Ataman, 2024.)

    Every pair of sentences that mean the same is scored in both orders; the means by language are
    correlated with typology. With --output, a study that was stopped goes on where it was.
    """
    check_plots(plots, output)
    from tertium.data.uriel import family_of
    from tertium.studies.cells import CellFolder
    from tertium.studies.rephrasing import paper as paper
    from tertium.studies.rephrasing import tables as tables
    from tertium.studies.rephrasing.pairs import pairs_of
    from tertium.studies.rephrasing.study import Engines, RephrasingStudy, with_words
    from tertium.studies.rephrasing.typology import correlate, feature_axis

    given = [*split_measures(measures or ""), *(measure or [])]
    specs = [with_words(spec, tokenize) for spec in measure_specs(given, DEFAULT_MEASURES)]
    specs = measure_specs([str(spec) for spec in specs], ())  # two may have become one
    sets = _sets(data, langs, min_sets)
    study = RephrasingStudy(
        [pairs_of(lang, own, count=pairs, seed=seed) for lang, own in sets.items()],
        specs,
        Engines(model, encoder, compute_type, threads, not no_cache),
        cells=CellFolder(output / "scores") if output is not None else None,
        processes=processes,
    )
    names = features.split(",") if features is not None else list(paper.FEATURES)
    axes = [feature_axis(name, list(sets), known=known) for name in names] if typology else []
    families = tables.Families({lang: family_of(lang) for lang in sets})
    with progress_bar(lambda: study.size, shown=not quiet) as bar:
        if bar is not None:
            study.advance, study.progress = bar.advance, bar.detail
        results = study.run()
    shown = {
        "languages": tables.language_table(results, families),
        "families": tables.family_table(results, families),
    }
    beside = tables.paper_table(results)
    if beside is not None:
        shown["paper"] = beside
    links = [
        link
        for name in results.measures
        for axis in axes
        if (means := {lang: m for (lang, own), m in results.means.items() if own == name})
        if (
            link := correlate(
                name, means, axis, families.of, samples=samples, seed=seed, known=known
            )
        )
    ]
    if links:
        shown["correlations"] = tables.correlation_table(links, names)
        shown["evidence"] = tables.evidence_table(links)
    if axes:
        shown["features"] = tables.axis_table(axes)
    without = tables.left_out_table(results)
    if without is not None:
        shown["left-out"] = without
    show_tables(shown, output)
    if output is not None:
        lines = [f"{name}\t{signature}" for name, signature in results.signatures.items()]
        (output / "signatures.tsv").write_text("\n".join(lines) + "\n", "utf-8")
        if plots:
            from tertium.studies.rephrasing.figures import draw

            draw(results, axes, families, output)
    if study.reused:
        cells = len(specs) * len(study.languages)
        print(f"tertium: {study.reused} of {cells} cells were scored before", file=sys.stderr)


def split_measures(text: str) -> list[str]:
    """Take a list of measures apart at its commas, but not at those between settings.

    >>> split_measures("chrf,nist:tokenize=13a,lowercase=yes,cross")
    ['chrf', 'nist:tokenize=13a,lowercase=yes', 'cross']
    """
    found: list[str] = []
    for part in filter(None, text.split(",")):
        if found and "=" in part and ":" not in part:
            found[-1] += f",{part}"
        else:
            found.append(part)
    return found


def _sets(data: Path, langs: str | None, min_sets: int) -> dict[str, Sequence[ParaphraseSet]]:
    from tertium.data.languages import iso_code
    from tertium.studies.rephrasing.pairs import read_paraphrase_sets
    from tertium.studies.rephrasing.paper import paper_family

    chosen = langs.split(",") if langs is not None and langs != PAPER else None
    found = read_paraphrase_sets(data, chosen)
    if langs == PAPER:
        found = {lang: own for lang, own in found.items() if paper_family(iso_code(lang))}
    few = {lang: len(own) for lang, own in found.items() if len(own) < min_sets}
    if few:
        told = ", ".join(f"{lang} ({count})" for lang, count in few.items())
        print(f"tertium: left out for fewer than {min_sets} sets: {told}", file=sys.stderr)
    if len(few) == len(found):
        raise SettingError(f"no language has {min_sets} sets (--min-sets)")
    return {lang: own for lang, own in found.items() if lang not in few}
