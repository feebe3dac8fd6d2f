"""What the commands do, from Python: in one call, with typed results."""

from __future__ import annotations

from pathlib import Path

import pytest

import tertium
from tertium.errors import InputError, LanguageError, SettingError

HYPOTHESES = ["a dog", "the cat sat"]
REFERENCES = ["a dog", "the cat sits"]
GERMAN = ["Ich habe eine Katze.", "Der Zug ist heute wieder verspätet."]
ENGLISH = ["I have a cat.", "The train is late again today."]


def test_a_list_gives_scores_with_everything_about_them() -> None:
    scores = tertium.score(HYPOTHESES, REFERENCES, measure="chrf")
    assert isinstance(scores, tertium.Scores)
    assert scores.system == tertium.load("chrf").score(HYPOTHESES, REFERENCES).system
    assert str(scores.signature).startswith("measure:chrf|")
    assert scores.marks == [(), ()]
    assert len(scores) == 2
    assert scores[0] == 100
    assert scores == list(scores)
    assert scores != [0.0, 0.0]
    assert max(scores) == sorted(scores)[-1]
    assert isinstance(tertium.score("a dog", "a dog", measure="chrf"), float)
    assert list(tertium.score([], [], measure="chrf")) == []


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: tertium.score(["a"], ["a"], measures="chrf"), "measure"),
        (lambda: tertium.score(["a"], ["a"], measure="chrf", beam_sizes=1), "beta|char_order"),
        (lambda: tertium.score(["a"], ["a"], measure="chrf:word_ordr=2"), "word_order"),
        (lambda: tertium.load("cross", beam_sise=1), "beam_size"),
        (lambda: tertium.score(["a"], ["a"], measure="chrff"), "chrf"),
    ],
)
def test_near_misses_are_understood(call: object, meant: str) -> None:
    with pytest.raises(SettingError, match=meant):
        call()  # type: ignore[operator]


def test_progress_can_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    tertium.score(["Hello there."], ["Hello."], measure="cross", progress=True)
    assert "scoring" in capsys.readouterr().err
    told: list[str] = []
    model = tertium.load_model("tertium-mini", cache=False)
    tertium.score(
        ["Hello here."],
        ["Hello."],
        measure="cross",
        model=model,
        progress=lambda what, done, count: told.append(f"{what} {done}/{count}"),
    )
    assert told


def test_streams_of_references_are_refused_with_the_cure() -> None:
    texts = ["The dog barks.", "The cat sat on the mat."]
    streams = [texts, ["A hound is loud.", "Some feline was sitting there."]]
    with pytest.raises(InputError, match=r"transposed: .* zip\(\*references\)"):
        tertium.score(texts, streams, measure="bleu")
    turned = [list(each) for each in zip(*streams, strict=True)]
    assert tertium.score(texts, turned, measure="chrf").system == 100


def test_names_of_files_are_no_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("hyp.txt", "ref"):
        (tmp_path / name).write_text("A text.\n")
        with pytest.raises(InputError, match="is a file, and texts are scored"):
            tertium.score(name, "A text.", measure="chrf")


def test_mining_from_python() -> None:
    pairs = tertium.mine(
        iter(GERMAN), ENGLISH[::-1], source_lang="de", target_lang="en", measure="chrf"
    )
    assert {(each.source_line, each.target_line) for each in pairs} == {(1, 2), (2, 1)}
    assert all(each.rescored is not None for each in pairs)
    pandas = pytest.importorskip("pandas")
    frame = pairs.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["source"]) == [each.source for each in pairs]


def test_alignment_from_python() -> None:
    units = tertium.align(
        "Guten Morgen. Es regnet heute, und wir bleiben zu Hause.",
        ["Good morning.", "", "It is raining today.", "We are staying at home."],
        source_lang="de",
        target_lang="en",
    )
    assert [(unit.source_places, unit.target_places) for unit in units] == [
        ((0,), (0,)),
        ((1,), (2, 3)),
    ]
    pytest.importorskip("pandas")
    assert list(units.to_pandas().columns) == [
        *("source", "target", "source_places", "target_places", "cost")
    ]


def test_filters_take_columns_and_give_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"de": ["Hallo.", "Ja"], "en": ["Hello.", ""]})
    found = tertium.filter_pairs(
        frame["de"], frame["en"], source_lang="de", target_lang="en", filters=["length"]
    )
    assert found.kept == [0]
    table = found.to_pandas()
    assert list(table["kept"]) == [True, False]
    assert table["reason"][1] == "target too short"


def test_explanations_of_lists() -> None:
    texts = (text for text in ["I have 3 dogs.", "I have a dog."])
    found = tertium.explain(texts, ["I have 2 dogs.", "I have a dog."], methods="flags", lang="en")
    assert [bool(each.flags) for each in found] == [True, False]
    with pytest.raises(InputError, match="same length"):
        tertium.explain(["a"], ["a", "b"], methods="flags")


def test_languages_are_identified_for_explanations() -> None:
    why = tertium.explain("The meeting is on Monday.", "Die Sitzung ist am Dienstag.")
    assert [each.target.lang for each in why.directions] == ["en", "de"]
    with pytest.raises(LanguageError, match="perhaps"):
        tertium.explain("Ok.", "Taxi.")
    texts = ["The meeting is on Monday."], ["Die Sitzung ist am Dienstag."]
    [pair] = tertium.explain(*texts, methods="coverage")
    assert (pair.a.lang, pair.b.lang) == ("en", "de")
    [pair] = tertium.explain(*texts, methods="flags")  # which need no language
    assert (pair.a.lang, pair.b.lang) == (None, None)


def test_documents_are_scored_in_parts() -> None:
    document = ["It rains today.", "We stay at home."]
    scores = tertium.score_documents([document], ["\n".join(document)], lang="en")
    assert scores == [1.0]
    assert "long:always" in str(scores.signature)
    assert len(scores.parts[0]) == 2
