"""Thresholds by false alarms and probabilities, by hand; numbers of real models are learned."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

import tertium
from tertium.errors import ModelError, SettingError
from tertium.explanation.counterparts import Counterpart
from tertium.explanation.coverage import (
    CoverageSettings,
    Factors,
    coverage_gains,
    least_covered,
    phrases,
)
from tertium.explanation.decisions import (
    FILE,
    LEVELS,
    Decisions,
    LearnedDecisions,
    decisions_for,
    learn_thresholds,
)
from tertium.explanation.review import PairReview, Reviewer, learned_for
from tertium.explanation.words import split_words
from tertium.text import Text

from ..fakes import FakeModel

A, B = Text("The shop opens.", "en"), Text("Der Laden öffnet.", "de")


def decisions(
    alarms: dict[str, dict[str, int]], errors: dict[str, dict[str, int]] | None = None
) -> Decisions:
    """Every score reaches as many levels as it is large, up to all."""
    thresholds = tuple(float(level) for level in range(1, len(LEVELS) + 1))
    return Decisions(
        kinds=("omission", "opposite"),
        methods=("coverage", "opposites"),
        thresholds={"omission": thresholds, "opposite": thresholds},
        alarms=alarms,
        errors=errors or {},
        weights={"omission": 2.0, "flags": 1.5},
        intercept=-1.0,
    )


def test_thresholds_hold_for_all_kinds_together_in_every_domain() -> None:
    """Wrong rows reach two levels; of 100 right rows of news, 4 reach three levels of omissions, 4
    others three levels of opposites, and none of speech does. Each kind alone is reported from the
    first level on, with 4 % false alarms. Together they would have 8 %: at 5 %, both begin at the
    fourth level, which no right row reaches, and one of them is lowered to the first."""
    alarms = {"news": {"300": 4, "030": 4, "000": 92}, "speech": {"000": 10}}
    found = decisions(alarms, {"omitted": {"200": 10}, "opposite": {"020": 5}})
    both = {"omission", "opposite"}
    assert found.chosen({"omission"}, False, 0.05) == {"omission": 1.0}
    assert found.chosen({"opposite"}, False, 0.03) == {"opposite": 4.0}
    assert found.chosen(both, False, 0.08) == {"omission": 1.0, "opposite": 1.0}
    assert found.chosen(both, False, 0.05) == {"omission": 1.0, "opposite": 4.0}
    # what finds no more wrong rows is not lowered
    clear = decisions(alarms, {"omitted": {"900": 1}, "opposite": {"0k0": 1}})
    assert clear.chosen(both, False, 0.05) == {"omission": 4.0, "opposite": 4.0}


def test_flags_leave_a_quarter_of_the_rate() -> None:
    """Flags report 6 % of the right rows; omissions may add a quarter of the rate, 2 % of 8 %."""
    alarms = {"news": {"001": 6, "200": 2, "000": 92}}
    found = decisions(alarms, {"omitted": {"200": 1}})
    assert found.chosen({"omission"}, True, 0.08) == {"omission": 1.0}
    assert found.chosen({"omission"}, True, 0.05) == {"omission": 3.0}
    assert found.chosen({"omission"}, False, 0.05) == {"omission": 1.0}


def test_probability_by_hand() -> None:
    """A score of 2 reaches two levels: ln(0.5 / 0.35) of evidence, twice that less 1 in odds."""
    found = decisions({})
    odds = -1 + 2 * math.log(LEVELS[0] / LEVELS[1])
    assert found.probability({"omission": 2.5}, False) == pytest.approx(1 / (1 + math.exp(-odds)))
    assert found.probability({}, False) == pytest.approx(1 / (1 + math.e))
    assert found.probability({}, True) == pytest.approx(1 / (1 + math.exp(-0.5)))
    assert found.pattern({"omission": 2.5, "opposite": 99.0}, True) == "2k1"


def test_learned_thresholds_are_reached_by_so_many() -> None:
    """Of 200 scores, at most 10 reach the threshold of 5 %, and 100 that of 50 %."""
    scores = [float(number % 50) for number in range(200)]
    [thresholds] = learn_thresholds({"x": scores}).values()
    for level, threshold in zip(LEVELS, thresholds, strict=True):
        assert sum(score >= threshold for score in scores) <= level * 200
    assert sum(score >= thresholds[0] for score in scores) == 100
    assert list(thresholds) == sorted(thresholds)


def test_a_file_counts_for_its_model(tmp_path: Path) -> None:
    model = FakeModel()
    learned = LearnedDecisions(
        *(model.fingerprint, "e" * 64, Factors(0.5, 0.003, 0.25, {"de": 0.1}), 6),
        {"translations": decisions({"news": {"000": 1}})},
        {},
    )
    file = tmp_path / FILE
    file.write_text(learned.text())
    found = decisions_for(model, file)
    assert found is not None
    assert found.text() == learned.text()
    assert decisions_for(model) is None  # a fake has no folder
    assert decisions_for(None, file) is None
    assert learned_for(model, file) == (None, None)  # learned with another encoder
    with pytest.raises(SettingError, match="learned for a model with the fingerprint ffff"):
        decisions_for(FakeModel(fingerprint="a" * 64), file)
    file.write_text("{}")
    with pytest.raises(ModelError, match="not readable as learned decisions"):
        decisions_for(model, file)
    file.write_text(json.dumps({"format": 99}))
    with pytest.raises(ModelError, match="the format 99, not 2"):
        decisions_for(model, file)


def test_a_file_is_read_once_until_it_is_written_again(tmp_path: Path) -> None:
    model, file = FakeModel(), tmp_path / FILE
    each = {"translations": decisions({"news": {"000": 1}})}
    learned = LearnedDecisions(model.fingerprint, "e" * 64, Factors(), 6, each, {})
    file.write_text(learned.text())
    found = decisions_for(model, file)
    assert decisions_for(model, file) is found
    file.write_text(replace(learned, tried=60).text())
    again = decisions_for(model, file)
    assert again is not None
    assert again.tried == 60


def test_learned_thresholds_are_used_and_replaced() -> None:
    """The opposite is 5 nats more probable. 6 % of right rows reach six levels: at 5 % false alarms
    nothing is reported, at 6 % everything from the first level on."""
    model = FakeModel(
        {(A.text, B.text): (-8.0,), ("The shop closes.", B.text): (-3.0,)},
    )
    each = decisions({"news": {"060": 6, "000": 94}}, {"opposite": {"050": 1}})
    learned = LearnedDecisions(*("", "", Factors(), 6), {"translations": each}, {})
    reviewer = Reviewer(("coverage", "opposites"), model, learned=learned)
    [review] = reviewer([(A, B)])
    assert review.error_free
    assert review.false_alarms == 0.05
    assert review.error_probability == pytest.approx(1 / (1 + math.e))
    assert review.score == pytest.approx(100 * math.e / (1 + math.e))
    [review] = replace(reviewer, false_alarms=0.06)([(A, B)])
    assert [span.text for span in review.spans] == ["opens"]
    [review] = replace(reviewer, thresholds={"opposite": 4.0})([(A, B)])
    assert [span.text for span in review.spans] == ["opens"]
    [review] = replace(reviewer, methods=("opposites",))([(A, B)])
    assert review.error_probability is None  # it was learned with coverage
    with pytest.raises(SettingError, match="coverage is not chosen"):
        replace(reviewer, methods=("opposites",)).check_decides()
    with pytest.raises(SettingError, match="none were for fake"):
        Reviewer(("opposites",), model).check_decides()
    with pytest.raises(SettingError, match="false alarms 5"):
        replace(reviewer, false_alarms=5)


def test_phrases_that_are_covered_are_not_tried() -> None:
    """*big* and *red* have no counterpart; phrases with both are the least covered ones."""
    text = "I see the big red dog here."
    words = [
        Counterpart(word, 0.0 if word.text in ("big", "red") else 1.0, 2.0)
        for word in split_words(text)
        if not word.is_punctuation
    ]
    tried = least_covered(list(phrases(text)), words, 2)
    assert [text[each.start : each.end] for each in tried] == ["the big red", "big red"]
    assert [(each.apart, each.weight) for each in tried] == [
        (pytest.approx(2 / 3), 4.0),
        (1.0, 4.0),
    ]
    assert tried[1].score(Factors(apart=0.5, weight=0.25)) == 0.5 * 1 + 0.25 * 4


def test_a_short_text_is_evidence_of_an_omission() -> None:
    """German is longer by a factor of e^0.1; half of the German text is missing: ln 2 of evidence,
    and as much against an addition."""
    factors = Factors(length=0.5, lengths={"de": 0.1, "en": 0.0})
    german = "Das Haus ist sehr schön."
    size = round(2 * len(german) / math.exp(0.1))
    english = "The house that we saw is nice".ljust(size, "!")
    pair = Text(german, "de"), Text(english, "en")
    settings = CoverageSettings(surprise=0.0, factors=factors)
    [gains] = coverage_gains([pair], FakeModel(), settings)
    for side, sign in (("b", 1), ("a", -1)):
        for phrase in gains[side][1]:
            assert phrase.shortness == pytest.approx(sign * math.log(2), abs=0.02)
            assert phrase.score(factors) == phrase.gain + 0.5 * phrase.shortness


def test_the_bundled_decisions_belong_to_the_bundled_model() -> None:
    """Learned numbers change with the model; what must hold is that they are found and agree."""
    model = tertium.load_model(cache=False)
    learned, aligner = learned_for(model)
    if learned is None:
        pytest.skip("nothing was learned for the bundled model (scripts/learn_decisions.py)")
    assert aligner is not None
    assert set(learned.decisions) == {"translations", "paraphrases"}
    for each in learned.decisions.values():
        for name, thresholds in each.thresholds.items():
            assert len(thresholds) == len(LEVELS), name
            assert list(thresholds) == sorted(thresholds)
        for counts in each.alarms.values():
            assert all(len(pattern) == len(each.kinds) + 1 for pattern in counts)
        assert all(weight >= 0 for weight in each.weights.values())
    [right, wrong] = tertium.explain(
        ["Ich habe eine Katze.", "Ich habe eine Katze."],
        ["I have a cat.", "We will meet at the station tomorrow morning."],
        lang="de",
        reference_lang="en",
    )
    assert isinstance(right, PairReview)
    assert right.error_probability is not None
    assert wrong.error_probability is not None
    assert right.error_probability < 0.5 < wrong.error_probability
    [opposed] = tertium.explain(
        ["The shop opens at nine."], ["The shop closes at nine."], lang="en"
    )
    assert [span.kind for span in opposed.spans] == ["opposite", "opposite"]
    assert opposed.error_probability is not None
    assert opposed.error_probability > 0.5
