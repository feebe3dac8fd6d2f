"""Precision, recall and F1 of decisions by a threshold: filtering, and choosing among outputs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tertium.errors import InputError, SettingError
from tertium.report.tables import Cell, Table
from tertium.stats.classification import best_f1, precision_recall_points
from tertium.studies.judgements.agreement import judged_places, with_scores
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.judgements.study import ScoresByMeasure

SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")
HEADER = ("precision", "recall", "F1", "threshold")
FITTED = (
    "The threshold with the best F1 on every other input is applied to the rest, and the other "
    "way round; the last column is the best one on all inputs, to be used on other data."
)


@dataclass(frozen=True)
class Good:
    """From which human score on an output counts as good: a number, or a share of the best.

    >>> Good.parse("0.5"), Good.parse("25%")
    (Good(score=0.5, share=None), Good(score=None, share=0.25))
    """

    score: float | None = None
    share: float | None = None

    @classmethod
    def parse(cls, text: str) -> Good:
        """Read a human score, or a share in percent."""
        if match := SHARE.fullmatch(text.strip()):
            share = float(match[1]) / 100
            if not 0 < share < 1:
                raise SettingError(
                    "the share must lie between 0 % and 100 %", parameter="good", value=text
                )
            return cls(share=share)
        try:
            return cls(score=float(text))
        except ValueError:
            raise SettingError(
                "it must be a human score, as in 0.5, or the share of the best outputs, as in 25%",
                parameter="good",
                value=text,
            ) from None

    def labels(self, judged: JudgedSet) -> tuple[list[int], list[bool], float]:
        """The places of the judged outputs, which of them are good, and the score that decides."""
        places, human = judged_places(judged)
        limit = self.score
        if limit is None:
            limit = float(np.quantile(human, 1 - (self.share or 0)))
        good = (human >= limit).tolist()
        if all(good) or not any(good):
            raise InputError(
                f"{judged.name}: with a human score of {limit:g} as the limit, all outputs are on "
                "the same side"
            )
        ids = [judged.segments[place].id for place in places]
        halves = {id_: number % 2 for number, id_ in enumerate(dict.fromkeys(ids))}
        if len({halves[id_] for id_, label in zip(ids, good, strict=True) if label}) < 2:
            raise InputError(
                f"{judged.name}: with a human score of {limit:g} as the limit, there are too few "
                "good outputs to choose a threshold on half of the inputs"
            )
        return places, good, limit


@dataclass(frozen=True)
class Decisions:
    """Items that are kept or not, one or more for each input."""

    inputs: Sequence[str]
    scores: Sequence[float]
    good: Sequence[bool]
    right: Mapping[str, int]
    """By input, how many good items there are to be found."""

    def row(self, name: str) -> list[Cell]:
        """Precision, recall and F1 with thresholds from other inputs, and the best threshold."""
        order = {id_: number for number, id_ in enumerate(self.right)}
        kept = found = 0
        for half in (0, 1):
            threshold = self._best(half=1 - half)
            for id_, score, good in zip(self.inputs, self.scores, self.good, strict=True):
                if order[id_] % 2 == half and score >= threshold:
                    kept += 1
                    found += good
        total = sum(self.right.values())
        precision = 100 * found / kept if kept else None
        shares = [precision, 100 * found / total, 200 * found / (kept + total)]
        return [Cell(name), *(Cell(x, ".1f") for x in shares), Cell(self._best(), ".4g")]

    def _best(self, half: int | None = None) -> float:
        """The threshold with the best F1, on all inputs or on half of them."""
        order = {id_: number for number, id_ in enumerate(self.right)}
        chosen = [
            place for place, id_ in enumerate(self.inputs) if half is None or order[id_] % 2 == half
        ]
        right = sum(
            count for id_, count in self.right.items() if half is None or order[id_] % 2 == half
        )
        points = precision_recall_points(
            [self.good[place] for place in chosen], [self.scores[place] for place in chosen], right
        )
        return best_f1(points).threshold


def filtering_table(
    sets: Sequence[JudgedSet], scores: Mapping[str, ScoresByMeasure], good: Good
) -> Table:
    """Keep the outputs from a threshold on: how many of them are good, and how many good ones."""
    rows = []
    for judged in sets:
        places, labels, limit = good.labels(judged)
        inputs = [judged.segments[place].id for place in places]
        right: dict[str, int] = dict.fromkeys(inputs, 0)
        for id_, label in zip(inputs, labels, strict=True):
            right[id_] += label
        share = sum(labels) / len(labels)
        all_kept = [100 * share, 100.0, 200 * share / (1 + share)]
        name = f"{judged.name} (good: {limit:.4g}), all"
        count = Cell(len(labels), "d")
        rows.append([Cell(name), *(Cell(x, ".1f") for x in all_kept), Cell(None), count])
        for measure, own in with_scores(judged, scores[judged.name], places).items():
            decisions = Decisions(inputs, [own.segments[n] for n in places], labels, right)
            rows.append([*decisions.row(f"{judged.name}, {measure}"), count])
    return Table(["", *HEADER, "n"], rows, "Filtering: good outputs above a threshold", FITTED)


def reranking_table(
    sets: Sequence[JudgedSet], scores: Mapping[str, ScoresByMeasure], good: Good
) -> Table | None:
    """Of several outputs for an input, choose the best one, if it is above a threshold."""
    rows = []
    for judged in sets:
        places, labels, _ = good.labels(judged)
        groups: dict[str, list[int]] = defaultdict(list)
        for number, place in enumerate(places):
            groups[judged.segments[place].id].append(number)
        groups = {id_: members for id_, members in groups.items() if len(members) > 1}
        right = {id_: int(any(labels[n] for n in members)) for id_, members in groups.items()}
        if not groups or not _on_both_sides(right):
            continue
        human = [judged.segments[place].score or 0.0 for place in places]
        for measure, own in with_scores(judged, scores[judged.name], places).items():
            found = [own.segments[place] for place in places]
            chosen = {
                id_: max(members, key=lambda n: (found[n], -n)) for id_, members in groups.items()
            }
            best = [
                human[n] == max(human[each] for each in groups[id_]) for id_, n in chosen.items()
            ]
            decisions = Decisions(
                list(chosen),
                [found[n] for n in chosen.values()],
                [labels[n] for n in chosen.values()],
                right,
            )
            row = decisions.row(f"{judged.name}, {measure}")
            share = Cell(100 * sum(best) / len(best), ".1f")
            rows.append([*row, share, Cell(len(best), "d")])
    if not rows:
        return None
    note = (
        f"{FITTED} Recall counts the inputs that have a good output. Best: how often the chosen "
        "output has the highest human score."
    )
    return Table(
        ["", *HEADER, "best", "n"], rows, "Reranking: the best output of each input, if good", note
    )


def _on_both_sides(right: Mapping[str, int]) -> bool:
    """Whether both halves of the inputs have something to find."""
    counts = list(right.values())
    return any(counts[::2]) and any(counts[1::2])
