"""The three measures of the package, for any of its models."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

from tertium._version import __version__ as tertium_version
from tertium.compat.nmtscore.models import (
    Sentences,
    TranslationModel,
    load_translation_model,
    paired,
)
from tertium.errors import LanguageError
from tertium.measures.translation import Cross, Direct, NMTScore, Pivot, Queries
from tertium.models import base
from tertium.models.base import BEAM_SEARCH, Candidate, Progress, Query, Search, TokenScores
from tertium.models.languages import LanguageSet
from tertium.text import Text

__version__ = f"0.3.3+tertium.{tertium_version}"
"""The version of nmtscore whose interface this is, with Tertium's version as its local part."""

Options = Mapping[str, Any] | None


class NMTScorer:
    """Scores pairs of sentences: a float for two strings, a list for two lists.

    ``model`` is a name, or a model with the hooks of
    :class:`~tertium.compat.nmtscore.models.TranslationModel`; ``model_kwargs`` go to
    :func:`~tertium.compat.nmtscore.models.load_translation_model`.
    """

    def __init__(
        self,
        model: TranslationModel | str = "small100",
        device: object = None,
        model_kwargs: Options = None,
    ) -> None:
        if isinstance(model, str):
            settings = dict(model_kwargs or {})
            if device is not None:
                settings["device"] = device
            model = load_translation_model(model, **settings)
        self.model = model

    def score(
        self,
        a: Sentences,
        b: Sentences,
        normalize: bool = True,
        both_directions: bool = True,
        print_signature: bool = False,
        **kwargs: Any,
    ) -> float | list[float]:
        """The cross-likelihood with English as the target language."""
        return self.score_cross_likelihood(
            a,
            b,
            tgt_lang="en",
            normalize=normalize,
            both_directions=both_directions,
            print_signature=print_signature,
            **kwargs,
        )

    def score_direct(
        self,
        a: Sentences,
        b: Sentences,
        a_lang: str,
        b_lang: str | None = None,
        normalize: bool = True,
        both_directions: bool = True,
        print_signature: bool = False,
        score_kwargs: Options = None,
    ) -> float | list[float]:
        """The probability of A as a translation of B."""
        b_lang = self._source_language(a_lang, b_lang, both_directions)
        measure = Direct(
            Hooks(self.model, score_kwargs),
            base="2",
            normalized=normalize,
            both_directions=both_directions,
        )
        return self._scores(measure, a, b, a_lang, b_lang, print_signature)

    def score_pivot(
        self,
        a: Sentences,
        b: Sentences,
        a_lang: str,
        b_lang: str | None = None,
        pivot_lang: str = "en",
        normalize: bool = True,
        both_directions: bool = True,
        print_signature: bool = False,
        translate_kwargs: Options = None,
        score_kwargs: Options = None,
    ) -> float | list[float]:
        """The probability of A given the translation of B into a pivot language."""
        b_lang = self._source_language(a_lang, b_lang, both_directions)
        measure = Pivot(
            Hooks(self.model, score_kwargs, translate_kwargs, pivot_lang),
            base="2",
            normalized=normalize,
            both_directions=both_directions,
            pivot_lang=pivot_lang,
        )
        return self._scores(measure, a, b, a_lang, b_lang, print_signature, pivot_lang=pivot_lang)

    def score_cross_likelihood(
        self,
        a: Sentences,
        b: Sentences,
        a_lang: str | None = None,
        b_lang: str | None = None,
        tgt_lang: str = "en",
        normalize: bool = True,
        both_directions: bool = True,
        print_signature: bool = False,
        translate_kwargs: Options = None,
        score_kwargs: Options = None,
    ) -> float | list[float]:
        """The probability of the translation of B into the target language, given A."""
        if self.model.requires_src_lang and (a_lang is None or b_lang is None):
            a_lang = a_lang or "en"
            b_lang = b_lang or a_lang
            warnings.warn(
                f"{self.model} needs the languages of its input; {a_lang!r} and {b_lang!r} "
                "are assumed (use a_lang and b_lang)",
                stacklevel=2,
            )
        measure = Cross(
            Hooks(self.model, score_kwargs, translate_kwargs, tgt_lang),
            base="2",
            normalized=normalize,
            both_directions=both_directions,
            target_lang=tgt_lang,
        )
        return self._scores(measure, a, b, a_lang, b_lang, print_signature, tgt_lang=tgt_lang)

    def _scores(
        self,
        measure: NMTScore,
        a: Sentences,
        b: Sentences,
        a_lang: str | None,
        b_lang: str | None,
        print_signature: bool,
        tgt_lang: str | None = None,
        pivot_lang: str | None = None,
    ) -> float | list[float]:
        A, B = paired(a, b, ("a", "b"))
        ask = Queries(measure.model, measure.aggregate, progress=None)
        texts = [Text(text, a_lang) for text in A], [Text(text, b_lang) for text in B]
        scores = measure.similarities(*texts, ask) if A else []
        if print_signature:
            choices = (measure.name, measure.normalized, measure.both_directions)
            languages = (tgt_lang, pivot_lang, a_lang, b_lang)
            print(self._build_version_string(*choices, *languages))
        return scores[0] if isinstance(a, str) else scores

    def _source_language(
        self, a_lang: str, b_lang: str | None, both_directions: bool
    ) -> str | None:
        if b_lang is not None:
            return b_lang
        if both_directions:
            raise LanguageError(
                "b_lang is needed: with both directions, b_lang is also a target language; "
                "use b_lang, or both_directions=False"
            )
        if not self.model.requires_src_lang:
            return None
        warnings.warn(
            f"{self.model} needs the language of b; {a_lang!r} is assumed (use b_lang)",
            stacklevel=3,
        )
        return a_lang

    def _build_version_string(
        self,
        type: str,  # noqa: A002 (the package's name)
        normalized: bool,
        both_directions: bool,
        tgt_lang: str | None = None,
        pivot_lang: str | None = None,
        a_lang: str | None = None,
        b_lang: str | None = None,
    ) -> str:
        languages = {
            "tgt-lang": tgt_lang,
            "pivot-lang": pivot_lang,
            "a-lang": a_lang,
            "b-lang": b_lang,
        }
        return "|".join(
            [
                f"NMTScore-{type}",
                *(f"{name}:{lang}" for name, lang in languages.items() if lang is not None),
                f"model:{self.model}",
                "normalized" if normalized else "unnormalized",
                "both-directions" if both_directions else "single-direction",
                f"v{__version__}",
                f"hf{transformers_version()}",
            ]
        )


@dataclass(frozen=True, repr=False)
class Hooks(base.TranslationModel):
    """A model of the package, as measures query it: 2 ** H is the score that its hook gives."""

    model: TranslationModel
    score_kwargs: Options = None
    translate_kwargs: Options = None
    into: str = "en"
    """The language that texts are translated into."""

    needs_source_language = False  # the model itself asks for it
    fingerprint = ""
    settings: ClassVar[Mapping[str, str]] = {}

    @property
    def name(self) -> str:
        return str(self.model)

    @property
    def languages(self) -> LanguageSet:
        return LanguageSet({self.into: ""}, {self.into: ""})

    def log_probs(
        self, queries: Sequence[Query], *, progress: Progress | None = None
    ) -> list[TokenScores]:
        def score(some: Sequence[Query], tgt_lang: str, src_lang: str | None) -> Any:
            sources = [query.source for query in some]
            targets = [query.target for query in some]
            settings = self.score_kwargs or {}
            return self.model.score(tgt_lang, sources, targets, src_lang, **settings)

        found = self._ask(score, queries)
        return [TokenScores(("",), (math.log2(p) if p else -math.inf,)) for p in found]

    def candidates(
        self,
        queries: Sequence[Query],
        *,
        search: Search = BEAM_SEARCH,
        progress: Progress | None = None,
    ) -> list[list[Candidate]]:
        """One translation each; the number of beams is one of ``translate_kwargs``."""

        def translate(some: Sequence[Query], tgt_lang: str, src_lang: str | None) -> Any:
            sources = [query.source for query in some]
            return self.model.translate(
                tgt_lang, sources, src_lang, **(self.translate_kwargs or {})
            )

        if search.count > 1:
            self.refuse("return several candidates")
        return [[Candidate(text, 0.0, 0)] for text in self._ask(translate, queries)]

    def _ask(self, hook: Callable[..., list[Any]], queries: Sequence[Query]) -> list[Any]:
        """Query a model of the package, which has one pair of languages at a time."""
        groups: dict[tuple[str | None, str | None], list[int]] = {}
        for place, query in enumerate(queries):
            groups.setdefault((query.target_lang, query.source_lang), []).append(place)
        results: dict[int, Any] = {}
        for (target, source), places in groups.items():
            if target is None:
                raise LanguageError("the language of b is needed and was not given: use b_lang")
            some = [queries[place] for place in places]
            results.update(zip(places, hook(some, target, source), strict=True))
        return [results[place] for place in range(len(queries))]


def transformers_version() -> str:
    """The version in the package's signature; Tertium scores without transformers."""
    try:
        return version("transformers")
    except PackageNotFoundError:
        return "none"
