"""Mining: pairs of texts with the same meaning, from two lists, from one list, or by search."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium.data.normalization import sentence_key
from tertium.errors import InputError, SettingError
from tertium.measures.base import Measure
from tertium.mining.candidates import (
    Candidates,
    NeighbourSettings,
    Selection,
    between,
    search,
    select,
    within,
)
from tertium.mining.rescoring import PAIRS_AT_A_TIME, TextPair, rescore
from tertium.mining.vectors import VectorStore
from tertium.models.base import Progress, SentenceEncoder
from tertium.models.catalog import DEFAULT_MODEL, load_encoder
from tertium.storage.resume import UnfinishedRun
from tertium.text import Text

Task = Literal["bitext", "paraphrases", "search"]
NGRAM = 3


class MinedPair(NamedTuple):
    """Two texts, their line numbers, and their scores."""

    source: str
    target: str
    source_line: int
    target_line: int
    cosine: float
    margin: float
    rescored: float | None
    """The score by the measure; None without one."""
    cut: bool
    """Whether a text was truncated by the encoder or by the measure's model."""

    @property
    def score(self) -> float:
        """What the pairs are ranked by: the score by the measure, or else the margin."""
        return self.margin if self.rescored is None else self.rescored


@dataclass(frozen=True)
class TextList:
    """Distinct texts that are not blank, in order, with the number of the first line of each.

    >>> TextList.read(["a", "", "b", "a"])
    TextList(texts=('a', 'b'), lines=(1, 3), lang=None)
    """

    texts: tuple[str, ...]
    lines: tuple[int, ...]
    lang: str | None = None

    @classmethod
    def read(cls, lines: Iterable[str], lang: str | None = None) -> TextList:
        """Collect texts from lines."""
        first: dict[str, int] = {}
        for number, line in enumerate(lines, start=1):
            if line.strip():
                first.setdefault(line, number)
        return cls(tuple(first), tuple(first.values()), lang)

    def __getitem__(self, place: int) -> Text:
        return Text(self.texts[place], self.lang)


@dataclass(frozen=True)
class Miner:
    """Finds candidates by sentence vectors, rescores them by a measure, and selects pairs."""

    encoder: SentenceEncoder
    neighbours: NeighbourSettings = field(default_factory=NeighbourSettings)
    select: Selection = "one-to-one"
    measure: Measure | None = None
    max_overlap: float | None = None
    """Pairs with a higher :func:`overlap` are near-copies and are left out; None keeps all."""
    keep: Callable[[Sequence[TextPair]], Sequence[bool]] | None = None
    """Which candidates are kept before they are rescored, for example by filters; None: all."""
    store: VectorStore | None = None
    """Where vectors are stored and reused; None uses a temporary folder."""
    pairs_at_a_time: int = PAIRS_AT_A_TIME
    """Pairs that are rescored and saved together."""

    def __post_init__(self) -> None:
        if self.max_overlap is not None and not 0 <= self.max_overlap <= 1:
            raise SettingError(f"max_overlap is {self.max_overlap}; it must be from 0 to 1")

    def mine(
        self,
        first: TextList,
        second: TextList | None = None,
        *,
        task: Task | None = None,
        run: UnfinishedRun | None = None,
        progress: Progress | None = None,
    ) -> list[MinedPair]:
        """Mine pairs, the highest score first; in a search, query by query.

        The task is ``bitext`` for two lists and ``paraphrases`` for one, unless it is given. With
        ``run``, rescoring can be resumed.
        """
        task = task or ("paraphrases" if second is None else "bitext")
        other = first if second is None else second
        for side in (first, other):
            if not side.texts:
                raise InputError("there are no texts to mine: all lines are blank")
        candidates, cut = self._candidates(task, first, second, progress)
        pairs = [
            (first[i], other[j])
            for i, j in zip(candidates.first.tolist(), candidates.second.tolist(), strict=True)
        ]
        kept = np.flatnonzero(self._kept(pairs))
        candidates, cut, pairs = candidates.take(kept), cut[kept], [pairs[i] for i in kept.tolist()]
        rescored = None
        if self.measure is not None:
            rescored = rescore(
                self.measure,
                pairs,
                run=run,
                progress=progress,
                pairs_at_a_time=self.pairs_at_a_time,
            )
        scores = candidates.margin.astype(np.float64) if rescored is None else rescored.scores
        how: Selection = "all" if task == "search" else self.select
        order = select(
            candidates.first, candidates.second, scores, how, one_list=task == "paraphrases"
        )
        if task == "search":
            order = order[np.argsort(candidates.first[order], kind="stable")]
        return [
            MinedPair(
                first.texts[i],
                other.texts[j],
                first.lines[i],
                other.lines[j],
                float(candidates.cosine[place]),
                float(candidates.margin[place]),
                None if rescored is None else float(rescored.scores[place]),
                bool(cut[place]) or (rescored is not None and bool(rescored.cut[place])),
            )
            for place in order.tolist()
            for i, j in [(int(candidates.first[place]), int(candidates.second[place]))]
        ]

    def _candidates(
        self, task: Task, first: TextList, second: TextList | None, progress: Progress | None
    ) -> tuple[Candidates, NDArray[np.bool_]]:
        """Candidates, and whether a text of each was truncated by the encoder."""
        # a file that is still mapped cannot be deleted on Windows
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            store = self.store or VectorStore(Path(scratch))
            a = b = store.vectors(self.encoder, first.texts, lang=first.lang, progress=progress)
            if second is not None:
                b = store.vectors(self.encoder, second.texts, lang=second.lang, progress=progress)
            if task == "paraphrases":
                found = within(a.vectors, self.neighbours, progress)
            elif task == "search":
                found = search(a.vectors, b.vectors, self.neighbours, progress)
            else:
                found = between(a.vectors, b.vectors, self.neighbours, progress)
        cut = np.isin(found.first, list(a.cut)) | np.isin(found.second, list(b.cut))
        return found, cut

    def _kept(self, pairs: Sequence[TextPair]) -> NDArray[np.bool_]:
        kept = np.ones(len(pairs), bool)
        if self.max_overlap is not None:
            highest = self.max_overlap
            kept &= np.array([overlap(a.text, b.text) <= highest for a, b in pairs], bool)
        if self.keep is not None:
            places = np.flatnonzero(kept)
            kept[places] = self.keep([pairs[place] for place in places.tolist()])
        return kept


def mine(
    sources: Sequence[str],
    targets: Sequence[str] | None = None,
    *,
    source_lang: str | None = None,
    target_lang: str | None = None,
    encoder: str | Path | SentenceEncoder = DEFAULT_MODEL,
    measure: Measure | None = None,
    select: Selection = "one-to-one",
    neighbours: NeighbourSettings | None = None,
    max_overlap: float | None = None,
) -> list[MinedPair]:
    """Mine pairs with the same meaning from two lists of texts, or from one.

    The language of the targets is that of the sources unless it is given.

    >>> from tertium.mining.mine import mine
    >>> german = ["Ich habe eine Katze.", "Der Zug ist verspätet."]
    >>> english = ["The train is late.", "I have a cat."]
    >>> for pair in mine(german, english, source_lang="de", target_lang="en"):
    ...     print(pair.source_line, pair.target_line, pair.target)
    1 2 I have a cat.
    2 1 The train is late.
    """
    made = load_encoder(encoder) if isinstance(encoder, str | Path) else encoder
    miner = Miner(made, neighbours or NeighbourSettings(), select, measure, max_overlap)
    second = None
    if targets is not None:
        second = TextList.read(targets, target_lang if target_lang is not None else source_lang)
    return miner.mine(TextList.read(sources, source_lang), second)


def overlap(one: str, other: str) -> float:
    """The share of character 3-grams that two texts have in common (Dice), from 0 to 1.

    Case, punctuation and spaces do not count. Texts that are the same otherwise have 1.

    >>> overlap("He is here.", "he's here"), overlap("abcd", "abce"), overlap("abc", "xyz")
    (0.5454545454545454, 0.5, 0.0)
    """
    a, b = sentence_key(one), sentence_key(other)
    if a == b:
        return 1.0
    first, second = (
        Counter(key[place : place + NGRAM] for place in range(len(key) - NGRAM + 1))
        for key in (a, b)
    )
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0
