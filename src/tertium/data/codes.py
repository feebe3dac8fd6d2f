"""ISO 639 codes, English names and scripts of languages (no extra is needed)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache

from tertium.errors import LanguageError

TABLE = {
    "Latn": (
        "aa aar Afar, af afr Afrikaans, ak aka Akan, an arg Aragonese, ay aym Aymara, az aze "
        "Azerbaijani, bi bis Bislama, bm bam Bambara, br bre Breton, bs bos Bosnian, ca cat "
        "Catalan, ch cha Chamorro, co cos Corsican, cs ces Czech, cy cym Welsh, da dan Danish, de "
        "deu German, ee ewe Ewe, en eng English, eo epo Esperanto, es spa Spanish, et est "
        "Estonian, eu eus Basque, ff ful Fula, fi fin Finnish, fj fij Fijian, fo fao Faroese, fr "
        "fra French, fy fry Western Frisian, ga gle Irish, gd gla Scottish Gaelic, gl glg "
        "Galician, gn grn Guarani, gv glv Manx, ha hau Hausa, ho hmo Hiri Motu, hr hrv Croatian, "
        "ht hat Haitian Creole, hu hun Hungarian, hz her Herero, ia ina Interlingua, id ind "
        "Indonesian, ie ile Interlingue, ig ibo Igbo, ik ipk Inupiaq, io ido Ido, is isl "
        "Icelandic, it ita Italian, jv jav Javanese, kg kon Kongo, ki kik Kikuyu, kj kua "
        "Kuanyama, kl kal Kalaallisut, kr kau Kanuri, ku kur Kurdish, kw cor Cornish, la lat "
        "Latin, lb ltz Luxembourgish, lg lug Ganda, li lim Limburgish, ln lin Lingala, lt lit "
        "Lithuanian, lu lub Luba-Katanga, lv lav Latvian, mg mlg Malagasy, mh mah Marshallese, mi "
        "mri Maori, ms msa Malay, mt mlt Maltese, na nau Nauru, nb nob Norwegian Bokmal, nd nde "
        "North Ndebele, ng ndo Ndonga, nl nld Dutch, nn nno Norwegian Nynorsk, no nor Norwegian, "
        "nr nbl South Ndebele, nv nav Navajo, ny nya Nyanja, oc oci Occitan, om orm Oromo, pl pol "
        "Polish, pt por Portuguese, qu que Quechua, rm roh Romansh, rn run Rundi, ro ron "
        "Romanian, rw kin Kinyarwanda, sc srd Sardinian, se sme Northern Sami, sg sag Sango, sh "
        "hbs Serbo-Croatian, sk slk Slovak, sl slv Slovenian, sm smo Samoan, sn sna Shona, so som "
        "Somali, sq sqi Albanian, ss ssw Swati, st sot Southern Sotho, su sun Sundanese, sv swe "
        "Swedish, sw swa Swahili, tk tuk Turkmen, tl tgl Tagalog, tn tsn Tswana, to ton Tongan, "
        "tr tur Turkish, ts tso Tsonga, tw twi Twi, ty tah Tahitian, uz uzb Uzbek, ve ven Venda, "
        "vi vie Vietnamese, vo vol Volapuk, wa wln Walloon, wo wol Wolof, xh xho Xhosa, yo yor "
        "Yoruba, za zha Zhuang, zu zul Zulu, ast ast Asturian, ceb ceb Cebuano, ilo ilo Iloko, "
        "nso nso Northern Sotho"
    ),
    "Cyrl": (
        "ab abk Abkhazian, av ava Avaric, ba bak Bashkir, be bel Belarusian, bg bul Bulgarian, ce "
        "che Chechen, cv chv Chuvash, kk kaz Kazakh, kv kom Komi, ky kir Kyrgyz, mk mkd "
        "Macedonian, mn mon Mongolian, os oss Ossetic, ru rus Russian, sr srp Serbian, tg tgk "
        "Tajik, tt tat Tatar, uk ukr Ukrainian"
    ),
    "Arab": (
        "ar ara Arabic, fa fas Persian, ks kas Kashmiri, ps pus Pashto, sd snd Sindhi, ug uig "
        "Uyghur, ur urd Urdu"
    ),
    "Deva": "hi hin Hindi, mr mar Marathi, ne nep Nepali, sa san Sanskrit",
    "Ethi": "am amh Amharic, ti tir Tigrinya",
    "Beng": "as asm Assamese, bn ben Bengali",
    "Tibt": "bo bod Tibetan, dz dzo Dzongkha",
    "Hebr": "he heb Hebrew, yi yid Yiddish",
    "Thaa": "dv div Divehi",
    "Grek": "el ell Greek",
    "Gujr": "gu guj Gujarati",
    "Armn": "hy hye Armenian",
    "Jpan": "ja jpn Japanese",
    "Geor": "ka kat Georgian",
    "Khmr": "km khm Khmer",
    "Knda": "kn kan Kannada",
    "Kore": "ko kor Korean",
    "Laoo": "lo lao Lao",
    "Mlym": "ml mal Malayalam",
    "Mymr": "my mya Burmese",
    "Orya": "or ori Odia",
    "Guru": "pa pan Punjabi",
    "Sinh": "si sin Sinhala",
    "Taml": "ta tam Tamil",
    "Telu": "te tel Telugu",
    "Thai": "th tha Thai",
    "Hans": "zh zho Chinese",
}
"""By script (ISO 15924): ISO 639-1 code, ISO 639-3 code and English name (CLDR 46)."""
OTHER_NAMES = {
    "Bangla": "bn",
    "Castilian": "es",
    "Farsi": "fa",
    "Filipino": "tl",
    "Flemish": "nl",
    "Mandarin": "zh",
    "Panjabi": "pa",
    "Slovene": "sl",
}
BIBLIOGRAPHIC = {
    **{"alb": "sq", "arm": "hy", "baq": "eu", "bur": "my", "chi": "zh", "cze": "cs", "dut": "nl"},
    **{"fre": "fr", "geo": "ka", "ger": "de", "gre": "el", "ice": "is", "mac": "mk", "mao": "mi"},
    **{"may": "ms", "per": "fa", "rum": "ro", "slo": "sk", "tib": "bo", "wel": "cy"},
}
"""The codes of ISO 639-2/B, where they differ from ISO 639-3."""
INDIVIDUAL = {"cmn": "zh", "arb": "ar", "pes": "fa", "swh": "sw", "zsm": "ms", "ekk": "et"}
"""The usual member of a macrolanguage, as FLORES and Tatoeba name it."""
SECOND_SCRIPTS = {
    **{"az": "Cyrl", "bs": "Cyrl", "kk": "Latn", "ku": "Arab", "pa": "Arab", "sh": "Cyrl"},
    **{"sr": "Latn", "tk": "Cyrl", "uz": "Cyrl", "zh": "Hant"},
}
LETTERS = {
    "Latn": ("LATIN",),
    "Cyrl": ("CYRILLIC",),
    "Arab": ("ARABIC",),
    "Deva": ("DEVANAGARI",),
    "Ethi": ("ETHIOPIC",),
    "Beng": ("BENGALI",),
    "Tibt": ("TIBETAN",),
    "Hebr": ("HEBREW",),
    "Thaa": ("THAANA",),
    "Grek": ("GREEK",),
    "Gujr": ("GUJARATI",),
    "Armn": ("ARMENIAN",),
    "Jpan": ("HIRAGANA", "KATAKANA", "CJK"),
    "Geor": ("GEORGIAN",),
    "Khmr": ("KHMER",),
    "Knda": ("KANNADA",),
    "Kore": ("HANGUL", "CJK"),
    "Laoo": ("LAO",),
    "Mlym": ("MALAYALAM",),
    "Mymr": ("MYANMAR",),
    "Olck": ("OL",),
    "Orya": ("ORIYA",),
    "Guru": ("GURMUKHI",),
    "Sinh": ("SINHALA",),
    "Taml": ("TAMIL",),
    "Telu": ("TELUGU",),
    "Tfng": ("TIFINAGH",),
    "Thai": ("THAI",),
    "Hans": ("CJK",),
    "Hant": ("CJK",),
}
"""How the Unicode names of the letters of a script begin."""
TAG = re.compile(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|\d{3}))?")
"""A language tag: language, script, region."""
WIDTH = re.compile("^(FULL|HALF)WIDTH ")


def _entries() -> Iterator[tuple[str, str, str, str]]:
    for script, entries in TABLE.items():
        for entry in entries.split(", "):
            code, long, name = entry.split(" ", 2)
            yield code, long, script, name


LONG = {code: long for code, long, _, _ in _entries()}
"""ISO 639-3 by ISO 639-1."""
SHORT = {**{long: code for code, long in LONG.items()}, **BIBLIOGRAPHIC, **INDIVIDUAL}
SCRIPTS = {code: script for code, _, script, _ in _entries()}
ENGLISH = {code: name for code, _, _, name in _entries()}
NAMES = {
    **{name.lower(): code for code, _, _, name in _entries()},
    **{name.lower(): code for name, code in OTHER_NAMES.items()},
}


def language_code(lang: str) -> str:
    """Write a language as a code: names become codes, and case follows BCP 47.

    What is not recognised is returned unchanged.

    >>> [language_code(lang) for lang in ("EN", "english", "EN-us", "deu", "zho_Hans", "x")]
    ['en', 'en', 'en-US', 'deu', 'zho_Hans', 'x']
    """
    name = " ".join(lang.split()).lower()
    if name in NAMES:
        return NAMES[name]
    tag = TAG.fullmatch(lang.strip())
    if tag is None:
        return lang
    code, script, region = tag.groups()
    if region and ((region.islower() and region in ALSO_REGIONS) or region.lower() in NO_REGIONS):
        raise LanguageError(
            f"{lang!r} looks like a language pair, where one language is needed: "
            f"give each of {code} and {region.lower()} where it belongs"
        )
    separator = "_" if "_" in lang else "-"
    parts = [code.lower(), script and script.title(), region and region.upper()]
    return separator.join(part for part in parts if part)


LANGUAGES_ONLY = (
    "aa ab ak an av ay ce cs da dv el en eo fa ff fy gv ha he hi ho hy hz ia ig ik ja jv ka kj kk "
    "kl ko ks ku kv lg ln lo mi nb nd nn nv ny oc or os qu rm rn sq su sw te ti ts ty uk ur vo wa "
    "wo xh yi yo zh zu"
)
NO_REGIONS = frozenset(LANGUAGES_ONLY.split())
"""Codes of languages that are not codes of regions: ``de-en`` cannot be German of a region."""
ALSO_REGIONS = frozenset({"de", "es", "fi", "fr", "hu", "it", "nl", "pl", "pt", "ro", "ru", "tr"})
"""Codes of languages that are also codes of regions, which are written in capitals (de-FR)."""


def spellings(lang: str) -> list[str]:
    """The codes that a model may use for a language, most specific first.

    >>> spellings("en-US"), spellings("german"), spellings("fre")
    (['en-US', 'en', 'eng'], ['german', 'de', 'deu'], ['fre', 'fr', 'fra'])
    """
    code = language_code(lang)
    short = primary(lang)
    codes = [lang, code, _base(code), short, LONG.get(short, short)]
    return list(dict.fromkeys(codes))


def primary(lang: str) -> str:
    """The language alone, without script and region, in ISO 639-1 if it has a code there.

    >>> primary("deu"), primary("pt-BR"), primary("zho_Hans"), primary("ast")
    ('de', 'pt', 'zh', 'ast')
    """
    code = _base(language_code(lang))
    return SHORT.get(code, code)


def scripts_of(lang: str) -> frozenset[str] | None:
    """The scripts (ISO 15924) that a language is written in; None if that is not known.

    >>> scripts_of("ru"), scripts_of("ace_Arab"), scripts_of("xx")
    (frozenset({'Cyrl'}), frozenset({'Arab'}), None)
    """
    tag = TAG.fullmatch(language_code(lang))
    if tag is not None and tag[2]:
        return frozenset({tag[2]})
    code = primary(lang)
    if code not in SCRIPTS:
        return None
    return frozenset({SCRIPTS[code], SECOND_SCRIPTS.get(code, SCRIPTS[code])})


def english_name(lang: str) -> str:
    """The English name of a language; what is not recognised is returned unchanged.

    >>> english_name("de"), english_name("por-BR"), english_name("xx")
    ('German', 'Portuguese', 'xx')
    """
    return ENGLISH.get(primary(lang), lang)


def _base(code: str) -> str:
    tag = TAG.fullmatch(code)
    return code if tag is None else tag[1]


def letters_in(text: str, scripts: frozenset[str]) -> tuple[int, int]:
    """How many letters of a text belong to one of the scripts, and how many letters it has.

    >>> letters_in("Да, yes!", frozenset({"Latn"}))
    (3, 5)
    """
    counts = Counter(filter(str.isalpha, text))
    kinds = {kind for script in scripts for kind in LETTERS.get(script, ())}
    inside = sum(count for letter, count in counts.items() if _kind(letter) in kinds)
    return inside, counts.total()


@cache
def _kind(letter: str) -> str:
    """The first word of the name of a letter, which is its script for most letters."""
    name = unicodedata.name(letter, "")
    return WIDTH.sub("", name).partition(" ")[0]
