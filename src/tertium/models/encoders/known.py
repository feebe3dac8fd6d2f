"""Public encoders by the names that people know them by."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownEncoder:
    """Where an encoder is published, and what there is to know before it is fetched."""

    name: str
    hub_id: str
    languages: str
    parameters: str
    licence: str
    layers: int
    layer: int | None = None
    """The layer whose token vectors agree best with people; None for the last one."""
    prefix: str = ""
    """What it was trained to read before a text."""


SENTENCE_TRANSFORMERS = "sentence-transformers"
E5_PREFIX = "query: "

# The layers are those of the bert-score package, 0.3.13 (model2layers), which chose each by its
# correlation with human judgements of WMT16. Models for sentences are taken whole.
KNOWN_ENCODERS = {
    encoder.name: encoder
    for encoder in (
        KnownEncoder(
            "xlm-roberta-large", "FacebookAI/xlm-roberta-large", "100", "560M", "MIT", 24, 17
        ),
        KnownEncoder(
            "xlm-roberta-base", "FacebookAI/xlm-roberta-base", "100", "278M", "MIT", 12, 9
        ),
        KnownEncoder("roberta-large", "FacebookAI/roberta-large", "en", "355M", "MIT", 24, 17),
        KnownEncoder("roberta-base", "FacebookAI/roberta-base", "en", "125M", "MIT", 12, 10),
        KnownEncoder(
            "bert-base-multilingual-cased",
            "google-bert/bert-base-multilingual-cased",
            "104",
            "178M",
            "Apache-2.0",
            12,
            9,
        ),
        KnownEncoder(
            "bert-base-uncased", "google-bert/bert-base-uncased", "en", "110M", "Apache-2.0", 12, 9
        ),
        KnownEncoder(
            "bert-large-uncased",
            "google-bert/bert-large-uncased",
            "en",
            "336M",
            "Apache-2.0",
            24,
            18,
        ),
        KnownEncoder(
            "distilbert-base-multilingual-cased",
            "distilbert/distilbert-base-multilingual-cased",
            "104",
            "135M",
            "Apache-2.0",
            6,
            5,
        ),
        KnownEncoder(
            "paraphrase-xlm-r-multilingual-v1",
            f"{SENTENCE_TRANSFORMERS}/paraphrase-xlm-r-multilingual-v1",
            "50",
            "278M",
            "Apache-2.0",
            12,
        ),
        KnownEncoder(
            "xlm-r-bert-base-nli-stsb-mean-tokens",
            f"{SENTENCE_TRANSFORMERS}/xlm-r-bert-base-nli-stsb-mean-tokens",
            "50",
            "278M",
            "Apache-2.0",
            12,
        ),
        KnownEncoder(
            "all-MiniLM-L6-v2",
            f"{SENTENCE_TRANSFORMERS}/all-MiniLM-L6-v2",
            "en",
            "23M",
            "Apache-2.0",
            6,
        ),
        KnownEncoder("LaBSE", f"{SENTENCE_TRANSFORMERS}/LaBSE", "109", "471M", "Apache-2.0", 12),
        KnownEncoder(
            "multilingual-e5-small",
            "intfloat/multilingual-e5-small",
            "100",
            "118M",
            "MIT",
            12,
            prefix=E5_PREFIX,
        ),
        KnownEncoder(
            "multilingual-e5-base",
            "intfloat/multilingual-e5-base",
            "100",
            "278M",
            "MIT",
            12,
            prefix=E5_PREFIX,
        ),
        KnownEncoder(
            "multilingual-e5-large",
            "intfloat/multilingual-e5-large",
            "100",
            "560M",
            "MIT",
            24,
            prefix=E5_PREFIX,
        ),
    )
}
