"""``tertium models``."""

from __future__ import annotations

from tertium.errors import ModelError
from tertium.models.catalog import entries
from tertium.models.folder import read_folder
from tertium.paths import models_folder


def models() -> None:
    """List the models that can be used by name: bundled with Tertium, or in the cache."""
    from rich.console import Console
    from rich.table import Table

    table = Table("model", "where", "languages", "size", "licence", "fingerprint", box=None)
    for entry in entries():
        try:
            folder = read_folder(entry.path)
        except ModelError as error:
            table.add_row(entry.name, entry.where, f"[red]{error}[/red]")
            continue
        table.add_row(
            entry.name,
            entry.where,
            folder.languages.describe(),
            f"{sum(folder.sizes.values()) / 1e6:.1f} MB",
            folder.licence,
            folder.fingerprint[:12],
        )
    console = Console(highlight=False)
    console.print(table)
    console.print(f"Cached models are kept in {models_folder()}; any folder with a tertium.json")
    console.print("can be given as --model FOLDER.")
