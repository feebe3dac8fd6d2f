"""Conversion of translation models from Hugging Face or fairseq folders (extra: ``convert``)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from tertium.errors import ModelError
from tertium.models.card import WEIGHTS, TranslationCard, TranslationSettings, read_card, write_card
from tertium.models.convert.checkpoint import (
    CONFIG,
    check_libraries,
    count,
    load_all_weights,
    not_converted,
    quiet,
    read_config_file,
)
from tertium.models.convert.fairseq.release import is_release, read_release
from tertium.models.convert.families import Family, recognise
from tertium.models.engine_file import quantize_file
from tertium.storage.atomic import appearing

Quantization = Literal["int8", "float32"]


class Vocabulary:
    """The vocabulary of a family, as a tokenizer for the converter of CTranslate2."""

    bos_token, eos_token, unk_token, pad_token = "<s>", "</s>", "<unk>", "<pad>"
    special_tokens_map: dict[str, list[str]] = {}  # noqa: RUF012 (read by the converter only)

    def __init__(self, tokens: list[str], size: int) -> None:
        self.tokens = tokens
        self.num_madeup_words = size - len(tokens)

    def get_vocab(self) -> dict[str, int]:
        return {token: id_ for id_, token in enumerate(self.tokens)}

    def convert_ids_to_tokens(self, id_: int) -> str:
        return self.tokens[id_]


def convert(
    source: Path,
    out: Path,
    *,
    name: str | None = None,
    dialect: str | None = None,
    licence: str = "unknown",
    quantization: Quantization = "float32",
    origin: str = "",
) -> TranslationCard:
    """Convert a Hugging Face folder, or the release of Prism; ``out`` is written atomically.

    The family is inferred from the files; ``dialect`` decides where they are ambiguous (a SMaLL-100
    without its tokenizer's settings looks like M2M100). Only safetensors files, and PyTorch files
    that contain nothing but weights, are read: no code in a checkpoint is run.
    """
    if not source.is_dir():
        raise ModelError(f"{source}: no such folder")
    check_libraries()
    release = read_release(source, dialect=dialect) if is_release(source) else None
    family = release.family if release else recognise(source, dialect=dialect, name=name)

    def fill(made: Path) -> None:
        if release:
            release.write(made)
        else:
            _convert_weights(source, made, family)
        if quantization == "int8":
            quantize_file(made / WEIGHTS)
        for tokenizer in {family.source_tokenizer, family.target_tokenizer}:
            shutil.copyfile(source / tokenizer, made / tokenizer)

    return make_folder(
        out,
        family,
        fill,
        name=name or out.name,
        licence=licence,
        origin=origin or str(source.name),
    )


def make_folder(
    out: Path,
    family: Family,
    fill: Callable[[Path], None],
    *,
    name: str,
    licence: str,
    origin: str,
) -> TranslationCard:
    """Write a model folder atomically; ``fill`` writes the weights and the tokenizers."""
    with appearing(out) as made:
        fill(made)
        settings = TranslationSettings(
            dialect=family.dialect,
            max_length=family.max_length,
            source_tokenizer=family.source_tokenizer,
            target_tokenizer=family.target_tokenizer,
            source_languages=family.languages.source,
            target_languages=family.languages.target,
            early_stopping=family.early_stopping,
            aliases=family.languages.needed_aliases(),
        )
        write_card(made, settings, name=name, licence=licence, origin=origin)
    return read_card(out, TranslationSettings)


def _convert_weights(source: Path, out: Path, family: Family) -> None:
    from ctranslate2.converters import TransformersConverter

    size = count(read_config_file(source), source / CONFIG, "vocab_size")
    vocabulary = Vocabulary(family.tokens, size)

    class Converter(TransformersConverter):  # type: ignore[misc]
        def load_model(self, model_class: Any, path: str, **options: Any) -> Any:
            model = load_all_weights(model_class, source, **options)
            # transformers 5 ties every T5, and states here whether the outputs are scaled.
            scaled = getattr(model.config, "scale_decoder_outputs", None)
            if scaled is not None:
                model.config.tie_word_embeddings = scaled
            return model

        def load_tokenizer(self, tokenizer_class: Any, path: str, **options: Any) -> Vocabulary:
            return vocabulary

    try:
        with quiet():
            Converter(str(source)).convert(str(out))
    except Exception as error:  # of transformers or CTranslate2
        raise not_converted(source, error) from error
