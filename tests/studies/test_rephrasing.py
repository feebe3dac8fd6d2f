"""The study of rephrasing: pairs, means, families, typology; the same however it is run."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tertium
from tertium.data.datasets.base import ParaphraseSet
from tertium.data.uriel import family_of
from tertium.errors import InputError
from tertium.measures.loading import MeasureSpec, ModelSettings
from tertium.studies.rephrasing import paper
from tertium.studies.rephrasing.study import (
    LanguagePairs,
    RephrasingStudy,
    Results,
    pairs_of,
    read_paraphrase_sets,
    with_words,
)
from tertium.studies.rephrasing.tables import (
    axis_table,
    controlled_table,
    correlation_table,
    evidence_table,
    family_table,
    findings,
    interval_table,
    language_table,
    left_out_table,
    loading_table,
    paper_table,
    rephrasing_report,
    short_table,
)
from tertium.studies.rephrasing.typology import Families, Link, correlate, feature_axis
from tertium.studies.runner import CellFolder, Runner, SharedModels

EXAMPLE = Path(__file__).parents[2] / "examples" / "rephrasing"
SURFACE = ("bleu-nltk:smooth=method1", "chrf-nltk", "nist")


def study(*names: str, langs: list[str] | None = None, **settings: object) -> RephrasingStudy:
    sets = read_paraphrase_sets(EXAMPLE, langs)
    return RephrasingStudy(
        [pairs_of(lang, own) for lang, own in sets.items()],
        [with_words(MeasureSpec.parse(name)) for name in names or SURFACE],
        SharedModels(ModelSettings(cache=False)),
        Runner(**settings),  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def results() -> Results:
    return study().run()


@pytest.fixture(scope="module")
def families(results: Results) -> Families:
    return Families({language.lang: family_of(language.lang) for language in results.languages})


def test_a_language_has_the_mean_over_its_pairs_in_both_orders(results: Results) -> None:
    pairs = pairs_of("fin", read_paraphrase_sets(EXAMPLE, ["fi"])["fin"]).pairs
    both = [*pairs, *((b, a) for a, b in pairs)]
    for measure, settings in (("chrf-nltk", {}), ("nist", {"tokenize": "split"})):
        scores = tertium.load(measure, **settings)([a for a, _ in both], [b for _, b in both])  # type: ignore[arg-type]
        name = next(name for name in results.measures if name.startswith(measure))
        assert results.means["fin", name] == pytest.approx(sum(scores) / len(both))


def test_a_family_has_the_mean_over_its_languages(results: Results, families: Families) -> None:
    found = results.family_means(families.of)["Uralic", "chrf-nltk"]
    means = [results.means[lang, "chrf-nltk"] for lang in ("fin", "hun")]
    assert found == pytest.approx(sum(means) / 2)


def test_several_processes_give_the_same(results: Results) -> None:
    again = study(processes=2).run()
    assert again.means == results.means
    assert list(again.means) == list(results.means)
    assert again.signatures == results.signatures


def test_what_is_done_is_not_done_again(results: Results, tmp_path: Path) -> None:
    cells = CellFolder(tmp_path)
    study("chrf-nltk", langs=["deu", "fra"], cells=cells).run()
    more = study(cells=cells)
    seen: list[int] = []
    more.runner.advance = seen.append
    assert more.run().means == results.means
    assert more.runner.reused == 2
    assert seen[-1] == more.size
    all_done = study(cells=cells)
    all_done.run()
    assert all_done.runner.reused == 4 * len(results.languages)  # NIST twice


def test_languages_that_a_model_does_not_have_are_listed() -> None:
    found = study("chrf-nltk", "direct", "bertscore", langs=["deu", "fin", "jpn"]).run()
    for measure in ("direct", "bertscore"):
        assert ("deu", measure) in found.means
        assert {lang for lang, name in found.left_out if name == measure} == {"fin", "jpn"}
    table = left_out_table(found)
    assert table is not None
    assert [str(cell) for cell in table.rows[0][:3]] == ["direct", "2", "fin jpn"]
    assert "the model does not support" in str(table.rows[0][3])


def test_a_draw_is_seeded_and_told() -> None:
    sets = [ParaphraseSet(str(n), "eng", ("a", "b", "c", f"d{n}")) for n in range(20)]
    drawn = pairs_of("eng", sets, count=30, seed=1)
    assert (drawn.sets, drawn.of, len(drawn.pairs)) == (20, 120, 30)
    assert drawn == pairs_of("eng", sets, count=30, seed=1)
    assert drawn.pairs != pairs_of("eng", sets, count=30, seed=2).pairs
    assert drawn.pairs != pairs_of("deu", sets, count=30, seed=1).pairs
    everything = pairs_of("eng", sets, count=1000).pairs
    assert everything == pairs_of("eng", sets).pairs
    places = iter(everything)
    assert all(pair in places for pair in drawn.pairs)  # the order is kept


def test_tapaco(tmp_path: Path) -> None:
    (tmp_path / "README.txt").write_text("TaPaCo\n", "utf-8")
    (tmp_path / "toki.txt").write_text("1\t10\ttoki!\n1\t11\to toki!\n2\t12\tpona\n", "utf-8")
    (tmp_path / "de.txt").write_text("1\t1\tHallo!\n1\t2\tGrüß dich!\n", "utf-8")
    found = read_paraphrase_sets(tmp_path)
    assert list(found) == ["de", "toki"]
    assert found["toki"][0].sentences == ("toki!", "o toki!")
    assert list(read_paraphrase_sets(tmp_path, ["deu"])) == ["de"]
    assert paper.paper_family("tok") == "Constructed"


def test_data_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_paraphrase_sets(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no sets"):
        read_paraphrase_sets(tmp_path)
    with pytest.raises(InputError, match="has no vie"):
        read_paraphrase_sets(EXAMPLE, ["vie"])


def test_the_paper_has_72_languages_42_of_them_indo_european() -> None:
    codes = [code for own in paper.FAMILIES.values() for code in own]
    assert len(codes) == len(set(codes)) == 72
    assert len(paper.FAMILIES["Indo-European"]) == 42
    for title in paper.AVERAGES:
        assert set(paper.AVERAGES[title]) <= set(paper.FAMILIES)
        assert set(paper.CORRELATIONS[title]) == set(paper.FEATURES)


def test_tables(results: Results, families: Families) -> None:
    languages = language_table(results, families)
    assert str(languages.rows[0][0]) == "eng English"
    assert "nist:tokenize=split split" in languages.note
    assert [str(cell) for cell in family_table(results, families).rows[0][:2]] == [
        "Indo-European",
        "6",
    ]
    beside = paper_table(results)
    assert beside is not None
    turkic = next(row for row in beside.rows if str(row[0]) == "Turkic")
    assert [str(cell) for cell in turkic[1:4]] == ["6", "1", "0.228"]
    assert left_out_table(results) is None


def links(results: Results, families: Families) -> list[Link]:
    langs = [language.lang for language in results.languages]
    found = []
    for name in ("syntax_average", "geo"):
        axis = feature_axis(name, langs)
        for measure in results.measures:
            means = {lang: mean for (lang, own), mean in results.means.items() if own == measure}
            link = correlate(measure, means, axis, families.of, samples=200)
            assert link is not None
            found.append(link)
    return found


def test_correlations(results: Results, families: Families) -> None:
    found = links(results, families)
    table = correlation_table(found, ["syntax_average", "geo"])
    assert [str(row[0]) for row in table.rows][:3] == [
        str(results.measures[0]),
        "  given words per sentence",
        "  paper: BLEU",
    ]
    assert str(table.rows[2][1]) == "-0.182"
    evidence = evidence_table(found)
    assert len(evidence.rows) == len(found)
    for link in found:
        assert set(link.without) <= set(families.of.values())
        assert link.found.items <= 16  # Toki Pona is not in URIEL


def test_what_follows_from_sentence_length_vanishes_given_it() -> None:
    """The means are the number of words and a little noise; so is, in part, the axis."""
    langs = ["deu", "eng", "fra", "jpn", "kor", "tur", "fin", "hun", "spa", "ita", "swe", "rus"]
    families = {lang: family_of(lang) for lang in langs}
    axis = feature_axis("syntax_average", langs)
    noise = np.random.default_rng(3)
    words = {lang: 10 + value + 0.1 * noise.normal() for lang, value in axis.scores.items()}
    means = {lang: length / 20 + 0.01 * noise.normal() for lang, length in words.items()}
    found = correlate("nist", means, axis, families, words, samples=500)
    assert found is not None
    assert found.controlled is not None
    assert found.found.r > 0.9
    assert found.found.permutation_p < 0.01
    assert abs(found.controlled.r) < 0.5
    assert found.controlled.permutation_p > 0.05
    table = correlation_table([found], ["syntax_average"])
    shown = [str(row[0]) for row in table.rows]
    assert shown == ["nist", "  given words per sentence", "  paper: NIST"]
    assert [row[1].bold for row in table.rows] == [True, False, False]
    assert "1 is significant after correction" in findings([found])[0]
    given = controlled_table([found])
    assert given is not None
    assert str(given.rows[0][3]) == f"{found.words:+.3f}"
    assert controlled_table([replace(found, controlled=None)]) is None


def test_many_tests_are_corrected() -> None:
    """0.02 alone is significant; of four tests, it is not (0.08)."""
    langs = ["deu", "eng", "fra", "jpn", "kor", "tur", "fin"]
    axis = feature_axis("geo", langs)
    link = correlate("m", axis.scores, axis, {lang: family_of(lang) for lang in langs}, samples=9)
    assert link is not None
    many = [
        replace(link, measure=name, found=replace(link.found, permutation_p=0.02))
        for name in ("bleu", "chrf", "nist", "ter")
    ]
    assert correlation_table(many[:1], ["geo"]).rows[0][1].bold
    assert not correlation_table(many, ["geo"]).rows[0][1].bold
    header = list(evidence_table(many).header)
    assert str(evidence_table(many).rows[0][header.index("p (Holm)")]) == "0.080"


def test_words_of_a_language_count_each_sentence_once() -> None:
    pairs = [("one two", "one two three four"), ("one two", "one two three")]
    assert LanguagePairs("eng", 1, 2, pairs).words == 3
    assert np.isnan(LanguagePairs("eng", 0, 0, []).words)


def test_axes_count_what_is_missing() -> None:
    langs = ["deu", "eng", "fra", "tur", "jpn", "tok", "gos"]
    syntax = feature_axis("syntax_average", langs)
    assert (syntax.absent, syntax.sparse) == (("tok",), ("gos",))
    assert 0 < syntax.missing < 0.2
    assert sum(syntax.scores.values()) == pytest.approx(0)
    table = axis_table([syntax])
    assert [str(cell) for cell in table.rows[0][5:]] == ["1", "1"]
    assert (
        "syntax_average, not in URIEL: tok.\nsyntax_average, too little known: gos." in table.note
    )
    strict = feature_axis("syntax_average", langs, known=0.95)
    assert set(strict.scores) < set(syntax.scores) or not strict.scores


def test_too_few_languages_have_no_correlation() -> None:
    axis = feature_axis("geo", ["deu", "eng"])
    assert axis.scores == {}
    assert correlate("chrf", {"deu": 1.0, "eng": 2.0}, axis, {}) is None
    wide = feature_axis("geo", ["deu", "eng", "tur", "jpn", "fin"])
    families = dict.fromkeys(wide.scores, "one")
    assert correlate("chrf", dict.fromkeys(wide.scores, 0.5), wide, families) is None


def test_a_measure_that_is_0_without_the_largest_family_still_has_a_correlation() -> None:
    langs = ["deu", "eng", "fra", "jpn", "kor", "tur", "fin"]
    axis = feature_axis("geo", langs)
    means = {lang: float(place) if place < 3 else 0.0 for place, lang in enumerate(langs)}
    found = correlate("bleu", means, axis, {lang: family_of(lang) for lang in langs}, samples=50)
    assert found is not None
    assert str(evidence_table([found]).rows[0][-1]) == ""


def test_short_sentences_are_scored_or_0_or_left_out() -> None:
    """NIST of a text with itself is log2 of its words: 5 words alone are long enough for nltk.

    The second pair: "a b c d" and "a b c d e" have 4 and 5 words.
    """
    five = ("a b c d e", "a b c d e")
    mixed = ("a b c d", "a b c d e")
    short = ("x y", "x y")
    languages = [
        LanguagePairs("deu", 3, 3, [five, mixed, short]),
        LanguagePairs("kor", 1, 1, [short]),
    ]
    found = RephrasingStudy(languages, [with_words(MeasureSpec.parse("nist"))]).run()
    assert list(found.measures) == ["nist:tokenize=split"]
    long = tertium.score(mixed[1], mixed[0], measure="nist", tokenize="split")
    of = found.short["deu", "nist:tokenize=split"]
    total = 2 * math.log2(5) + long  # of the three hypotheses with five words
    assert of.share == pytest.approx(3 / 6)
    assert of.as_zero == pytest.approx(total / 6)
    assert of.left_out == pytest.approx(total / 3)
    none = found.short["kor", "nist:tokenize=split"]
    assert (none.share, none.as_zero) == (1, 0)
    assert math.isnan(none.left_out)
    table = short_table(found)
    assert table is not None
    [german, korean, distance] = table.rows
    assert [str(cell) for cell in german[:3]] == ["Indo-European", "nist:tokenize=split", "0.801"]
    values = [float(str(cell)) for cell in german[3:6]]
    assert values[1:] == pytest.approx([total / 6, total / 3], abs=6e-4)
    scaled = [float(str(cell)) for cell in german[6:9]]
    assert scaled == pytest.approx([value / 1.9 for value in values], abs=6e-4)
    assert (str(korean[5]), str(korean[-1])) == ("", "100.0")
    assert str(distance[4]) == ""  # 0 has no logarithm


def test_means_have_intervals_over_sets() -> None:
    """Of two sets, a sample has both (half of all samples), or one of them twice.

    The sets have means 0 and 1 and 3 and 1 pairs: the means of samples are 0, 1/4 and 1.
    """
    pairs = [("a", "b")] * 4
    language = LanguagePairs("eng", 2, 4, pairs, [0, 0, 0, 1])
    found = language.interval([0.0, 0.0, 0.0, 1.0], samples=1000, seed=0)
    assert found is not None
    assert (found.low, found.high) == (0.0, 1.0)
    alone = LanguagePairs("eng", 1, 4, pairs, [0, 0, 0, 0])
    assert alone.interval([0.0, 0.0, 0.0, 1.0], samples=10, seed=0) is None
    drawn = pairs_of("eng", [ParaphraseSet("1", "eng", ("a", "b", "c"))] * 2, count=4, seed=1)
    assert len(drawn.members) == 4
    assert set(drawn.members) == {0, 1}


def test_the_page_begins_with_what_was_done(results: Results, families: Families) -> None:
    report = rephrasing_report(results, families)
    pairs = sum(len(language.pairs) for language in results.languages)
    assert report.lead.startswith(f"{pairs} pairs of sentences with the same meaning in ")
    assert "intervals" in report.details


def test_intervals_are_of_all_means(results: Results) -> None:
    several = {each.lang for each in results.languages if each.sets > 1}
    assert {lang for lang, _ in results.intervals} == several
    table = interval_table(results)
    assert len(table.rows) == len(results.languages) * len(results.measures)
    for key, limits in results.intervals.items():
        assert limits.low <= results.means[key] <= limits.high


def test_the_ends_of_a_component_have_names() -> None:
    """German and English put objects after the verb, Japanese, Turkish and Korean before it."""
    axis = feature_axis("syntax_average", ["deu", "eng", "fra", "jpn", "tur", "kor"])
    weights = dict(axis.loadings)
    assert len(weights) == axis.features
    assert sum(weight**2 for weight in weights.values()) == pytest.approx(1)
    assert weights["SVO"] * weights["SOV"] < 0
    assert (weights["SOV"] > 0) == (axis.scores["jpn"] > axis.scores["eng"])
    ends = {str(row[1]): row for row in loading_table([axis]).rows}
    verb_last, verb_first = ("+", "-") if weights["SOV"] > 0 else ("-", "+")
    assert set(str(ends[verb_last][3]).split()[:3]) == {"jpn", "tur", "kor"}
    assert set(str(ends[verb_first][3]).split()[:3]) == {"deu", "eng", "fra"}


def test_words_are_settled() -> None:
    found = [
        str(with_words(MeasureSpec.parse(name), "segment"))
        for name in ("nist", "bleu-nltk", "bleu", "chrf", "nist:tokenize=13a")
    ]
    assert found == [
        "nist:tokenize=segment",
        "bleu-nltk:tokenize=segment",
        "bleu",
        "chrf",
        "nist:tokenize=13a",
    ]


def test_another_encoder_for_sentences() -> None:
    """As in ``-m sentsim:sentence_encoder=X``."""
    spec = "sentsim:sentence_encoder=tertium-mini-encoder"
    found = study(spec, "sentsim", langs=["deu", "eng"]).run()
    for lang in ("deu", "eng"):
        assert found.means[lang, spec] == pytest.approx(found.means[lang, "sentsim"])
