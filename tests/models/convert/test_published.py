"""Damaged files of a published folder are named, with the reason, in one line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tertium.errors import ModelError
from tertium.models.convert.checkpoint import count
from tertium.models.convert.detector import convert_detector
from tertium.models.convert.encoder import convert_encoder, is_encoder
from tertium.models.convert.translation import convert

from ...conftest import Converted, ConvertedEncoder

NO_JSON = [
    (b"no JSON", "Expecting value: line 1"),
    (b"", "Expecting value: line 1"),
    (b"[1, 2]", "it contains a list, not an object"),
    (b'"text"', "it contains a string, not an object"),
    (b"null", "it contains null, not an object"),
    (b"7", "it contains a number, not an object"),
    (b"\x89PNG\x00\xff", "it is not UTF-8 text"),
    (b"[" * 100_000, "recursion"),
]


def refused(
    make: Callable[[Path, Path], object], source: Path, capfd: pytest.CaptureFixture[str]
) -> str:
    """Convert what cannot be; nothing is written, and nobody but us speaks."""
    out = source.parent / "out"
    capfd.readouterr()
    with pytest.raises(ModelError) as caught:
        make(source, out)
    assert not out.exists()
    assert "".join(capfd.readouterr()) == ""
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.fixture
def copied(
    family: Callable[[str], Converted], encoder: Callable[[str], ConvertedEncoder], tmp_path: Path
) -> Callable[[str], Path]:
    """Copies of published folders, to be damaged."""

    def get(name: str) -> Path:
        found = encoder(name) if name in ("bert", "xlm-roberta") else family(name)
        return shutil.copytree(found.original.folder, tmp_path / name)

    return get


@pytest.mark.parametrize(("content", "reason"), NO_JSON)
def test_a_config_that_is_no_object(
    content: bytes, reason: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    file = source / "config.json"
    file.write_bytes(content)
    assert not is_encoder(source)
    for make in (convert, convert_encoder, convert_detector):
        message = refused(make, source, capfd)
        assert message.startswith(f"{file} cannot be read: ")
        assert reason in message


@pytest.mark.parametrize("name", ["generation_config.json", "tokenizer_config.json"])
def test_other_settings_that_are_no_object(
    name: str, copied: Callable[[str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    source = copied("m2m100")
    for content, reason in NO_JSON:
        (source / name).write_bytes(content)
        message = refused(convert, source, capfd)
        assert message.startswith(f"{source / name} cannot be read: ")
        assert reason in message


def test_a_config_that_leaves_out_a_number(
    copied: Callable[[str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    source = copied("m2m100")
    file = source / "config.json"
    whole = json.loads(file.read_text("utf-8"))
    file.write_text('{"model_type": "m2m_100"}')
    assert refused(convert, source, capfd) == f"{file} has no max_position_embeddings"
    file.write_text(json.dumps({**whole, "vocab_size": None}))
    assert refused(convert, source, capfd) == f"{file} has no vocab_size"
    file.write_text('{"model_type": ["m2m_100"]}')
    assert "are unsupported" in refused(convert, source, capfd)
    file.write_text('{"model_type": "bert"}')
    for make in (convert_encoder, convert_detector):
        assert refused(make, source, capfd) == f"{file} has no num_hidden_layers or n_layers"


@pytest.mark.parametrize("value", ["6", 0, -1, 1.5, True, [6]])
def test_counts(value: object) -> None:
    file = Path("config.json")
    assert count({"a": None, "b": 3}, file, "a", "b") == 3
    with pytest.raises(ModelError, match=r"config\.json: a is .*, not a positive integer"):
        count({"a": value}, file, "a")


@pytest.mark.parametrize(
    ("name", "tokenizer"),
    [("m2m100", None), ("prism", None), ("marian", "source.spm"), ("marian", "target.spm")],
)
@pytest.mark.parametrize("content", [b"", b"garbage" * 9])
def test_damaged_sentencepiece_models(
    name: str,
    tokenizer: str | None,
    content: bytes,
    copied: Callable[[str], Path],
    family: Callable[[str], Converted],
    capfd: pytest.CaptureFixture[str],
) -> None:
    source = copied(name)
    file = source / (tokenizer or family(name).folder.settings.source_tokenizer)
    file.write_bytes(content)
    reason = "is incomplete" if content else "it is empty"
    message = refused(lambda source, out: convert(source, out, name="opus-mt-en-fr"), source, capfd)
    assert message.startswith(f"{file} is not a SentencePiece model")
    assert message.endswith(reason)


def test_a_damaged_sentencepiece_model_of_an_encoder(
    copied: Callable[[str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    source = copied("xlm-roberta")
    (source / "tokenizer.json").unlink()
    file = source / "sentencepiece.bpe.model"
    for content in (b"", b"garbage"):
        file.write_bytes(content)
        message = refused(convert_encoder, source, capfd)
        assert message.startswith(f"{file} is not a SentencePiece model")


@pytest.mark.parametrize(("name", "make"), [("nllb", convert), ("bert", convert_encoder)])
def test_a_damaged_tokenizer(
    name: str,
    make: Callable[[Path, Path], object],
    copied: Callable[[str], Path],
    capfd: pytest.CaptureFixture[str],
) -> None:
    source = copied(name)
    for content in ("", "garbage", "[]"):
        (source / "tokenizer.json").write_text(content)
        message = refused(make, source, capfd)
        assert message.startswith(f"{source / 'tokenizer.json'} cannot be read: ")


def test_a_damaged_vocabulary(
    copied: Callable[[str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    source = copied("m2m100")
    file = source / "vocab.json"
    file.write_text('{"a": 1, "b": "c"}')
    assert refused(convert, source, capfd).startswith(f"{file} is not a vocabulary")
    file.write_text("[]")
    assert refused(convert, source, capfd).startswith(f"{file} cannot be read")


@pytest.mark.parametrize("content", ["{}", "[{}]", "[1]", "7", '[{"idx": "x"}]', "garbage"])
def test_damaged_modules(
    content: str, copied: Callable[[str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    source = copied("bert")
    (source / "modules.json").write_text(content)
    message = refused(convert_encoder, source, capfd)
    assert message.startswith(f"{source / 'modules.json'} cannot be read: ")
