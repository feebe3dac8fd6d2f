"""Options that several studies share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache as once
from pathlib import Path
from typing import Annotated

import typer

from tertium.errors import SettingError
from tertium.models.catalog import load_model
from tertium.models.memo import Memo
from tertium.report.tables import Table
from tertium.studies.specs import MeasureSpec, ModelLoader

Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "-m",
        help="A measure, again for more: chrf, cross@MODEL, direct:normalized=no.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="A folder for tables and scores; what is there is not scored again."
    ),
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="Only so many items of each set, for a trial.")
]
Samples = Annotated[int, typer.Option("--samples", min=1, help="Samples of the bootstrap.")]
Seed = Annotated[int, typer.Option("--seed", help="Of the bootstrap.")]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Neither use nor keep the answers of the model.")
]
Plots = Annotated[
    bool, typer.Option("--plots", help="Draw pictures into the folder (extra: plot).")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No bar.")]


def measure_specs(given: list[str] | None, default: tuple[str, ...]) -> list[MeasureSpec]:
    """Read the measures; none may be named twice."""
    specs = [MeasureSpec.parse(text) for text in given or default]
    names = [str(spec) for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"{name} is asked for twice")
    return specs


def model_loader(compute_type: str, threads: int | None, *, cache: bool) -> ModelLoader:
    """Load each model once, so that measures share its answers."""

    @once
    def load(name: str) -> Memo:
        return load_model(name, compute_type=compute_type, threads=threads, cache=cache)  # type: ignore[arg-type]

    return load


def show_tables(tables: Mapping[str, Table], output: Path | None) -> None:
    """Print the tables; with a folder, also write them, each under its name."""
    from rich.console import Console

    console = Console(highlight=False)
    for number, (name, table) in enumerate(tables.items()):
        if number:
            console.print()
        table.print(console)
        if output is not None:
            table.save(output, name)
