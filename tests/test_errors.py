"""An error has a fact, a place, and a cure that every reader gets in their own words."""

from __future__ import annotations

import ast
import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import tertium
from tertium.cli.commands import COMMANDS, RENAMED, RUNNING, as_option, imported
from tertium.errors import InputError, LanguageError, Message, ModelError, SettingError
from tertium.models.catalog import BUNDLED_FOLDER
from tertium.models.convert.translation import convert
from tertium.models.tokenizer import open_sentencepiece, open_tokenizer_json
from tertium.web.words import LABELS, label

SOURCES = Path(tertium.__file__).parent


def leaves(command: Any) -> Iterator[Any]:
    """A command, or the commands of a group."""
    for each in getattr(command, "commands", {}).values():
        yield from leaves(each)
    if not hasattr(command, "commands"):
        yield command


def parameters() -> dict[str, list[Path]]:
    """The parameters that errors below the commands name, and where."""
    found: dict[str, list[Path]] = {}
    for path in SOURCES.rglob("*.py"):
        if not path.is_relative_to(SOURCES / "cli"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                for name in named_by(node):
                    found.setdefault(name, []).append(path)
    return found


def named_by(node: ast.AST) -> list[str]:
    """The parameters that an argument of an error, or a variable for it, names."""
    if isinstance(node, ast.keyword) and node.arg == "parameter":
        return texts(node)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "wrong":
        return texts(node.args[0])
    is_cure = isinstance(node, ast.keyword) and node.arg == "cure"
    if isinstance(node, ast.Assign):
        target = ast.unparse(node.targets[0]).lower()
        is_cure = target in ("cure", "cures", "others", "start_over", "give_limits")
    if not is_cure:
        return []
    return [name for text in texts(node) for _, name, _, _ in Formatter().parse(text) if name]


def texts(node: ast.AST) -> list[str]:
    """The strings of an expression; what is filled in later is an X."""
    if isinstance(node, ast.JoinedStr):
        parts = (each.value if isinstance(each, ast.Constant) else "X" for each in node.values)
        return ["".join(map(str, parts))]
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    return [text for each in ast.iter_child_nodes(node) for text in texts(each)]


def test_every_parameter_of_an_error_is_an_option_of_a_command() -> None:
    options = {
        each.name
        for name in COMMANDS
        for command in leaves(imported(name))
        for each in command.params
        if each.param_type_name == "option"
    }
    beside = {"metric", "X"}  # that of mbrs, and what is filled in
    named = parameters()
    assert {"overwrite", "lang", "quoting", "clip_norm", "device"} <= {*named}
    for name, paths in named.items():
        own = RENAMED.get(name, (name,))
        assert options.intersection(own) or name in beside, (name, paths)


def test_python_hears_of_no_options_and_commands_of_their_own() -> None:
    message = Message("a run is not finished", ("resume it with {resume:True}",))
    assert str(message) == "a run is not finished; resume it with resume=True"
    try:
        RUNNING.set(imported("score"))
        assert message.said(as_option).endswith("; resume it with --resume")
        RUNNING.set(imported("measures"))  # which has no such option
        assert message.said(as_option) == "a run is not finished"
    finally:
        RUNNING.set(None)


@pytest.mark.parametrize(
    ("command", "parameter", "value", "said"),
    [
        ("score", "references", "", "--ref or --ref-column"),
        ("rerank", "reference_lang", "", None),
        ("score", "quoting", "False", "--no-quoting"),
        ("score", "settings", "NAME=VALUE", "--set NAME=VALUE"),
        ("filter", "target_lang", "", "--tgt-lang"),
        ("filter", "hyp", "", None),
    ],
)
def test_options_are_those_of_the_command(
    command: str, parameter: str, value: str, said: str | None
) -> None:
    try:
        RUNNING.set(imported(command))
        assert as_option(parameter, value) == said
    finally:
        RUNNING.set(None)


def test_the_cure_is_said_in_the_words_of_the_reader() -> None:
    with pytest.raises(InputError) as caught:
        tertium.load("cross").score(["a"], sources=["b"])
    message = caught.value.message
    assert message.fact == "cross compares with references, and the call has none"
    assert "--against source" in message.said(as_option)
    assert "against='source'" in str(message)
    assert "--" not in str(message)
    page = message.said(label)
    assert "--" not in page
    assert str(caught.value) == str(message)


def test_a_missing_language() -> None:
    with pytest.raises(LanguageError) as caught:
        tertium.score("Hi.", "Hi.", measure="direct")
    assert "lang=" in str(caught.value)
    assert "--lang" in caught.value.said(as_option)
    assert 'give it with "Language of the first text"' in caught.value.said(label)


def test_an_unsupported_language_has_another_cure_than_a_missing_one() -> None:
    with pytest.raises(LanguageError) as caught:
        tertium.score("Hi.", "Hi.", measure="direct", lang="zh")
    assert str(caught.value).endswith("; choose a model that has zh (`tertium models`)")


@pytest.mark.parametrize("lang", ["{x}", "{x", "x}", "{lang}"])
def test_what_is_quoted_in_a_cure_names_no_parameter(lang: str) -> None:
    with pytest.raises(LanguageError) as caught:
        tertium.score("Hi.", "Hi.", measure="direct", lang=lang)
    assert str(caught.value).endswith(f"; choose a model that has {lang} (`tertium models`)")


@pytest.mark.parametrize("name", LABELS)
def test_the_page_has_the_fields_that_its_errors_name(name: str) -> None:
    page = (SOURCES / "web" / "static" / "index.html").read_text(encoding="utf-8")
    assert LABELS[name] in page


def test_errors_keep_their_cure_between_processes() -> None:
    error = InputError("row 1: no language", cure="give {lang}").at("a.tsv, ")
    copied = pickle.loads(pickle.dumps(error))
    assert copied.said(as_option) == "a.tsv, row 1: no language; give --lang"


def test_nested_junk_in_a_card_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "tertium.json").write_text("[" * 100_000)
    with pytest.raises(ModelError, match=r"tertium\.json is not readable"):
        tertium.load_model(tmp_path)
    (tmp_path / "tertium.json").write_text(json.dumps([1]))
    with pytest.raises(ModelError):
        tertium.load_model(tmp_path)
    (tmp_path / "tertium.json").unlink()
    with pytest.raises(ModelError, match="tertium models convert"):
        tertium.load_model(tmp_path)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("max_length", -1, "max_length is -1"),
        ("max_length", "9", "max_length has a value of the wrong type"),
        ("source_languages", {"en": {"x": [1]}}, "source_languages has a value of the wrong type"),
        ("source_languages", [1], ""),
        ("hashes", [["x"]], ""),
        ("sizes", {"model.bin": {}}, ""),
    ],
)
def test_junk_in_the_fields_of_a_card(
    field: str, value: object, reason: str, tmp_path: Path
) -> None:
    card = json.loads((BUNDLED_FOLDER / "tertium-mini" / "tertium.json").read_text())
    (tmp_path / "tertium.json").write_text(json.dumps({**card, field: value}))
    with pytest.raises(ModelError, match=rf"tertium\.json is not readable: .*{reason}"):
        tertium.load_model(tmp_path)


@pytest.mark.parametrize("open_file", [open_sentencepiece, open_tokenizer_json])
@pytest.mark.parametrize("content", [b"", b"no tokenizer", bytes(100)])
def test_unreadable_tokenizers(
    open_file: Callable[[Path], object], content: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "tokenizer"
    file.write_bytes(content)
    with pytest.raises(ModelError, match=str(file)):
        open_file(file)


@pytest.mark.parametrize("missing", ["langcodes", "transformers", "torch"])
def test_conversion_without_its_packages(
    missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tertium.registry.find_spec", lambda name: None if name == missing else 1)
    with pytest.raises(SettingError, match=f"needs {missing}: pip install 'tertium"):
        convert(tmp_path, tmp_path / "out")
