"""The tasks of paraphrase identification, read from plain files or published datasets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import cast

from tertium.data.datasets import paraphraser, pawsx, turku
from tertium.data.datasets.base import DATASETS, Dataset, LabelledPair, check_labels
from tertium.data.datasets.plain import read_pairs
from tertium.errors import InputError

PLAIN = re.compile(r"(?P<lang>[^.]+)\.(?P<split>dev|test)\.tsv(\.gz|\.xz|\.bz2)?")
PAWSX = "pawsx"
HUB = "hub"
NOT_MONOLINGUAL = ("en", "ko")
"""Left out of PAWS-X in table 1 of the paper: English (a part of it is machine-translated), and
Korean, which Prism does not support. Both are read on request."""


@dataclass(frozen=True)
class Task:
    """A dataset in one language, or across two: a test set and perhaps a validation set."""

    name: str
    group: str
    """Tasks of a group are averaged before the average over groups is taken."""
    langs: tuple[str, str]
    test: Sequence[LabelledPair]
    validation: Sequence[LabelledPair] = ()

    @property
    def heading(self) -> str:
        """The heading in tables: with accuracy, or with AUC if there is no validation set.

        >>> Task("turku-sv", "turku-sv", ("sv", "sv"), []).heading
        'turku-sv AUC'
        """
        return f"{self.name} {'Acc.' if self.validation else 'AUC'}"

    @property
    def size(self) -> int:
        return len(self.test) + len(self.validation)

    def limited(self, count: int | None) -> Task:
        """The first pairs of each set, for a quick trial."""
        if count is None:
            return self
        return replace(self, test=first(self.test, count), validation=first(self.validation, count))


def first(pairs: Sequence[LabelledPair], count: int) -> Sequence[LabelledPair]:
    """The first ``count`` pairs, in order, with the classes in proportion."""
    positive = sum(pair.label for pair in pairs)
    if count >= len(pairs) or positive in (0, len(pairs)):
        return pairs[:count]
    share = min(max(round(count * positive / len(pairs)), 1), max(count - 1, 1))
    left = {True: share, False: max(count - share, 1)}
    kept = []
    for pair in pairs:
        if left[pair.label]:
            left[pair.label] -= 1
            kept.append(pair)
    return kept


Langs = Sequence[str] | None
Source = Path | None
"""A folder, or None for the hub."""


def read_tasks(name: str, source: Source, langs: Langs = None) -> list[Task]:
    """Read a dataset: one of the paper, or a folder with LANG.test.tsv and LANG.dev.tsv."""
    if source is not None and not source.is_dir():
        raise InputError(f"{name}: the folder {source} does not exist")
    if name in OF_THE_PAPER and (reader := OF_THE_PAPER[name]) is not None:
        return reader(source, langs)
    pairs = {} if source is None else _plain(source, langs)
    if not pairs:
        return _registered(name, source, langs)
    return [
        Task(f"{name}-{lang}", name, (lang, lang), splits["test"], splits.get("dev", []))
        for lang, splits in pairs.items()
        if "test" in splits
    ]


def _registered(name: str, source: Source, langs: Langs) -> list[Task]:
    """Read a dataset of the registry: its test set, and its validation set if there is one."""
    found = Dataset.named_by(name, LabelledPair)
    if found is None or (source is None and not found.hub_id):
        where = (
            f"{name} cannot be downloaded"
            if source is None
            else (f"{source} has no LANG.test.tsv with the columns sentence1, sentence2 and label")
        )
        raise InputError(
            f"{where}; the datasets with labelled pairs are {', '.join(known_datasets())}"
        )
    split = {"split": "test"} if "test" in found.splits else {}
    test = found.read_languages(source, langs, **split)
    dev = found.read_languages(source, list(test), split="dev") if "dev" in found.splits else {}
    alone = len(found.languages) == 1
    return [
        Task(
            name if alone else f"{name}-{lang}",
            name,
            (lang, lang),
            cast("Sequence[LabelledPair]", pairs),
            cast("Sequence[LabelledPair]", dev.get(lang, ())),
        )
        for lang, pairs in test.items()
    ]


def read_crosslingual(source: Source, langs: Langs = None) -> list[Task]:
    """Join the languages of PAWS-X, each with each (section 4.6): 15 pairs of the paper's six."""
    splits = _pawsx(source, langs)
    if langs is None:
        splits.pop("ko", None)
    return [
        Task(
            f"{first}+{second}",
            "pawsx+",
            (first, second),
            pawsx.across(splits[first]["test"], splits[second]["test"]),
            pawsx.across(splits[first]["dev"], splits[second]["dev"]),
        )
        for first, second in combinations(splits, 2)
    ]


def _read_pawsx(source: Source, langs: Langs) -> list[Task]:
    return [
        Task(f"{PAWSX}-{lang}", PAWSX, (lang, lang), splits["test"], splits["dev"])
        for lang, splits in _pawsx(source, langs).items()
        if langs is not None or lang not in NOT_MONOLINGUAL
    ]


def _pawsx(source: Source, langs: Langs) -> dict[str, dict[str, list[LabelledPair]]]:
    found = {} if source is None else _plain(source, langs)
    for lang, splits in found.items():
        for split, pairs in splits.items():
            paper = pawsx.PAPER.get((lang, split))
            check_labels(f"PAWS-X {lang} {split}", pairs, paper)
    if not found:
        folder = (
            source if source is None or not (source / "x-final").is_dir() else source / "x-final"
        )
        there = [lang for lang in pawsx.LANGUAGES if folder is None or (folder / lang).is_dir()]
        wanted = [lang for lang in there if langs is None or lang in langs]
        found = {
            lang: {
                "dev": pawsx.read_pawsx(lang, "dev", folder=folder),
                "test": pawsx.read_pawsx(lang, "test", folder=folder),
            }
            for lang in wanted
        }
    if not found:
        raise InputError(f"{source or HUB} has no PAWS-X in {', '.join(langs or ['any language'])}")
    order = {lang: place for place, lang in enumerate(pawsx.LANGUAGES)}
    return dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order))))


def _read_paraphraser(source: Source, langs: Langs) -> list[Task]:
    if langs is not None and "ru" not in langs:
        return []
    if source is None:
        raise InputError("paraphraser is not on the hub; give a folder with paraphrases_gold.xml")
    plain = _plain(source, ["ru"]).get("ru", {})
    if "test" in plain:
        pairs = plain["test"]
        check_labels("ParaPhraser test", pairs, paraphraser.PAPER["test"])
    elif (source / paraphraser.FILES["test"]).exists():
        pairs = paraphraser.read_paraphraser("test", folder=source)
    else:
        raise InputError(f"{source} has neither {paraphraser.FILES['test']} nor ru.test.tsv")
    return [Task("paraphraser", "paraphraser", ("ru", "ru"), pairs)]


def _read_turku(source: Source, langs: Langs) -> list[Task]:
    """Finnish and Swedish as separate tasks, without validation as in the paper."""
    found = {} if source is None else _plain(source, langs)
    tasks = []
    for lang in ("fi", "sv"):
        if langs is not None and lang not in langs:
            continue
        if found:
            pairs = found.get(lang, {}).get("test", [])
            if pairs:
                check_labels(f"Turku {lang} test", pairs, turku.PAPER[(lang, "test")])
        elif source is None or (source / turku.FOLDERS[lang]).is_dir():
            if source is None and lang == "sv":
                continue  # not on the hub
            pairs = turku.read_turku(lang, "test", folder=source)
        else:
            continue
        if pairs:
            tasks.append(Task(f"turku-{lang}", f"turku-{lang}", (lang, lang), pairs))
    return tasks


OF_THE_PAPER: Mapping[str, Callable[[Source, Langs], list[Task]] | None] = {
    "mrpc": None,
    "paraphraser": _read_paraphraser,
    "turku": _read_turku,
    PAWSX: _read_pawsx,
}
"""The datasets of the NMTScore paper, in the order of its tables; None: nothing is special."""


def known_datasets() -> list[str]:
    """The datasets with labelled pairs: first those of the paper, then those of the registry."""
    others = [name for name, each in DATASETS.items() if each.records is LabelledPair]
    return list(dict.fromkeys([*OF_THE_PAPER, *others]))


def _plain(folder: Path, langs: Langs) -> dict[str, dict[str, list[LabelledPair]]]:
    """Read every LANG.dev.tsv and LANG.test.tsv of a folder."""
    found: dict[str, dict[str, list[LabelledPair]]] = {}
    for path in sorted(folder.iterdir()):
        match = PLAIN.fullmatch(path.name)
        if match and (langs is None or match["lang"] in langs):
            pairs = read_pairs(path, lang=match["lang"])
            found.setdefault(match["lang"], {})[match["split"]] = pairs
    return found
