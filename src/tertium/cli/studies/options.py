"""Options that several studies share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertium.errors import SettingError

if TYPE_CHECKING:
    from tertium.measures.base import ModelKind
    from tertium.report.tables import Table
    from tertium.studies.specs import MeasureSpec, ModelLoader

StudyMeasures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "-m",
        help="A measure, again for more: chrf, sss+wmd, cross@MODEL, direct:normalized=no.",
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
Plots = Annotated[
    bool, typer.Option("--plots", help="Draw pictures into the folder (extra: plot).")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No bar.")]


def measure_specs(given: list[str] | None, default: tuple[str, ...]) -> list[MeasureSpec]:
    """Read the measures; none may be named twice."""
    from tertium.studies.specs import MeasureSpec

    specs = [MeasureSpec.parse(text) for text in given or default]
    names = [str(spec) for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"{name} is asked for twice")
    return specs


def model_loader(
    compute_type: str, threads: int | None, *, cache: bool, once: bool = True
) -> ModelLoader:
    """Load each model once, so that measures share its answers; or anew each time."""
    from tertium.studies.specs import load_any

    loaded: dict[tuple[object, ...], Any] = {}

    def load(kind: ModelKind, name: str, layer: int | None) -> Any:
        key = (kind == "translation", name, layer)
        if key not in loaded or not once:
            loaded[key] = load_any(
                kind, name, layer, cache=cache, compute_type=compute_type, threads=threads
            )
            if not once and hasattr(loaded[key], "forget"):
                loaded[key].forget()
        return loaded[key]

    return load


def check_plots(plots: bool, output: Path | None) -> None:
    """Pictures need a folder."""
    if plots and output is None:
        raise SettingError("--plots needs a folder to draw into: say --output")


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
