"""TaPaCo: paraphrase sets from Tatoeba in 73 languages (Scherrer, 2020).

The release (tapaco_v1.0.zip) has ``LANG.txt``: tab-separated, with the set's id in the first column
and the sentence in the third.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tertium.data.datasets.base import ParaphraseSet, dataset
from tertium.data.datasets.reading import DOWNLOAD_AGAIN, hub_records, row_error
from tertium.data.lines import read_lines
from tertium.errors import InputError

HUB_ID = "community-datasets/tapaco"


@dataset(
    "tapaco",
    ParaphraseSet,
    "TaPaCo: paraphrase sets from Tatoeba in 73 languages",
    origin="https://zenodo.org/record/3707949",
    licence="CC BY 2.0",
    layout="LANG.txt",
    hub_id=HUB_ID,
)
def read_tapaco(
    lang: str, *, folder: Path | None = None, offline: bool = False
) -> list[ParaphraseSet]:
    """Read the sets of a language, in the order of the file."""
    sets: dict[str, list[str]] = {}
    for set_id, sentence in _hub(lang, offline) if folder is None else _released(folder, lang):
        sets.setdefault(set_id, []).append(sentence)
    return [ParaphraseSet(set_id, lang, tuple(sentences)) for set_id, sentences in sets.items()]


def _released(folder: Path, lang: str) -> Iterator[tuple[str, str]]:
    path = next(iter(sorted(folder.rglob(f"{lang}.txt"))), None)
    if path is None:
        raise InputError(f"{folder} has no {lang}.txt; unpack tapaco_v1.0.zip there")
    for row, line in enumerate(read_lines(path), start=1):
        fields = line.split("\t")
        if len(fields) < 3:
            raise row_error(path, row, f"{len(fields)} fields, not 3 or more", DOWNLOAD_AGAIN)
        yield fields[0], fields[2]


def _hub(lang: str, offline: bool) -> Iterator[tuple[str, str]]:
    for _, _, record in hub_records(HUB_ID, f"{lang}/train-*.parquet", offline=offline):
        yield record["paraphrase_set_id"], record["paraphrase"]
