"""A cache for causal language models: each distinct query is computed once."""

from __future__ import annotations

from collections.abc import Sequence

from tertium.models.base import LanguageModel, Progress, TokenScores
from tertium.models.cache.memo import Caching, ResultStore, pack_scores, unpack_scores
from tertium.models.proxy import Proxy


class LanguageMemo(Caching, Proxy[LanguageModel]):
    """A language model with a cache: same protocol, same results, each query computed once."""

    def __init__(self, model: LanguageModel, store: ResultStore | None = None) -> None:
        Proxy.__init__(self, model)
        Caching.__init__(self, store)

    def text_log_probs(
        self,
        texts: Sequence[str],
        *,
        prompts: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        before = [""] * len(texts) if prompts is None else prompts

        def compute(indices: Sequence[int]) -> list[TokenScores]:
            return self.model.text_log_probs(
                [texts[index] for index in indices],
                prompts=[before[index] for index in indices],
                progress=progress,
            )

        queries = list(zip(before, texts, strict=True))
        return self._results(("text_log_probs",), queries, compute, pack_scores, unpack_scores)
