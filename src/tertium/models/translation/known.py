"""Public models by the names that people know them by."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownModel:
    """Where a model is published, and what there is to know before it is fetched."""

    name: str
    hub_id: str
    dialect: str
    languages: str
    parameters: str
    licence: str


KNOWN = {
    model.name: model
    for model in (
        KnownModel("m2m100_418M", "facebook/m2m100_418M", "m2m100", "100", "484M", "MIT"),
        KnownModel("m2m100_1.2B", "facebook/m2m100_1.2B", "m2m100", "100", "1.2B", "MIT"),
        KnownModel("small100", "alirezamsh/small100", "small100", "100", "330M", "MIT"),
        KnownModel(
            "nllb-200-distilled-600M",
            "facebook/nllb-200-distilled-600M",
            "nllb",
            "200",
            "600M",
            "CC-BY-NC-4.0",
        ),
        KnownModel(
            "nllb-200-distilled-1.3B",
            "facebook/nllb-200-distilled-1.3B",
            "nllb",
            "200",
            "1.3B",
            "CC-BY-NC-4.0",
        ),
        KnownModel(
            "nllb-200-3.3B", "facebook/nllb-200-3.3B", "nllb", "200", "3.3B", "CC-BY-NC-4.0"
        ),
        KnownModel(
            "mbart-large-50-many-to-many-mmt",
            "facebook/mbart-large-50-many-to-many-mmt",
            "mbart50",
            "50",
            "611M",
            "not stated",
        ),
        KnownModel(
            "madlad400-3b-mt", "google/madlad400-3b-mt", "madlad", "400", "3B", "Apache-2.0"
        ),
    )
}
OPUS = re.compile(r"opus-mt-(?:tc-big-)?[a-zA-Z_]+-[a-zA-Z_]+")


def known_model(name: str) -> KnownModel | None:
    """Look up a name; every ``opus-mt-SOURCE-TARGET`` is one of Helsinki's.

    >>> known_model("small100").hub_id, known_model("opus-mt-en-de").hub_id
    ('alirezamsh/small100', 'Helsinki-NLP/opus-mt-en-de')
    """
    if name in KNOWN:
        return KNOWN[name]
    if OPUS.fullmatch(name):
        return KnownModel(
            name, f"Helsinki-NLP/{name}", "marian", "its name", "77M", "see its page on the hub"
        )
    return None
