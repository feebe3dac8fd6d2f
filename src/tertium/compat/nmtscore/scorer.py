"""The three measures of the package, for any of its models."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tertium._version import __version__ as tertium_version
from tertium.compat.nmtscore.models import (
    Sentences,
    TranslationModel,
    load_translation_model,
    paired,
)
from tertium.errors import LanguageError

__version__ = f"0.3.3+tertium.{tertium_version}"
"""The version of nmtscore whose interface this is, with Tertium's version as its local part."""

Directed = Callable[[list[str], list[str], str | None, str | None], list[float]]
"""sim(A|B), given A, B and their languages."""
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

        def directed(
            A: list[str], B: list[str], A_lang: str | None, B_lang: str | None
        ) -> list[float]:
            AB = self._p(A, B, A_lang, B_lang, score_kwargs)
            if not normalize:
                return AB  # p(A|B)
            AA = self._p(A, A, A_lang, A_lang, score_kwargs)
            return ratio(AB, AA)  # p(A|B) / p(A|A)

        scores = similarities(directed, a, b, a_lang, b_lang, both_directions)
        if print_signature:
            languages = {"a_lang": a_lang, "b_lang": b_lang}
            print(self._build_version_string("direct", normalize, both_directions, **languages))
        return scores

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

        def translation(texts: list[str], lang: str | None) -> list[str]:
            translations: list[str] = self.model.translate(
                tgt_lang=pivot_lang,
                source_sentences=texts,
                src_lang=lang,
                **(translate_kwargs or {}),
            )
            return translations

        def directed(
            A: list[str], B: list[str], A_lang: str | None, B_lang: str | None
        ) -> list[float]:
            AB = self._p(A, translation(B, B_lang), A_lang, pivot_lang, score_kwargs)
            if not normalize:
                return AB  # p(A|B')
            AA = self._p(A, translation(A, A_lang), A_lang, pivot_lang, score_kwargs)
            return ratio(AB, AA)  # p(A|B') / p(A|A')

        scores = similarities(directed, a, b, a_lang, b_lang, both_directions)
        if print_signature:
            languages = {"pivot_lang": pivot_lang, "a_lang": a_lang, "b_lang": b_lang}
            print(self._build_version_string("pivot", normalize, both_directions, **languages))
        return scores

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

        def directed(
            A: list[str], B: list[str], A_lang: str | None, B_lang: str | None
        ) -> list[float]:
            translated = self.model.translate(
                tgt_lang=tgt_lang,
                source_sentences=B,
                src_lang=B_lang,
                return_score=normalize,
                **(translate_kwargs or {}),
            )
            if not normalize:
                return self._p(translated, A, tgt_lang, A_lang, score_kwargs)  # p(B'|A)
            B_ = [text for text, _ in translated]
            BB = [score for _, score in translated]
            if None in BB:  # a model may translate without scores
                BB = self._p(B_, B, tgt_lang, B_lang, score_kwargs)
            BA = self._p(B_, A, tgt_lang, A_lang, score_kwargs)
            return ratio(BA, BB)  # p(B'|A) / p(B'|B)

        scores = similarities(directed, a, b, a_lang, b_lang, both_directions)
        if print_signature:
            languages = {"tgt_lang": tgt_lang, "a_lang": a_lang, "b_lang": b_lang}
            print(self._build_version_string("cross", normalize, both_directions, **languages))
        return scores

    def _p(
        self,
        targets: list[str],
        sources: list[str],
        target_lang: str | None,
        source_lang: str | None,
        score_kwargs: Options,
    ) -> list[float]:
        """p(target|source), which in the package is ``2 ** mean(ln p)``."""
        if target_lang is None:
            raise LanguageError("the language of b is needed and was not given: use b_lang")
        scores: list[float] = self.model.score(
            tgt_lang=target_lang,
            source_sentences=sources,
            hypothesis_sentences=targets,
            src_lang=source_lang,
            **(score_kwargs or {}),
        )
        return scores

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


def similarities(
    directed: Directed,
    a: Sentences,
    b: Sentences,
    a_lang: str | None,
    b_lang: str | None,
    both_directions: bool,
) -> float | list[float]:
    """sim(A|B), or the mean of sim(A|B) and sim(B|A)."""
    A, B = paired(a, b, ("a", "b"))
    scores = directed(A, B, a_lang, b_lang) if A else []
    if both_directions and A:
        reverse = directed(B, A, b_lang, a_lang)
        scores = [(ab + ba) / 2 for ab, ba in zip(scores, reverse, strict=True)]
    return scores[0] if isinstance(a, str) else scores


def ratio(numerator: Sequence[float], denominator: Sequence[float]) -> list[float]:
    """p / q, row by row."""
    return [p / q for p, q in zip(numerator, denominator, strict=True)]


def transformers_version() -> str:
    """The version in the package's signature; Tertium scores without transformers."""
    try:
        return version("transformers")
    except PackageNotFoundError:
        return "none"
