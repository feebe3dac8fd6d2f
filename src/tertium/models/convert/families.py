"""Which family a Hugging Face folder belongs to, and what its vocabulary and languages are.

Used when models are converted. What is found here goes into ``tertium.json``, so that nothing of
it has to be found again when a model is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tertium.errors import ModelError
from tertium.models.convert.published import (
    CONFIG,
    count,
    open_pieces,
    open_tokenizer_json,
    read_config_file,
    read_object,
)
from tertium.models.languages import LanguageSet

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
"""Where a model has relative positions, texts are cut here all the same: for memory's sake."""


@dataclass(frozen=True)
class Family:
    """What conversion has to know of a folder."""

    dialect: str
    tokens: list[str]
    """The vocabulary, by number; shorter than the model's where the rest is made up."""
    languages: LanguageSet
    max_length: int
    source_tokenizer: str
    target_tokenizer: str
    early_stopping: bool = False
    """Whether beam search ends as soon as as many translations have ended as the beam is wide."""


def recognise(folder: Path, *, dialect: str | None = None, name: str | None = None) -> Family:
    """Find out what a folder is; ``dialect`` settles what its files leave open."""
    config = read_config_file(folder)
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in READERS:
        raise ModelError(
            f"{folder}: translation models of type {kind!r} are none that Tertium knows "
            f"({', '.join(sorted(READERS))})"
        )
    found = READERS[kind](folder, config, name or folder.name)
    for tokenizer in {found.source_tokenizer, found.target_tokenizer} - {TOKENIZER}:
        open_pieces(folder / tokenizer)
    search = {**config, **_read_optional(folder / "generation_config.json")}
    found = replace(found, early_stopping=search.get("early_stopping") is True)
    if dialect is None or dialect == found.dialect:
        return found
    if {dialect, found.dialect} == {"m2m100", "small100"}:  # the same files, another frame
        return replace(found, dialect=dialect)
    raise ModelError(f"{folder} speaks {found.dialect}, not {dialect}")


def _m2m100(folder: Path, config: dict[str, Any], name: str) -> Family:
    limit = count(config, folder / CONFIG, POSITIONS)
    settings = _read_optional(folder / "tokenizer_config.json")
    if (folder / "vocab.json").is_file():
        pieces = _first_file(folder, *SENTENCEPIECE_FILES)
        tokens = _read_vocabulary(folder / "vocab.json")
        tokens += _m2m100_tags(folder, settings)
        small = "SMALL100" in str(settings.get("tokenizer_class", "")).upper() or (
            (folder / "tokenization_small100.py").is_file()
        )
        dialect = "small100" if small else "m2m100"
        return _tagged(dialect, tokens, M2M100_TAG, limit, pieces)
    if (folder / TOKENIZER).is_file():
        tokens = _json_tokens(folder / TOKENIZER)
        return _tagged("nllb", tokens, FLORES_TAG, limit, TOKENIZER)
    pieces = _first_file(folder, *SENTENCEPIECE_FILES)
    return _tagged("prism", _sentencepiece_tokens(folder / pieces), M2M100_TAG, limit, pieces)


def _m2m100_tags(folder: Path, settings: dict[str, Any]) -> list[str]:
    """The tags that follow ``vocab.json``: as stated, or the hundred of the M2M100 release."""
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


def _mbart(folder: Path, config: dict[str, Any], name: str) -> Family:
    tokens = _json_tokens(folder / TOKENIZER)
    limit = count(config, folder / CONFIG, POSITIONS)
    family = _tagged("mbart50", tokens, MBART50_TAG, limit, TOKENIZER)
    if "af" not in family.languages.all:  # one of the languages that mBART-25 does not have
        raise ModelError(f"{folder} is an mBART of 25 languages; only mBART-50 can be converted")
    return family


def _t5(folder: Path, config: dict[str, Any], name: str) -> Family:
    tokens = _json_tokens(folder / TOKENIZER)
    return _tagged("madlad", tokens, MADLAD_TAG, UNLIMITED, TOKENIZER)


def _marian(folder: Path, config: dict[str, Any], name: str) -> Family:
    """A bilingual model is named by its folder; one with several targets has tags."""
    tokens = _read_vocabulary(folder / "vocab.json")
    settings = _read_optional(folder / "tokenizer_config.json")
    tags = {found[1]: token for token in tokens if (found := MARIAN_TAG.fullmatch(token))}
    pair = MARIAN_NAME.search(name)
    source = settings.get("source_lang") or (pair[1] if pair else None)
    target = settings.get("target_lang") or (pair[2] if pair else None)
    if source is None or (target is None and not tags):
        raise ModelError(
            f"{folder} does not say which languages it translates; "
            "name it opus-mt-SOURCE-TARGET (--name)"
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


READERS: dict[str, Callable[[Path, dict[str, Any], str], Family]] = {
    "m2m_100": _m2m100,
    "mbart": _mbart,
    "marian": _marian,
    "t5": _t5,
}


def _tagged(
    dialect: str, tokens: Sequence[str], tag: re.Pattern[str], limit: int, tokenizer: str
) -> Family:
    tags = {found[1]: token for token in tokens if (found := tag.fullmatch(token))}
    if not tags:
        raise ModelError(f"the vocabulary has no language tags of the kind that {dialect} has")
    return Family(dialect, list(tokens), with_aliases(tags, tags), limit, tokenizer, tokenizer)


def with_aliases(source: dict[str, str], target: dict[str, str]) -> LanguageSet:
    """Add the other ISO 639 names of the languages; one name may stand for several languages.

    >>> tags = {code: code for code in ("eng_Latn", "zho_Hans", "zho_Hant", "arb_Arab")}
    >>> found = with_aliases(tags, tags)
    >>> found.resolve("en"), found.resolve("eng"), found.resolve("ar"), found.aliases["zh"]
    ('eng_Latn', 'eng_Latn', 'arb_Arab', ('zho_Hans', 'zho_Hant'))
    """
    from langcodes import Language, standardize_tag

    codes = {**source, **target}
    aliases: dict[str, list[str]] = {}
    for code in codes:
        language = code.split("_")[0]
        short = standardize_tag(language)
        names = {language, short, standardize_tag(language, macro=True)}
        with suppress(LookupError):  # a code with no three-letter form
            names.add(Language.get(short).to_alpha3())
        for name in names - set(codes):
            aliases.setdefault(name, []).append(code)
    return LanguageSet(source, target, {name: tuple(found) for name, found in aliases.items()})


def _read_optional(file: Path) -> dict[str, Any]:
    return read_object(file) if file.is_file() else {}


def _read_vocabulary(file: Path) -> list[str]:
    if not file.is_file():
        raise ModelError(f"{file.parent} has no {file.name}: it is no model that can be converted")
    ids = read_object(file)
    if not all(isinstance(id_, int) for id_ in ids.values()):
        raise ModelError(f"{file} is no vocabulary: not every piece has a number")
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
    processor = open_pieces(file)
    return [str(processor.id_to_piece(id_)) for id_ in range(processor.get_piece_size())]
