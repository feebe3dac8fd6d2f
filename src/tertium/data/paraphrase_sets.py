"""Sets of paraphrases from shared translations, as TaPaCo has them (Scherrer, 2020).

Two sentences of a language are linked where a sentence of another language is a translation of
both, or where they are linked with each other. Links are taken in the order of how many
translations are shared, and join two sets where the rules allow it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from tertium.data.tatoeba import Export, ExportFiles
from tertium.errors import InputError, SettingError
from tertium.stats.arrays import Ints
from tertium.storage.atomic import write_text


@dataclass(frozen=True)
class SetRules:
    """What makes a set. All are stated here; there is no other filter."""

    max_renderings: int = 15
    """A translation with more renderings in the language is ignored: it says too little."""
    max_size: int = 10
    """Two sets are joined only up to so many sentences: long chains drift."""
    min_shared: int = 1
    """How many translations two sentences must share to be linked; being linked counts as one."""
    max_sets: int | None = None
    """Of more sets in a language, so many are kept, chosen by the hash of their first number."""
    min_sets: int = 1
    """A language with fewer sets is left out."""

    def __post_init__(self) -> None:
        for name in ("max_renderings", "max_size"):
            if getattr(self, name) < 2:
                raise SettingError(f"{name}={getattr(self, name)!r}: it must be 2 or more")
        for name in ("min_shared", "min_sets", "max_sets"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingError(f"{name}={value!r}: it must be 1 or more")


@dataclass(frozen=True)
class LanguageSets:
    """The sets of a language, as numbers of sentences, in the order of their first numbers."""

    lang: str
    sets: list[tuple[int, ...]]
    before: int
    """How many sets there were before any was left out."""


def find_sets(
    export: Export, rules: SetRules | None = None, langs: Sequence[str] | None = None
) -> Iterator[LanguageSets]:
    """Make the sets of each language, in the order of their codes."""
    rules = rules or SetRules()
    for lang in langs or ():
        if lang not in export.names:
            raise InputError(f"the export has no sentence in {lang!r}")
    ends = np.concatenate([export.links, export.links[:, ::-1]])
    order = np.argsort(export.langs[ends[:, 1]], kind="stable")
    ends = ends[order]
    starts = np.searchsorted(export.langs[ends[:, 1]], np.arange(len(export.names) + 1))
    for lang in sorted(export.names):
        if langs is not None and lang not in langs:
            continue
        place = export.names.index(lang)
        found = _sets(export, place, ends[starts[place] : starts[place + 1]], rules)
        kept = found
        if rules.max_sets is not None and len(found) > rules.max_sets:
            by_hash = sorted(found, key=lambda each: (zlib.crc32(str(each[0]).encode()), each))
            kept = sorted(by_hash[: rules.max_sets])
        yield LanguageSets(lang, kept if len(kept) >= rules.min_sets else [], len(found))


def write_sets(files: ExportFiles, found: Sequence[LanguageSets], out: Path) -> None:
    """Write lang, set_id and sentence; the texts are read again, and only those that are wanted."""
    wanted = {number for each in found for own in each.sets for number in own}
    texts = {number: text for number, _, text in files.texts() if number in wanted}
    lines = ["lang\tset_id\tsentence"]
    for each in found:
        for place, own in enumerate(each.sets, start=1):
            lines += [f"{each.lang}\t{each.lang}-{place}\t{texts[number]}" for number in own]
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, "\n".join(lines) + "\n")


def make_sets(
    folder: Path,
    out: Path,
    *,
    rules: SetRules | None = None,
    langs: Sequence[str] | None = None,
    advance: Callable[[int], None] | None = None,
) -> list[LanguageSets]:
    """Read an export, and write its sets of paraphrases."""
    files = ExportFiles.find(folder)
    found = list(find_sets(files.read(advance), rules, langs))
    write_sets(files, found, out)
    return found


def _sets(export: Export, lang: int, ends: Ints, rules: SetRules) -> list[tuple[int, ...]]:
    """The sets of a language, from its links: other sentence, own sentence."""
    twins = _first_of_its_kind(export, lang)
    others, own = ends[:, 0], twins[ends[:, 1]]
    across = export.langs[others] != lang
    codes, shared = np.unique(
        np.concatenate(
            [
                _linked_by_translation(others[across], own[across], len(twins), rules),
                _packed(twins[others[~across]], own[~across], len(twins)),
            ]
        ),
        return_counts=True,
    )
    enough = shared >= rules.min_shared
    order = np.lexsort((codes[enough], -shared[enough]))
    chosen = codes[enough][order]
    joined = _Joined(rules.max_size)
    for a, b in zip((chosen // len(twins)).tolist(), (chosen % len(twins)).tolist(), strict=True):
        if export.scripts[a] == export.scripts[b]:
            joined.join(a, b)
    return sorted(tuple(export.numbers[sorted(each)].tolist()) for each in joined.sets())


def _first_of_its_kind(export: Export, lang: int) -> Ints:
    """For each sentence of a language, the first that differs from it in nothing that counts."""
    twins = np.arange(len(export.numbers))
    places = np.flatnonzero(export.langs == lang)
    _, first, inverse = np.unique(export.keys[places], return_index=True, return_inverse=True)
    twins[places] = places[first[inverse]]
    return twins


def _linked_by_translation(others: Ints, own: Ints, size: int, rules: SetRules) -> Ints:
    """Pairs of sentences that share a translation, once for each that they share."""
    renderings = np.unique(np.stack([others, own], axis=1), axis=0)
    _, starts, counts = np.unique(renderings[:, 0], return_index=True, return_counts=True)
    found = [np.empty(0, dtype=np.int64)]
    for count in range(2, rules.max_renderings + 1):
        begins = starts[counts == count]
        groups = renderings[begins[:, None] + np.arange(count), 1]
        found += [
            _packed(groups[:, a], groups[:, b], size) for a, b in combinations(range(count), 2)
        ]
    return np.concatenate(found)


def _packed(a: Ints, b: Ints, size: int) -> Ints:
    """A pair as one number, the smaller first; a sentence and itself is no pair."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    packed: Ints = (low * size + high)[low != high]
    return packed


class _Joined:
    """Sets that grow by joining, up to a size."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._set_of: dict[int, list[int]] = {}

    def join(self, a: int, b: int) -> None:
        one, two = (self._set_of.setdefault(each, [each]) for each in (a, b))
        if one is two or len(one) + len(two) > self._max_size:
            return
        one += two
        for each in two:
            self._set_of[each] = one

    def sets(self) -> list[list[int]]:
        """Those of two and more."""
        distinct = {id(each): each for each in self._set_of.values()}
        return [each for each in distinct.values() if len(each) > 1]
