"""Record types of datasets, and the registry of datasets.

A dataset is a function that reads it, decorated with :func:`dataset`. Every module of this package
is imported when datasets are looked up or listed; plug-ins use the entry point group
``tertium.datasets``, whose entry points name such a decorated function.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from tertium.errors import DataWarning, InputError, MissingFileError, SettingError
from tertium.registry import Extra, Registry, check_extras, origin_of
from tertium.text import Text


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts, and whether they are paraphrases (or translations) of each other."""

    id: str
    a: Text
    b: Text
    label: bool


@dataclass(frozen=True, slots=True)
class JudgedSegment:
    """A system's output for one input, and its human score; higher is better."""

    id: str
    hypothesis: Text
    references: tuple[Text, ...] = ()
    source: Text | None = None
    system: str = ""
    score: float | None = None
    """None if it was not judged."""
    document: str = ""
    domain: str = ""

    @property
    def lang_pair(self) -> str:
        """Source and target language.

        >>> JudgedSegment("1", Text("Hi.", "en"), source=Text("Hallo.", "de")).lang_pair
        'de-en'
        """
        source = self.source.lang if self.source else None
        return f"{source or '?'}-{self.hypothesis.lang or '?'}"


@dataclass(frozen=True, slots=True)
class RankedPair:
    """A relative judgement (daRR): for this input, one system is better than another."""

    lang_pair: str
    segment: str
    better: str
    worse: str


@dataclass(frozen=True, slots=True)
class ParaphraseSet:
    """Sentences of one language with the same meaning."""

    id: str
    lang: str
    sentences: tuple[str, ...]


DatasetRecord = LabelledPair | JudgedSegment | RankedPair | ParaphraseSet
KINDS: dict[type[DatasetRecord], str] = {
    LabelledPair: "labelled pairs",
    JudgedSegment: "judged outputs",
    RankedPair: "rankings",
    ParaphraseSet: "paraphrase sets",
}
PATH_PARAMETERS = ("folder", "path")
LANGUAGE_PARAMETERS = ("lang", "lang_pair")


@dataclass(frozen=True)
class Dataset:
    """A dataset that can be read by its name."""

    name: str
    records: type[DatasetRecord]
    description: str
    origin: str
    """Where it was published."""
    licence: str
    layout: str
    """The files that a folder must contain."""
    languages: tuple[str, ...]
    """Languages or language pairs; empty if it depends on the files."""
    hub_id: str
    """The repository on the Hugging Face hub; empty if it is not there."""
    reader: Callable[..., Sequence[DatasetRecord]]
    requires: tuple[Extra, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of its records, for people."""
        return KINDS[self.records]

    def read(
        self,
        path: Path | None = None,
        *,
        lang: str | None = None,
        split: str | None = None,
        offline: bool = False,
        **settings: object,
    ) -> Sequence[DatasetRecord]:
        """Read it; ``lang`` is a language or a language pair, and ``path`` None means the hub.

        ``settings`` are those arguments of the reader that only this dataset has.
        """
        check_extras(f"dataset {self.name!r}", self.requires)
        parameters = self._parameters
        arguments: dict[str, object] = dict(settings)
        if split is not None and self.splits and split not in self.splits:
            splits = ", ".join(self.splits)
            raise SettingError(f"dataset {self.name!r} has no split {split!r}; it has {splits}")
        given = {PATH_PARAMETERS: path, LANGUAGE_PARAMETERS: lang, ("split",): split}
        for names, value in given.items():
            name = next((each for each in names if each in parameters), None)
            if name is not None and value is not None:
                arguments[name] = value
            elif name is not None and parameters[name].default is inspect.Parameter.empty:
                needed, cure = self._needed(name)
                raise SettingError(f"dataset {self.name!r} needs {needed}", cure=cure)
            elif name is None and value is not None:
                raise SettingError(f"dataset {self.name!r} has no {names[0]}")
        if offline and "offline" in parameters:
            arguments["offline"] = True
        for name in settings:
            if name not in self.settings():
                available = ", ".join(self.settings()) or "none"
                raise SettingError(
                    f"dataset {self.name!r} has no setting {name!r}; its settings: {available}"
                )
        for name, default in self.settings().items():
            if default is inspect.Parameter.empty and name not in settings:
                raise SettingError(
                    f"dataset {self.name!r} needs the setting {name}",
                    cure=f"give it with {{settings:{name}=VALUE}}",
                )
        return self.reader(**arguments)

    @classmethod
    def named_by(cls, name: str, records: type[DatasetRecord]) -> Dataset | None:
        """The dataset with such records that a name begins with, such as ``stsb`` or ``stsb-es``.

        Of several, the one with the longest name.
        """
        names = [each for each in DATASETS.names() if name.startswith(each)]
        found = (DATASETS.get(each) for each in sorted(names, key=len, reverse=True))
        return next((each for each in found if each.records is records), None)

    def read_languages(
        self, path: Path | None, langs: Sequence[str] | None, **settings: Any
    ) -> dict[str, Sequence[DatasetRecord]]:
        """Read some of its languages or, without ``langs``, all that the folder has."""
        if not any(name in LANGUAGE_PARAMETERS for name in self._parameters):
            [lang] = self.languages or ("",)
            wanted = langs is None or not lang or lang in langs
            return {lang: self.read(path, **settings)} if wanted else {}
        if langs is None and not self.languages:
            raise InputError(
                f"which languages of {self.name}?", cure="use {langs:de-en,fi-en}, for example"
            )
        found: dict[str, Sequence[DatasetRecord]] = {}
        missing: MissingFileError | None = None
        for lang in langs or self.languages:
            try:
                found[lang] = self.read(path, lang=lang, **settings)
            except MissingFileError as error:
                if langs is not None:
                    raise
                missing = missing or error
        if not found and missing is not None:
            raise missing
        return found

    @property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.reader).parameters

    @property
    def splits(self) -> tuple[str, ...]:
        """Its splits, as the type of the reader's parameter lists them."""
        return get_args(get_type_hints(self.reader).get("split"))

    def settings(self) -> dict[str, object]:
        """The arguments that only this dataset has, with their defaults."""
        common = (*PATH_PARAMETERS, *LANGUAGE_PARAMETERS, "split", "offline")
        return {
            name: parameter.default
            for name, parameter in self._parameters.items()
            if name not in common
        }

    def _needed(self, parameter: str) -> tuple[str, str]:
        """What a parameter is, and how to give it."""
        if parameter in PATH_PARAMETERS:
            return f"a {'folder' if parameter == 'folder' else 'file'} with {self.layout}", ""
        if parameter == "split":
            return f"a split: {', '.join(self.splits)}", "give {split}"
        examples = f", such as {', '.join(self.languages[:3])}" if self.languages else ""
        what = "a language" if parameter == "lang" else "a language pair"
        return f"{what}{examples}", "give {lang}"


DATASETS: Registry[Dataset] = Registry(
    "dataset",
    group="tertium.datasets",
    package="tertium.data.datasets",
    valid=lambda item: isinstance(item, Dataset),
)

Reader = TypeVar("Reader", bound=Callable[..., Sequence[Any]])


def dataset(
    name: str,
    records: type[DatasetRecord],
    description: str,
    *,
    origin: str,
    licence: str,
    layout: str,
    languages: Sequence[str] = (),
    hub_id: str = "",
    requires: tuple[Extra, ...] = (),
) -> Callable[[Reader], Reader]:
    """Register a function as the reader of a dataset.

    Its parameters may be ``lang`` (or ``lang_pair``), ``split``, ``folder`` (or ``path``),
    ``offline``, and settings of its own.
    """

    def decorate(reader: Reader) -> Reader:
        described = Dataset(
            name,
            records,
            description,
            origin,
            licence,
            layout,
            tuple(languages),
            hub_id,
            reader,
            requires,
        )
        DATASETS.add(name, described, origin_of(reader))
        return reader

    return decorate


def check_count(what: str, count: int, published: int | None) -> None:
    """Warn if a dataset does not have the published number of rows.

    >>> check_count("PAWS-X de test", 1968, 1968)
    """
    if published is not None and count != published:
        warnings.warn(
            f"{what}: {count} were read, {published} were published; results are comparable with "
            "papers only on the same rows",
            DataWarning,
            stacklevel=3,
        )


def check_labels(what: str, pairs: Sequence[LabelledPair], paper: tuple[int, int] | None) -> None:
    """Warn if the numbers of positive and negative pairs differ from those in the paper."""
    positive = sum(pair.label for pair in pairs)
    counts = (positive, len(pairs) - positive)
    if paper is not None and counts != paper:
        warnings.warn(
            f"{what}: {counts[0]} positive and {counts[1]} negative pairs were read, where the "
            f"NMTScore paper (table A3) has {paper[0]} and {paper[1]}",
            DataWarning,
            stacklevel=3,
        )
