"""``tertium explain``."""

from __future__ import annotations

from typing import Annotated

import typer

from tertium.cli.inputs import check_is_text
from tertium.cli.options import (
    DEFAULT_MODEL,
    AsText,
    ComputeType,
    HtmlFile,
    Lang,
    Model,
    RefLang,
    Threads,
)
from tertium.explanation import explain as explanation
from tertium.explanation.page import explanation_page
from tertium.explanation.terminal import print_explanation
from tertium.models.catalog import load_model
from tertium.storage.atomic import write_text


def explain(
    a: Annotated[str, typer.Argument(help="The first text.")],
    b: Annotated[str, typer.Argument(help="The second text.")],
    lang: Lang = None,
    ref_lang: RefLang = None,
    as_text: AsText = False,
    html: HtmlFile = None,
    worst: Annotated[
        int, typer.Option(min=0, help="At how many of the worst tokens to show alternatives.")
    ] = explanation.WORST_PLACES,
    model: Model = DEFAULT_MODEL,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
) -> None:
    """Show why a score is low: how probable each token is, given the other text."""
    from rich.console import Console

    for text in [] if as_text else [a, b]:
        check_is_text(text, "explain takes two texts")
    result = explanation.explain(
        a,
        b,
        lang=lang,
        reference_lang=ref_lang,
        model=load_model(model, compute_type=compute_type, threads=threads),  # type: ignore[arg-type]
        worst=worst,
    )
    print_explanation(result, Console(highlight=False))
    if html is not None:
        write_text(html, explanation_page(result))
