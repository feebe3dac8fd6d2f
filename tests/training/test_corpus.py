from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tertium.errors import DataWarning, InputError, ModelError, SettingError
from tertium.training.model.bitext import (
    Pair,
    held_out,
    pivot_paraphrases,
    read_bitext,
    training_pairs,
)
from tertium.training.model.corpus import (
    Source,
    build_corpus,
    load_corpus,
    prepare_corpus,
    save_corpus,
)
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

    save_corpus(corpus, tmp_path / "corpus")
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
