"""Languages that are not given: identified where a model needs them, printed, and signed so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from tertium.cli.commands import flags
from tertium.cli.groups import LanguageOptions, say
from tertium.data.lines import STDIN
from tertium.data.nbest import CandidateLists
from tertium.data.pairs import Languages
from tertium.jobs.task import Input
from tertium.measures.loading import MeasureSpec, ModelPool, ModelSettings, outline
from tertium.measures.registry import parts_of
from tertium.measures.translation import TranslationMeasure
from tertium.models.guess import (
    LANGUAGE_OF,
    TEXTS_READ,
    AssumedLanguages,
    assume_language,
    assumed_languages,
)
from tertium.models.languages import LanguageSet
from tertium.text import Row

PLURAL = {"hypothesis": "hypotheses", "reference": "references", "source": "sources"}


def assume(
    inputs: Sequence[Input], roles: Iterable[str], languages: LanguageSet, *, quiet: bool = False
) -> tuple[list[Input], dict[str, str]]:
    """Fill in the languages of those roles, as the rows of the first input tell them."""
    first = inputs[0].source
    if isinstance(first, CandidateLists) or STDIN in first.paths:  # which can be read only once
        return list(inputs), {}
    found = assumed_languages(first, roles, languages)
    if not found:
        return list(inputs), {}
    tell(found, quiet=quiet)
    return [replace(each, source=AssumedLanguages(each.source, found)) for each in inputs], found


def signed(found: Iterable[str]) -> list[str]:
    """The fields of a signature that have the languages of some roles."""
    return [LANGUAGE_OF[role] for role in found]


def tell(found: Mapping[str, str], *, quiet: bool = False) -> None:
    """Say which languages were assumed."""
    if found and not quiet:
        listed = ", ".join(f"{PLURAL[role]} {lang}" for role, lang in found.items())
        options = flags(LANGUAGE_OF[role] for role in found)
        say(f"assumed languages: {listed} (identified; to choose others, use {options})")


def assume_for_measures(
    inputs: Sequence[Input],
    specs: Sequence[MeasureSpec],
    models: ModelSettings,
    options: LanguageOptions,
    *,
    quiet: bool,
) -> tuple[list[Input], dict[str, str]]:
    """Fill in the languages that measures cannot do without."""
    needed = None if all(vars(options.languages).values()) else needed_by(specs, models)
    if needed is None:
        return list(inputs), {}
    roles, languages = needed
    return assume(inputs, roles, languages, quiet=quiet)


def assume_for_lists(
    lists: CandidateLists,
    specs: Sequence[MeasureSpec],
    models: ModelSettings,
    given: Languages,
    *,
    quiet: bool,
) -> Languages:
    """The languages of candidates and sources, where measures cannot do without them."""
    needed = None if given.hyp and given.src else needed_by(specs, models)
    if needed is None or STDIN in lists.paths:  # which can be read only once
        return given
    roles, languages = needed
    rows = [
        Row(each.number, candidate, (), each.source)
        for each in islice(lists, TEXTS_READ)
        for candidate in each.candidates[:1]
    ]
    # candidates take the place of references
    wanted = ["source" if role == "source" else "hypothesis" for role in roles]
    found = assumed_languages(rows, dict.fromkeys(wanted), languages)
    tell(found, quiet=quiet)
    hyp, src = found.get("hypothesis", given.hyp), found.get("source", given.src)
    return Languages(hyp=hyp, ref=given.ref or hyp, src=src)


def needed_by(
    specs: Sequence[MeasureSpec], models: ModelSettings
) -> tuple[list[str], LanguageSet] | None:
    """The roles whose languages a measure cannot do without, and those of its model."""
    pool = ModelPool(models)
    for spec in specs:
        if roles := needed_roles(spec, pool):
            return roles, pool("translation", spec.model).languages
    return None


def needed_roles(spec: MeasureSpec, pool: ModelPool) -> list[str]:
    """The roles whose languages a measure cannot do without."""
    for part in parts_of(spec.measure):
        measure = outline(replace(spec, measure=part))
        if isinstance(measure, TranslationMeasure):
            always = pool("translation", spec.model).needs_source_language
            hypothesis, other = (needed or always for needed in measure.targets())
            return ["hypothesis"] * hypothesis + [measure.against] * other
    return []


def language_of(texts: Iterable[str], languages: LanguageSet, *, quiet: bool, role: str) -> str:
    """The language of some texts; says which one is assumed."""
    found = assume_language(texts, languages, role)
    if not quiet:
        say(f"assumed language: {found} (identified; to choose another, use --lang)")
    return found
