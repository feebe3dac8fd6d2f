"""Tertium measures how similar two texts are in meaning, in one language or across two."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tertium._version import __version__

if TYPE_CHECKING:
    from tertium.comparison.compare import compare
    from tertium.comparison.result import Comparison
    from tertium.explanation.explain import explain
    from tertium.filters.sequence import filter_pairs
    from tertium.measures.base import Measure
    from tertium.measures.loading import load, score, score_documents
    from tertium.measures.scores import Scores, ScoreTable
    from tertium.measures.totals import Signature
    from tertium.mining.align import AlignedUnits, align
    from tertium.mining.mine import MinedPairs, mine
    from tertium.models.catalog import load_detector, load_encoder, load_language_model, load_model
    from tertium.models.translation.translate import translate
    from tertium.paraphrasing.generation import paraphrase
    from tertium.reranking.rerank import Ranking, rerank
    from tertium.text import Text

__all__ = [
    "AlignedUnits",
    "Comparison",
    "Measure",
    "MinedPairs",
    "Ranking",
    "ScoreTable",
    "Scores",
    "Signature",
    "Text",
    "__version__",
    "align",
    "compare",
    "explain",
    "filter_pairs",
    "load",
    "load_detector",
    "load_encoder",
    "load_language_model",
    "load_model",
    "mine",
    "paraphrase",
    "rerank",
    "score",
    "score_documents",
    "translate",
]

_MODULES = {
    "AlignedUnits": "mining.align",
    "Comparison": "comparison.result",
    "Measure": "measures.base",
    "MinedPairs": "mining.mine",
    "Ranking": "reranking.rerank",
    "ScoreTable": "measures.scores",
    "Scores": "measures.scores",
    "Signature": "measures.totals",
    "Text": "text",
    "align": "mining.align",
    "compare": "comparison.compare",
    "explain": "explanation.explain",
    "filter_pairs": "filters.sequence",
    "load": "measures.loading",
    "load_detector": "models.catalog",
    "load_encoder": "models.catalog",
    "load_language_model": "models.catalog",
    "load_model": "models.catalog",
    "mine": "mining.mine",
    "paraphrase": "paraphrasing.generation",
    "rerank": "reranking.rerank",
    "score": "measures.loading",
    "score_documents": "measures.loading",
    "translate": "models.translation.translate",
}
"""The module of each public name. It is imported when the name is first used, so that
``import tertium`` and every command are quick."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value  # from now on without this function
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
