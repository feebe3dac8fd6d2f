"""Sets of paraphrases by language, and the pairs that are drawn from them."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from tertium.data.datasets.base import ParaphraseSet
from tertium.data.datasets.plain import read_sets
from tertium.data.datasets.tapaco import read_tapaco
from tertium.errors import InputError

SETS = "sets.tsv"
PACKED = ("", ".xz", ".gz", ".bz2")


@dataclass(frozen=True)
class LanguagePairs:
    """The pairs of a language: all that its sets have, or a sample of them."""

    lang: str
    sets: int
    of: int
    """How many pairs its sets have."""
    pairs: Sequence[tuple[str, str]]

    @property
    def fingerprint(self) -> str:
        """What the texts are."""
        spelled = json.dumps([self.lang, self.pairs], ensure_ascii=True)
        return hashlib.sha256(spelled.encode("ascii")).hexdigest()


def read_paraphrase_sets(
    source: Path, langs: Sequence[str] | None = None
) -> dict[str, list[ParaphraseSet]]:
    """Read sets by language, in the order of their codes.

    ``source`` is a file with the columns lang, set_id and sentence, a folder with such a file
    (sets.tsv, packed or not), or a folder with TaPaCo's LANG.txt. ``langs`` are codes as they stand
    there (or in a column lang1).
    """
    found: dict[str, list[ParaphraseSet]] = {}
    plain = _plain(source)
    if plain is not None:
        for each in read_sets(plain):
            found.setdefault(each.lang, []).append(each)
    elif source.is_dir():
        for path in sorted(source.rglob("*.txt")):
            if 2 <= len(path.stem) <= 4:  # a code; others are read-me files
                found[path.stem] = read_tapaco(path.stem, folder=path.parent)
    if not found:
        raise InputError(
            f"{source} holds no sets of paraphrases: give a file with the columns lang, set_id and "
            f"sentence, a folder with {SETS}, or one with TaPaCo's LANG.txt"
        )
    if langs is not None:
        from tertium.data.languages import iso_code

        wanted = {iso_code(lang) for lang in langs}
        there = {iso_code(lang): lang for lang in found}
        for lang in langs:
            if iso_code(lang) not in there:
                raise InputError(f"{source} has no {lang}: it has {', '.join(sorted(found))}")
        found = {there[code]: found[there[code]] for code in wanted}
    return dict(sorted(found.items()))


def pairs_of(
    lang: str, sets: Sequence[ParaphraseSet], *, count: int | None = None, seed: int = 0
) -> LanguagePairs:
    """Pair each sentence of a set with each later one; of all these pairs, draw ``count``.

    The draw is without replacement, keeps the order of the data, and depends on the seed and on the
    language alone, not on which other languages there are.

    >>> one = ParaphraseSet("1", "en", ("Hi.", "Hello.", "Hey."))
    >>> pairs_of("en", [one]).pairs
    [('Hi.', 'Hello.'), ('Hi.', 'Hey.'), ('Hello.', 'Hey.')]
    >>> pairs_of("en", [one], count=2).of
    3
    """
    pairs = [pair for each in sets for pair in combinations(each.sentences, 2)]
    total = len(pairs)
    if count is not None and count < total:
        generator = np.random.default_rng([seed, zlib.crc32(lang.encode())])
        chosen = np.sort(generator.choice(total, size=count, replace=False))
        pairs = [pairs[place] for place in chosen]
    return LanguagePairs(lang, len(sets), total, pairs)


def _plain(source: Path) -> Path | None:
    if source.is_file():
        return source
    if not source.exists():
        raise InputError(f"there is no {source}")
    places = (source / f"{SETS}{suffix}" for suffix in PACKED)
    return next((place for place in places if place.is_file()), None)
