"""Names and codes of languages, from CLDR and ISO 639-3 (extra: typology)."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

from tertium.errors import SettingError

OLD_CODES = {"toki": "tok"}
"""Codes that datasets have and that no standard has: TaPaCo's for Toki Pona, older than ISO's."""


def iso_code(lang: str) -> str:
    """The code of ISO 639-3 (or of a group, ISO 639-2); a code that nobody knows stays as it is.

    >>> iso_code("de"), iso_code("cmn"), iso_code("toki"), iso_code("zz")
    ('deu', 'cmn', 'tok', 'zz')
    """
    needs_typology("langcodes")
    from langcodes import Language
    from langcodes.tag_parser import LanguageTagError

    code = OLD_CODES.get(lang, lang)
    try:
        return str(Language.get(code, normalize=False).to_alpha3())
    except (LanguageTagError, LookupError):
        return code


@cache
def language_name(lang: str) -> str:
    """The English name; of a code that nobody knows, the code.

    >>> language_name("deu"), language_name("ber"), language_name("zz")
    ('German', 'Berber languages', 'zz')
    """
    needs_typology("langcodes", "language_data")
    from langcodes import Language

    code = iso_code(lang)
    name = str(Language.get(code).display_name()) if 2 <= len(code) <= 3 else code
    return lang if name.startswith("Unknown language") else name


def is_constructed(lang: str) -> bool:
    """Whether ISO 639-3 lists it as a constructed language.

    >>> is_constructed("tlh"), is_constructed("deu"), is_constructed("ber")
    (True, False, False)
    """
    found = _iso_entry(lang)
    return found is not None and found.type == "C"


def macrolanguage(lang: str) -> str | None:
    """The macrolanguage that ISO 639-3 counts it to.

    >>> macrolanguage("nob"), macrolanguage("deu")
    ('nor', None)
    """
    found = _iso_entry(lang)
    return None if found is None else found.macrolanguage


def needs_typology(*packages: str) -> None:
    """Make sure that packages of the extra are there."""
    for package in packages:
        if find_spec(package) is None:
            raise missing(package)


def missing(package: str) -> SettingError:
    """The error that says how to get it."""
    return SettingError(
        f"languages and their typology need {package}: install Tertium with its extra, "
        "`pip install 'tertium[typology]'`"
    )


@cache
def _iso_entry(lang: str):  # type: ignore[no-untyped-def]
    needs_typology("iso639")
    from iso639 import Language, LanguageNotFoundError

    try:
        return Language.from_part3(iso_code(lang))
    except LanguageNotFoundError:
        return None
