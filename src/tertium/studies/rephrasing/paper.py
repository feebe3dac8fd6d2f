"""The printed numbers of the rephrasing paper (Wang, Chen and Ataman, 2024), for comparison.

The grouping is that of the paper: it counts Esperanto, Ido and Lingua Franca Nova as Indo-European,
and what it calls Austroasian are Austronesian languages.
"""

from __future__ import annotations

from collections.abc import Mapping

INDO_EUROPEAN = """
afr bel bul ben bre cat ces dan deu ell eng epo spa fra
glg gos hin hrv hye ido isl ita cor lat lfn lit mkd mar
nob nds nld orv pes pol por ron rus slv srp swe ukr urd
"""

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "Constructed": ("tok", "tlh", "vol", "jbo"),
    "Afro-Asiatic": ("ara", "ber", "heb", "kab"),
    "Austroasian": ("ind", "tgl", "war"),
    "Creole": ("cbk",),
    "Indo-European": tuple(INDO_EUROPEAN.split()),
    "International auxiliary": ("ina", "ile"),
    "Japonic": ("jpn",),
    "Koreanic": ("kor",),
    "Language isolate": ("eus",),
    "Niger-Congo": ("run",),
    "Sino-Tibetan": ("cmn", "wuu", "yue"),
    "Turkic": ("aze", "ota", "tuk", "tur", "tat", "uig"),
    "Uralic": ("est", "fin", "hun"),
}
"""Section 4, by ISO 639-3."""

AVERAGES: Mapping[str, Mapping[str, float]] = {
    "BLEU": {
        "Creole": 0.3692516,
        "Indo-European": 0.2861689,
        "Japonic": 0.14158,
        "Koreanic": 0.196627,
        "Niger-Congo": 0.177759,
        "Afro-Asiatic": 0.23553,  # printed as 0.0.23553
        "Turkic": 0.22831,
        "Uralic": 0.2283065,
    },
    "chrF": {
        "Turkic": 0.43876,
        "Uralic": 0.50198,
        "Afro-Asiatic": 0.48934,
        "Niger-Congo": 0.50487,
        "Japonic": 0.38995,
        "Koreanic": 0.35384,
        "Sino-Tibetan": 0.30561,
    },
    "NIST": {
        "Indo-European": 0.80087,
        "Austroasian": 0.70759,  # "AustroAsiatic" there
        "Afro-Asiatic": 0.71675,
        "Turkic": 0.64827,
        "Uralic": 0.69190,
        "Koreanic": 0.47798,
        "Niger-Congo": 0.37228,
    },
    "BERTScore": {
        "Indo-European": 0.8684,
        "Turkic": 0.8268,
        "Uralic": 0.85171,
        "Afro-Asiatic": 0.87922,
        "Niger-Congo": 0.84763,
        "Koreanic": 0.87247,
        "Japonic": 0.86648,
    },
}
"""The averages by family that section 4 prints."""

CORRELATIONS: Mapping[str, Mapping[str, float]] = {
    "BLEU": {
        "syntax_average": -0.18217,
        "geo": 0.22827,
        "inventory_average": -0.09892,
        "phonology_average": -0.18603,
        "learned": -0.13972,
    },
    "NIST": {
        "syntax_average": -0.16295,
        "geo": -0.35622,
        "inventory_average": 0.02184,
        "phonology_average": -0.14601,
        "learned": -0.18125,
    },
    "chrF": {
        "syntax_average": -0.18701,
        "geo": -0.13178,
        "inventory_average": -0.12033,
        "phonology_average": -0.18603,
        "learned": -0.0402,
    },
    "BERTScore": {
        "syntax_average": 0.35427,
        "geo": 0.17401,
        "inventory_average": -0.30546,
        "phonology_average": 0.16748,
        "learned": 0.16193,
    },
}
"""Table 1."""

FEATURES = ("syntax_average", "geo", "inventory_average", "phonology_average", "learned")
"""In the order of table 1."""
NEIGHBOURS = ("syntax_knn", "inventory_knn", "phonology_knn")
"""The same features, with the missing ones predicted from the nearest neighbours of a language."""
MAX_NIST = 1.9
"""What the paper divides NIST by for figure 6."""

COUNTERPARTS: Mapping[str, tuple[str, float]] = {
    "bleu-nltk": ("BLEU", 1.0),
    "bleu": ("BLEU", 100.0),
    "chrf-nltk": ("chrF", 1.0),
    "chrf": ("chrF", 100.0),
    "nist": ("NIST", 1.0),
    "bertscore": ("BERTScore", 1.0),
}
"""The measure of the paper that each of ours corresponds to, and the divisor for its scale."""


def paper_family(code: str) -> str | None:
    """The family of a language in the paper, if it is there.

    >>> paper_family("epo"), paper_family("vie")
    ('Indo-European', None)
    """
    return next((family for family, codes in FAMILIES.items() if code in codes), None)
