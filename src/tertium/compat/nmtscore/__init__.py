"""The interface of the nmtscore package, version 0.3.3, on Tertium's engine.

>>> from tertium.compat.nmtscore import NMTScorer
>>> scorer = NMTScorer("tertium-mini")
>>> scorer.score("This is a sentence.", "This is a sentence.")
1.0
"""

from tertium.compat.nmtscore.models import TranslationModel, load_translation_model
from tertium.compat.nmtscore.scorer import NMTScorer, __version__

__all__ = ["NMTScorer", "TranslationModel", "__version__", "load_translation_model"]
