"""What a run writes down of itself."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, TextIO

from tertium.data.lines import read_lines
from tertium.errors import InputError

LOG = "log.jsonl"


class Report:
    """The log: a JSON object a line, with what was seen since the line before."""

    def __init__(self, stream: TextIO, unit: str = "tokens") -> None:
        self._stream = stream
        self._unit = unit
        self._loss, self._tokens, self._since = 0.0, 0, time.monotonic()

    def write_resumed(self, step: int) -> None:
        """Write that what follows comes after ``step``, whatever was written before."""
        self._put(step=step, resumed=True)

    def add(self, loss: float, tokens: int) -> None:
        self._loss += loss
        self._tokens += tokens

    def write(self, step: int, *, rate: float) -> None:
        """Write the training loss (with smoothing) and the speed."""
        seconds = time.monotonic() - self._since
        self._put(
            step=step,
            rate=round(rate, 8),
            loss=round(self._loss / max(1, self._tokens), 4),
            **{
                self._unit: self._tokens,
                f"{self._unit}_per_second": round(self._tokens / max(seconds, 1e-9), 1),
            },
        )
        self._loss, self._tokens, self._since = 0.0, 0, time.monotonic()

    def write_dev(
        self, step: int, losses: dict[str, float], chrf: dict[str, float] | None = None
    ) -> None:
        """Write the development losses; the time they took is not held against the speed."""
        record: dict[str, object] = {"dev": {name: round(loss, 4) for name, loss in losses.items()}}
        if chrf:
            record["chrf"] = {name: round(score, 2) for name, score in chrf.items()}
        self._put(step=step, **record)
        self._since = time.monotonic() if self._tokens == 0 else self._since

    def _put(self, **record: object) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        self._stream.write(json.dumps({"time": now, **record}, ensure_ascii=False) + "\n")
        self._stream.flush()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Read a log; of the steps that were lost with a kill and done again, the last time counts."""
    records: list[dict[str, Any]] = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            record = json.loads(line)
        except ValueError:
            raise InputError(
                f"{path}, line {number} is not JSON; name the {LOG} of a run"
            ) from None
        if record.get("resumed"):
            records = [earlier for earlier in records if earlier["step"] <= record["step"]]
        else:
            records.append(record)
    return records
