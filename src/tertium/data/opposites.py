"""Words with their opposites in German, English, Spanish and French."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

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
BARE = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


class Opposed(NamedTuple):
    """A word of a text, and a word that says the opposite, with the same capital letter."""

    start: int
    end: int
    opposite: str


def _opposites(pairs: str) -> dict[str, list[str]]:
    """Return the opposites of each word."""
    result: defaultdict[str, list[str]] = defaultdict(list)
    for pair in pairs.split():
        a, b = pair.split("/")
        result[a.lower()].append(b)
        result[b.lower()].append(a)
    return dict(result)


OPPOSITE = {lang: _opposites(pairs) for lang, pairs in OPPOSITES.items()}
"""The opposites of each word, in lower case."""


def opposed(text: str, lang: str) -> Iterator[Opposed]:
    """The words of a text that have an opposite, with each of their opposites.

    >>> list(opposed("Before dinner", "en"))
    [Opposed(start=0, end=6, opposite='After')]
    """
    known = OPPOSITE.get(lang, {})
    for word in BARE.finditer(text):
        for other in known.get(word.group().lower(), ()):
            yield Opposed(word.start(), word.end(), cased(other, word.group()))


def are_opposites(word: str, other: str, lang: str) -> bool:
    """Whether two words of a language are opposites in the table, whatever their case.

    >>> are_opposites("Before", "after", "en"), are_opposites("before", "during", "en")
    (True, False)
    """
    return other.lower() in (each.lower() for each in OPPOSITE.get(lang, {}).get(word.lower(), ()))


def cased(word: str, like: str) -> str:
    """Capitalise a word at the place of a capitalised one; others keep their case."""
    return word[:1].upper() + word[1:] if like[:1].isupper() else word
