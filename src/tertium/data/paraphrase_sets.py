"""Paraphrase sets from shared translations, as in TaPaCo (Scherrer, 2020).

Two sentences of a language are linked if they share a translation in another language, or if they
are linked directly. Links are processed in descending order of the number of shared translations;
each joins two sets if the rules allow it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from tertium.data.tatoeba import Export, ExportFiles, Ints
from tertium.errors import InputError, SettingError
from tertium.storage.atomic import write_text


@dataclass(frozen=True)
class SetRules:
    """The rules by which sets are made; there are no other filters."""

    max_renderings: int = 15
    """Translations with more renderings in the language are ignored: they are too unspecific."""
    max_size: int = 10
    """The largest number of sentences in a joined set: meaning drifts along long chains."""
    min_shared: int = 1
    """How many translations two sentences must share; a direct link counts as one."""
    max_sets: int | None = None
    """The largest number of sets per language; they are chosen by the hash of the first number."""
    min_sets: int = 1
    """Languages with fewer sets are left out."""

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
    """The sets of a language, as numbers of sentences, ordered by their first number."""

    lang: str
    sets: list[tuple[int, ...]]
    before: int
    """The number of sets before any was left out."""


def find_sets(
    export: Export, rules: SetRules | None = None, langs: Sequence[str] | None = None
) -> Iterator[LanguageSets]:
    """Make the sets of each language, ordered by language code."""
    rules = rules or SetRules()
    for lang in langs or ():
        if lang not in export.names:
            raise InputError(f"the export has no sentences in {lang!r}")
    ends = np.concatenate([export.links, export.links[:, ::-1]])
    order = np.argsort(export.langs[ends[:, 1]], kind="stable")
    ends = ends[order]
    starts = np.searchsorted(export.langs[ends[:, 1]], np.arange(len(export.names) + 1))
    for lang in sorted(export.names):
        if langs is not None and lang not in langs:
            continue
        place = export.names.index(lang)
        sets = _sets(export, place, ends[starts[place] : starts[place + 1]], rules)
        kept = sets
        if rules.max_sets is not None and len(sets) > rules.max_sets:
            by_hash = sorted(sets, key=lambda each: (zlib.crc32(str(each[0]).encode()), each))
            kept = sorted(by_hash[: rules.max_sets])
        yield LanguageSets(lang, kept if len(kept) >= rules.min_sets else [], len(sets))


def write_sets(files: ExportFiles, languages: Sequence[LanguageSets], out: Path) -> None:
    """Write lang, set_id and sentence; the texts are read again, only those that are needed."""
    wanted = {number for each in languages for numbers in each.sets for number in numbers}
    texts = {number: text for number, _, text in files.texts() if number in wanted}
    lines = ["lang\tset_id\tsentence"]
    for each in languages:
        for place, numbers in enumerate(each.sets, start=1):
            lines += [f"{each.lang}\t{each.lang}-{place}\t{texts[number]}" for number in numbers]
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
    """Read an export, and write its paraphrase sets."""
    files = ExportFiles.find(folder)
    languages = list(find_sets(files.read(advance), rules, langs))
    write_sets(files, languages, out)
    return languages


def _sets(export: Export, lang: int, ends: Ints, rules: SetRules) -> list[tuple[int, ...]]:
    """The sets of a language, from the links (any sentence, sentence of the language)."""
    twins = _first_duplicates(export, lang)
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
    joined = _DisjointSets(rules.max_size)
    for a, b in zip((chosen // len(twins)).tolist(), (chosen % len(twins)).tolist(), strict=True):
        if export.scripts[a] == export.scripts[b]:
            joined.join(a, b)
    return sorted(tuple(export.numbers[sorted(each)].tolist()) for each in joined.sets())


def _first_duplicates(export: Export, lang: int) -> Ints:
    """For each sentence of a language, the first with the same key (perhaps itself)."""
    twins = np.arange(len(export.numbers))
    places = np.flatnonzero(export.langs == lang)
    _, first, inverse = np.unique(export.keys[places], return_index=True, return_inverse=True)
    twins[places] = places[first[inverse]]
    return twins


def _linked_by_translation(others: Ints, own: Ints, size: int, rules: SetRules) -> Ints:
    """Pairs of sentences that share a translation, once for each shared translation."""
    renderings = np.unique(np.stack([others, own], axis=1), axis=0)
    _, starts, counts = np.unique(renderings[:, 0], return_index=True, return_counts=True)
    pairs = [np.empty(0, dtype=np.int64)]
    for count in range(2, rules.max_renderings + 1):
        begins = starts[counts == count]
        groups = renderings[begins[:, None] + np.arange(count), 1]
        pairs += [
            _packed(groups[:, a], groups[:, b], size) for a, b in combinations(range(count), 2)
        ]
    return np.concatenate(pairs)


def _packed(a: Ints, b: Ints, size: int) -> Ints:
    """Encode each pair of different sentences as one number."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    packed: Ints = (low * size + high)[low != high]
    return packed


class _DisjointSets:
    """Disjoint sets that can be joined up to a maximum size."""

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
        """The sets with at least two members."""
        distinct = {id(each): each for each in self._set_of.values()}
        return [each for each in distinct.values() if len(each) > 1]
