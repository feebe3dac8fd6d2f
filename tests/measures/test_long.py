"""Texts of any length: split, aligned, scored in parts, and put together."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tertium
from tertium.errors import CutWarning, ModelError, SettingError
from tertium.measures.base import Measure
from tertium.measures.references import split_pairs, weigh_parts
from tertium.measures.scores import Scores
from tertium.measures.translation import Direct, PrismRef, PrismSrc
from tertium.models.base import make_queries
from tertium.models.cached import CachedModel
from tertium.text import Text
from tests.fakes import WORDS, FakeEncoder, FakeModel, LimitedFake


class LimitedEncoder(FakeEncoder):
    def too_long(self, texts: Sequence[str]) -> list[bool]:
        return [len(text.split()) > WORDS for text in texts]


LONG = "A b! C d! E f! G h!"
SHORTER = "A b! C d! G h!"


def test_split_and_aligned() -> None:
    pairs = [(Text(LONG, "en"), Text(SHORTER, "de")), (Text("A", "en"), Text("B", "de"))]
    parts = split_pairs(Direct(LimitedFake()), pairs)
    assert [(a.text, b.text) for a, b in parts[0]] == [
        ("A b!", "A b!"),
        ("C d!", "C d!"),
        ("E f!", ""),
        ("G h!", "G h!"),
    ]
    assert {(a.lang, b.lang) for a, b in parts[0]} == {("en", "de")}
    assert parts[1] == [pairs[1]]
    assert split_pairs(Direct(LimitedFake(), long="cut"), pairs) == [[pair] for pair in pairs]


SCORES = {
    ("A b!", "A b!"): (-1.0, -2.0),
    ("C d!", "C d!"): (-0.5, -0.5),
    ("G h!", "G h!"): (-1.0, -1.0),
}


def test_log_probabilities_by_hand() -> None:
    """H is -1.5, -0.5 and -1; the hypothesis has 8 tokens, the source 6, every sentence 2.

    A part with both sides has the weight 2/8 + 2/6 = 7/12, the sentence without counterpart 2/8 =
    3/12; the sum is 2. Its score is H(E f!|) = -3, and the whole (7/12 * -3 + 3/12 * -3) / 2.
    """
    model = LimitedFake({**SCORES, ("E f!", ""): (-3.0, -3.0)})
    scores = PrismSrc(model).score([LONG, "A"], [SHORTER, "B"], lang="en")
    assert scores.segments == pytest.approx([(7 / 12 * -3 + 3 / 12 * -3) / 2, -1.0])
    assert scores.cut == [False, False]
    assert scores.marks == [("split",), ()]
    assert [part.score for part in scores.parts[0]] == pytest.approx([-1.5, -0.5, -3, -1])
    assert scores.parts[1] == ()
    assert "|long:split|" in scores.signature.long
    # with G, the sum of all log-probabilities: -3 - 1 - 6 - 2
    assert PrismSrc(model, aggregate="G")(LONG, SHORTER, lang="en") == pytest.approx(-12)


def test_what_is_missing_is_never_better_than_the_worst_part() -> None:
    model = LimitedFake({**SCORES, ("E f!", ""): (-0.1, -0.1)})
    found = PrismSrc(model)(LONG, SHORTER, lang="en")
    assert found == pytest.approx((7 / 12 * -3 + 3 / 12 * -1.5) / 2)


def test_similarities_by_hand() -> None:
    """p(A b!|A b!) / p(A b!|A b!) = 1 for all parts, and 0 for the sentence without counterpart.

    By characters: 4/16 + 4/12 = 7/12 for each of the three, 3/12 for the fourth; (21/12) / 2.
    """
    for measure in (Direct(LimitedFake(SCORES)), Direct(LimitedFake(SCORES), empty="formula")):
        assert measure(LONG, SHORTER, lang="en") == pytest.approx(7 / 8)
    other = {**SCORES, ("C d!", "X d!"): (-0.5 - math.log(2),) * 2}
    measure = Direct(LimitedFake(other), both_directions=False)
    found = measure(LONG, SHORTER.replace("C", "X"), lang="en")
    assert found == pytest.approx((7 / 12 * 2.5) / 2)


def test_signature_and_numbers_of_texts_that_fit() -> None:
    """Nothing changes for them, next to a long text or not, except for settings that were given."""
    texts = ["A b! C d!", "E"], ["A c! C d!", "F"]
    for measure in (Direct, PrismRef, PrismSrc):
        plain = measure(FakeModel(SCORES)).score(*texts, lang="en")
        limited = measure(LimitedFake(SCORES)).score(*texts, lang="en")
        assert limited.segments == plain.segments
        assert limited.signature == plain.signature
        assert "long" not in plain.signature.long
        with_long = measure(LimitedFake(SCORES)).score(
            [*texts[0], LONG], [*texts[1], "A b!"], lang="en"
        )
        assert with_long.segments[:2] == plain.segments
    assert "|long:cut|" in Direct(FakeModel(), long="cut").score("a", "b", lang="en").signature.long


def test_cut() -> None:
    model = FakeModel()  # marks texts with "long" as cut, and cannot tell beforehand
    with pytest.warns(CutWarning):
        assert Direct(model).score("long a", "b", lang="en").marks == [("cut",)]
    assert Direct(CachedModel(model))("a", "b", lang="en") > 0
    with pytest.raises(ModelError, match="fake cannot align the sentences of long texts"):
        Direct(model, long="always")("a", "b", lang="en")
    with pytest.raises(SettingError, match="'split', 'cut', 'always'"):
        Direct(model, long="half")  # type: ignore[arg-type]


def test_always() -> None:
    measure = PrismSrc(LimitedFake(SCORES), long="always")
    scores = measure.score(["A b! C d!", "E"], ["A b! C d!", "E"], lang="en")
    assert [len(parts) for parts in scores.parts] == [2, 0]
    assert scores.segments == pytest.approx([-1.0, -1.0])  # (-1.5 - 0.5) / 2
    assert scores.signature.long.count("long:") == 1
    assert "|long:always|" in scores.signature.long


def test_empty_and_unrelated() -> None:
    model = LimitedFake()
    assert Direct(model)([LONG, "", LONG], ["", LONG, " \n "], lang="en") == [0, 0, 0]
    scores = PrismSrc(model).score([LONG], [""], lang="en")
    assert scores.marks == [("split", "empty")]
    assert scores.cut == [False]
    assert scores.segments == [-1.0]  # as the fake model answers everything


def test_long_sentences_are_halved() -> None:
    long = " ".join("abcdefghijklmnop")
    [parts] = split_pairs(Direct(LimitedFake()), [(Text(long), Text(long))])
    assert " ".join(a.text for a, _ in parts) == long
    assert all(a == b and len(a.text.split()) <= WORDS for a, b in parts)
    [parts] = split_pairs(Direct(LimitedFake()), [(Text("x" * 30), Text(long))])
    assert {b.text for _, b in parts} - {""}


def test_references() -> None:
    """The best reference counts; the parts shown are those of this reference."""
    measure = Direct(LimitedFake(SCORES))
    scores = measure.score([LONG], [["A b!", LONG]], lang="en")
    assert scores.best_reference == [1]
    assert scores.segments == [1.0]
    assert len(scores.parts[0]) == 4
    mean = Direct(LimitedFake(SCORES), references="mean").score([LONG], [["A b!", LONG]], lang="en")
    each = [measure(LONG, reference, lang="en") for reference in ("A b!", LONG)]
    assert mean.segments == [pytest.approx(sum(each) / 2)]


def test_every_query_once() -> None:
    model = LimitedFake(SCORES)
    PrismSrc(CachedModel(model))([LONG, LONG, SHORTER], [LONG, LONG, SHORTER], lang="en")
    assert len(model.asked) == len(set(model.asked))


@pytest.mark.parametrize("name", ["sss", "bertscore", "smd", "sss+bertscore:scale=fixed"])
def test_encoders(name: str) -> None:
    encoder = LimitedEncoder({f"{a}!": (float(n), 1.0) for n, a in enumerate("ABCDEFGH")})
    long = " ".join(encoder.vectors)
    measure = tertium.load(name, encoder=encoder)
    scores = measure.score([long, "A!"], [long, "B!"])
    assert scores.segments[0] == pytest.approx(measure("A!", "A!"))
    assert scores.marks == [("split",), ()]
    assert scores.segments[1] == measure("A!", "B!")
    assert "long:split" in scores.signature.long
    cut = tertium.load(name, encoder=encoder, long="cut")
    assert cut.score([long], [long]).marks == [()]  # the fake encoder cuts nothing


sentences = st.lists(st.sampled_from(["A b!", "C d!", "E f!", "G h!", "I j!"]), max_size=8)


@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_rows_are_independent(rows: list[tuple[list[str], list[str]]]) -> None:
    """In any order and any grouping, a row has the same score; and the weights sum to 2 or 1."""
    texts = [(" ".join(a), " ".join(b)) for a, b in rows]
    measure = Direct(LimitedFake(SCORES))
    together = score(measure, texts)
    alone = [score(measure, [pair]) for pair in texts]
    assert together.segments == [one.segments[0] for one in alone]
    assert score(measure, texts[::-1]).segments == together.segments[::-1]
    for (a, b), parts in zip(texts, together.parts, strict=True):
        if parts:
            assert sum(part.weight for part in parts) == pytest.approx(bool(a) + bool(b))
            assert "".join("".join(part.hypothesis for part in parts).split()) == a.replace(" ", "")


def score(measure: Measure, texts: Sequence[tuple[str, str]]) -> Scores:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measure.score([a for a, _ in texts], [b for _, b in texts], lang="en")


def test_weights_of_unequal_parts() -> None:
    parts = [(Text("aaa"), Text("b")), (Text("a"), Text("bbb")), (Text(""), Text("bbbb"))]
    found = weigh_parts(Direct(LimitedFake()), parts, [1.0, 0.5, 0.7])
    assert [part.weight for part in found] == [3 / 4 + 1 / 8, 1 / 4 + 3 / 8, 4 / 8]
    assert [part.score for part in found] == [1.0, 0.5, 0.0]


def test_the_bundled_model_reads_a_hundred_thousand_characters() -> None:
    some = [
        "The train is late.",
        "I have a cat and two dogs.",
        "Nobody knows where the key is.",
        "She has lived in this town for ten years.",
    ]
    text = " ".join(some * 850)
    assert len(text) > 100_000
    for measure in (tertium.load("direct"), tertium.load("sss", encoder="tertium-mini")):
        scores = measure.score([text, some[0]], [text, some[0]], lang="en")
        assert scores.marks == [("split",), ()]
        assert scores.segments == pytest.approx([1.0, 1.0])
        assert len(scores.parts[0]) == 4 * 850
    scores = tertium.load("sss").score([text, some[0]], [text, some[0]], lang="en")
    assert scores.marks == [(), ()], "a static encoder reads texts of any length"
    assert scores.segments == pytest.approx([1.0, 1.0])


def test_too_long_is_what_would_be_cut() -> None:
    """Of "no no no ...", one token per word, around the limit of the bundled model."""
    model, encoder = tertium.load_model(cache=False), tertium.load_encoder()
    texts = ["no " * count for count in range(509, 514)]
    scores = model.log_probs(make_queries(texts, texts, target_lang="en"))
    assert model.too_long(texts) == [each.cut for each in scores]
    assert set(model.too_long(texts)) == {False, True}
    assert encoder.too_long(texts) == list(encoder.sentence_vectors(texts).cut)  # type: ignore[attr-defined]
    assert model.token_counts(["no no", ""]) == [2, 0]
