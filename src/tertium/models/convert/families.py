"""Model families: the vocabulary and the languages of a translation model in Hugging Face's format.

A family is a function that reads such a folder, registered under the ``model_type`` of its
``config.json``. It is used for conversion only: the result is stored in ``tertium.json``. Plug-ins
use the entry point group ``tertium.families``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tertium.errors import ModelError
from tertium.models.convert.checkpoint import CONFIG, count, read_config_file, read_object
from tertium.models.languages import LanguageSet
from tertium.models.tokenizer import open_sentencepiece, open_tokenizer_json
from tertium.registry import Registry

M2M100_TAG = re.compile(r"__([a-z]{2,3})__")
FLORES_TAG = re.compile(r"([a-z]{3}_[A-Z][a-z]{3})")
MBART50_TAG = re.compile(r"([a-z]{2,3})_[A-Z]{2}")
MADLAD_TAG = re.compile(r"<2([a-z]{2,3}(?:_[A-Z][a-z]{3})?)>")
MARIAN_TAG = re.compile(r">>([a-z]{2,3}(?:_[A-Za-z]+)*)<<")
MARIAN_NAME = re.compile(r"opus-mt-(?:tc-big-)?([a-z]{2,3})[-_]([a-z]{2,3})$")
POSITIONS = "max_position_embeddings"
TOKENIZER = "tokenizer.json"
SENTENCEPIECE_FILES = ("spm.model", "sentencepiece.bpe.model")
UNLIMITED = 1024
"""The maximum length of models with relative positions, which limits memory."""


@dataclass(frozen=True)
class Family:
    """What conversion needs to know about a translation model."""

    dialect: str
    tokens: list[str]
    """The vocabulary by id; it may be shorter than the model's, which is padded."""
    languages: LanguageSet
    max_length: int
    source_tokenizer: str
    target_tokenizer: str
    early_stopping: bool = False
    """Whether beam search stops as soon as ``beam_size`` translations are complete."""


FamilyReader = Callable[[Path, dict[str, Any], str], Family]
"""Reads a folder, given its ``config.json`` and the name of the model."""
FAMILIES: Registry[FamilyReader] = Registry("model family", group="tertium.families")


def recognise(folder: Path, *, dialect: str | None = None, name: str | None = None) -> Family:
    """Describe the model in a folder; ``dialect`` decides what its files leave open."""
    config = read_config_file(folder)
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise ModelError(
            f"{folder}: translation models of type {kind!r} are unsupported "
            f"(supported: {', '.join(sorted(FAMILIES.names()))})"
        )
    model = FAMILIES.get(kind)(folder, config, name or folder.name)
    for tokenizer in {model.source_tokenizer, model.target_tokenizer} - {TOKENIZER}:
        open_sentencepiece(folder / tokenizer)
    search = {**config, **_read_optional(folder / "generation_config.json")}
    model = replace(model, early_stopping=search.get("early_stopping") is True)
    if dialect is None or dialect == model.dialect:
        return model
    if {dialect, model.dialect} == {"m2m100", "small100"}:  # same files, different special tokens
        return replace(model, dialect=dialect)
    raise ModelError(f"{folder} has the dialect {model.dialect}, not {dialect}")


@FAMILIES.register("m2m_100")
def _m2m100(folder: Path, config: dict[str, Any], name: str) -> Family:
    limit = count(config, folder / CONFIG, POSITIONS)
    settings = _read_optional(folder / "tokenizer_config.json")
    if (folder / "vocab.json").is_file():
        tokenizer = _first_file(folder, *SENTENCEPIECE_FILES)
        tokens = _read_vocabulary(folder / "vocab.json")
        tokens += _m2m100_tags(folder, settings)
        small = "SMALL100" in str(settings.get("tokenizer_class", "")).upper() or (
            (folder / "tokenization_small100.py").is_file()
        )
        dialect = "small100" if small else "m2m100"
        return _tagged(dialect, tokens, M2M100_TAG, limit, tokenizer)
    if (folder / TOKENIZER).is_file():
        tokens = _json_tokens(folder / TOKENIZER)
        return _tagged("nllb", tokens, FLORES_TAG, limit, TOKENIZER)
    tokenizer = _first_file(folder, *SENTENCEPIECE_FILES)
    tokens = _sentencepiece_tokens(folder / tokenizer)
    return _tagged("prism", tokens, M2M100_TAG, limit, tokenizer)


def _m2m100_tags(folder: Path, settings: dict[str, Any]) -> list[str]:
    """The language tags after those of ``vocab.json``: as stated, or the 100 of M2M100."""
    file = folder / "added_tokens.json"
    added = _read_vocabulary(file) if file.is_file() else []
    special = _read_optional(folder / "special_tokens_map.json")
    stated = [
        *added,
        *(special.get("additional_special_tokens") or []),
        *(settings.get("additional_special_tokens") or []),
        *(settings.get("extra_special_tokens") or []),
    ]
    tags = [str(token) for token in stated if M2M100_TAG.fullmatch(str(token))]
    if tags:
        return list(dict.fromkeys(tags))
    from transformers.models.m2m_100 import tokenization_m2m_100 as original

    codes = original.FAIRSEQ_LANGUAGE_CODES[settings.get("language_codes", "m2m100")]
    return [f"__{code}__" for code in codes]


@FAMILIES.register("mbart")
def _mbart(folder: Path, config: dict[str, Any], name: str) -> Family:
    tokens = _json_tokens(folder / TOKENIZER)
    limit = count(config, folder / CONFIG, POSITIONS)
    family = _tagged("mbart50", tokens, MBART50_TAG, limit, TOKENIZER)
    if "af" not in family.languages.all:  # a language that mBART-25 does not have
        raise ModelError(f"{folder} is an mBART with 25 languages; only mBART-50 is supported")
    return family


@FAMILIES.register("t5")
def _t5(folder: Path, config: dict[str, Any], name: str) -> Family:
    tokens = _json_tokens(folder / TOKENIZER)
    return _tagged("madlad", tokens, MADLAD_TAG, UNLIMITED, TOKENIZER)


@FAMILIES.register("marian")
def _marian(folder: Path, config: dict[str, Any], name: str) -> Family:
    """A bilingual model states its languages in its name; one with several targets has tags."""
    tokens = _read_vocabulary(folder / "vocab.json")
    settings = _read_optional(folder / "tokenizer_config.json")
    tags = {match[1]: token for token in tokens if (match := MARIAN_TAG.fullmatch(token))}
    pair = MARIAN_NAME.search(name)
    source = settings.get("source_lang") or (pair[1] if pair else None)
    target = settings.get("target_lang") or (pair[2] if pair else None)
    if source is None or (target is None and not tags):
        raise ModelError(
            f"{folder} does not state its languages", cure="use {name:opus-mt-SOURCE-TARGET}"
        )
    targets = tags if len(tags) > 1 else {str(target): next(iter(tags.values()), "")}
    return Family(
        dialect="marian",
        tokens=tokens,
        languages=with_aliases({str(source): ""}, targets),
        max_length=count(config, folder / CONFIG, POSITIONS),
        source_tokenizer=_first_file(folder, "source.spm"),
        target_tokenizer=_first_file(folder, "target.spm"),
    )


def _tagged(
    dialect: str, tokens: Sequence[str], tag: re.Pattern[str], limit: int, tokenizer: str
) -> Family:
    tags = {match[1]: token for token in tokens if (match := tag.fullmatch(token))}
    if not tags:
        raise ModelError(f"the vocabulary has no language tags of the dialect {dialect}")
    languages = with_aliases(tags, tags)
    return Family(dialect, list(tokens), languages, limit, tokenizer, tokenizer)


def with_aliases(source: dict[str, str], target: dict[str, str]) -> LanguageSet:
    """Add alternative ISO 639 codes of the languages; a code may stand for several languages.

    >>> tags = {code: code for code in ("eng_Latn", "zho_Hans", "zho_Hant", "arb_Arab")}
    >>> languages = with_aliases(tags, tags)
    >>> languages.resolve("en"), languages.resolve("eng"), languages.resolve("ar")
    ('eng_Latn', 'eng_Latn', 'arb_Arab')
    >>> languages.aliases["zh"]
    ('zho_Hans', 'zho_Hant')
    """
    from langcodes import Language, standardize_tag

    codes = {**source, **target}
    aliases: dict[str, list[str]] = {}
    for code in codes:
        language = code.split("_")[0]
        short = standardize_tag(language)
        names = {language, short, standardize_tag(language, macro=True)}
        with suppress(LookupError):  # a code without a three-letter form
            names.add(Language.get(short).to_alpha3())
        for name in names - set(codes):
            aliases.setdefault(name, []).append(code)
    return LanguageSet(source, target, {name: tuple(each) for name, each in aliases.items()})


def _read_optional(file: Path) -> dict[str, Any]:
    return read_object(file) if file.is_file() else {}


def _read_vocabulary(file: Path) -> list[str]:
    if not file.is_file():
        raise ModelError(f"{file.parent} has no {file.name}: it cannot be converted")
    ids = read_object(file)
    if not all(isinstance(id_, int) for id_ in ids.values()):
        raise ModelError(f"{file} is not a vocabulary: not every token has an id")
    return _by_id(ids)


def _first_file(folder: Path, *names: str) -> str:
    for name in names:
        if (folder / name).is_file():
            return name
    raise ModelError(f"{folder} has no SentencePiece model ({' or '.join(names)})")


def _by_id(ids: dict[str, int]) -> list[str]:
    return sorted(ids, key=ids.__getitem__)


def _json_tokens(file: Path) -> list[str]:
    if not file.is_file():
        raise ModelError(f"{file.parent} has no {file.name}; save it with a fast tokenizer")
    return _by_id(open_tokenizer_json(file).get_vocab(with_added_tokens=True))


def _sentencepiece_tokens(file: Path) -> list[str]:
    processor = open_sentencepiece(file)
    return [str(processor.id_to_piece(id_)) for id_ in range(processor.get_piece_size())]
