"""Gates: scores that are too low end a command with exit code 3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from tertium.cli.groups import say
from tertium.cli.options import option
from tertium.errors import InputError, SettingError
from tertium.measures.loading import MeasureSpec, outline
from tertium.measures.scores import ScoreTable

if TYPE_CHECKING:
    from tertium.comparison.result import Comparison

BELOW_THRESHOLD = 3
"""The exit code if a gate is not passed."""
GATES = "Gates"


@dataclass(frozen=True)
class GateOptions:
    """When a command ends with exit code 3."""

    fail_under: list[str] | None = option(
        None,
        f"Exit with code {BELOW_THRESHOLD} if a system score is lower, or says nothing.",
        panel=GATES,
        metavar="[MEASURE=]NUMBER",
    )

    def limits(self, specs: Sequence[MeasureSpec]) -> dict[str, float]:
        """The lowest score of each measure, checked before any work."""
        limits = read_thresholds(self.fail_under or [], [spec.column for spec in specs])
        for spec in specs:
            limit = limits.get(spec.column, 0.0)
            measure = outline(spec)
            highest = measure.bounds[1]
            if limit > highest:
                why = f"{spec.column} is at most {highest:g}"
                if measure.negated:
                    why = f"{spec.column} is negated, so that higher is better, and at most 0"
                raise SettingError(
                    f"--fail-under {limit:g}: {why}"
                    + (f"; use --fail-under {spec.column}=-{limit:g}" if measure.negated else "")
                )
        return limits


def check_scores(table: ScoreTable, limits: dict[str, float]) -> None:
    """End with exit code 3 if a score is below its limit, or says nothing."""
    stop(failures(table, limits))


def failures(table: ScoreTable, limits: dict[str, float]) -> list[str]:
    """Which scores do not pass, and why."""
    found = [
        f"{_of(system)}{measure} {scores.system:.4f} is below {limits[measure]:g}"
        for (system, measure), scores in table.scores.items()
        if measure in limits and not scores.system >= limits[measure]
    ]
    return found + (doubts(table) if limits else [])


def doubts(table: ScoreTable) -> list[str]:
    """Which systems have scores that say nothing, and why."""
    return [
        f"{_of(system)}its scores do not count: {reason}"
        for system in table.systems
        for reason in table.doubts(system)
    ]


def worse_than_others(result: Comparison, scores: ScoreTable, system: str | None) -> list[str]:
    """Why a system does not pass: it is significantly worse than the baseline, or than any other.

    Scores that say nothing do not pass either, whose ever they are.
    """
    if system is None:
        return []
    found = doubts(scores)
    chosen = (result.baseline,) if result.baseline not in (None, system) else result.systems
    for measure in result.measures:
        for other in chosen:
            if other is None or other == system:
                continue
            pair = measure.pair(system, other)
            if pair.difference < 0 and pair.permutation_p < result.alpha:
                found.append(
                    f"{system} is significantly worse than {other}: {measure.name} "
                    f"{pair.difference:+.{measure.digits}f}, p = {pair.permutation_p:.3f}"
                )
    return found


def stop(reasons: Sequence[str]) -> None:
    """Print why a gate is not passed, and end; if there is a reason."""
    say(*(f"tertium: {reason}" for reason in dict.fromkeys(reasons)))
    if reasons:
        raise typer.Exit(BELOW_THRESHOLD)


def check_system(name: str | None, systems: Sequence[str]) -> None:
    """Refuse, before any work, a system that is not there."""
    if name is not None and name not in systems:
        raise InputError(f"--fail-if-worse {name}: the systems are {', '.join(systems)}")


def read_thresholds(texts: Sequence[str], measures: Sequence[str]) -> dict[str, float]:
    """Read --fail-under: a number, or MEASURE=NUMBER if there are several measures.

    >>> read_thresholds(["0.4"], ["cross"]), read_thresholds(["chrf=40"], ["chrf", "bleu"])
    ({'cross': 0.4}, {'chrf': 40.0})
    """
    thresholds = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals and len(measures) > 1:
            raise SettingError(
                f"--fail-under {text}: there are several measures; "
                f"use --fail-under {measures[0]}={text}"
            )
        name = name or measures[0]
        if name not in measures:
            raise SettingError(f"--fail-under {text}: the measures are {', '.join(measures)}")
        try:
            thresholds[name] = float(value)
        except ValueError:
            raise SettingError(f"--fail-under {text}: {value!r} is not a number") from None
    return thresholds


def _of(system: str) -> str:
    return f"{system}: " if system else ""
