"""Every measure of Tertium as a metric of ``sacrebleu``: its paired tests then take any of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sacrebleu.metrics.base import Metric, Score, Signature

from tertium.compat.scorer import Scorer
from tertium.measures.registry import DEFAULT_MEASURE


class TertiumSignature(Signature):
    """The signature of a measure of Tertium, with what sacrebleu's tests add to it."""

    def __init__(self, args: Mapping[str, Any]) -> None:
        super().__init__(dict(args))
        metric = args["scorer"].measure
        self.info = {**metric.description(), **self.info, "sacrebleu": self.info["version"]}
        self._abbr |= {name: name for name in self.info if name not in self._abbr}


class TertiumMetric(Metric):
    """A measure, to be used where sacrebleu takes a metric, such as in ``PairedTest``.

    BLEU and chrF have the statistics of sacrebleu's own metrics, so the p-values are the same too.
    Measures that read sources get them here, because sacrebleu has none.

    >>> TertiumMetric("chrf").corpus_score(["a dog"], [["a dog"]])
    chrf = 100.00
    """

    _SIGNATURE_TYPE = TertiumSignature

    def __init__(
        self,
        measure: str = DEFAULT_MEASURE,
        *,
        lang: str | None = None,
        reference_lang: str | None = None,
        sources: Sequence[str] | None = None,
        source_lang: str | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.scorer = Scorer(measure, lang, reference_lang, source_lang)
        self.sources = sources
        self.num_refs = 0

    def _extract_corpus_statistics(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]] | None
    ) -> list[tuple[float, ...]]:
        sets = None
        if references is not None:
            columns = zip(*references, strict=True)
            sets = [[text for text in column if text is not None] for column in columns]
            sizes = {len(texts) for texts in sets}
            self.num_refs = sizes.pop() if len(sizes) == 1 else -1
        return self.scorer.score(hypotheses, sets, self.sources).statistics

    def _aggregate_and_compute(self, stats: Sequence[Sequence[float]]) -> Score:
        return Score(self.scorer.name, self.scorer.system(stats))

    def _compute_score_from_stats(self, stats: Sequence[float]) -> Score:
        return self._aggregate_and_compute([stats])

    # What sacrebleu calls for one segment after another, which is not how we score.
    def _preprocess_segment(self, sent: str) -> str:
        return sent

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        return {"references": refs}

    def _compute_segment_statistics(
        self, hypothesis: str, ref_kwargs: Mapping[str, Any]
    ) -> list[float]:
        return list(self.scorer.score([hypothesis], [ref_kwargs["references"]]).statistics[0])
