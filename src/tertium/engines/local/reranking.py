"""Reranks a stream of candidate lists in this process: batch by batch, saved after each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tertium._version import __version__
from tertium.data.nbest import CandidateList, CandidateLists
from tertium.engines.local.scoring import batches
from tertium.engines.output import CUT, Output
from tertium.engines.progress import NO_PROGRESS, JobProgress
from tertium.errors import InputError
from tertium.measures.base import Measure
from tertium.models.cache.memo import Tally
from tertium.reranking.gain import Gain, judge
from tertium.reranking.rerank import Ranking, Reranker
from tertium.storage.resume import chain_digest, input_changed

LISTS_AT_A_TIME = 16
GROUP, SRC, RANK, PLACE, HYP, SCORE = "group", "src", "rank", "place", "hyp", "score"


@dataclass
class RerankingResult:
    """What was chosen, over all lists."""

    lists: int = 0
    candidates: int = 0
    changed: int = 0
    """Lists of which another text than the first was chosen."""
    pairs: int = 0
    """Pairs of texts that were scored."""
    cut: int = 0
    """Lists with text that is longer than the model reads."""
    resumed: int = 0
    """Lists that an interrupted run had done before."""
    gains: dict[str, Gain] = field(default_factory=dict)
    """Sums of the judges, if there are references."""
    tally: Tally | None = None

    def state(self) -> dict[str, Any]:
        counts = {
            name: getattr(self, name) for name in ("lists", "candidates", "changed", "pairs", "cut")
        }
        return {**counts, "gains": {name: gain.state() for name, gain in self.gains.items()}}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> RerankingResult:
        gains = {name: Gain(**sums) for name, sums in state["gains"].items()}
        return cls(**{**state, "gains": gains, "resumed": state["lists"]})

    def add(self, ranking: Ranking) -> None:
        self.lists += 1
        self.candidates += len(ranking.texts)
        self.changed += ranking.text != ranking.texts[0]
        self.pairs += ranking.pairs
        self.cut += ranking.cut


@dataclass(frozen=True)
class RerankingJob:
    """The choice among the candidates of any number of lists."""

    lists: CandidateLists
    reranker: Reranker
    output: Output
    judges: Sequence[Measure] = ()
    """Measures that compare the choice with references, where there are any."""
    ranking: bool = False
    """Write all candidates in order, instead of the best."""
    lists_at_a_time: int = LISTS_AT_A_TIME
    tally: Tally | None = None

    def count(self) -> int | None:
        """The number of lists, if it is known beforehand."""
        return self.lists.count()

    def run(self, progress: JobProgress = NO_PROGRESS) -> RerankingResult:
        """Rank and write everything."""
        self.reranker.check(self.lists.name, has_source=self.lists.has_source)
        try:
            return self._run(progress)
        finally:
            self.output.close()

    def _run(self, progress: JobProgress) -> RerankingResult:
        columns = self._columns()
        job = {
            **self.reranker.description(),
            "judges": [measure.description() for measure in self.judges],
            "columns": columns,
            "lists_at_a_time": self.lists_at_a_time,
            "version": __version__,
        }
        state = self.output.begin(job, columns)
        result, digest = RerankingResult(), ""
        stream = batches(self.lists, self.lists_at_a_time)
        if state is not None:
            digest = self._skip(stream, state, progress)
            result = RerankingResult.from_state(state["result"])
        for lists in stream:
            digest = chain_digest(digest, (each.content for each in lists))
            rankings = self.reranker.rank(lists, progress.detail)
            for measure in self.judges:
                judged = judge(measure, lists, progress.detail)
                gain = result.gains.setdefault(measure.column, Gain())
                for each, ranking in zip(judged, rankings, strict=True):
                    gain.add(each, ranking.place)
            rows = []
            for candidates, ranking in zip(lists, rankings, strict=True):
                result.add(ranking)
                rows += self._rows(candidates, ranking, columns)
            if self.output.hides_progress:
                progress.hide()
            self.output.add(rows, {"digest": digest, "result": result.state()})
            progress.advance(result.lists)
        if not result.lists:
            raise InputError(f"{self.lists.name} is empty: there are no candidates")
        result.tally = self.tally
        self.output.finish(result.state())
        return result

    def _skip(
        self,
        stream: Iterator[list[CandidateList]],
        state: Mapping[str, Any],
        progress: JobProgress,
    ) -> str:
        """Read the lists that were done before; returns their digest, which must be the same."""
        done, digest = 0, ""
        while done < state["result"]["lists"] and (lists := next(stream, None)) is not None:
            digest = chain_digest(digest, (each.content for each in lists))
            done += len(lists)
            progress.advance(done)
        if digest != state["digest"]:
            raise input_changed(
                self.lists.name, f"its first {state['result']['lists']} lists differ"
            )
        return digest

    def _columns(self) -> list[str]:
        source = [SRC] if self.lists.has_source else []
        rank = [RANK] if self.ranking else []
        several = self.reranker.names if len(self.reranker.names) > 1 else []
        return [GROUP, *source, *rank, PLACE, HYP, SCORE, *several, CUT]

    def _rows(
        self, candidates: CandidateList, ranking: Ranking, columns: Sequence[str]
    ) -> list[dict[str, Any]]:
        rows = []
        for rank, place in enumerate(ranking.order if self.ranking else ranking.order[:1], 1):
            fields = {
                GROUP: candidates.group,
                SRC: None if candidates.source is None else candidates.source.text,
                RANK: rank,
                PLACE: place + 1,
                HYP: ranking.texts[place],
                SCORE: ranking.scores[place],
                **{name: values[place] for name, values in ranking.features.items()},
                CUT: ranking.cut,
            }
            rows.append({name: fields[name] for name in columns})
        return rows
