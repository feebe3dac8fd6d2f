"""Sets of judged outputs, read from plain files or from published datasets."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

import numpy as np

from tertium.data.datasets import mtme, stsb, wmt
from tertium.data.datasets.base import DATASETS, Dataset, JudgedSegment, RankedPair
from tertium.data.datasets.plain import read_judged, read_system_scores, read_systems
from tertium.errors import DataWarning, InputError
from tertium.stats.ranking import DARR_POINTS, relative_rankings

PLAIN = re.compile(r"(?P<langs>[a-z]{2,3}(-[a-z]{2,3})?)\.tsv(\.gz|\.xz|\.bz2)?")
HUMAN = "human.tsv"
NAMED = 10
"""So many missing segments are named."""
SCORES = {"webnlg": "adequacy", "amr": "semantic_accuracy", "mlqe": "z_mean"}
"""The column of the judgement in plain files, by the beginning of the name of the dataset."""

MTME_SCORES = "mqm"
"""The human scores of a test set of mt-metrics-eval, unless others are given."""

Langs = Sequence[str] | None


@dataclass(frozen=True)
class JudgedSet:
    """Outputs of one or several systems for the same inputs, with human judgements."""

    name: str
    group: str
    """Sets of a group are averaged before the average over groups is taken."""
    segments: Sequence[JudgedSegment]
    rankings: Sequence[RankedPair] = ()
    system_scores: Mapping[str, float] = field(default_factory=dict)
    """Human scores of systems, if given; otherwise the mean over the segments of a system."""

    @property
    def systems(self) -> list[str]:
        return list(dict.fromkeys(segment.system for segment in self.segments))

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return len({segment.id for segment in self.segments})

    @property
    def lang(self) -> str:
        return self.segments[0].hypothesis.lang or ""

    def limited(self, inputs: int | None) -> JudgedSet:
        """All outputs for the first ``inputs`` inputs, for a quick trial."""
        if inputs is None:
            return self
        kept = set(list(dict.fromkeys(segment.id for segment in self.segments))[:inputs])
        return replace(
            self,
            segments=[segment for segment in self.segments if segment.id in kept],
            rankings=[ranked for ranked in self.rankings if ranked.segment in kept],
        )


def ranked_by_difference(judged: JudgedSet, points: float = DARR_POINTS) -> JudgedSet:
    """Rank outputs of a segment whose direct assessments differ by so many points (daRR).

    As the metrics tasks did from 2017 to 2019, from raw scores of 0 to 100; of an output that was
    judged repeatedly, from their mean. Rankings that were published stay.
    """
    if judged.rankings:
        return judged
    systems = {name: n for n, name in enumerate(judged.systems)}
    ids = {id_: n for n, id_ in enumerate(dict.fromkeys(each.id for each in judged.segments))}
    sums, counts = np.zeros((2, len(systems), len(ids)))
    for segment in judged.segments:
        if segment.score is not None:
            sums[systems[segment.system], ids[segment.id]] += segment.score
            counts[systems[segment.system], ids[segment.id]] += 1
    with np.errstate(invalid="ignore"):
        rankings = relative_rankings(sums / counts, points=points)
    if not len(rankings):
        raise InputError(
            f"{judged.name}: no two outputs of a segment have human scores that differ by "
            f"{points:g} points; rankings are made from raw scores of 0 to 100",
            cure="use {score:wmt-raw}, for example",
        )
    names, segments = list(systems), list(ids)
    pair = judged.segments[0].lang_pair
    return replace(
        judged,
        rankings=[
            RankedPair(pair, segments[segment], names[better], names[worse])
            for segment, better, worse in zip(
                rankings.segment, rankings.better, rankings.worse, strict=True
            )
        ],
    )


def read_sets(
    name: str, folder: Path | None, langs: Langs = None, score: str | None = None
) -> list[JudgedSet]:
    """Read a dataset: plain (LANG.tsv or SRC-TGT.tsv), with systems in columns, or as published.

    Without a folder, it is downloaded.
    """
    if folder is None:
        return _registered(name, None, langs, score)
    if not folder.is_dir():
        raise InputError(f"{name}: the folder {folder} does not exist")
    files = {
        match["langs"]: path
        for path in sorted(folder.iterdir())
        if (match := PLAIN.fullmatch(path.name)) and path.name != HUMAN
    }
    if files:
        read = _with_systems if (folder / HUMAN).exists() else _plain
        return [
            read(name, path, code, score)
            for code, path in files.items()
            if langs is None or code in langs
        ]
    return _registered(name, folder, langs, score)


def _registered(name: str, folder: Path | None, langs: Langs, score: str | None) -> list[JudgedSet]:
    """Read a dataset of the registry, which the name begins with."""
    for begin, reader in COMPOSED.items():
        if name.startswith(begin):
            return reader(name, folder, langs, score)
    found = Dataset.named_by(name, JudgedSegment)
    if folder is None and (found is None or not found.hub_id):
        hub = [each for each, data in _judged().items() if data.hub_id]
        names = ", ".join(dict.fromkeys([*ON_HUB, *hub]))
        raise InputError(f"{name} cannot be downloaded; only {names} can")
    if found is None:
        names = ", ".join(dict.fromkeys([*COMPOSED, *_judged()]))
        raise InputError(
            f"{folder} has no LANG.tsv or SRC-TGT.tsv, and {name} is no dataset with judged "
            f"outputs; those are {names}"
        )
    split = {"split": "test"} if "test" in found.splits else {}
    return [
        JudgedSet(
            f"{name} {code}".rstrip(),
            f"{name} {code}" if found.name in SEPARATE else name,
            cast("Sequence[JudgedSegment]", segments),
        )
        for code, segments in found.read_languages(folder, langs, **split).items()
    ]


def _judged() -> dict[str, Dataset]:
    return {name: each for name, each in DATASETS.items() if each.records is JudgedSegment}


def _plain(name: str, path: Path, code: str, score: str | None) -> JudgedSet:
    column = score or next((SCORES[each] for each in SCORES if name.startswith(each)), "score")
    source_lang, _, lang = code.rpartition("-")
    segments = read_judged(path, score=column, lang=lang, source_lang=source_lang or None)
    return JudgedSet(f"{name} {code}", name, segments)


def _with_systems(name: str, path: Path, code: str, _: str | None) -> JudgedSet:
    scores = read_system_scores(path.parent / HUMAN, code)
    segments = [each for each in read_systems(path, code) if each.system in scores]
    if not segments:
        raise InputError(f"{path.parent / HUMAN} has no scores for the systems of {path}")
    return JudgedSet(f"{name} {code}", name, segments, system_scores=scores)


def _wmt(name: str, folder: Path | None, langs: Langs, score: str | None) -> list[JudgedSet]:
    """A package of a metrics task, or a test set of mt-metrics-eval."""
    sets = []
    folder = _needed(name, folder)
    for pair in _named(name, langs):
        label = f"{name} {pair}"
        if (folder / "human-scores").is_dir():
            scores = score or MTME_SCORES
            segments = mtme.read_mtme(folder, pair, scores=scores)
            systems = mtme.read_mtme_systems(folder, pair, scores)
            sets.append(JudgedSet(label, name, segments, system_scores=systems))
            continue
        ranked = any(next(folder.rglob(file), None) for file in wmt.RANKINGS)
        scored = next(folder.rglob(wmt.SYSTEMS), None) is not None
        if not ranked and not scored:
            sets.append(JudgedSet(label, name, wmt.read_wmt_da(folder, pair)))
            continue
        judged = JudgedSet(
            label,
            name,
            wmt.read_wmt_outputs(folder, pair),
            wmt.read_wmt_rankings(folder, pair) if ranked else [],
            wmt.read_wmt_systems(folder, pair) if scored else {},
        )
        warn_of_missing(judged)
        sets.append(judged)
    return sets


def warn_of_missing(judged: JudgedSet) -> None:
    """Name and count what was judged but has no output: without it, the numbers are others."""
    outputs = {(segment.system, segment.id) for segment in judged.segments}
    systems = {system for system, _ in outputs}
    lost: Counter[str] = Counter()
    lost_segments: set[tuple[str, str]] = set()
    left_out = 0
    for ranked in judged.rankings:
        sides = [(ranked.better, ranked.segment), (ranked.worse, ranked.segment)]
        left_out += any(side not in outputs for side in sides)
        for system, segment in sides:
            if system not in systems:
                lost[system] += 1
            elif (system, segment) not in outputs:
                lost_segments.add((system, segment))
    for system in judged.system_scores:
        if system not in systems:
            lost.setdefault(system, 0)
    parts = []
    if lost:
        names = ", ".join(
            f"{system} ({count} of the rankings)" if count else system
            for system, count in sorted(lost.items())
        )
        judged_systems = systems | lost.keys()
        parts.append(f"no outputs of {len(lost)} of {len(judged_systems)} systems: {names}")
    if lost_segments:
        named = [f"{system} {segment}" for system, segment in sorted(lost_segments)]
        more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
        parts.append(f"no outputs of single segments: {', '.join(named[:NAMED])}{more}")
    if parts:
        if left_out:
            parts.append(f"{left_out} of {len(judged.rankings)} rankings are left out")
        warnings.warn(f"{judged.name}: {'; '.join(parts)}", DataWarning, stacklevel=2)


def _mqm(name: str, folder: Path | None, langs: Langs, _: str | None) -> list[JudgedSet]:
    """Files of google/wmt-mqm-human-evaluation, such as mqm_newstest2020_ende.tsv."""
    sets = []
    folder = _needed(name, folder)
    for pair in _named(name, langs):
        files = sorted(folder.rglob(f"mqm*{pair.replace('-', '')}*.tsv"))
        if not files:
            raise InputError(f"{folder} has no ratings of {pair}, as in mqm_*_ende.tsv")
        sets += [
            JudgedSet(f"{name} {path.stem}", name, mtme.read_mqm(path, pair)) for path in files
        ]
    return sets


def _stsb(name: str, folder: Path | None, langs: Langs, _: str | None) -> list[JudgedSet]:
    """The test sets, plain (LANG.test.tsv) or as published; each pair is an input of its own."""
    sets = []
    for lang in langs or ("en",):
        plain = None if folder is None else folder / f"{lang}.test.tsv"
        if plain is not None and plain.exists():
            segments = read_judged(plain, lang=lang)
        else:
            segments = stsb.read_stsb(lang, "test", folder=folder)
        sets.append(JudgedSet(f"{name} {lang}", name, segments))
    return sets


def _wmt_table(name: str, folder: Path | None, langs: Langs, _: str | None) -> list[JudgedSet]:
    """One table of all years, as on the hub."""
    kind: Literal["da", "mqm"] = "mqm" if name.startswith("wmt-mqm") else "da"
    path = None
    if folder is not None:
        path = next(iter(sorted(folder.glob("*.csv"))), None)
        if path is None:
            raise InputError(f"{folder} has no CSV file with the columns lp, src, mt, ref, score")
    return [
        JudgedSet(f"{name} {pair}", name, wmt.read_wmt_table(kind, pair, path=path))
        for pair in _named(name, langs)
    ]


def _needed(name: str, folder: Path | None) -> Path:
    if folder is None:
        raise InputError(f"{name} cannot be downloaded; give its folder")
    return folder


def _named(name: str, langs: Langs) -> Sequence[str]:
    if langs is None:
        raise InputError(f"which languages of {name}?", cure="use {langs:de-en,fi-en}, for example")
    return langs


COMPOSED: Mapping[str, Callable[[str, Path | None, Langs, str | None], list[JudgedSet]]] = {
    "stsb": _stsb,
    "wmt-da": _wmt_table,
    "wmt-mqm": _wmt_table,
    "mqm": _mqm,
    "wmt": _wmt,
}
"""What consists of several files or datasets, by the beginning of its name; any other name begins
with that of a registered dataset."""
ON_HUB = ("stsb", "wmt-da", "wmt-mqm")
SEPARATE = ("webnlg",)
"""Datasets whose languages are not averaged."""
