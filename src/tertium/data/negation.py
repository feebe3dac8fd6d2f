"""Negation in German, English, Spanish and French: whether a text has one, with or without it."""

from __future__ import annotations

import re

NEGATIONS = {
    "de": re.compile(r" nicht\b"),
    "en": re.compile(r" not\b|n['’]t\b"),
    "es": re.compile(r"\b[Nn]o "),
    "fr": re.compile(r"\b(?:ne |n['’])(?P<verb>\w+)(?: pas)\b"),
}
"""A negation of each language, with the space that goes with it."""
VERBS = {
    "de": "ist sind war waren hat haben hatte kann können konnte wird werden muss müssen soll",
    "en": "is are was were can could will would should must has have had do does did",
    "es": "es son era está están fue ha han había hay puede pueden debe será tiene",
    "fr": "est sont était a ont avait peut peuvent doit sera va faut",
}
"""Frequent verbs that are negated with one more word."""
VERB = {lang: re.compile(rf" ({verbs.replace(' ', '|')})(?= )") for lang, verbs in VERBS.items()}
VOWELS = "aeiouéè"
PLAIN = {
    "de": r"nicht|nie|niemals|kein\w*",
    "en": r"not|never|cannot|\w+n['’]t",
    "es": r"no|nunca|jamás",
    "fr": r"ne|pas|jamais|n['’]\w+",
}
"""Words that negate a sentence."""
ALSO = {
    "de": r"niemand\w*|nichts|nirgends|weder|ohne|kaum|un\w{4,}|\w+los(?:e[rsnm]?)?|verhinder\w+"
    r"|vermeid\w+|fehl\w*|mangel\w*|wenig\w*|nur|sondern|außer|bevor|statt|anstatt",
    "en": r"no|none|nobody|nothing|nowhere|neither|nor|without|un\w{4,}|impossib\w+|inab\w+|fail\w*"
    r"|lack\w*|refus\w+|deny|denie\w+|prevent\w*|avoid\w*|hardly|barely|few|little|least|only|but"
    r"|unless|until|instead|rather|doubt\w*|longer",
    "es": r"nadie|nada|ning\w+|sin|ni|tampoco|imposib\w+|incapa\w+|falta\w*|evita\w*|poc\w+|solo"
    r"|sólo|sino|apenas|antes|impid\w+|carec\w+",
    "fr": r"rien|aucun\w*|sans|personne|ni|non|guère|impossib\w+|incapab\w+|manqu\w+|évit\w+|peu"
    r"|seul\w*|que|avant|empêch\w+",
}
"""Words that may stand for a negation of the other language."""
NEGATING = {lang: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for lang, words in PLAIN.items()}
ANY = {
    lang: re.compile(rf"\b(?:{words}|{ALSO[lang]})\b", re.IGNORECASE)
    for lang, words in PLAIN.items()
}


def is_negated(text: str, lang: str) -> bool:
    """Whether a text has a word that negates a sentence.

    >>> is_negated("Sie arbeitet nicht hier.", "de"), is_negated("It is impossible.", "en")
    (True, False)
    """
    return lang in NEGATING and NEGATING[lang].search(text) is not None


def negation_differs(a: str, a_lang: str, b: str, b_lang: str) -> bool:
    """Whether one text is negated, and the other has no word that could stand for that.

    >>> negation_differs("Sie arbeitet hier.", "de", "She does not work here.", "en")
    True
    >>> negation_differs("Das geht nicht.", "de", "That is impossible.", "en")
    False
    """
    if a_lang not in ANY or b_lang not in ANY:
        return False
    return (is_negated(a, a_lang) and not ANY[b_lang].search(b)) or (
        is_negated(b, b_lang) and not ANY[a_lang].search(a)
    )


def toggled(text: str, lang: str) -> str | None:
    """The text without its negation, or with one; None if that cannot be made.

    >>> toggled("She works here.", "en"), toggled("She is here.", "en")
    (None, 'She is not here.')
    """
    return without_negation(text, lang) if is_negated(text, lang) else with_negation(text, lang)


def without_negation(text: str, lang: str) -> str | None:
    """Remove the first negation; None if there is none.

    >>> without_negation("She does not work in Lyon.", "en")
    'She does work in Lyon.'
    >>> without_negation("Elle ne travaille pas à Lyon.", "fr")
    'Elle travaille à Lyon.'
    """
    pattern = NEGATIONS.get(lang)
    negation = pattern.search(text) if pattern is not None else None
    if negation is None:
        return None
    kept = negation.groupdict().get("verb", "")
    changed = text[: negation.start()] + kept + text[negation.end() :]
    return changed[:1].upper() + changed[1:] if text[:1].isupper() else changed


def with_negation(text: str, lang: str) -> str | None:
    """Negate the first frequent verb of a text without negation; None if there is none.

    >>> with_negation("Der Laden ist heute offen.", "de")
    'Der Laden ist nicht heute offen.'
    >>> with_negation("Le magasin est ouvert.", "fr")
    "Le magasin n'est pas ouvert."
    """
    if lang not in VERB or NEGATIONS[lang].search(text):
        return None
    verb = VERB[lang].search(text)
    if verb is None:
        return None
    word = verb.group(1)
    if lang == "es":
        negated = f"no {word}"
    elif lang == "fr":
        negated = f"n'{word} pas" if word[0] in VOWELS else f"ne {word} pas"
    else:
        negated = f"{word} {'nicht' if lang == 'de' else 'not'}"
    return text[: verb.start(1)] + negated + text[verb.end(1) :]
