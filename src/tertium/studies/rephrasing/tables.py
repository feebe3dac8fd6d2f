"""The tables of the rephrasing study: those of the paper, and more."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from tertium.data.languages import iso_code, language_name
from tertium.data.records import counted
from tertium.measures.loading import MeasureSpec
from tertium.report.tables import Cell, Table
from tertium.stats.association import holm
from tertium.stats.conventions import ALPHA
from tertium.studies.rephrasing import paper
from tertium.studies.rephrasing.figures import rephrasing_figures
from tertium.studies.rephrasing.study import Results, words_of
from tertium.studies.rephrasing.typology import KNOWN, LISTED, Axis, Families, Link, correlate
from tertium.studies.report import Report

THREE = ".3f"
PERMUTATIONS = 10_000
SCALES = (1.0, paper.MAX_NIST)
"""What NIST may be divided by in the averages of the paper."""
WHERE = re.compile(r"^row \d+: ([\w-]+: )?")
"""The row that an error names, which is no help here: all rows are in the same language."""
SIGN_NOTE = (
    "The sign of a component is arbitrary: it is fixed so that its largest loading is positive, "
    "and only |r| can be compared with the paper's."
)


def rephrasing_report(
    results: Results,
    families: Families,
    axes: Sequence[Axis] = (),
    *,
    known: float = KNOWN,
    samples: int = PERMUTATIONS,
    seed: int = 0,
) -> Report:
    """Every table and figure; the correlations with typology need ``axes``."""
    shown = {
        "languages": language_table(results, families),
        "families": family_table(results, families),
    }
    beside = paper_table(results)
    if beside is not None:
        shown["paper"] = beside
    short = short_table(results)
    if short is not None:
        shown["nist"] = short
    links = []
    words = {language.lang: language.words for language in results.languages}
    for measure in results.measures:
        means = {lang: mean for (lang, own), mean in results.means.items() if own == measure}
        for axis in axes if means else ():
            settings: dict[str, Any] = {"samples": samples, "seed": seed, "known": known}
            link = correlate(measure, means, axis, families.of, words, **settings)
            links += [link] if link is not None else []
    if links:
        shown["correlations"] = correlation_table(links, [axis.name for axis in axes])
        shown["evidence"] = evidence_table(links)
        controlled = controlled_table(links)
        if controlled is not None:
            shown["given-words"] = controlled
    if axes:
        shown["features"] = axis_table(axes)
        if any(axis.loadings for axis in axes):
            shown["loadings"] = loading_table(axes)
    without = left_out_table(results)
    if without is not None:
        shown["left-out"] = without
    drawn = rephrasing_figures(results, axes, families, samples=samples, seed=seed)
    details = {"intervals": interval_table(results)}
    pairs = sum(len(language.pairs) for language in results.languages)
    lead = (
        f"{counted(pairs, 'pair')} of sentences with the same meaning in "
        f"{counted(len(results.languages), 'language')}: the mean scores of languages, and "
        "whether they depend on grammar, geography and sounds."
    )
    title = "How do measures respond to rephrasing?"
    return Report(title, shown, drawn, details, lead, findings=findings(links))


def findings(links: Sequence[Link]) -> list[str]:
    """In words: what is left of the correlations after correction, and given sentence length."""
    if not links:
        return []
    plain = sum(p < ALPHA for p in holm([link.found.permutation_p for link in links]))
    given = sum(p < ALPHA for p in holm([_partial_p(link) for link in links]))
    return [
        f"Of {len(links)} correlations of scores with typological features, {plain} "
        f"{'is' if plain == 1 else 'are'} significant after correction for their number, and "
        f"{given} given the mean number of words per sentence."
    ]


def language_table(results: Results, families: Families) -> Table:
    """The mean of each measure in each language."""
    by_code = {language.lang: language for language in results.languages}
    rows = []
    for lang in families.sorted(list(by_code)):
        language = by_code[lang]
        pairs = f"{len(language.pairs)}"
        if len(language.pairs) < language.of:
            pairs += f"/{language.of}"
        means = [Cell(value, THREE) for value in _row(results, lang)]
        head = [Cell(f"{lang} {language_name(lang)}"), Cell(families.of[lang])]
        rows.append([*head, Cell(language.sets), Cell(pairs), *means])
    header = ["language", "family", "sets", "pairs", *results.measures]
    notes = ["Pairs: drawn of how many there are."] if any_sampled(results) else []
    words = {measure: words_of(MeasureSpec.parse(measure)) for measure in results.measures}
    told = "; ".join(f"{measure} {own}" for measure, own in words.items() if own is not None)
    notes += [f"Words, in all languages: {told}."] if told else []
    return Table(header, rows, "Mean scores by language", " ".join(notes))


def interval_table(results: Results) -> Table:
    """The mean of each measure in each language with its interval, one per row."""
    rows = []
    for (lang, measure), mean in results.means.items():
        if measure not in results.measures:  # NIST in another reading
            continue
        limits = results.intervals.get((lang, measure))
        low, high = (limits.low, limits.high) if limits else (None, None)
        rows.append([Cell(lang), Cell(measure), *(Cell(x, THREE) for x in (mean, low, high))])
    note = "95 % intervals, by bootstrap over sets; a language with one set has none."
    return Table(["language", "measure", "mean", "low", "high"], rows, "Means by language", note)


def family_table(results: Results, families: Families) -> Table:
    """The mean over the languages of each family."""
    means = results.family_means(families.of)
    rows = []
    for family in families.order:
        count = list(families.of.values()).count(family)
        cells = [Cell(means.get((family, measure)), THREE) for measure in results.measures]
        rows.append([Cell(family), Cell(count), *cells])
    return Table(
        ["family", "languages", *results.measures],
        rows,
        "Mean scores by family (URIEL's)",
        "The mean over languages, each counting once.",
    )


def paper_table(results: Results) -> Table | None:
    """The mean by the paper's families beside its own; None if no measure has a counterpart."""
    counterparts = {
        measure: paper.COUNTERPARTS[name]
        for measure in results.measures
        if (name := MeasureSpec.parse(measure).measure) in paper.COUNTERPARTS
    }
    groups = {
        language.lang: family
        for language in results.languages
        if (family := paper.paper_family(iso_code(language.lang))) is not None
    }
    if not counterparts or not groups:
        return None
    means = results.family_means(groups)
    header, columns = ["family", "languages", "there"], []
    for title in dict.fromkeys(title for title, _ in counterparts.values()):
        own = [measure for measure in counterparts if counterparts[measure][0] == title]
        header += [f"{title}, paper", *own]
        columns.append((title, own))
    rows = []
    for family, codes in paper.FAMILIES.items():
        there = list(groups.values()).count(family)
        if not there:
            continue
        cells = [Cell(family), Cell(len(codes)), Cell(there)]
        for title, own in columns:
            cells.append(Cell(paper.AVERAGES[title].get(family), THREE))
            for measure in own:
                value, scale = means.get((family, measure)), counterparts[measure][1]
                cells.append(Cell(None if value is None else value / scale, THREE))
        rows.append(cells)
    note = "There: the languages that these data have. sacrebleu's scores are divided by 100."
    return Table(header, rows, "By the paper's families, beside the paper's averages", note)


def short_table(results: Results) -> Table | None:
    """NIST by the paper's families: raw or scaled, short sentences scored, as 0 or left out.

    The paper says neither whether the averages of section 4 are scaled as those of figure 6 nor
    what became of nltk's divisions by zero. The distance says which reading is nearest.
    """
    groups = {
        language.lang: family
        for language in results.languages
        if (family := paper.paper_family(iso_code(language.lang))) is not None
    }
    measures = dict.fromkeys(measure for _, measure in results.short)
    if not measures or not groups:
        return None
    rows = []
    for measure in measures:
        readings: list[dict[str, float]] = [{}, {}, {}]
        for lang in groups:
            short = results.short.get((lang, measure))
            if short is not None:
                values = (results.means[lang, measure], short.as_zero, short.left_out)
                for own, value in zip(readings, values, strict=True):
                    own.setdefault(lang, value)
        printed = paper.AVERAGES["NIST"]
        means = [_by_family(own, groups) for own in readings]
        for family in paper.FAMILIES:
            if family not in means[0]:
                continue
            there = [lang for lang in readings[0] if groups[lang] == family]
            share = sum(results.short[lang, measure].share for lang in there) / len(there)
            found = [own.get(family, math.nan) / scale for scale in SCALES for own in means]
            first = [Cell(family), Cell(measure), Cell(printed.get(family), THREE)]
            rows.append([*first, *map(_defined, found), Cell(100 * share, ".1f")])
        common = [family for family in printed if family in means[0]]
        if common:
            distances = [
                _distance(
                    [own.get(f, math.nan) / scale for f in common], [printed[f] for f in common]
                )
                for scale in SCALES
                for own in means
            ]
            row = [Cell("distance from the paper"), Cell(measure), Cell(None)]
            best = min((d for d in distances if not math.isnan(d)), default=None)
            rows.append([*row, *(Cell(_known(d), THREE, d == best) for d in distances), Cell(None)])
    header = ["family", "measure", "paper", "formula", "as 0", "left out"]
    header += [f"{name} / {paper.MAX_NIST:g}" for name in ("formula", "as 0", "left out")]
    note = (
        "Sentences of fewer than 5 words, for which nltk divides by zero: scored by the n-grams "
        "that they have (formula), counted as 0, or left out. Divided by 1.9: as in figure 6 of "
        "the paper. Distance: the mean of |log(here / paper)| over the families; bold, *: the "
        "smallest."
    )
    header.append("short %")
    return Table(header, rows, "NIST by the paper's families, in six readings", note)


def _by_family(values: Mapping[str, float], groups: Mapping[str, str]) -> dict[str, float]:
    """The mean over the languages of each family that have a value."""
    found: dict[str, list[float]] = {}
    for lang, value in values.items():
        if not math.isnan(value):
            found.setdefault(groups[lang], []).append(value)
    return {family: fmean(own) for family, own in found.items()}


def _distance(ours: Sequence[float], printed: Sequence[float]) -> float:
    """The mean of |log(ours / printed)|; NaN if one of ours is not positive.

    >>> round(_distance([2, 0.5], [1, 1]), 6) == round(math.log(2), 6)
    True
    """
    if any(not own > 0 for own in ours):
        return math.nan
    return fmean(abs(math.log(a / b)) for a, b in zip(ours, printed, strict=True))


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def correlation_table(links: Sequence[Link], features: Sequence[str]) -> Table:
    """Table 1: r of each measure with each feature set, and given the words per sentence."""
    found = {(link.measure, link.feature): link for link in links}
    plain = holm([link.found.permutation_p for link in links])
    partial = holm([_partial_p(link) for link in links])
    corrected = {
        (link.measure, link.feature): both
        for link, both in zip(links, zip(plain, partial, strict=True), strict=True)
    }
    rows = []
    for measure in dict.fromkeys(link.measure for link in links):
        own = [found.get((measure, feature)) for feature in features]
        cells, given = [Cell(measure)], [Cell("  given words per sentence")]
        for link in own:
            first, second = corrected[measure, link.feature] if link else (math.nan, math.nan)
            cells.append(Cell(link.found.r if link else None, "+.3f", first < ALPHA))
            part = link.controlled if link else None
            given.append(Cell(part.r if part else None, "+.3f", second < ALPHA))
        rows += [cells, given]
        title, _ = paper.COUNTERPARTS.get(MeasureSpec.parse(measure).measure, ("", 1.0))
        if title:
            printed = [paper.CORRELATIONS[title].get(feature) for feature in features]
            rows.append([Cell(f"  paper: {title}"), *(Cell(value, "+.3f") for value in printed)])
    note = (
        f"Bold, *: p < {ALPHA:.2f} by permutation, corrected for all correlations of this table "
        "(Holm), r and given words each by themselves. Given words per sentence: the partial "
        f"correlation. {SIGN_NOTE}"
    )
    return Table(["measure", *features], rows, "Pearson's r with typological features", note)


def evidence_table(links: Sequence[Link]) -> Table:
    """The evidence for each correlation."""
    rows = []
    corrected = holm([link.found.permutation_p for link in links])
    for link, holm_p in zip(links, corrected, strict=True):
        found, values = link.found, {k: v for k, v in link.without.items() if not math.isnan(v)}
        interval = f"[{found.interval.low:+.2f}, {found.interval.high:+.2f}]"
        weakest = min(values, key=lambda name: abs(values[name]), default="")
        swing = f"[{min(values.values()):+.2f}, {max(values.values()):+.2f}]" if values else ""
        rows.append(
            [
                Cell(f"{link.measure} {link.feature}"),
                Cell(found.items),
                Cell(abs(found.r), THREE),
                Cell(interval),
                Cell(found.p, THREE),
                Cell(found.permutation_p, THREE),
                Cell(holm_p, THREE),
                _defined(link.within_p),
                Cell(swing),
                Cell(weakest),
                _defined(link.refitted),
            ]
        )
    header = ["measure and features", "n", "|r|", "95 % interval", "p", "p (permutation)"]
    header += ["p (Holm)", "p (within families)", "r without a family", "weakest without"]
    header += ["|r| refitted"]
    note = (
        "Interval: bootstrap over languages. Holm: the permutation test, corrected for the number "
        "of rows. Within families: only languages of one family are permuted. r without a family: "
        "the range when the languages of each family are left out in turn, and the family without "
        "which r is nearest to 0. Refitted: without the largest family, on a component of the "
        "other languages alone."
    )
    return Table(header, rows, "The evidence for each correlation", note)


def controlled_table(links: Sequence[Link]) -> Table | None:
    """What is left of each correlation, given the length of sentences; None if nothing is."""
    given = [link for link in links if link.controlled is not None]
    corrected = holm([_partial_p(link) for link in given])
    rows = []
    for link, holm_p in zip(given, corrected, strict=True):
        assert link.controlled is not None
        part = link.controlled
        rows.append(
            [
                Cell(f"{link.measure} {link.feature}"),
                Cell(part.items),
                Cell(link.found.r, "+.3f"),
                Cell(link.words, "+.3f"),
                Cell(part.r, "+.3f"),
                Cell(f"[{part.interval.low:+.2f}, {part.interval.high:+.2f}]"),
                Cell(part.permutation_p, THREE),
                Cell(holm_p, THREE),
                _defined(link.controlled_within_p),
            ]
        )
    if not rows:
        return None
    header = ["measure and features", "n", "r", "r of words", "partial r", "95 % interval"]
    header += ["p (permutation)", "p (Holm)", "p (within families)"]
    note = (
        "r of words: that of the measure with the mean number of words per sentence (at spaces). "
        "Partial r: of the measure with the features, given this number. The tests permute what a "
        "regression on it leaves."
    )
    return Table(header, rows, "The correlations, given the length of sentences", note)


def axis_table(axes: Sequence[Axis]) -> Table:
    """How each feature set was reduced to one dimension."""
    rows = [
        [
            Cell(axis.name),
            Cell(len(axis.scores)),
            Cell(axis.features),
            Cell(100 * axis.missing, ".1f"),
            Cell(100 * axis.explained, ".1f"),
            Cell(len(axis.absent)),
            Cell(len(axis.sparse)),
        ]
        for axis in axes
    ]
    header = ["feature set", "languages", "features", "missing %", "explained %"]
    header += ["not in URIEL", "too little known"]
    notes = [
        "Features: those that differ among the languages. Missing values have the feature's mean. "
        "Explained: the variance along the first principal component."
    ]
    for axis in axes:
        for why, langs in (("not in URIEL", axis.absent), ("too little known", axis.sparse)):
            notes += [f"{axis.name}, {why}: {' '.join(langs)}."] if langs else []
    return Table(header, rows, "Typological features (URIEL)", "\n".join(notes))


def loading_table(axes: Sequence[Axis]) -> Table:
    """Which end of each component means what: the largest loadings, and the languages there."""
    rows, data = [], []
    for axis in axes:
        for feature, weight in axis.loadings:
            data.append([Cell(axis.name), Cell(feature), Cell(weight)])
        ordered = sorted(axis.scores, key=lambda lang: axis.scores[lang])
        for sign, langs in ((1, ordered[::-1]), (-1, ordered)):
            features = ", ".join(f"{name} {weight:+.2f}" for name, weight in axis.end(sign))
            row = (axis.name, "+" if sign > 0 else "-", features, " ".join(langs[:LISTED]))
            rows += [[*map(Cell, row)]] if features else []
    return Table(
        ["feature set", "end", "largest loadings", "languages"],
        rows,
        "What the ends of the components mean",
        "Languages: those with the highest and the lowest values. CSV has all loadings.",
        Table(["feature set", "feature", "loading"], data),
    )


def left_out_table(results: Results) -> Table | None:
    """The languages that a measure could not score, and why; None if it scored all."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for (lang, measure), reason in results.left_out.items():
        general = WHERE.sub("", reason).split(";")[0].replace(f"{lang!r}", "a language")
        reasons.setdefault((measure, general), []).append(lang)
    if not reasons:
        return None
    rows = [
        [Cell(measure), Cell(len(langs)), Cell(" ".join(langs)), Cell(reason)]
        for (measure, reason), langs in reasons.items()
    ]
    return Table(["measure", "languages", "which", "why"], rows, "Left out")


def any_sampled(results: Results) -> bool:
    """Whether only some pairs of a language were scored."""
    return any(len(language.pairs) < language.of for language in results.languages)


def _partial_p(link: Link) -> float:
    return math.nan if link.controlled is None else link.controlled.permutation_p


def _defined(value: float) -> Cell:
    return Cell(_known(value), THREE)


def _row(results: Results, lang: str) -> list[float | None]:
    return [results.means.get((lang, measure)) for measure in results.measures]
