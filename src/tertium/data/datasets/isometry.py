"""Translations of paraphrases, with the outputs of paraphrase detectors before and after.

The layout is that of Shankar (2020), https://github.com/atreyasha/semantic-isometry-nmt: a JSON
object of numbered pairs, each with ``sentence_original`` and ``sentence_paraphrase`` (``source``
and ``target``), and with ``DETECTOR_source`` and ``DETECTOR_target`` for each detector.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tertium.data.lines import open_bytes
from tertium.errors import InputError
from tertium.storage.atomic import write_text

ORIGINAL, PARAPHRASE = "sentence_original", "sentence_paraphrase"
SOURCE, TARGET = "source", "target"
SCORES = "_bar"
"""The suffix of chrF and BLEU scores, which the published files also contain."""

PACKED = ("", ".gz", ".xz", ".bz2")
PUBLISHED = {
    "torch_hub.transformer.wmt19.de-en.single_model": "FAIR WMT19",
    "local.transformer_vaswani_wmt_en_de_big.wmt16.de-en.1594228573.checkpoint_best": (
        "Scaling NMT WMT16"
    ),
    "wmt19.wmt.wmtp": "WMT19 Legacy",
    "wmt19.ar.arp": "WMT19 AR",
}
"""The published names of models and data sets, and those in the paper, in its order."""

TextPair = tuple[str, str]


@dataclass(frozen=True)
class Judged:
    """The probabilities of one detector for all pairs: before and after translation."""

    source: Sequence[float]
    target: Sequence[float]


@dataclass(frozen=True)
class Predictions:
    """One model on one dataset: the pairs, their translations, and the detectors' outputs."""

    model: str
    dataset: str
    sources: Sequence[TextPair]
    targets: Sequence[TextPair]
    judged: Mapping[str, Judged]
    """By detector."""
    langs: tuple[str, str] = ("de", "en")

    def __post_init__(self) -> None:
        sizes = {len(self.sources), len(self.targets)}
        for each in self.judged.values():
            sizes |= {len(each.source), len(each.target)}
        if len(sizes) > 1:
            raise InputError(
                f"{self.name}: texts and detector outputs differ in number: {sorted(sizes)}"
            )
        if not self.sources:
            raise InputError(f"{self.name}: no pairs")

    @property
    def name(self) -> str:
        """Its name in messages and tables.

        >>> Predictions("mini", "news", [("a", "b")], [("c", "d")], {}).name
        'mini, news'
        """
        return f"{self.model}, {self.dataset}"


def read_predictions(
    path: Path, *, model: str, dataset: str, langs: tuple[str, str] = ("de", "en")
) -> Predictions:
    """Read a file of predictions, compressed or not."""
    try:
        with open_bytes(path) as stream:
            content = json.load(stream)
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict) or not content:
        raise InputError(f"{path} is not a JSON object of numbered pairs")
    records = list(content.items())
    first = records[0][1]
    detectors = [
        key.removesuffix(f"_{SOURCE}")
        for key in (first if isinstance(first, dict) else {})
        if key.endswith(f"_{SOURCE}") and not key.endswith(f"{SCORES}_{SOURCE}")
    ]
    try:
        texts = {
            side: [(record[ORIGINAL][side], record[PARAPHRASE][side]) for _, record in records]
            for side in (SOURCE, TARGET)
        }
        judged = {
            name: Judged(
                *(
                    [_probability(record[f"{name}_{side}"]) for _, record in records]
                    for side in (SOURCE, TARGET)
                )
            )
            for name in detectors
        }
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} does not have the layout of predictions: {error!r}") from None
    return Predictions(model, dataset, texts[SOURCE], texts[TARGET], judged, langs)


def find_predictions(folder: Path) -> list[tuple[str, str, Path]]:
    """The files of a folder, with the names of their models and data sets.

    The folder has ``MODEL.DATASET.json``, as the study writes them, or, as published, a folder for
    each model with ``DATASET.json``. What the paper has a name for comes first, under that name.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder")
    found = []
    for path in sorted(folder.iterdir()):
        model, dot, dataset = _stem(path).rpartition(".")
        if path.is_file() and _stem(path) != path.name and dot:
            found.append((model, dataset, path))
    if not found:
        for path in sorted(folder.glob("*/*.json*")):
            if _stem(path) != path.name:
                found.append((path.parent.name, _stem(path), path))
    if not found:
        raise InputError(
            f"{folder} has no predictions: neither MODEL.DATASET.json nor MODEL/DATASET.json"
        )
    order = list(PUBLISHED)

    def rank(name: str) -> int:
        return order.index(name) if name in order else len(order)

    found.sort(key=lambda each: (rank(each[0]), each[0], rank(each[1]), each[1]))
    return [(PUBLISHED.get(model, model), PUBLISHED.get(name, name), p) for model, name, p in found]


def _stem(path: Path) -> str:
    """The name without .json and what it is compressed by; unchanged if it is another file.

    >>> _stem(Path("fair.ar.json.gz")), _stem(Path("table.csv"))
    ('fair.ar', 'table.csv')
    """
    stem, found, packed = path.name.rpartition(".json")
    return stem if found and packed in PACKED else path.name


def first_predictions(predictions: Predictions, count: int | None) -> Predictions:
    """Only the first pairs, for a quick trial."""
    if count is None:
        return predictions
    return replace(
        predictions,
        sources=predictions.sources[:count],
        targets=predictions.targets[:count],
        judged={
            name: Judged(each.source[:count], each.target[:count])
            for name, each in predictions.judged.items()
        },
    )


def write_predictions(path: Path, predictions: Predictions) -> None:
    """Write a file that :func:`read_predictions` can read."""
    content: dict[str, dict[str, Any]] = {}
    texts = zip(predictions.sources, predictions.targets, strict=True)
    for place, (sources, targets) in enumerate(texts):
        record: dict[str, Any] = {
            ORIGINAL: {SOURCE: sources[0], TARGET: targets[0]},
            PARAPHRASE: {SOURCE: sources[1], TARGET: targets[1]},
        }
        for name, each in predictions.judged.items():
            record[f"{name}_{SOURCE}"] = each.source[place]
            record[f"{name}_{TARGET}"] = each.target[place]
        content[str(place)] = record
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _probability(value: Any) -> float:
    probability = float(value)
    if not 0 <= probability <= 1:
        raise ValueError(f"{value} is not a probability")
    return probability
