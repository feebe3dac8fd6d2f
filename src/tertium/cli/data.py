"""``tertium data``: list and describe datasets, export them as tables, make paraphrase sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

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
def describe(
    name: Annotated[str, typer.Argument(help="A dataset (see `tertium data list`).")],
    path: Annotated[
        Path | None,
        typer.Argument(help="Its folder or file. Default: download it from the Hugging Face hub."),
    ] = None,
    *,
    langs: Annotated[
        str | None, typer.Option(help="Only these languages or pairs, as in en or de-en,fi-en.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the dataset."),
    ] = None,
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
    lang: Annotated[
        str | None, typer.Option(help="A language, or a language pair as in de-en.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="A split, such as test.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the dataset: --set kind=mqm --set year=2022.",
        ),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Use only what was downloaded before.")
    ] = False,
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
