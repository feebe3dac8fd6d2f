"""``tertium data``: make datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tertium.cli.progress import progress_bar
from tertium.cli.studies.options import Quiet

data = typer.Typer(no_args_is_help=True, help="Make datasets.")


@data.callback()
def _group() -> None:
    """Make datasets."""


@data.command("paraphrase-sets")
def paraphrase_sets(
    export: Annotated[
        Path,
        typer.Argument(
            help="A folder with Tatoeba's sentences.csv and links.csv; packed (.tar.bz2, .bz2) or "
            "by language (deu_sentences.tsv, deu-fra_links.tsv) will do."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A TSV file: lang, set_id, sentence.")
    ],
    langs: Annotated[
        str | None, typer.Option(help="Make sets in these languages only, as in deu,fra.")
    ] = None,
    max_renderings: Annotated[
        int, typer.Option(min=2, help="Ignore translations with more renderings in a language.")
    ] = 15,
    max_size: Annotated[int, typer.Option(min=2, help="Join sets up to so many sentences.")] = 10,
    min_shared: Annotated[
        int, typer.Option(min=1, help="Translations that two sentences must share.")
    ] = 1,
    max_sets: Annotated[
        int | None, typer.Option(min=1, help="Keep so many sets a language, chosen by hash.")
    ] = None,
    min_sets: Annotated[int, typer.Option(min=1, help="Leave out languages with fewer sets.")] = 1,
    quiet: Quiet = False,
) -> None:
    """Make sets of paraphrases from Tatoeba: sentences of a language with a common translation.

    Sentences that differ only in case, punctuation, symbols or spaces count once; a set has one
    script. The same export and options give the same file.
    """
    from rich.console import Console

    from tertium.data.paraphrase_sets import SetRules, make_sets
    from tertium.report.tables import Cell, Table

    rules = SetRules(max_renderings, max_size, min_shared, max_sets, min_sets)
    with progress_bar(lambda: None, shown=not quiet) as bar:
        found = make_sets(
            export,
            output,
            rules=rules,
            langs=langs.split(",") if langs is not None else None,
            advance=bar.advance if bar is not None else None,
        )
    rows = []
    for each in found:
        if each.before:
            kept = [Cell(len(each.sets)), Cell(sum(map(len, each.sets)))]
            rows.append([Cell(each.lang), Cell(each.before), *kept])
    table = Table(["lang", "sets found", "sets kept", "sentences"], rows)
    table.print(Console(highlight=False))
