"""``tertium data``: list and describe datasets, export them as tables, make paraphrase sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from tertium.cli.groups import grouped
from tertium.cli.options import option
from tertium.cli.running import progress_bar
from tertium.cli.studies.options import Quiet
from tertium.errors import SettingError

data = typer.Typer(no_args_is_help=True, help="List, export and make datasets.")


@data.callback()
def _group() -> None:
    """List, export and make datasets."""


@data.command("list")
def list_datasets() -> None:
    """List the datasets that can be read, with their layout, languages, origin and licence."""
    from tertium.data.datasets.base import DATASETS

    for name, dataset in DATASETS.items():
        print(f"{name}: {dataset.description}")
        print(f"  kind       {dataset.kind}")
        print(f"  folder     {dataset.layout}")
        if dataset.hub_id:
            print(f"  hub        {dataset.hub_id}")
        if dataset.languages:
            print(f"  languages  {', '.join(dataset.languages)}")
        if dataset.splits:
            print(f"  splits     {', '.join(dataset.splits)}")
        print(f"  origin     {dataset.origin}")
        print(f"  licence    {dataset.licence}")


@data.command()
@grouped()
def describe(
    name: Annotated[str, typer.Argument(help="A dataset (see `tertium data list`).")],
    path: Annotated[
        Path | None,
        typer.Argument(help="Its folder or file. Default: download it from the Hugging Face hub."),
    ] = None,
    *,
    langs: str | None = option(None, "Only these languages or pairs, as in en or de-en,fi-en."),
    settings: list[str] | None = option(
        None, "A setting of the dataset.", "--set", metavar="NAME=VALUE"
    ),
) -> None:
    """Count what is in a dataset: pairs by label, inputs, systems, references, characters."""
    from rich.console import Console

    from tertium.data.datasets.base import DATASETS
    from tertium.data.datasets.describe import describe as description

    dataset = DATASETS.get(name)
    given = _parse(settings or [], dataset.settings())
    table = description(dataset, path, langs=langs.split(",") if langs else None, **given)
    table.print(Console(highlight=False))


@data.command()
@grouped()
def export(
    name: Annotated[str, typer.Argument(help="A dataset (see `tertium data list`).")],
    path: Annotated[
        Path | None,
        typer.Argument(help="Its folder or file. Default: download it from the Hugging Face hub."),
    ] = None,
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A .tsv, .csv or .jsonl file to write.")
    ],
    lang: str | None = option(None, "A language, or a language pair as in de-en."),
    split: str | None = option(None, "A split, such as test."),
    settings: list[str] | None = option(
        None,
        "A setting of the dataset: --set kind=mqm --set year=2022.",
        "--set",
        metavar="NAME=VALUE",
    ),
    offline: bool = option(False, "Use only what was downloaded before."),
) -> None:
    """Write a dataset as a plain table, which `tertium score` and the studies read.

    [bold]tertium data export pawsx x-final --lang de --split test -o de.test.tsv[/bold]
    """
    from tertium.data.datasets.base import DATASETS
    from tertium.data.datasets.plain import write_records
    from tertium.data.records import counted

    dataset = DATASETS.get(name)
    given = _parse(settings or [], dataset.settings())
    records = dataset.read(path, lang=lang, split=split, offline=offline, **given)
    write_records(output, records)
    print(f"{output}: {counted(len(records), 'record')} ({dataset.kind})")


def _parse(settings: Sequence[str], defaults: dict[str, object]) -> dict[str, object]:
    """Read NAME=VALUE; digits are numbers, and a value with commas is a list of names."""
    parsed: dict[str, object] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise SettingError(f"--set {setting}: write it as --set NAME=VALUE")
        if isinstance(defaults.get(name), tuple):
            parsed[name] = tuple(value.split(","))
        else:
            parsed[name] = int(value) if value.isdecimal() else value
    return parsed


@data.command("paraphrase-sets")
@grouped()
def paraphrase_sets(
    export: Annotated[
        Path,
        typer.Argument(
            help="A folder with Tatoeba's sentences.csv and links.csv; also compressed "
            "(.tar.bz2, .bz2) or by language (deu_sentences.tsv, deu-fra_links.tsv)."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A TSV file: lang, set_id, sentence.")
    ],
    langs: str | None = option(None, "Make sets only in these languages, such as deu,fra."),
    max_renderings: int = option(
        15, "Ignore sentences with more translations into a language.", min=2
    ),
    max_size: int = option(10, "The largest number of sentences in a set.", min=2),
    min_shared: int = option(1, "The number of translations that two sentences must share.", min=1),
    max_sets: int | None = option(
        None, "The number of sets to keep per language, chosen by hash.", min=1
    ),
    min_sets: int = option(1, "Omit languages with fewer sets.", min=1),
    quiet: Quiet = False,
) -> None:
    """Make paraphrase sets from Tatoeba: sentences of one language with a common translation.

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
