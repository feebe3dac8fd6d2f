"""Releases of fairseq's kind give the numbers of a plain PyTorch forward pass."""

from __future__ import annotations

import io
import json
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tertium.errors import ModelError
from tertium.models.base import make_queries
from tertium.models.card import read_vocabulary
from tertium.models.convert.fairseq.checkpoint import padded, read_dictionary
from tertium.models.convert.fairseq.release import M39V1, is_release, language_tags
from tertium.models.convert.translation import convert
from tertium.models.translation.ctranslate2 import CTranslate2Model

from ...released import M39V1_LIKE, Released, Variant
from ...tiny import LANGUAGES, PARALLEL, SENTENCES
from .test_families import UGLY

VARIANTS = {
    "as m39v1": M39V1_LIKE,
    "post-norm": Variant(encoder_pre_norm=False, decoder_pre_norm=False),
    "pre-norm and post-norm": Variant(decoder_pre_norm=False),
    "no final norm": Variant(final_norm=False),
    "nothing shared, fairseq 0.8": Variant(share="nothing", attention="joined"),
    "nothing shared, later": Variant(share="nothing", output_name="output_projection.weight"),
    "the decoder's shared": Variant(share="decoder", activation="gelu", name_shared_output=True),
    "gelu by tanh, post-norm": Variant(False, False, activation="gelu_accurate", share="nothing"),
    "learned positions": Variant(learned_positions=True, scaled=False, embedding_norm=True),
    "no positions": Variant(no_positions=True),
    "two unlike sides": Variant(layers=(1, 3), heads=(2, 8), positions=(48, 80), share="decoder"),
    "half precision, zipped": Variant(half_precision=True, zipped=True),
}


@pytest.fixture(params=list(VARIANTS))
def released(request: pytest.FixtureRequest, tmp_path: Path) -> Released:
    return Released(tmp_path / "release", VARIANTS[request.param])


def test_log_probs_equal_the_forward_pass(released: Released, tmp_path: Path) -> None:
    assert is_release(released.folder)
    folder = convert(released.folder, tmp_path / "converted")
    model = CTranslate2Model(folder, threads=1)
    pairs = [
        (target, source, lang)
        for row in PARALLEL
        for source in row
        for target, lang in zip(row, LANGUAGES, strict=True)
    ]
    pairs += [(ugly, SENTENCES[0], "en") for ugly in UGLY]
    pairs += [(SENTENCES[2], ugly, "fr") for ugly in UGLY]
    answers = model.log_probs(
        make_queries(
            [pair[0] for pair in pairs],
            [pair[1] for pair in pairs],
            target_lang=[pair[2] for pair in pairs],
        )
    )
    for scores, pair in zip(answers, pairs, strict=True):
        expected = released.log_probs(*pair)
        assert scores.log_probs == pytest.approx(expected, abs=1e-4), pair
        assert scores.tokens[-1] == "</s>"
        assert not scores.cut


def test_the_folder_says_what_it_is(tmp_path: Path) -> None:
    released = Released(tmp_path / "release", VARIANTS["two unlike sides"])
    folder = convert(released.folder, tmp_path / "converted", name="small", dialect="prism")
    assert folder.settings.dialect == "prism"
    assert folder.settings.max_length == 48
    assert folder.settings.languages.target == {lang: f"<{lang}>" for lang in LANGUAGES}
    assert folder.settings.languages.resolve("deu") == "de"
    vocabulary = read_vocabulary(folder, "target")
    assert vocabulary[:5] == ["<s>", "<pad>", "</s>", "<unk>", "<en>"]
    assert vocabulary[-1] == "madeupword0004"
    source = json.loads((folder.path / "source_vocabulary.json").read_text("utf-8"))
    assert source[: len(released.source_words)] == released.source_words


def test_the_end_of_the_positions(tmp_path: Path) -> None:
    released = Released(tmp_path / "release", replace(M39V1_LIKE, positions=(16, 16)))
    model = CTranslate2Model(convert(released.folder, tmp_path / "converted"), threads=1)
    text = "sea " * 20
    count = len(released.ids(released.target_words, text))
    assert count > 16
    [scores] = model.log_probs(make_queries([text], ["sea"], target_lang="en"))
    assert scores.target_cut
    assert len(scores.tokens) == 14  # 16, less the start and the tag
    expected = released.log_probs(text, "sea", "en")[:14]
    assert scores.log_probs == pytest.approx(expected, abs=1e-4)


def test_int8(tmp_path: Path) -> None:
    released = Released(tmp_path / "release")
    folder = convert(released.folder, tmp_path / "converted", quantization="int8")
    model = CTranslate2Model(folder, compute_type="int8", threads=1)
    [scores] = model.log_probs(make_queries(["sea"], ["sea"], target_lang="en"))
    expected = released.log_probs("sea", "sea", "en")
    assert scores.log_probs == pytest.approx(expected, abs=1.0)
    assert scores.log_probs != pytest.approx(expected, abs=1e-6)


class Evil:
    """Makes a file as soon as it is loaded."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return io.open, (str(self.file), "w")


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("place", ["model", "args", "extra_state"])
def test_code_in_a_checkpoint_is_not_run(tmp_path: Path, place: str, zipped: bool) -> None:
    released = Released(tmp_path / "release", replace(M39V1_LIKE, zipped=zipped))
    evil = Evil(tmp_path / "made")
    content = {"args": released.options(), "model": released.tensors(), "extra_state": {}}
    content[place] = Namespace(lr=evil) if place == "args" else {"x": evil}
    released.save(content)
    with pytest.raises(ModelError, match=r"checkpoint\.pt contains \S*open, which .* may run code"):
        convert(released.folder, tmp_path / "converted")
    assert not (tmp_path / "made").exists()
    assert not (tmp_path / "converted").exists()


def test_meters_of_fairseq_do_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """fairseq 0.9 saved its meters with every checkpoint."""
    import sys
    from types import ModuleType

    module = ModuleType("fairseq.meters")
    meter = type("AverageMeter", (), {"__module__": "fairseq.meters"})
    module.AverageMeter = meter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fairseq", ModuleType("fairseq"))
    monkeypatch.setitem(sys.modules, "fairseq.meters", module)
    released = Released(tmp_path / "release")
    made = meter()
    made.avg = 1.5
    content = {"args": released.options(), "model": released.tensors()}
    released.save({**content, "extra_state": {"train_meters": {"loss": made}}})
    monkeypatch.delitem(sys.modules, "fairseq.meters")
    monkeypatch.delitem(sys.modules, "fairseq")
    assert convert(released.folder, tmp_path / "converted").settings.dialect == "prism"


def without(name: str) -> Any:
    return lambda options, tensors: tensors.pop(name)


def with_option(**changed: Any) -> Any:
    return lambda options, tensors: options.__dict__.update(changed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("encoder.layers.1.fc1.bias"), r"has no encoder\.layers\.1\.fc1\.bias"),
        (with_option(encoder_layers=1), r"16 tensors that a plain .* \(encoder\.layers\.1\."),
        (with_option(adaptive_softmax_cutoff=[10]), "trained with adaptive_softmax_cutoff"),
        (with_option(activation_fn="linear"), "activation 'linear'"),
        (with_option(decoder_attention_heads=None), "has no option decoder_attention_heads"),
        (with_option(share_all_embeddings=False, share_decoder_input_output_embed=False), "output"),
        (without("decoder.version"), "older than fairseq 0.6"),
    ],
)
def test_another_network_is_refused(tmp_path: Path, change: Any, message: str) -> None:
    released = Released(tmp_path / "release")
    options, tensors = released.options(), released.tensors()
    change(options, tensors)
    released.save({"args": options, "model": tensors})
    with pytest.raises(ModelError, match=message):
        convert(released.folder, tmp_path / "converted")
    assert list(tmp_path.glob("*converted*")) == []


def test_broken_releases_are_refused(tmp_path: Path) -> None:
    released = Released(tmp_path / "release")
    checkpoint = released.folder / "checkpoint.pt"
    whole = checkpoint.read_bytes()
    with pytest.raises(ModelError, match="has the dialect prism, not nllb"):
        convert(released.folder, tmp_path / "converted", dialect="nllb")
    for content in (b"", b"junk", whole[: len(whole) // 2], whole[:100]):
        checkpoint.write_bytes(content)
        with pytest.raises(ModelError, match="not a checkpoint, or is incomplete"):
            convert(released.folder, tmp_path / "converted")
    released.save({"cfg": {}, "model": {}})
    with pytest.raises(ModelError, match="not a checkpoint of fairseq"):
        convert(released.folder, tmp_path / "converted")
    checkpoint.write_bytes(whole)
    (released.folder / "dict.tgt.txt").write_text("a 1\nb 1\n")
    with pytest.raises(ModelError, match="no language tags like <en>"):
        convert(released.folder, tmp_path / "converted")
    (released.folder / "dict.tgt.txt").unlink()
    with pytest.raises(ModelError, match=r"has no dict\.tgt\.txt"):
        convert(released.folder, tmp_path / "converted")


def test_dictionaries(tmp_path: Path) -> None:
    file = tmp_path / "dict.txt"
    file.write_text("▁a 9\n\u2028b 3\n<en> 1\n▁a 1 #fairseq:overwrite\n</s> 2\n", encoding="utf-8")
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    assert read_dictionary(file) == [
        *special,
        "<hidden 7>",
        "\u2028b",
        "<en>",
        "▁a",
        "<hidden 8>",
    ]
    file.write_text("▁a 9\nno count\n")
    with pytest.raises(ModelError, match="line 2: 'no count' is not a token and its count"):
        read_dictionary(file)
    with pytest.raises(ModelError, match="do not belong together"):
        padded(["a", "b"], 1)


def test_the_languages_of_the_release() -> None:
    """39, as its README lists them; a piece of markup is no Breton."""
    tags = [f"<{lang}>" for lang in M39V1]
    assert len(set(M39V1)) == 39
    assert sorted(language_tags(["<unk>", "<br>", *tags])) == sorted(M39V1)
    assert language_tags(["<unk>", "<br>", "<en>"]) == {"br": "<br>", "en": "<en>"}
