"""Every family gives the numbers, pieces and translations of its original implementation."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tertium.errors import LanguageError, ModelError
from tertium.models.base import make_queries, translation_queries
from tertium.models.card import read_vocabulary
from tertium.models.convert.families import recognise
from tertium.models.convert.translation import convert
from tertium.models.tokenizer import open_tokenizer
from tertium.models.translation.ctranslate2 import CTranslate2Model

from ...conftest import Converted
from ...tiny import MAKERS, SENTENCES, Tiny

UGLY = [
    "",
    "sea",
    "  two  spaces ",
    "tab\tand\nbreak\r\n",
    "emoji 🙂👩\u200d👩\u200d👧 and \x07 \x00 signs",
    "עברית \u200fمن اليمين",
    "ﬁne ①②③ ｆｕｌｌ ㍿ ½",
    "e\u0301 vs é, a\u0308\u0323",
    "\u00a0\u3000\u2028\u200b\ufeff",
    "▁▁ already a piece ▁",
    "ß ẞ İ ı ŉ ǆ",
    "漢字かな交じり文。한국어",
    "http://x.y/?a=b&c=%20#é",
]


def ugly_strings(count: int = 1000) -> list[str]:
    """Strings that real text hardly ever is, and sometimes is."""
    draw = random.Random(3)
    alphabet = "".join([*SENTENCES, *UGLY])
    words = [word for text in [*SENTENCES, *UGLY] for word in text.split(" ")]
    strings = list(UGLY)
    while len(strings) < count:
        if draw.random() < 0.5:
            strings.append(" ".join(draw.choices(words, k=draw.randint(1, 8))))
        else:
            strings.append("".join(draw.choices(alphabet, k=draw.randint(1, 30))))
    return strings


def ask(model: Any, converted: Converted, pairs: list[tuple[str, str, str, str]]) -> Any:
    code = converted.original.code
    return model.log_probs(
        make_queries(
            [pair[0] for pair in pairs],
            [pair[1] for pair in pairs],
            target_lang=[code(pair[2]) for pair in pairs],
            source_lang=[code(pair[3]) for pair in pairs],
        )
    )


def test_log_probs_equal_the_original_forward_pass(any_family: Converted) -> None:
    original = any_family.original
    pairs = list(original.directions())
    into, out_of = original.targets[-1], original.sources[0]
    pairs += [(ugly, SENTENCES[0], into, out_of) for ugly in UGLY]
    pairs += [(SENTENCES[2], ugly, into, out_of) for ugly in UGLY]
    answers = ask(CTranslate2Model(any_family.folder), any_family, pairs)
    for scores, pair in zip(answers, pairs, strict=True):
        expected = original.log_probs(*pair)
        assert scores.log_probs == pytest.approx(expected, abs=1e-4), pair
        assert len(scores.tokens) == len(expected)
        assert scores.tokens[-1] == "</s>"
        assert not scores.cut


def test_pieces_equal_those_of_the_original_tokenizer(any_family: Converted) -> None:
    original, folder = any_family.original, any_family.folder
    ids = {token: id_ for id_, token in enumerate(read_vocabulary(folder, "target"))}
    tokenizers = {
        name: open_tokenizer(folder.path / name)
        for name in (folder.settings.source_tokenizer, folder.settings.target_tokenizer)
    }
    strings = ugly_strings()
    into = original.targets[-1]
    for text, pieces in zip(
        strings, tokenizers[folder.settings.target_tokenizer].encode(strings), strict=True
    ):
        expected = original.target_ids(text, into)[original.prefix : -1]
        assert [ids.get(piece, ids["<unk>"]) for piece in pieces] == expected, text
    model = CTranslate2Model(folder)
    directions = {
        "target_lang": original.code(into),
        "source_lang": original.code(original.sources[0]),
    }
    prepared = model._prepared(translation_queries(strings, **directions))
    for text, tokens in zip(strings, (query.source for query in prepared), strict=True):
        expected = original.source_ids(text, original.sources[0], into)
        if len(expected) < folder.settings.max_length:
            assert [ids.get(token, ids["<unk>"]) for token in tokens] == expected, text


def test_translations_equal_those_of_the_original(any_family: Converted) -> None:
    original = any_family.original
    pairs = list(original.directions())
    model = CTranslate2Model(any_family.folder)
    found = model.translate(
        [pair[1] for pair in pairs],
        target_lang=[original.code(pair[2]) for pair in pairs],
        source_lang=[original.code(pair[3]) for pair in pairs],
    )
    same = [
        translation.text == original.translate(pair[1], pair[2], pair[3])
        for translation, pair in zip(found, pairs, strict=True)
    ]
    assert sum(same) >= 0.95 * len(pairs)
    right = [translation.text == pair[0] for translation, pair in zip(found, pairs, strict=True)]
    assert sum(right) > len(pairs) / 2  # it has learnt something: these are real translations


def test_special_tokens_in_a_text_are_text(any_family: Converted) -> None:
    model = CTranslate2Model(any_family.folder)
    original = any_family.original
    into, out_of = original.targets[-1], original.sources[0]
    tag = model.languages.target[original.code(into)]
    text = f"a </s> <pad> {tag} b"
    [scores] = ask(model, any_family, [(text, text, into, out_of)])
    assert not tag or tag not in scores.tokens
    assert scores.tokens.count("</s>") == 1
    assert scores.tokens[-1] == "</s>"


def test_iso_codes_stand_for_flores_codes(family: Any) -> None:
    languages = family("nllb").folder.settings.languages
    assert languages.resolve("de") == languages.resolve("deu") == "deu_Latn"
    with pytest.raises(LanguageError, match=r"'zh' is ambiguous: use zho_Hans or zho_Hant"):
        languages.resolve("zh")


def test_iso_codes_of_three_letters(family: Any) -> None:
    model = CTranslate2Model(family("m2m100").folder)
    two = model.log_probs(make_queries(["Meer"], ["sea"], target_lang="de", source_lang="en"))
    three = model.log_probs(make_queries(["Meer"], ["sea"], target_lang="deu", source_lang="eng"))
    assert two == three


def test_a_bilingual_model_says_what_it_can_do(family: Any) -> None:
    model = CTranslate2Model(family("marian").folder)
    assert model.languages.describe() == "translates en to fr"
    with pytest.raises(LanguageError, match=r"target is in 'en'.*translates en to fr"):
        model.translate(["La mer."], target_lang="en")
    with pytest.raises(LanguageError, match="source is in 'fr'"):
        model.translate(["La mer."], target_lang="fr", source_lang="fr")
    assert model.translate(["The sea."], target_lang="fra", source_lang="eng")


def test_what_cannot_be_converted_is_said(tmp_path: Any, family: Any) -> None:
    with pytest.raises(ModelError, match="no such folder"):
        convert(tmp_path / "none", tmp_path / "out")
    with pytest.raises(ModelError, match=r"has no config\.json"):
        recognise(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(ModelError, match="type 'bert' are unsupported"):
        recognise(tmp_path)
    with pytest.raises(ModelError, match="has the dialect nllb, not marian"):
        recognise(family("nllb").original.folder, dialect="marian")
    with pytest.raises(ModelError, match="name='opus-mt-SOURCE-TARGET'"):
        recognise(family("marian").original.folder, name="my-model")


def test_a_small100_that_does_not_say_so(family: Any) -> None:
    folder = family("m2m100").original.folder
    assert recognise(folder).dialect == "m2m100"
    assert recognise(folder, dialect="small100").dialect == "small100"


@pytest.fixture(scope="module")
def unsure(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """A model that has learned little, so that its best translations often end late."""
    folder = tmp_path_factory.mktemp("unsure")
    tiny = MAKERS["m2m100"](folder)
    tiny.learn(steps=60)
    tiny.model.save_pretrained(folder)
    return tiny


@pytest.mark.parametrize("early_stopping", [True, False])
def test_beam_search_ends_as_the_original_says(
    early_stopping: bool, tmp_path: Any, unsure: Tiny
) -> None:
    original = unsure
    source, other = tmp_path / "original", tmp_path / "other"
    shutil.copytree(original.folder, source)
    config = json.loads((source / "config.json").read_text())
    (source / "config.json").write_text(json.dumps({**config, "early_stopping": early_stopping}))
    folder = convert(source, other)
    assert folder.settings.early_stopping is early_stopping
    plain = convert(original.folder, tmp_path / "plain")
    assert (folder.fingerprint == plain.fingerprint) is not early_stopping
    model = CTranslate2Model(folder)
    words = " ".join(SENTENCES).split()
    texts = [" ".join(words[start : start + 7]) for start in range(40)]
    found = [answer.text for answer in model.translate(texts, target_lang="de", source_lang="en")]
    wanted: dict[bool, list[str]] = {}
    for setting in (True, False):
        original.model.generation_config.early_stopping = setting
        wanted[setting] = [original.translate(text, "de", "en") for text in texts]
    original.model.generation_config.early_stopping = False
    same = {setting: sum(map(str.__eq__, found, answers)) for setting, answers in wanted.items()}
    assert same[early_stopping] >= 0.95 * len(texts)
    assert same[not early_stopping] < same[early_stopping]


def test_a_family_of_a_plugin(
    family: Callable[[str], Converted], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model type of one's own, which is read like M2M100."""
    site = tmp_path / "site"
    info = site / "my_families-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-families\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tertium.families]\nmine = my_families:read\n")
    (site / "my_families.py").write_text(
        "from tertium.models.convert.families import FAMILIES\nread = FAMILIES.get('m2m_100')\n"
    )
    folder = shutil.copytree(family("m2m100").original.folder, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "mine"}))
    with pytest.raises(ModelError, match="type 'mine' are unsupported"):
        recognise(folder)
    monkeypatch.syspath_prepend(site)
    assert recognise(folder).dialect == "m2m100"
