"""What a run was begun with, so that another is not mixed into it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tertium.errors import ResumeError


def check_same_job(where: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to go on with other settings; ``before`` was read from JSON."""
    same = json.loads(json.dumps(now))
    for name in {**before, **same}:
        if before.get(name) != same.get(name):
            raise ResumeError(
                f"{where} was begun with {name} = {before.get(name)!r}, not {same.get(name)!r}; "
                "give the same settings, or begin anew with --overwrite"
            )
