from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tertium.errors import DataWarning, InputError, ModelError, SettingError
from tertium.training.model.bitext import (
    Pair,
    held_out,
    read_bitext,
    training_pairs,
)
from tertium.training.model.corpus import (
    Source,
    Stream,
    build_corpus,
    load_corpus,
    prepare_corpus,
    write_corpus,
)
from tertium.training.model.pivots import pivot_pairs, pivot_paraphrases
from tertium.training.model.plan import MIXTURES, Mixture, Plan
from tertium.training.model.tokenizer import (
    Tokenizer,
    prepare_tokenizer,
    train_tokenizer,
    vocabulary_sample,
    warn_of_rare_languages,
)

# zlib.crc32(b"Sentence 654.") == 2531946800 == 6329867 * 400
HELD_OUT = "Sentence 654."


@pytest.fixture
def tokenizer(toy_pairs: list[tuple[str, str]], tmp_path: Path) -> Tokenizer:
    sentences = [sentence for pair in toy_pairs for sentence in pair]
    (tmp_path / "spm.model").write_bytes(train_tokenizer(sentences, ["en", "de"], vocabulary=320))
    return Tokenizer(tmp_path / "spm.model", ["en", "de"])


def test_held_out_goes_by_the_checksum_of_the_sentence_as_it_stands_or_respaced() -> None:
    assert held_out(HELD_OUT)
    assert held_out("Sentence  \u00a0654.")
    assert not held_out("Sentence 655.")


def test_no_pair_with_a_held_out_side_is_trained_on(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(f"en\tde\n{HELD_OUT}\tEins\nTwo\tZwei\nThree\t{HELD_OUT}\n", encoding="utf-8")
    plan = Plan(("en", "de"), ((str(path), 1.0),))
    assert list(training_pairs(path, plan)) == [Pair("en", "de", "Two", "Zwei")]


def test_columns_may_be_named_by_language_or_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text('en\tnote\tde\nA "b"\tx\tC\n\ty\tD\n', encoding="utf-8")
    expected = [Pair("en", "de", 'A "b"', "C")]
    assert list(read_bitext(path, ["en", "de"])) == expected
    path.write_text('left\tnote\tright\nA "b"\tx\tC\n', encoding="utf-8")
    columns = {"left": "en", "right": "de"}
    assert list(read_bitext(path, ["en", "de"], columns=columns)) == expected
    with pytest.raises(InputError, match="map columns to languages"):
        list(read_bitext(path, ["en", "de"]))


def test_rows_may_say_their_languages(tmp_path: Path) -> None:
    path = tmp_path / "dev.tsv"
    path.write_text(
        "lang_a\tlang_b\tsentence_a\tsentence_b\nde\ten\tJa\tYes\nde\tru\tJa\tДа\n",
        encoding="utf-8",
    )
    assert list(read_bitext(path, ["en", "de"])) == [Pair("de", "en", "Ja", "Yes")]


def test_a_row_of_another_width_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("en\tde\nA\tB\nC\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3: 1 field,"):
        list(read_bitext(path, ["en", "de"]))


def test_paraphrases_are_bounded() -> None:
    many = [(sentence, 99) for sentence in range(9)]
    assert pivot_paraphrases(many, max_renderings=8) == []
    assert len(pivot_paraphrases(many, max_renderings=9)) == 9
    hub = [(sentence, pivot) for pivot in range(100, 105) for sentence in (0, pivot - 99)]
    assert [pair for pair in pivot_paraphrases(hub, max_partners=2) if pair[0] == 0] == [
        (0, 1),
        (0, 2),
    ]


def by_the_definition(
    pairs: Iterable[tuple[int, int]], *, max_renderings: int, max_partners: int
) -> list[tuple[int, int]]:
    """The paraphrases of ``pivot_paraphrases``, pivot by pivot."""
    renderings: dict[int, dict[int, None]] = {}
    for sentence, pivot in pairs:
        renderings.setdefault(pivot, {})[sentence] = None
    partners: dict[int, set[int]] = {}
    paraphrases = []
    for ring in map(list, renderings.values()):
        if not 2 <= len(ring) <= max_renderings:
            continue
        for a, b in zip(ring, [*ring[1:], ring[0]], strict=True):
            known = partners.setdefault(a, set())
            if b not in known and len(known) < max_partners:
                known.add(b)
                paraphrases.append((a, b))
    return paraphrases


@pytest.mark.parametrize("rows_at_once", [1, 7, 1000])
def test_paraphrases_are_the_same_whatever_is_in_memory(rows_at_once: int, tmp_path: Path) -> None:
    pairs = np.random.default_rng(rows_at_once).integers(0, 60, (300, 2)).astype(np.int32)
    limits = {"max_renderings": 6, "max_partners": 2}
    parts = pivot_pairs([pairs[:150], pairs[150:]], tmp_path, **limits, rows_at_once=rows_at_once)
    found = np.concatenate(list(parts)).tolist()
    assert len(found) > 50
    assert found == [list(pair) for pair in by_the_definition(pairs.tolist(), **limits)]


def test_a_corpus_is_the_same_whatever_is_in_memory(
    toy_pairs: list[tuple[str, str]], tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [Pair("en", "de", en, de) for en, de in toy_pairs]
    pairs += [Pair("de", "en", de, en) for en, de in reversed(toy_pairs)]
    sources = [Source(pairs), Source(pairs[3:5], 0.5)]
    whole = build_corpus(sources, tokenizer, max_tokens=100)
    monkeypatch.setattr("tertium.training.model.corpus.PAIRS_AT_ONCE", 3)
    monkeypatch.setattr("tertium.training.model.corpus.ROWS_AT_ONCE", 2)
    cut = build_corpus(sources, tokenizer, max_tokens=100)
    assert cut.streams == whole.streams
    for name in ("tokens", "offsets", "pairs"):
        np.testing.assert_array_equal(getattr(cut, name), getattr(whole, name))


def test_a_corpus_of_an_earlier_version_is_loaded_and_not_prepared_again(
    tiny_plan: Plan, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    """Its arrays were written by ``numpy.save``."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    np.save(folder / "pieces.npy", np.array([7, 8, 9], np.int32))
    np.save(folder / "offsets.npy", np.array([0, 2, 3]))
    np.save(folder / "pairs.npy", np.array([[0, 1], [1, 0]], np.int32))
    stream = {"kind": "translation", "source_lang": "de", "target_lang": "en", "weight": 1.0}
    (folder / "streams.json").write_text(json.dumps([{**stream, "start": 0, "end": 2}]))
    plan = replace(tiny_plan, bitext=(("gone.tsv", 1.0),))
    corpus = prepare_corpus(tmp_path, plan, tokenizer)
    assert corpus.streams == (Stream("translation", "de", "en", 1.0, 0, 2),)
    assert corpus.sentence(0).tolist() == [7, 8]
    assert corpus.pairs.tolist() == [[0, 1], [1, 0]]


def test_a_corpus_without_any_pair_that_is_short_enough(
    toy_pairs: list[tuple[str, str]], tokenizer: Tokenizer
) -> None:
    pairs = [Pair("en", "de", en, de) for en, de in toy_pairs]
    with pytest.raises(InputError, match="no pair has at most 2 tokens on both sides"):
        build_corpus([Source(pairs)], tokenizer, max_tokens=2)
    with pytest.raises(InputError, match="no pairs in the requested languages"):
        build_corpus([Source([])], tokenizer, max_tokens=2)
    with pytest.raises(InputError, match="changed while they were read"):
        build_corpus([Source(iter(pairs))], tokenizer, max_tokens=100)


def test_a_corpus_has_both_directions_paraphrases_and_copies(
    toy_pairs: list[tuple[str, str]], tokenizer: Tokenizer, tmp_path: Path
) -> None:
    pairs = [Pair("en", "de", en, de) for en, de in toy_pairs]
    corpus = build_corpus([Source([*pairs, pairs[0]])], tokenizer, max_tokens=100)
    found = {
        (stream.kind, stream.source_lang, stream.target_lang): {
            tuple(tokenizer.decode(corpus.sentence(number).tolist()) for number in pair)
            for pair in corpus.pairs[stream.start : stream.end]
        }
        for stream in corpus.streams
    }
    assert found["translation", "en", "de"] == set(toy_pairs)
    assert found["translation", "de", "en"] == {(de, en) for en, de in toy_pairs}
    assert found["paraphrase", "en", "en"] == {
        ("Who is knocking?", "Who knocks there?"),
        ("Who knocks there?", "Who is knocking?"),
    }
    assert found["copy", "de", "de"] == {(de, de) for _, de in toy_pairs}

    write_corpus(tmp_path / "corpus", [Source([*pairs, pairs[0]])], tokenizer, max_tokens=100)
    assert len(list((tmp_path / "corpus").iterdir())) == 4  # what was on disk meanwhile is removed
    loaded = load_corpus(tmp_path / "corpus")
    assert loaded is not None
    assert loaded.streams == corpus.streams
    np.testing.assert_array_equal(loaded.pairs, corpus.pairs)
    np.testing.assert_array_equal(loaded.tokens, corpus.tokens)
    assert load_corpus(tmp_path) is None


def test_long_sentences_are_left_out(
    toy_pairs: list[tuple[str, str]], tokenizer: Tokenizer
) -> None:
    pairs = [Pair("en", "de", en, de) for en, de in toy_pairs]
    pairs.append(Pair("en", "de", "so " * 200, "so " * 200))
    corpus = build_corpus([Source(pairs)], tokenizer, max_tokens=100)
    assert corpus.lengths[corpus.pairs].max() <= 100
    assert corpus.streams[0].size == len(toy_pairs)


def test_the_ids_are_those_that_the_model_expects(tokenizer: Tokenizer, tmp_path: Path) -> None:
    assert tokenizer.tags == {"en": 4, "de": 5}
    assert tokenizer.size == 320
    assert tokenizer.decode(tokenizer.encode(["Wo ist 🦉 42?"])[0]) == "Wo ist 🦉 42?"
    with pytest.raises(ModelError, match="no token __fr__"):
        Tokenizer(tmp_path / "spm.model", ["en", "fr"])
    with pytest.raises(ModelError, match="a smaller vocabulary="):
        train_tokenizer(["Too little."], ["en", "de"], vocabulary=8000)


def test_only_the_kinds_of_pairs_that_are_used_are_prepared(
    tiny_plan: Plan, tmp_path: Path
) -> None:
    """And the arrays are mapped, so that processes share them."""
    for name in "ab":
        (tmp_path / name).mkdir()
    both = prepare_corpus(tmp_path / "a", tiny_plan, prepare_tokenizer(tmp_path / "a", tiny_plan))
    assert {stream.kind for stream in both.streams} == {"translation", "paraphrase", "copy"}
    zero_shot = replace(tiny_plan, mixture=MIXTURES["prism"])
    tokenizer = prepare_tokenizer(tmp_path / "b", zero_shot)
    alone = prepare_corpus(tmp_path / "b", zero_shot, tokenizer)
    assert {stream.kind for stream in alone.streams} == {"translation"}
    translations = [stream for stream in both.streams if stream.kind == "translation"]
    assert list(alone.streams) == translations
    assert alone.pairs.tolist() == both.pairs[: len(alone.pairs)].tolist()
    for corpus in (both, alone):
        assert isinstance(corpus.tokens, np.memmap)


@pytest.mark.parametrize(
    "wrong",
    [{"copies": -0.1}, {"paraphrases": 0.97}, {"temperature": 0.5}, {"names": 0.9}, {"names": -1}],
)
def test_mixtures_that_cannot_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        Mixture(**wrong)


def test_the_vocabulary_is_made_from_all_files_whatever_their_order() -> None:
    sentences = [("de", f"Satz {n}.", 1.0) for n in range(900)]
    sentences += [("ru", f"Фраза {n}.", 1.0) for n in range(100)]
    sample = vocabulary_sample(sentences, size=200, seed=1)
    assert len(set(sample)) == 200
    assert vocabulary_sample(sentences[::-1], size=200, seed=1) == sample
    assert vocabulary_sample(sentences, size=200, seed=2) != sample
    # 10 % of the sentences: 20 expected, with a standard deviation of 4
    assert 8 <= sum(lang == "ru" for lang, _ in sample) <= 32
    heavier = [(lang, text, 9.0 if lang == "ru" else 1.0) for lang, text, _ in sentences]
    assert sum(lang == "ru" for lang, _ in vocabulary_sample(heavier, size=200)) >= 60
    # a sentence of two files counts once, with the larger weight
    repeated = [("de", "Satz.", 1.0), ("de", "Satz.", 2.0), ("de", "Satz.", 1.0)]
    assert vocabulary_sample(repeated, size=5) == [("de", "Satz.")]


def test_a_language_that_hardly_occurs_in_the_vocabulary_is_warned_of() -> None:
    sample = [("de", "Ein Satz.")] * 999 + [("ru", "Фраза.")]
    with pytest.warns(DataWarning, match=r"only 0\.07% of the 1000 sentences .* 'ru'"):
        warn_of_rare_languages(sample, ["de", "ru"])
