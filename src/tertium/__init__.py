"""Tertium measures how similar two texts are in meaning, in one language or across two."""

# Nothing below loads an engine: heavy imports are made inside the functions that need them.
from tertium._version import __version__
from tertium.comparison.compare import compare
from tertium.comparison.result import Comparison
from tertium.explanation.explain import explain
from tertium.filters.sequence import filter_pairs
from tertium.measures.base import Measure
from tertium.measures.loading import load, score
from tertium.measures.scores import Scores, ScoreTable
from tertium.measures.signature import Signature
from tertium.models.catalog import load_model
from tertium.models.detectors.catalog import load_detector
from tertium.models.encoders.catalog import load_encoder
from tertium.models.language.catalog import load_language_model
from tertium.models.translation.translate import translate
from tertium.paraphrasing.generation import paraphrase
from tertium.reranking.rerank import Ranking, rerank
from tertium.text import Text

__all__ = [
    "Comparison",
    "Measure",
    "Ranking",
    "ScoreTable",
    "Scores",
    "Signature",
    "Text",
    "__version__",
    "compare",
    "explain",
    "filter_pairs",
    "load",
    "load_detector",
    "load_encoder",
    "load_language_model",
    "load_model",
    "paraphrase",
    "rerank",
    "score",
    "translate",
]
