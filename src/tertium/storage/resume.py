"""What a run was begun with, so that another is not mixed into it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tertium.errors import ResumeError


def check_same_job(where: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to go on with other settings; ``before`` was read from JSON."""
    same = json.loads(json.dumps(now))
    if before != same:
        name, old, new = first_difference("", before, same)
        raise ResumeError(
            f"{where} was begun with {name} = {old!r}, not {new!r}; "
            "give the same settings, or begin anew with --overwrite"
        )


def first_difference(name: str, before: Any, now: Any) -> tuple[str, Any, Any]:
    """Go down to what differs: its name, and what it was and is.

    >>> first_difference("", {"measures": [["chrf", {}]]}, {"measures": [["chrf", {"beta": 3}]]})
    ('beta', None, 3)
    """
    inner: Iterable[tuple[str, Any, Any]] = ()
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        inner = ((key, before.get(key), now.get(key)) for key in {**before, **now})
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        inner = ((name, old, new) for old, new in zip(before, now, strict=True))
    for key, old, new in inner:
        if old != new:
            return first_difference(key, old, new)
    return name, before, now
