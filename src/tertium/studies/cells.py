"""What was scored before, so that a study can be stopped and taken up again."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tertium.storage.atomic import write_text

UNSAFE = re.compile(r"[^\w.+@=,-]+")


@dataclass(frozen=True)
class Scored:
    """The scores of a measure on a task, in parts: ``validation`` and ``test``, for example."""

    parts: Mapping[str, list[Any]]
    cut: int = 0
    """How many pairs were scored in part."""


@dataclass(frozen=True)
class CellFolder:
    """A file for each task and measure; it counts only if signature and data are the same."""

    folder: Path

    def get(self, task: str, measure: str, signature: str, data: str) -> Scored | None:
        """Find the scores, if they are there and whole."""
        try:
            found = json.loads(self._path(task, measure).read_text("utf-8"))
            if found.pop("signature") == signature and found.pop("data") == data:
                return Scored(**found)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None
        return None

    def put(self, task: str, measure: str, signature: str, data: str, scored: Scored) -> None:
        """Keep the scores."""
        path = self._path(task, measure)
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {"signature": signature, "data": data, **asdict(scored)}
        write_text(path, json.dumps(content) + "\n")

    def _path(self, task: str, measure: str) -> Path:
        digest = hashlib.sha256(json.dumps([task, measure]).encode()).hexdigest()[:8]
        return self.folder / UNSAFE.sub("-", task) / f"{UNSAFE.sub('-', measure)}-{digest}.json"
