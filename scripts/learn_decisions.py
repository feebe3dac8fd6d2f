"""Learn when `tertium explain` reports something: thresholds and probabilities for a model.

    python scripts/learn_decisions.py data runs/decisions
    python scripts/learn_decisions.py data runs/decisions --model my-model --out FOLDER_OF_THE_MODEL

Run it again for every new bundled model (after ``scripts/bundle.py``; 9 600 rows took 15 minutes on
two cores beside other work), and commit ``decisions.json``, which it
writes into the folder of the model. ``data``
has the corpora of ``DOMAINS`` as for ``scripts/train_bundled.py``; of corpora that are trained on,
only sentences that are held out from training (by their checksum) are read. With ``--bitext
NAME=FILE``, which may be repeated, it learns from tables of your own instead (columns named by
language), for example for OPUS-MT in your domain; nothing of these is assumed to be trained on.

Rows are learned from with and without an injected error (:mod:`tertium.studies.spans.injections`).
They are divided into two halves, by their checksums and with another seed for each. The report that
is printed and written to ``runs/decisions/report.md`` is of each half by what was learned from the
other: what is found of each kind of error, false alarms by domain, and how well the probabilities
are calibrated. What is written for the model is learned from both. What the model said about each
domain is kept in ``runs/decisions``, so that an interrupted run continues where it stopped (remove
the folder after a change of the methods); the numbers depend on the data, the model and the
settings alone. ``--page docs/explain.md`` writes the report between the two marks in that page.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice, permutations, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tertium.explanation.counterparts import counterparts
from tertium.explanation.coverage import (
    ADDITION,
    OMISSION,
    CoverageSettings,
    Factors,
    Phrase,
    coverage_gains,
)
from tertium.explanation.decisions import (
    FALSE_ALARMS,
    FILE,
    FLAGGED,
    PARAPHRASES,
    TRANSLATIONS,
    Decisions,
    LearnedDecisions,
    folder_of,
    learn_thresholds,
)
from tertium.explanation.review import (
    CONTRAST,
    DEFAULT_METHODS,
    DIFFERENCES,
    FLAGS,
    HALLUCINATION,
    KINDS,
    OPPOSITES,
    UNLIKELY,
    Reviewer,
    sides_for,
)
from tertium.explanation.spans import A
from tertium.models.base import TextEncoder, TranslationModel
from tertium.models.catalog import DEFAULT_ENCODER, DEFAULT_MODEL, load_encoder, load_model
from tertium.storage.atomic import write_text
from tertium.studies.spans.injections import INJECTED, Names, Pair
from tertium.text import Text
from tertium.training.model.bitext import held_out, read_bitext

LANGUAGES = ("de", "en", "es", "fr")


@dataclass(frozen=True)
class Domain:
    """The files of a domain below the data folder, and whether the bundled model has seen them."""

    files: tuple[str, ...]
    trained: bool = False


DOMAINS = {
    TRANSLATIONS: {
        "everyday": Domain(("tatoeba/dev.tsv.xz",)),
        "news": Domain(("news/wmt-general.*.tsv.xz",)),
        "wikipedia": Domain(("news/flores.*.tsv.xz",)),
        "parliament": Domain(("parallel4/europarl.tsv.xz",), trained=True),
        "software": Domain(
            ("libreoffice/en-[def][ers].tsv.xz", "parallel4/msdocs.tsv.xz"), trained=True
        ),
    },
    PARAPHRASES: {
        "everyday": Domain(("tatoeba/dev.tsv.xz",)),
        "news": Domain(("news/newstest2014-multiref.*.tsv.xz",)),
    },
}
"""Paraphrases are two sentences of one language with a common translation."""
METHODS = (*(OPPOSITES, HALLUCINATION, FLAGS), *(UNLIKELY, CONTRAST, DIFFERENCES))
"""Those that are learned besides coverage."""
OMITTED, UNSAID, EXCHANGED = "omitted", "unsaid", "exchanged"
ERRORS = (
    *(OMITTED, UNSAID, "negation", "opposite", "name", "digit", "half", EXCHANGED),
    *(OMITTED, UNSAID, "decimal", "unit", "number word", "stretch", "sign", "date"),
)
"""The errors that rows get in turn."""
TRIED = 6
"""Phrases of a side that coverage tries: more find no more (on 140 rows of development data)."""
APART = (0.0, 0.25, 0.5, 1.0)
WEIGHT = (0.0, 0.0015, 0.003, 0.006, 0.012)
LENGTH = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Factors of coverage among which is chosen."""
RATES = (0.02, 0.03, 0.05, 0.08)
"""False alarm rates over whose mean it is chosen."""
READ = 10
"""So many times the rows that are needed are read, and chosen from by checksum."""
CHUNK = 32
TITLES = {TRANSLATIONS: "In two languages", PARAPHRASES: "In one language"}
BEGIN, END = "<!-- decisions: begin -->", "<!-- decisions: end -->"
"""Around the report in a page."""
STEPS = 4000


@dataclass
class Evidence:
    """What was found about a row."""

    kind: str
    """The injected error; empty for a right row."""
    scores: dict[str, float] = field(default_factory=dict)
    """The highest score of each kind, except those of coverage."""
    phrases: dict[str, list[tuple[float, float, float]]] = field(default_factory=dict)
    """The gain of each phrase, how far it is apart, and its weight."""
    sizes: tuple[int, int] = (0, 0)
    """The lengths of hypothesis and source."""
    langs: tuple[str | None, str | None] = (None, None)
    flagged: bool = False

    def evidence(self, factors: Factors) -> dict[str, float]:
        """The highest score of each kind."""
        short = factors.shortness(self.sizes, self.langs)
        covered = {
            kind: max(
                Phrase(
                    0, 0, "", gain, 0.0, apart, weight, short if kind == ADDITION else -short
                ).score(factors)
                for gain, apart, weight in phrases
            )
            for kind, phrases in self.phrases.items()
            if phrases
        }
        return self.scores | covered


def read_pairs(paths: Sequence[Path], trained: bool, most: int) -> Iterator[tuple[Text, Text]]:
    """Pairs of all files in turn, in both orders by checksum, that are not trained on."""
    readers = [read_bitext(path, LANGUAGES) for path in paths]
    found = 0
    while readers and found < most:
        for reader in list(readers):
            pair = next(reader, None)
            if pair is None:
                readers.remove(reader)
            elif not trained or held_out(pair.a) or held_out(pair.b):
                found += 1
                sides = Text(pair.a, pair.lang_a), Text(pair.b, pair.lang_b)
                yield sides if checksum(sides[0]) % 4 < 2 else sides[::-1]


def paraphrases(pairs: Iterator[tuple[Text, Text]]) -> Iterator[tuple[Text, Text]]:
    """Two texts of one language with a common translation; one such pair of each translation."""
    groups: defaultdict[Text, dict[Text, None]] = defaultdict(dict)
    for pair in pairs:
        for text, other in permutations(pair):
            groups[other, text.lang][text] = None  # type: ignore[index]
    for texts in groups.values():
        if len(texts) > 1:
            a, b = islice(texts, 2)
            yield a, b


def checksum(text: Text) -> int:
    return zlib.crc32(text.text.encode())


def choose(pairs: Iterator[tuple[Text, Text]], first: bool, count: int) -> list[tuple[Text, Text]]:
    """So many pairs of one half, spread over the checksums of their (English) texts."""

    def key(pair: tuple[Text, Text]) -> int:
        english = [text for text in pair if text.lang == "en"]
        return checksum(english[0] if english else min(pair))

    half = {pair: None for pair in pairs if key(pair) % 2 == (0 if first else 1)}
    return sorted(half, key=lambda pair: (zlib.crc32(str(key(pair)).encode()), pair))[:count]


def with_errors(
    pairs: Sequence[Pair], donors: Sequence[Pair], count: int, seed: int
) -> list[tuple[str, Pair]]:
    """Pairs with an error each: of each kind, the next pair that allows it, in turn."""
    names = Names.of([*pairs, *donors])
    unused = dict(enumerate(pairs))
    found: list[tuple[str, Pair]] = []
    lacking: set[str] = set()
    while len(found) < count and unused and lacking < set(ERRORS):
        for kind in ERRORS:
            if kind in lacking:
                continue
            for number, (a, b) in list(unused.items()):
                text = _error(kind, (a, b), names, donors, random.Random(f"{seed}/{number}"))
                if text is not None and text not in (a.text, b.text):
                    pair = (a, Text(text, b.lang)) if kind == UNSAID else (Text(text, a.lang), b)
                    found.append((kind, pair))
                    del unused[number]
                    break
            else:
                lacking.add(kind)
    return found[:count]


def _error(
    kind: str, pair: Pair, names: Names, donors: Sequence[Pair], draw: random.Random
) -> str | None:
    a, b = pair
    if kind == UNSAID:  # what the source lacks, the hypothesis adds
        return INJECTED[OMITTED]((b, a), names, draw)
    if kind == EXCHANGED:
        others = [other.text for other, _ in donors if other.lang == a.lang]
        return draw.choice(others) if others else None
    if a.lang == b.lang and kind in ("half", "stretch"):
        return None
    return INJECTED[kind](pair, names, draw)


Rows = dict[str, list[Evidence]]
"""The rows of each domain."""


def joined(one: Rows, other: Rows) -> Rows:
    """The rows of both halves."""
    return {domain: [*one[domain], *other[domain]] for domain in one}


class Collector:
    """Asks the model about rows."""

    def __init__(self, model: TranslationModel, aligner: TextEncoder, encoder: TextEncoder):
        self.model, self.aligner = model, aligner
        itself = any(model.translates(lang, lang) for lang in LANGUAGES)
        methods = tuple(name for name in METHODS if itself or name != UNLIKELY)
        self.reviewer = Reviewer(methods, model, encoder)
        self.settings = CoverageSettings(tried=TRIED)

    def __call__(self, rows: Sequence[tuple[str, Pair]]) -> Iterator[Evidence]:
        for start in range(0, len(rows), CHUNK):
            chunk = rows[start : start + CHUNK]
            pairs = [pair for _, pair in chunk]
            found = self.reviewer.candidates(pairs)
            phrases = self._phrases(pairs)
            for (kind, (a, b)), each, covered in zip(chunk, found, phrases, strict=True):
                sizes = len(a.text), len(b.text)
                yield Evidence(
                    *(kind, each.evidence, covered, sizes, (a.lang, b.lang), bool(each.flags))
                )

    def _phrases(self, pairs: Sequence[Pair]) -> list[dict[str, list[tuple[float, float, float]]]]:
        covered = counterparts(pairs, self.aligner)
        found = []
        for pair, words in zip(pairs, covered, strict=True):
            sides = sides_for(self.model, pair)
            [gains] = coverage_gains(
                [pair], self.model, self.settings, sides=sides, every=False, covered=[words]
            )
            found.append(
                {
                    ADDITION if side == A else OMISSION: [
                        (each.gain, each.apart, each.weight)
                        for each in tried
                        if each.surprise >= self.settings.surprise
                    ]
                    for side, (_, tried) in gains.items()
                }
            )
        return found


def collected(collector: Collector, file: Path, rows: Sequence[tuple[str, Pair]]) -> list[Evidence]:
    """What the model says about rows, from a file if it is there already."""
    if file.is_file():
        return [Evidence(**fields) for fields in json.loads(file.read_text("utf-8"))]
    started = time.monotonic()
    found = list(collector(rows))
    write_text(file, json.dumps([asdict(each) for each in found]))
    print(f"{file.stem}: {len(rows)} rows in {time.monotonic() - started:.0f} s", flush=True)
    return found


def usual_lengths(rows: Sequence[Evidence]) -> dict[str, float]:
    """How long texts are in each language: least squares over the logarithms of ratios."""
    langs = sorted({lang for each in rows for lang in each.langs if lang})
    ratios = [math.log(max(each.sizes[0], 1) / max(each.sizes[1], 1)) for each in rows]
    sides = np.array(
        [[(lang == each.langs[0]) - (lang == each.langs[1]) for lang in langs] for each in rows]
    )
    lengths = np.linalg.lstsq(sides.astype(np.float64), np.array(ratios), rcond=None)[0]
    return {lang: round(float(each), 4) for lang, each in zip(langs, lengths, strict=True)}


def choose_factors(rows: Rows) -> Factors:
    """The factors with the best mean recall of omissions and additions at some rates."""
    every = [row for domain in rows.values() for row in domain]
    lengths = usual_lengths([row for row in every if not row.kind])

    def recall(factors: Factors) -> float:
        found = []
        for kind, error in ((OMISSION, OMITTED), (ADDITION, UNSAID)):
            right, wrong = (
                [each.evidence(factors).get(kind, -9.0) for each in every if each.kind == name]
                for name in ("", error)
            )
            for rate in RATES:
                threshold = np.quantile(right, 1 - rate)
                found.append(float(np.mean(np.array(wrong) > threshold)))
        return float(np.mean(found))

    tried = [Factors(*each, lengths) for each in product(APART, WEIGHT, LENGTH)]
    return max(tried, key=lambda each: (recall(each), -each.apart - each.weight - each.length))


def learn(rows: Rows, factors: Factors) -> Decisions:
    """Thresholds from the right rows, weights from all."""
    right = [each for domain in rows.values() for each in domain if not each.kind]
    kinds = sorted({kind for each in right for kind in each.evidence(factors)})
    scores = {
        kind: [each.evidence(factors).get(kind, float("-inf")) for each in right] for kind in kinds
    }
    decisions = Decisions(tuple(kinds), DEFAULT_METHODS, learn_thresholds(scores), {}, {}, {}, 0.0)

    def counted(found: Iterable[Evidence], error: str) -> dict[str, int]:
        patterns = Counter(
            decisions.pattern(each.evidence(factors), each.flagged)
            for each in found
            if each.kind == error
        )
        return dict(sorted(patterns.items()))

    alarms = {domain: counted(found, "") for domain, found in rows.items()}
    every = [each for domain in rows.values() for each in domain]
    errors = {
        error: counted(every, error) for error in sorted({each.kind for each in every} - {""})
    }
    decisions = replace(decisions, alarms=alarms, errors=errors)
    used = [kind for method in DEFAULT_METHODS for kind in KINDS.get(method, ()) if kind in kinds]
    names = [*used, FLAGGED]
    features = np.array(
        [
            [decisions.features(each.evidence(factors), each.flagged)[name] for name in names]
            for each in every
        ]
    )
    labels = np.array([bool(each.kind) for each in every])
    weights, intercept = fit(features, labels)
    return replace(
        decisions,
        weights={
            name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)
        },
        intercept=round(intercept, 4),
    )


def fit(
    features: NDArray[np.float64], labels: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], float]:
    """Logistic regression without negative weights; right and wrong rows count the same in sum."""
    counts = np.where(labels, 0.5 / labels.sum(), 0.5 / (~labels).sum())
    weights, intercept = np.zeros(features.shape[1]), 0.0
    step = 1.0 / max(float((counts @ features**2).max()), 1.0)
    for _ in range(STEPS):
        odds = np.clip(features @ weights + intercept, -30, 30)
        error = counts * (labels - 1 / (1 + np.exp(-odds)))
        weights = np.maximum(weights + step * (features.T @ error), 0.0)
        intercept += step * float(error.sum())
    return weights, intercept


@dataclass
class Outcome:
    """What is said of a row by what was learned from others."""

    domain: str
    kind: str
    """The injected error; empty for a right row."""
    reported: bool
    chance: float
    """The probability of an error."""


def outcomes(rows: Rows, decisions: Decisions, factors: Factors) -> Iterator[Outcome]:
    """Decide on rows, with default methods."""
    kinds = [kind for method in DEFAULT_METHODS for kind in KINDS.get(method, ())]
    thresholds = decisions.chosen(kinds, True, FALSE_ALARMS)
    for domain, several in rows.items():
        for each in several:
            scores = each.evidence(factors)
            reported = each.flagged or any(
                scores.get(kind, float("-inf")) >= threshold
                for kind, threshold in thresholds.items()
            )
            chance = decisions.probability(scores, each.flagged)
            yield Outcome(domain, each.kind, reported, chance)


def report(every: Sequence[Outcome]) -> str:
    """Tables of what is found, of false alarms, and of the calibration."""
    domains = list(dict.fromkeys(each.domain for each in every))
    lines = [f"| | {' | '.join(domains)} | all |", f"|---|{'---:|' * (len(domains) + 1)}"]
    for kind in ["", *dict.fromkeys(ERRORS)]:
        cells = []
        total = Counter[bool]()
        for domain in domains:
            counts = Counter(
                each.reported for each in every if (each.domain, each.kind) == (domain, kind)
            )
            total += counts
            cells.append(_share(counts))
        lines.append(f"| {kind or 'false alarms'} | {' | '.join([*cells, _share(total)])} |")
    chances = np.array([each.chance for each in every])
    labels = np.array([bool(each.kind) for each in every])
    weights = np.where(labels, 0.5 / labels.sum(), 0.5 / (~labels).sum())
    lines += ["", "| probability | rows | mean | with an error |", "|---|---:|---:|---:|"]
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        inside = (chances >= low) & (chances < low + 0.2 + (low == 0.8))
        if inside.any():
            share = weights[inside] / weights[inside].sum()
            lines.append(
                f"| {low:.1f} to {low + 0.2:.1f} | {inside.sum()} "
                f"| {share @ chances[inside]:.2f} | {share @ labels[inside]:.2f} |"
            )
    flagged = np.array([each.reported for each in every])
    precision = weights[flagged & labels].sum() / max(weights[flagged].sum(), 1e-9)
    free = weights[~flagged & ~labels].sum() / max(weights[~flagged].sum(), 1e-9)
    lines += [
        "",
        f"Brier score {weights @ (chances - labels) ** 2:.3f}. Where half of the rows have an "
        f"error, {100 * precision:.0f} % of the reported rows have one, and {100 * free:.0f} % of "
        "the others have none.",
    ]
    return "\n".join(lines)


def _share(counts: Counter[bool]) -> str:
    total = counts.total()
    return f"{100 * counts[True] / total:.0f} % of {total}" if total else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path, help="a folder for what the model said")
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--out", type=Path, help="a folder (default: that of the model)")
    parser.add_argument("--bitext", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--rows", type=int, default=500, help="right rows of each half of a domain")
    parser.add_argument("--errors", type=int, default=320, help="wrong rows of the same")
    parser.add_argument(
        "--seed", type=int, default=1, help="of the first half; the other has the next"
    )
    parser.add_argument("--page", type=Path, help="a page of the docs to write the report into")
    arguments = parser.parse_args()
    model = load_model(arguments.model, cache=False)
    aligner = load_encoder(DEFAULT_ENCODER)
    encoder = load_encoder(DEFAULT_MODEL if folder_of(model) is None else arguments.model)
    collector = Collector(model, aligner, encoder)
    domains: dict[str, dict[str, Domain]] = dict(DOMAINS)
    if arguments.bitext:
        named = dict(each.split("=", 1) for each in arguments.bitext)
        domains = {TRANSLATIONS: {name: Domain((file,)) for name, file in named.items()}}
    arguments.work.mkdir(parents=True, exist_ok=True)
    halves: dict[str, tuple[Rows, Rows]] = {}
    for what, several in domains.items():
        halves[what] = ({}, {})
        for name, domain in several.items():
            paths = [
                path
                for pattern in domain.files
                for path in (
                    [Path(pattern)] if arguments.bitext else sorted(arguments.data.glob(pattern))
                )
            ]
            files = [
                arguments.work / f"{model.fingerprint[:12]}-{what}-{name}-{half}.json"
                for half in ("one", "other")
            ]
            pairs: list[Pair] = []
            if not all(file.is_file() for file in files):
                most = READ * (arguments.rows + arguments.errors)
                read = read_pairs(paths, domain.trained, most * (4 if what == PARAPHRASES else 1))
                pairs = list(paraphrases(read) if what == PARAPHRASES else read)
                pairs = [
                    (a, b)
                    for a, b in pairs
                    if model.translates(b.lang, a.lang) or model.translates(a.lang, b.lang)
                ]
            for number, file in enumerate(files):
                chosen = choose(iter(pairs), not number, 4 * (arguments.rows + arguments.errors))
                right = chosen[: min(arguments.rows, len(chosen) // 2)]
                wrong = with_errors(
                    *(chosen[len(right) :], chosen, arguments.errors, arguments.seed + number)
                )
                rows = [*(("", pair) for pair in right), *wrong]
                halves[what][number][name] = collected(collector, file, rows)
    both = {what: joined(*each) for what, each in halves.items()}
    factors = choose_factors(both[TRANSLATIONS])
    learned = {what: learn(rows, factors) for what, rows in both.items()}
    decisions = LearnedDecisions(
        model.fingerprint,
        aligner.fingerprint,
        factors,
        TRIED,
        learned,
        {what: {name: len(found) for name, found in rows.items()} for what, rows in both.items()},
    )
    out = arguments.out or folder_of(model)
    if out is None:
        raise SystemExit("the model is not one folder: give --out")
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / FILE, decisions.text())
    text = (
        f"`{model.name}` {model.fingerprint[:12]}; `coverage`: apart {factors.apart}, weight "
        f"{factors.weight}, length {factors.length}.\n"
    )
    for what in halves:
        found: list[Outcome] = []
        for number in (0, 1):
            by = choose_factors(halves[TRANSLATIONS][number])
            decided = learn(halves[what][number], by)
            found += outcomes(halves[what][1 - number], decided, by)
        text += f"\n**{TITLES[what]}:**\n\n{report(found)}\n"
    write_text(arguments.work / "report.md", text)
    print(text)
    if arguments.page is not None:
        before, begin, rest = arguments.page.read_text("utf-8").partition(BEGIN)
        _, end, after = rest.partition(END)
        if not end:
            raise SystemExit(f"{arguments.page} has no {BEGIN} and {END}")
        write_text(arguments.page, f"{before}{begin}\n{text}{end}{after}")


if __name__ == "__main__":
    main()
