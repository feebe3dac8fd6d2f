"""Translation of texts, from Python."""

from __future__ import annotations

from pathlib import Path
from typing import overload

from tertium.data.codes import language_code
from tertium.models.base import (
    BEAM_SIZE,
    Candidate,
    Languages,
    Search,
    TranslationModel,
    translation_queries,
)
from tertium.models.catalog import DEFAULT_MODEL, load_model
from tertium.models.languages import source_language, target_language
from tertium.text import check_text


@overload
def translate(
    texts: str,
    lang: str | None = ...,
    *,
    source_lang: str | None = ...,
    model: str | Path | TranslationModel = ...,
    count: None = ...,
    **settings: object,
) -> str: ...
@overload
def translate(
    texts: str,
    lang: str | None = ...,
    *,
    source_lang: str | None = ...,
    model: str | Path | TranslationModel = ...,
    count: int,
    **settings: object,
) -> list[Candidate]: ...
@overload
def translate(
    texts: list[str],
    lang: Languages = ...,
    *,
    source_lang: Languages = ...,
    model: str | Path | TranslationModel = ...,
    count: None = ...,
    **settings: object,
) -> list[str]: ...
@overload
def translate(
    texts: list[str],
    lang: Languages = ...,
    *,
    source_lang: Languages = ...,
    model: str | Path | TranslationModel = ...,
    count: int,
    **settings: object,
) -> list[list[Candidate]]: ...
def translate(
    texts: str | list[str],
    lang: Languages = None,
    *,
    source_lang: Languages = None,
    model: str | Path | TranslationModel = DEFAULT_MODEL,
    count: int | None = None,
    **settings: object,
) -> str | list[str] | list[Candidate] | list[list[Candidate]]:
    """Translate texts into ``lang``; with ``count``, several candidates of each, best first.

    One string in, one translation out; a list in, a list out. ``settings`` are those of
    :class:`~tertium.models.base.Search`: ``beam_size``, or ``sampling=True`` with
    ``temperature``, ``top_k``, ``top_p``, ``epsilon`` and ``seed``. ``lang`` may be left out if
    the model has one target language.

    >>> import tertium
    >>> tertium.translate("Thank you!", "de")
    'Danke!'
    >>> samples = tertium.translate(["Thank you!"], "de", count=4, sampling=True, epsilon=0.02)
    >>> samples == tertium.translate(["Thank you!"], "de", count=4, sampling=True, epsilon=0.02)
    True
    """
    engine = load_model(model) if isinstance(model, str | Path) else model
    search = make_search(count, **settings)
    several = [texts] if isinstance(texts, str) else list(texts)
    for row, text in enumerate(several, start=1):
        check_text(text, role="text", row=row)
    queries = translation_queries(
        several, target_lang=checked_target(engine, lang), source_lang=_codes(source_lang)
    )
    found = engine.candidates(queries, search=search)
    results = found if count is not None else [best.text for best, *_ in found]
    return results[0] if isinstance(texts, str) else results


def make_search(count: int | None = None, **settings: object) -> Search:
    """Make settings; the beam is as large as the number of candidates, unless it is given.

    >>> make_search(10).beam_size, make_search(2).beam_size
    (10, 5)
    """
    if not settings.get("sampling"):
        settings = {"beam_size": max(BEAM_SIZE, count or 1), **settings}
    return Search(count=1 if count is None else count, **settings)  # type: ignore[arg-type]


def checked_target(model: TranslationModel, lang: Languages) -> Languages:
    """The target language: as given, or the only one that the model has."""
    if lang is None and len(model.languages.target) == 1:
        return next(iter(model.languages.target))
    codes = _codes(lang)
    for code in [codes] if codes is None or isinstance(codes, str) else codes:
        target_language(model, code)
    return codes


def check_source(model: TranslationModel, lang: str | None) -> None:
    """Refuse a source language that the model does not have, or needs and was not given."""
    if lang is not None or model.needs_source_language:
        source_language(model, lang)


def _codes(lang: Languages) -> Languages:
    if lang is None or isinstance(lang, str):
        return None if lang is None else language_code(lang)
    return [None if code is None else language_code(code) for code in lang]
