"""SentSim and other sums, by hand."""

from __future__ import annotations

import math

import pytest

import tertium
from tertium.errors import InputError, SettingError
from tertium.measures import compound
from tertium.measures.base import ModelKind
from tertium.measures.compound import Compound, to_unit_range
from tertium.measures.loading import WHOLE, MeasureSpec, load, make_measure, outline
from tertium.text import Text

from ..fakes import FakeEncoder, FakeModel

# Cosines with a: b 0.6, c 0. Distances from a: b sqrt(0.8), c sqrt(2).
VECTORS = {"a": (1.0, 0.0), "b": (0.6, 0.8), "c": (0.0, 1.0), "<s>": (-1.0, -1.0)}
HYPOTHESES, REFERENCES = ["a", "b", "c"], ["a", "a", "a"]


@pytest.fixture
def encoder() -> FakeEncoder:
    return FakeEncoder(VECTORS)


def test_fixed_scale(encoder: FakeEncoder) -> None:
    """Equation 7: half exp(cosine), half exp(1 / (1 + distance))."""
    found = load("sss+wmd", encoder=encoder, scale="fixed")(HYPOTHESES, REFERENCES)
    wanted = [
        0.5 * math.exp(cosine) + 0.5 * math.exp(1 / (1 + distance))
        for cosine, distance in ((1, 0), (0.6, math.sqrt(0.8)), (0, math.sqrt(2)))
    ]
    assert found == pytest.approx(wanted)


def test_unrelated_sentences_count_as_nothing(
    encoder: FakeEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand: of the unrelated pairs a-b, b-c and c-a, the cosines are 0.6, 0.8 and 0, and the
    distances sqrt(0.8), sqrt(0.4) and sqrt(2); their means count as 0, and equal texts as 1.
    """
    pairs = [(Text(a, "en"), Text(b, "en")) for a, b in ("ab", "bc", "ca")]
    monkeypatch.setattr(compound, "unrelated_pairs", lambda: (pairs, "123456"))
    measure = load("sss+wmd", encoder=encoder)
    cosine = (0.6 + 0.8 + 0) / 3
    distance = (math.sqrt(0.8) + math.sqrt(0.4) + math.sqrt(2)) / 3
    b = math.exp((0.6 - cosine) / (1 - cosine)) + math.exp((distance - math.sqrt(0.8)) / distance)
    scores = measure.score(HYPOTHESES, REFERENCES)
    assert scores.segments == pytest.approx([math.e, b / 2, 1.0])  # c is farther than unrelated
    assert "scale:unrelated-123456" in str(scores.signature)
    assert not measure.needs_all_rows
    assert measure("b", "a") == pytest.approx(b / 2)


def test_the_unrelated_sentences() -> None:
    """Forty, each with the next three; other numbers would be another scale."""
    pairs, digest = compound.unrelated_pairs()
    assert (len(pairs), digest) == (120, "4728fb")
    assert not any(set(a.text.split()) == set(b.text.split()) for a, b in pairs)


def test_an_encoder_to_which_all_texts_are_alike() -> None:
    blind = FakeEncoder({"<s>": (1.0, 0.0)})
    with pytest.raises(SettingError, match="unrelated sentences are as similar as equal ones"):
        load("sss+smd", encoder=blind)("a", "b")


def test_corpus_scale_is_the_papers(encoder: FakeEncoder) -> None:
    """A and B are min-max scaled over the three rows, and B, a distance, gives exp(1 - B)."""
    measure = load("sss+wmd", encoder=encoder, scale="corpus")
    B = math.sqrt(0.8) / math.sqrt(2)  # (sqrt(0.8) - 0) / (sqrt(2) - 0)
    A = 0.6  # (0.6 - 0) / (1 - 0)
    wanted = [math.e, 0.5 * math.exp(A) + 0.5 * math.exp(1 - B), 1.0]
    scores = measure.score(HYPOTHESES, REFERENCES)
    assert scores.segments == pytest.approx(wanted)
    assert "scale:corpus" in str(scores.signature)
    assert measure.needs_all_rows
    assert measure(HYPOTHESES[:2], REFERENCES[:2]) != pytest.approx(wanted[:2])


def test_fixed_scale_does_not_depend_on_neighbours(encoder: FakeEncoder) -> None:
    measure = load("sentsim", encoder=encoder, scale="fixed")
    assert not measure.needs_all_rows
    assert measure(HYPOTHESES, REFERENCES)[1:2] == measure(HYPOTHESES[1:2], REFERENCES[1:2])


def test_sentsim_is_sss_and_bertscore(encoder: FakeEncoder) -> None:
    sentsim, spelt = (
        load(name, encoder=encoder, scale="fixed") for name in ("sentsim", "sss+bertscore")
    )
    assert sentsim(HYPOTHESES, REFERENCES) == spelt(HYPOTHESES, REFERENCES)
    assert (sentsim.name, spelt.name) == ("sentsim", "sss+bertscore")


def test_weights(encoder: FakeEncoder) -> None:
    measure = load("sss+smd", encoder=encoder, weights=(3, 1), scale="fixed")
    assert measure("c", "a") == pytest.approx(
        0.75 * math.exp(0) + 0.25 * math.exp(1 / (1 + math.sqrt(2)))
    )


def test_signature_has_both_parts(encoder: FakeEncoder) -> None:
    measure = load("sss+wmd", encoder=encoder, scale="fixed")
    signature = str(measure.score(["a"], ["b"]).signature)
    for field in (
        "measure:sss+wmd",
        "weights:0.5,0.5",
        "scale:fixed",
        "sss.model:fake",
        "wmd.mass",
    ):
        assert field in signature


def test_settings_go_to_the_parts_that_have_them(encoder: FakeEncoder) -> None:
    measure = load("sss+wmd", encoder=encoder, distance="cosine", references="mean")
    assert isinstance(measure, Compound)
    sss, wmd = measure.parts
    assert (wmd.distance, wmd.references, sss.references) == ("cosine", "mean", "mean")  # type: ignore[attr-defined]
    with pytest.raises(SettingError, match="sss\\+wmd has no setting 'part'"):
        load("sss+wmd", encoder=encoder, part="R")


def test_an_encoder_for_the_sentences(encoder: FakeEncoder) -> None:
    other = FakeEncoder(VECTORS, name="other")
    measure = load("sentsim", encoder=encoder, sentence_encoder=other, scale="fixed")
    signature = str(measure.score(["a"], ["b"]).signature)
    assert "sss.model:other" in signature
    assert "bertscore.model:fake" in signature


def test_any_measures_can_be_summed(encoder: FakeEncoder) -> None:
    """chrF of equal texts is 100 of 100, cross is 1 of 1."""
    measure = load("cross+sss+chrf", model=FakeModel(), encoder=encoder, scale="fixed")
    assert measure("a", "a", lang="en") == pytest.approx(math.e)


def test_prism_is_a_distance_below_zero() -> None:
    measure = load("prism-ref+chrf", model=FakeModel({("a", "a"): (-1.0,)}))
    assert measure("a", "a", lang="en") == pytest.approx((math.exp(0.5) + math.e) / 2)


@pytest.mark.parametrize("rows", [1, 3])
def test_equal_scores_over_the_corpus(encoder: FakeEncoder, rows: int) -> None:
    """The paper's code would divide 0 by 0; a perfect score for all of them would be wrong."""
    measure = load("sss+smd", encoder=encoder, scale="corpus")
    with pytest.raises(InputError, match=r"scale=corpus: sss gives .* score more rows together"):
        measure(["b"] * rows, ["a"] * rows)


def test_the_layer_of_a_sum_is_that_of_its_token_measures() -> None:
    """Sentence vectors come from the encoder as it is; each part may have settings of its own."""
    asked = []

    def source(kind: ModelKind, name: str | None, layer: int | None) -> FakeEncoder:
        asked.append((kind, layer))
        return FakeEncoder(VECTORS)

    for spec in ("sss+wmd", "sss+wmd:layer=2", "sss+wmd:wmd.layer=4,sss.layer=1", "sss:layer=3"):
        make_measure(MeasureSpec.parse(spec), source)
    assert asked == [
        *(("sentences", WHOLE), ("tokens", None)),
        *(("sentences", WHOLE), ("tokens", 2)),
        *(("sentences", 1), ("tokens", 4)),
        ("sentences", 3),
    ]
    measure = load("sss+wmd:wmd.references=mean", encoder=FakeEncoder(VECTORS))
    assert [part.references for part in measure.parts] == ["max", "mean"]  # type: ignore[attr-defined]
    reads = outline(MeasureSpec.parse("sss+wmd:wmd.against=source")).reads
    assert set(reads) == {"reference", "source"}
    with pytest.raises(SettingError, match=r"'wmd\.part'.* its settings are wmd\.against"):
        MeasureSpec.parse("sss+wmd:wmd.part=R")


@pytest.mark.parametrize(
    ("measure", "settings", "message"),
    [
        ("sss+sss", {}, "may occur only once"),
        ("sss+wmd", {"weights": (1,)}, "there must be 2"),
        ("sss+wmd", {"weights": (1, -1)}, "greater than 0"),
        ("sss+wmd", {"scale": "local"}, "scale="),
        ("sss+wdm", {}, "did you mean 'wmd'"),
        ("sss+", {}, "no measure ''"),
    ],
)
def test_mistakes(
    encoder: FakeEncoder, measure: str, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(SettingError, match=message):
        load(measure, encoder=encoder, **settings)  # type: ignore[arg-type]


def test_without_an_upper_bound_there_is_no_sum() -> None:
    with pytest.raises(SettingError, match="upper bound"):
        to_unit_range([1.0], (0.0, math.inf))


def test_surface_measures_take_no_encoder(encoder: FakeEncoder) -> None:
    with pytest.raises(SettingError, match="takes no model"):
        tertium.load("bleu+chrf", encoder=encoder)
