"""What a scoring run tells at its end: the system scores, signed, for people or as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from tertium.engines.scoring import Result
from tertium.measures.base import CUT_REASON
from tertium.models.cache.memo import Tally


class Run(Protocol):
    """What a finished job knows, wherever it ran."""

    rows: int
    resumed: int
    cut: int


def print_summary(
    job: Run, results: Mapping[str, Result], tally: Tally | None, seconds: float
) -> None:
    """Print the results to standard error; ``tally`` if a translation model was asked."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for name, result in results.items():
        console.print(f"[bold]{name}[/bold] {result.system:.4f}")
        console.print(result.signature.short, style="dim", markup=False)
    notes = [f"{job.rows} rows in {seconds:.1f} s"]
    if job.resumed:
        notes.append(f"{job.resumed} of them scored before")
    if tally is not None:
        notes.append(str(tally))
    console.print("; ".join(notes))
    if job.cut:
        console.print(f"{job.cut} rows {CUT_REASON} (see the column cut)", style="yellow")


def print_json(
    job: Run, results: Mapping[str, Result], tally: Tally | None, *, closing: bool
) -> None:
    """Print the results; ``closing`` the document that the rows have begun."""
    document: dict[str, Any] = {
        "measures": {
            name: {
                "system": result.system,
                "signature": result.signature.long,
                "short_signature": result.signature.short,
            }
            for name, result in results.items()
        },
        "rows": job.rows,
        "cut": job.cut,
    }
    if tally is not None:
        document["questions"] = {
            "asked": tally.queries,
            "distinct": tally.distinct,
            "from_cache": tally.from_cache,
        }
    text = json.dumps(document, indent=1, ensure_ascii=False)
    print("],\n" + text.removeprefix("{\n") if closing else text)
