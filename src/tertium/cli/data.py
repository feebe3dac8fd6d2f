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
            help="A folder with Tatoeba's sentences.csv and links.csv, also compressed (.tar.bz2, "
            ".bz2) or by language (deu_sentences.tsv, deu-fra_links.tsv)."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A TSV file: lang, set_id, sentence.")
    ],
    langs: Annotated[
        str | None, typer.Option(help="Make sets only in these languages, such as deu,fra.")
    ] = None,
    max_renderings: Annotated[
        int, typer.Option(min=2, help="Ignore sentences with more translations into a language.")
    ] = 15,
    max_size: Annotated[
        int, typer.Option(min=2, help="The largest number of sentences in a set.")
    ] = 10,
    min_shared: Annotated[
        int, typer.Option(min=1, help="The number of translations that two sentences must share.")
    ] = 1,
    max_sets: Annotated[
        int | None,
        typer.Option(min=1, help="The number of sets to keep per language, chosen by hash."),
    ] = None,
    min_sets: Annotated[int, typer.Option(min=1, help="Omit languages with fewer sets.")] = 1,
    quiet: Quiet = False,
) -> None:
    """Make sets of paraphrases from Tatoeba: sentences in one language with a common translation.

    Sentences that differ only in case, punctuation, symbols or spaces count as one; a set has one
    script. The same export and options produce the same file.
    """
    from rich.console import Console

    from tertium.data.paraphrase_sets import SetRules, make_sets
    from tertium.report.tables import Cell, Table

    rules = SetRules(max_renderings, max_size, min_shared, max_sets, min_sets)
    with progress_bar(lambda: None, shown=not quiet) as bar:
        languages = make_sets(
            export,
            output,
            rules=rules,
            langs=langs.split(",") if langs is not None else None,
            advance=bar.advance,
        )
    rows = []
    for language in languages:
        if language.before:
            kept = [Cell(len(language.sets)), Cell(sum(map(len, language.sets)))]
            rows.append([Cell(language.lang), Cell(language.before), *kept])
    table = Table(["lang", "sets found", "sets kept", "sentences"], rows)
    table.print(Console(highlight=False))
