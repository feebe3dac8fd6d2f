"""``tertium models``: what there is, and how to get more."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from tertium.errors import ModelError
from tertium.models.catalog import entries, find
from tertium.models.folder import ModelFolder, read_folder
from tertium.models.known import KNOWN, known_model
from tertium.paths import models_folder

models = typer.Typer(help="List the models; fetch, convert and inspect them.")

Precision = Annotated[
    str, typer.Option("--quantization", help="float32, or int8: a quarter of the size.")
]


@models.callback(invoke_without_command=True)
def list_models(context: typer.Context) -> None:
    """List the models: bundled with Tertium, in the cache, and known to the catalog."""
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("model", "where", "languages", "size", "licence", "fingerprint", box=None)
    here = set()
    for entry in entries():
        here.add(entry.name)
        try:
            folder = read_folder(entry.path)
        except ModelError as error:
            table.add_row(entry.name, entry.where, f"[red]{error}[/red]")
            continue
        count = len(folder.languages.all)
        table.add_row(
            entry.name,
            entry.where,
            folder.languages.describe() if count <= 4 else str(count),
            megabytes(folder),
            folder.licence,
            folder.fingerprint[:12],
        )
    for known in KNOWN.values():
        if known.name not in here:
            table.add_row(known.name, "known", known.languages, known.parameters, known.licence, "")
    table.add_row("opus-mt-SOURCE-TARGET", "known", "2", "77M", "", "")
    console = Console(highlight=False)
    console.print(table)
    console.print(f"Cached models are kept in {models_folder()}.", soft_wrap=True)
    console.print("Get a known one with `tertium models fetch NAME`; any model folder can be given")
    console.print("as --model FOLDER.")


@models.command()
def info(name: Annotated[str, typer.Argument(help="A model's name or folder.")]) -> None:
    """Show all that is known of a model, and check its files."""
    known = known_model(name)
    try:
        folder = find(name)
    except ModelError:
        if known is None:
            raise
        print(f"{known.name}: not here yet; get it with `tertium models fetch {known.name}`")
        print(f"hub id       {known.hub_id}")
        print(f"dialect      {known.dialect}")
        print(f"languages    {known.languages}")
        print(f"parameters   {known.parameters}")
        print(f"licence      {known.licence}")
        return
    folder.check()
    print(f"{folder.name}: {folder.path}")
    print(f"origin       {folder.origin}")
    print(f"dialect      {folder.dialect}")
    print(f"languages    {folder.languages.describe()}")
    print(f"size         {megabytes(folder)}")
    print(f"longest text {folder.max_length} pieces")
    print(f"licence      {folder.licence}")
    print(f"fingerprint  {folder.fingerprint}")


@models.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A known name, or an id of the hub: owner/name.")],
    revision: Annotated[
        str | None, typer.Option(help="Pin a commit, a tag or a branch of the hub.")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Use only what was downloaded before.")
    ] = False,
    quantization: Precision = "float32",
) -> None:
    """Download a model from the Hugging Face hub and convert it (needs tertium[convert])."""
    from tertium.models.hub import fetch as fetch_model

    _done(
        fetch_model(name, revision=revision, offline=offline, quantization=_checked(quantization))
    )


@models.command()
def convert(
    source: Annotated[Path, typer.Argument(help="A folder as the model is published.")],
    out: Annotated[Path, typer.Argument(help="The model folder to make.")],
    name: Annotated[str | None, typer.Option(help="Default: the name of OUT.")] = None,
    dialect: Annotated[
        str | None, typer.Option(help="Where the files leave it open, such as small100.")
    ] = None,
    licence: Annotated[str, typer.Option()] = "unknown",
    quantization: Precision = "float32",
) -> None:
    """Convert a model that lies on disk (needs tertium[convert])."""
    from tertium.models.convert import convert as convert_model

    made = convert_model(
        source,
        out,
        name=name,
        dialect=dialect,
        licence=licence,
        quantization=_checked(quantization),
    )
    _done(made)


def megabytes(folder: ModelFolder) -> str:
    """The size of a model, for people."""
    return f"{sum(folder.sizes.values()) / 1e6:.1f} MB"


def _checked(quantization: str) -> Literal["int8", "float32"]:
    if quantization == "int8":
        return "int8"
    if quantization == "float32":
        return "float32"
    raise ModelError(f"--quantization {quantization}: it must be float32 or int8")


def _done(folder: ModelFolder) -> None:
    print(f"{folder.path}: {folder.dialect}, {megabytes(folder)}, {folder.fingerprint[:12]}")
