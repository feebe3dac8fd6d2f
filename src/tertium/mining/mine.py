"""Mining: pairs of texts with the same meaning, from two lists, from one list, or by search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium.data.normalization import sentence_key
from tertium.data.pairs import TextSource
from tertium.errors import InputError, SettingError
from tertium.jobs.local import run_here
from tertium.jobs.output import KeptRows
from tertium.jobs.task import Finished, Input, Job, JobProgress, Run
from tertium.jobs.tasks.encode import TEXTS_AT_A_TIME, EncodeTask
from tertium.jobs.tasks.score import ScoreTask, score_table
from tertium.jobs.vectors import StoredVectors, VectorStore
from tertium.measures.base import Measure
from tertium.measures.loading import MeasureLoader, ModelSettings, load
from tertium.mining.candidates import (
    Candidates,
    NeighbourSettings,
    Selection,
    between,
    margin_by_chance,
    search,
    select,
    within,
)
from tertium.models.base import Progress, SentenceEncoder
from tertium.models.catalog import DEFAULT_ENCODER, load_encoder
from tertium.report.progress import as_progress
from tertium.report.tables import data_frame
from tertium.storage.arrays import join_arrays
from tertium.text import Row, Text

Task = Literal["bitext", "paraphrases", "search"]
NGRAM = 3
PAIRS_AT_A_TIME = 1024


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
class TextList(TextSource):
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

    name: ClassVar[str] = "the list of texts"
    columns: ClassVar[Sequence[str]] = ()
    paths: ClassVar[Sequence[Path]] = ()
    has_references: ClassVar[bool] = False
    has_source: ClassVar[bool] = True

    def __getitem__(self, place: int) -> Text:
        return Text(self.texts[place], self.lang)

    def __iter__(self) -> Iterator[Row]:
        return self.between(0, len(self.texts))

    def count(self) -> int:
        return len(self.texts)

    def between(self, start: int, stop: int) -> Iterator[Row]:
        for place in range(start, min(stop, len(self.texts))):
            yield Row(self.lines[place], source=self[place])


@dataclass(frozen=True)
class CandidatePairs(TextSource):
    """The candidates as rows; the first text is both the reference and the source.

    So every measure has what it needs.
    """

    first: TextList
    second: TextList
    candidates: Candidates

    name: ClassVar[str] = "the list of pairs"
    columns: ClassVar[Sequence[str]] = ()
    paths: ClassVar[Sequence[Path]] = ()
    has_references: ClassVar[bool] = True
    has_source: ClassVar[bool] = True

    def __iter__(self) -> Iterator[Row]:
        return self.between(0, len(self.candidates))

    def count(self) -> int:
        return len(self.candidates)

    def between(self, start: int, stop: int) -> Iterator[Row]:
        some = slice(start, stop)
        pairs = zip(self.candidates.first[some], self.candidates.second[some], strict=True)
        for number, (i, j) in enumerate(pairs, start + 1):
            source = self.first[int(i)]
            yield Row(number, self.second[int(j)], (source,), source)


class MinedPairs(list[MinedPair]):
    """Mined pairs, the best first, which can become a data frame."""

    def to_pandas(self) -> Any:
        """A data frame with one row per pair."""
        return data_frame(pair._asdict() for pair in self)


@dataclass(frozen=True)
class Mined:
    """The selected pairs, the highest score first; in a search, query by query."""

    pairs: list[MinedPair]
    resumed: int = 0
    """Texts and candidates that an interrupted run had done before."""
    messages: list[str] = field(default_factory=list)
    chance: float | None = None
    """The margin that pairs of two lists seldom reach by chance (:func:`margin_by_chance`)."""

    def above(self, threshold: float | None, by_chance: bool = False) -> list[MinedPair]:
        """The pairs with at least this score or, by default, with a margin above chance."""
        if threshold is None and by_chance and self.chance is not None:
            return [pair for pair in self.pairs if pair.margin >= self.chance]
        return [pair for pair in self.pairs if threshold is None or pair.score >= threshold]

    def summary(self) -> dict[str, int]:
        return {"pairs": len(self.pairs)}


@dataclass(frozen=True)
class Miner:
    """Finds candidates by sentence vectors, rescores them by a measure, and selects pairs."""

    encoder: SentenceEncoder | ModelSettings
    """The encoder, or how it is loaded where texts are encoded."""
    neighbours: NeighbourSettings = field(default_factory=NeighbourSettings)
    select: Selection = "one-to-one"
    measure: Measure | MeasureLoader | None = None
    """What rescores the candidates; of a loader, its only measure."""
    max_overlap: float | None = None
    """Pairs with a higher :func:`overlap` are near-copies and are left out; None keeps all."""
    keep: Callable[[Sequence[Row]], Sequence[bool]] | None = None
    """Which candidates are kept before they are rescored, for example by filters; None: all."""
    store: VectorStore | None = None
    """Where vectors are stored and reused; None uses the folder of the run."""
    pairs_at_a_time: int = PAIRS_AT_A_TIME
    """Pairs that are rescored and saved together."""

    def __post_init__(self) -> None:
        if self.max_overlap is not None and not 0 <= self.max_overlap <= 1:
            raise SettingError(f"max_overlap is {self.max_overlap}; it must be from 0 to 1")

    def mine(
        self, first: TextList, second: TextList | None = None, *, task: Task | None = None
    ) -> list[MinedPair]:
        """Mine pairs in this process; see :meth:`run`."""
        return run_here(lambda run: self.run(run, first, second, task=task), KeptRows()).pairs

    def run(
        self,
        run: Run,
        first: TextList,
        second: TextList | None = None,
        *,
        task: Task | None = None,
    ) -> Mined:
        """Mine pairs by the jobs of a run: one encodes the texts, one scores the candidates.

        The task is ``bitext`` for two lists and ``paraphrases`` for one, unless it is given.
        """
        task = task or ("paraphrases" if second is None else "bitext")
        other = first if second is None else second
        for side in (first, other):
            if not side.texts:
                raise InputError("there are no texts to mine: all lines are blank")
        finished, sides = self._encoded(run, [first] if second is None else [first, other])
        candidates, cut = self._candidates(task, sides, run.progress.detail)
        chance = margin_by_chance(candidates) if task == "bitext" else None
        kept = np.flatnonzero(self._kept(CandidatePairs(first, other, candidates)))
        candidates, cut = candidates.take(kept), cut[kept]
        scores, done = candidates.margin.astype(np.float64), finished.resumed
        rescored = None
        if self._scoring is not None and len(candidates):
            job = Job(
                self._scoring,
                [Input(CandidatePairs(first, other, candidates))],
                self.pairs_at_a_time,
            )
            texts = sum(len(side.vectors) for side in sides)
            run.progress.advance(texts, texts + len(candidates))
            table = score_table(job, run(job))
            [rescored] = (table[name] for name in table.measures)
            scores, done = np.array(rescored.segments), done + table.resumed
            cut = cut | np.array(rescored.cut)
        how: Selection = "all" if task == "search" else self.select
        order = select(
            candidates.first, candidates.second, scores, how, one_list=task == "paraphrases"
        )
        if task == "search":
            order = order[np.argsort(candidates.first[order], kind="stable")]
        pairs = [
            MinedPair(
                first.texts[i],
                other.texts[j],
                first.lines[i],
                other.lines[j],
                float(candidates.cosine[place]),
                float(candidates.margin[place]),
                None if rescored is None else float(scores[place]),
                bool(cut[place]),
            )
            for place in order.tolist()
            for i, j in [(int(candidates.first[place]), int(candidates.second[place]))]
        ]
        return Mined(pairs, done, finished.messages, chance)

    @property
    def _scoring(self) -> ScoreTask | None:
        if self.measure is None:
            return None
        if isinstance(self.measure, MeasureLoader):
            return ScoreTask.requested(self.measure, segments=True, scores_only=True)
        return ScoreTask([self.measure], segments=True, scores_only=True)

    def _encoded(self, run: Run, lists: Sequence[TextList]) -> tuple[Finished, list[StoredVectors]]:
        """The vectors of each list."""
        task = EncodeTask(self.encoder, self.store or VectorStore(run.folder))
        about = {} if self._scoring is None else {"rescoring": self._scoring.request}
        inputs = [Input(each) for each in lists]
        finished = run(Job(task, inputs, TEXTS_AT_A_TIME, about=about, followed=True))
        sides = []
        for place in range(len(lists)):
            blocks = task.vectors([each for each in finished.outcomes if each.input == place])
            file = run.folder / f"array-joined{place}.npy"
            vectors = join_arrays([block.vectors for block in blocks], file)
            starts = np.cumsum([0, *(len(block.vectors) for block in blocks)]).tolist()
            cut = {
                start + each
                for start, block in zip(starts, blocks, strict=False)
                for each in block.cut
            }
            sides.append(StoredVectors(vectors, frozenset(cut), blocks[0].key))
        return finished, sides

    def _candidates(
        self, task: Task, sides: Sequence[StoredVectors], progress: Progress
    ) -> tuple[Candidates, NDArray[np.bool_]]:
        """Candidates, and whether a text of each was truncated by the encoder."""
        a, b = sides[0], sides[-1]
        if task == "paraphrases":
            found = within(a.vectors, self.neighbours, progress)
        elif task == "search":
            found = search(a.vectors, b.vectors, self.neighbours, progress)
        else:
            found = between(a.vectors, b.vectors, self.neighbours, progress)
        return found, np.isin(found.first, list(a.cut)) | np.isin(found.second, list(b.cut))

    def _kept(self, pairs: CandidatePairs) -> NDArray[np.bool_]:
        rows = list(pairs) if self.max_overlap is not None or self.keep is not None else []
        kept = np.ones(pairs.count(), bool)
        if self.max_overlap is not None:
            highest = self.max_overlap
            kept &= np.array(
                [overlap(*(text.text for text in row.sides)) <= highest for row in rows], bool
            )
        if self.keep is not None:
            places = np.flatnonzero(kept)
            kept[places] = self.keep([rows[place] for place in places.tolist()])
        return kept


def mine(
    sources: Iterable[str],
    targets: Iterable[str] | None = None,
    *,
    source_lang: str | None = None,
    target_lang: str | None = None,
    encoder: str | Path | SentenceEncoder = DEFAULT_ENCODER,
    measure: str | Measure | None = None,
    threshold: float | Literal["auto"] | None = "auto",
    select: Selection = "one-to-one",
    neighbours: NeighbourSettings | None = None,
    max_overlap: float | None = None,
    progress: bool | Progress | None = None,
) -> MinedPairs:
    """Mine pairs with the same meaning from two lists of texts, or from one.

    The language of the targets is that of the sources unless it is given. ``measure`` rescores the
    candidates. ``threshold`` is the lowest score; ``auto`` is, for two lists, the margin that pairs
    seldom reach by chance; None keeps all pairs.

    >>> import tertium
    >>> german = ["Ich habe eine Katze.", "Der Zug ist verspätet."]
    >>> english = ["The train is late.", "I have a cat."]
    >>> for pair in tertium.mine(german, english, source_lang="de", target_lang="en"):
    ...     print(pair.source_line, pair.target_line, pair.target)
    1 2 I have a cat.
    2 1 The train is late.
    """
    made = load_encoder(encoder) if isinstance(encoder, str | Path) else encoder
    if isinstance(measure, str):
        measure = load(measure, lang=target_lang)
    miner = Miner(made, neighbours or NeighbourSettings(), select, measure, max_overlap)
    second = None
    if targets is not None:
        second = TextList.read(targets, target_lang if target_lang is not None else source_lang)
    first = TextList.read(sources, source_lang)
    shown = as_progress(progress)
    bar = JobProgress() if shown is None else JobProgress(detail=shown)
    mined = run_here(lambda run: miner.run(run, first, second), KeptRows(), bar)
    return MinedPairs(mined.above(None if threshold == "auto" else threshold, threshold == "auto"))


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
