"""Wrong translations that look right: what a model must find less probable than the right one.

A model that has only seen right translations still gives a copied source, a sentence whose second
half is not translated, a wrong name or a lost negation almost the probability of the right text.
Training and evaluation make such texts from right pairs, with the same rules.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable

import numpy as np

from tertium.training.model.bitext import Pair
from tertium.training.model.lexicon import Lexicon
from tertium.training.model.names import contrasting, find_slots

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
OPPOSITES = {
    "de": """vor/nach öffnet/schließt offen/geschlossen gewonnen/verloren gewann/verlor groß/klein
        große/kleine großen/kleinen alt/neu alte/neue alten/neuen gut/schlecht guten/schlechten
        mehr/weniger hoch/niedrig hohe/niedrige hohen/niedrigen immer/nie alle/keine mit/ohne
        erste/letzte ersten/letzten innerhalb/außerhalb oben/unten über/unter links/rechts
        steigt/sinkt gestiegen/gesunken kauft/verkauft gekauft/verkauft kann/muss früh/spät
        früher/später möglich/unmöglich richtig/falsch stark/schwach teuer/billig jung/alt
        heute/morgen gestern/heute Nord/Süd Norden/Süden Osten/Westen Mann/Frau Männer/Frauen
        Vater/Mutter Bruder/Schwester Tag/Nacht Anfang/Ende lang/kurz langen/kurzen für/gegen""",
    "en": """before/after opens/closes open/closed opened/closed won/lost win/lose large/small
        big/small old/new good/bad better/worse best/worst more/less most/least high/low
        higher/lower always/never all/none with/without first/last inside/outside above/below
        over/under left/right rises/falls rose/fell increased/decreased increase/decrease
        buys/sells bought/sold early/late earlier/later possible/impossible right/wrong
        strong/weak expensive/cheap young/old today/tomorrow yesterday/today north/south
        northern/southern east/west man/woman men/women father/mother brother/sister day/night
        beginning/end long/short longer/shorter for/against likes/hates accepted/refused
        everyone/nobody on/off up/down fast/slow hot/cold can/cannot true/false success/failure
        enabled/disabled enable/disable minimum/maximum""",
    "es": """antes/después abre/cierra abierto/cerrado abierta/cerrada ganó/perdió ganado/perdido
        grande/pequeño grandes/pequeños nuevo/viejo nueva/vieja nuevos/viejos bueno/malo
        buena/mala mejor/peor más/menos alto/bajo alta/baja siempre/nunca todos/ninguno con/sin
        primero/último primera/última primer/último dentro/fuera encima/debajo sobre/bajo
        izquierda/derecha sube/baja aumentó/disminuyó aumentar/disminuir compra/vende
        compró/vendió temprano/tarde posible/imposible correcto/incorrecto fuerte/débil
        caro/barato joven/viejo hoy/mañana ayer/hoy norte/sur este/oeste hombre/mujer
        hombres/mujeres padre/madre hermano/hermana día/noche principio/fin largo/corto
        larga/corta desde/hasta mayor/menor mínimo/máximo""",
    "fr": """avant/après ouvre/ferme ouvert/fermé ouverte/fermée gagné/perdu gagne/perd grand/petit
        grande/petite grands/petits nouveau/ancien nouvelle/ancienne nouveaux/anciens
        bon/mauvais bonne/mauvaise meilleur/pire plus/moins haut/bas toujours/jamais tous/aucun
        avec/sans premier/dernier première/dernière dedans/dehors dessus/dessous sur/sous
        gauche/droite monte/descend augmenté/diminué augmenter/diminuer achète/vend acheté/vendu
        tôt/tard possible/impossible vrai/faux fort/faible jeune/vieux hier/demain nord/sud
        homme/femme hommes/femmes père/mère frère/sœur jour/nuit début/fin long/court
        longue/courte pour/contre mieux/pire minimum/maximum activé/désactivé activer/désactiver""",
}
"""Words that cannot both be right at the same place; each stands for the other."""
VOWELS = "aeiouéè"
MIN_WORDS = 4
"""A text needs this many words for two to be exchanged, or for half of it to be left."""
MIN_LETTERS = 4
"""Words that are exchanged have this many letters: mostly, the others are function words."""
BARE = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


def _opposites(pairs: str) -> dict[str, list[str]]:
    """Return the opposites of each word."""
    result: defaultdict[str, list[str]] = defaultdict(list)
    for pair in pairs.split():
        a, b = pair.split("/")
        result[a.lower()].append(b)
        result[b.lower()].append(a)
    return dict(result)


OPPOSITE = {lang: _opposites(pairs) for lang, pairs in OPPOSITES.items()}


def wrong_target(
    pair: Pair, lexicon: Lexicon | None, generator: np.random.Generator
) -> tuple[str, str] | None:
    """Return the kind of an error, and the second side of the pair with that error.

    The kinds that the pair allows are tried in random order; None if it allows none.
    """
    errors: list[Callable[[], tuple[str, str] | None]] = [
        lambda: _labeled("negation", without_negation(pair.b, pair.lang_b)),
        lambda: _labeled("negation", with_negation(pair.b, pair.lang_b)),
        lambda: _labeled("words", exchanged(pair.b, generator)),
        lambda: _labeled("opposite", with_opposite(pair.b, pair.lang_b, generator)),
    ]
    if lexicon is not None:
        errors.append(lambda: wrong_name(pair, lexicon, generator))
    if pair.lang_a != pair.lang_b:
        errors.append(lambda: ("copy", pair.a))
        errors.append(lambda: _labeled("half", half_translated(pair.a, pair.b)))
    for place in generator.permutation(len(errors)).tolist():
        result = errors[int(place)]()
        if result is not None and result[1] != pair.b:
            return result
    return None


def wrong_name(
    pair: Pair, lexicon: Lexicon, generator: np.random.Generator
) -> tuple[str, str] | None:
    """Exchange or replace a name or a number: ``names`` or ``numbers``, and the text."""
    result = contrasting(pair, find_slots(pair, lexicon), lexicon, generator)
    if result is None:
        return None
    kind, wrong = result
    return kind, wrong.b


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


def with_opposite(text: str, lang: str, generator: np.random.Generator) -> str | None:
    """Replace a word by its opposite; None if no word has one.

    >>> with_opposite("The shop opens at nine.", "en", np.random.default_rng(0))
    'The shop closes at nine.'
    """
    known = OPPOSITE.get(lang, {})
    words = [word for word in BARE.finditer(text) if word.group().lower() in known]
    if not words:
        return None
    word = words[int(generator.integers(len(words)))]
    others = known[word.group().lower()]
    other = others[int(generator.integers(len(others)))]
    return text[: word.start()] + _cased(other, word.group()) + text[word.end() :]


def exchanged(text: str, generator: np.random.Generator) -> str | None:
    """Exchange two longer words of a text; None if it is short.

    >>> exchanged("dogs often bite postmen", np.random.default_rng(0))
    'dogs often postmen bite'
    """
    words = [word for word in BARE.finditer(text) if len(word.group()) >= MIN_LETTERS]
    if len(words) < 2 or len(text.split()) < MIN_WORDS:
        return None
    chosen = generator.choice(len(words), 2, replace=False).tolist()
    first, second = (words[place] for place in sorted(chosen))
    if first.group().lower() == second.group().lower():
        return None
    return (
        text[: first.start()]
        + _cased(second.group(), first.group())
        + text[first.end() : second.start()]
        + _cased(first.group(), second.group())
        + text[second.end() :]
    )


def half_translated(source: str, target: str) -> str | None:
    """Return the first half of the target and the second half of the source, in words.

    >>> half_translated("Der Laden ist heute offen.", "The shop is open today.")
    'The shop ist heute offen.'
    """
    first, second = target.split(), source.split()
    if min(len(first), len(second)) < MIN_WORDS:
        return None
    return " ".join([*first[: len(first) // 2], *second[len(second) // 2 :]])


def _labeled(kind: str, text: str | None) -> tuple[str, str] | None:
    return None if text is None else (kind, text)


def _cased(word: str, like: str) -> str:
    """Capitalise a word at the place of a capitalised one; others keep their case."""
    return word[:1].upper() + word[1:] if like[:1].isupper() else word
