"""Names and codes of languages, from CLDR and ISO 639-3 (extra: typology)."""

from __future__ import annotations

from functools import cache

from tertium.registry import Extra, check_extras

OLD_CODES = {"toki": "tok"}
"""Codes of datasets that no standard has, such as TaPaCo's code of Toki Pona."""


def iso_code(lang: str) -> str:
    """The ISO 639-3 code (ISO 639-2 for a group); an unknown code is returned unchanged.

    >>> iso_code("de"), iso_code("cmn"), iso_code("toki"), iso_code("zz")
    ('deu', 'cmn', 'tok', 'zz')
    """
    check_typology("langcodes")
    from langcodes import Language
    from langcodes.tag_parser import LanguageTagError

    code = OLD_CODES.get(lang, lang)
    try:
        return str(Language.get(code, normalize=False).to_alpha3())
    except (LanguageTagError, LookupError):
        return code


@cache
def language_name(lang: str) -> str:
    """The English name of a language; an unknown code is returned unchanged.

    >>> language_name("deu"), language_name("ber"), language_name("zz")
    ('German', 'Berber languages', 'zz')
    """
    check_typology("langcodes")
    check_typology("language_data")
    from langcodes import Language

    code = iso_code(lang)
    name = str(Language.get(code).display_name()) if 2 <= len(code) <= 3 else code
    return lang if name.startswith("Unknown language") else name


def is_constructed(lang: str) -> bool:
    """Whether ISO 639-3 classifies it as a constructed language.

    >>> is_constructed("tlh"), is_constructed("deu"), is_constructed("ber")
    (True, False, False)
    """
    entry = _iso_entry(lang)
    return entry is not None and entry.type == "C"


def macrolanguage(lang: str) -> str | None:
    """The macrolanguage that it belongs to (ISO 639-3).

    >>> macrolanguage("nob"), macrolanguage("deu")
    ('nor', None)
    """
    entry = _iso_entry(lang)
    return None if entry is None else entry.macrolanguage


def check_typology(module: str) -> None:
    """Check that a module of the extra ``typology`` is installed."""
    check_extras("language information", [Extra("typology", (module,))])


@cache
def _iso_entry(lang: str):  # type: ignore[no-untyped-def]
    check_typology("iso639")
    from iso639 import Language, LanguageNotFoundError

    try:
        return Language.from_part3(iso_code(lang))
    except LanguageNotFoundError:
        return None
