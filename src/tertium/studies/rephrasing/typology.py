"""Typological features as one number per language, and their correlation with scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tertium.data.languages import language_name
from tertium.data.uriel import uriel_features
from tertium.errors import InputError
from tertium.stats.association import (
    Association,
    association,
    permutation_within,
    residuals,
    without_each_group,
)
from tertium.stats.components import first_component
from tertium.stats.conventions import SAMPLES
from tertium.stats.correlation import pearson

KNOWN = 0.25
"""The share of the features of a set that must be known for a language to be used."""
LISTED = 5
"""So many features are listed for each end of an axis."""
FEW = 4
"""With fewer languages, nothing is correlated."""


@dataclass(frozen=True)
class Families:
    """The family of each language, and the order of languages in tables and figures."""

    of: Mapping[str, str]

    @property
    def order(self) -> list[str]:
        """Families by number of languages, then by name."""
        names = sorted(set(self.of.values()))
        return sorted(names, key=lambda name: -list(self.of.values()).count(name))

    def sorted(self, langs: Sequence[str]) -> list[str]:
        """Languages by family, then by name."""
        places = {name: place for place, name in enumerate(self.order)}
        return sorted(langs, key=lambda lang: (places[self.of[lang]], language_name(lang), lang))


@dataclass(frozen=True)
class Axis:
    """A feature set, reduced to its first principal component over the languages of a study."""

    name: str
    scores: Mapping[str, float]
    """The value of each language; the sign is fixed, but arbitrary (see ``first_component``)."""
    absent: tuple[str, ...]
    """Languages that URIEL does not have in this set."""
    sparse: tuple[str, ...]
    """Languages with too few known features; they are left out as well."""
    features: int
    """How many features differ among the languages; the others are dropped."""
    missing: float
    """The share of missing values among these; they are replaced by the mean of the feature."""
    explained: float
    """The share of the variance that the component keeps."""
    loadings: tuple[tuple[str, float], ...] = ()
    """The features that differ, with their weights in the component; the largest first."""

    def end(self, sign: int, count: int = LISTED) -> tuple[tuple[str, float], ...]:
        """The features that most raise (1) or lower (-1) the value of a language."""
        return tuple(each for each in self.loadings if each[1] * sign > 0)[:count]


def feature_axis(name: str, langs: Sequence[str], *, known: float = KNOWN) -> Axis:
    """Look up a feature set in URIEL and reduce it to one dimension.

    >>> axis = feature_axis("syntax_average", ["deu", "eng", "jpn", "tur", "gos", "tok"])
    >>> list(axis.scores), axis.absent, axis.sparse
    (['deu', 'eng', 'jpn', 'tur'], ('tok',), ('gos',))
    """
    found = uriel_features(name, langs)
    shares = (~np.isnan(found.values)).mean(axis=1) if found.langs else np.empty(0)
    enough = (shares > 0) & (shares >= known)
    kept = [lang for lang, wanted in zip(found.langs, enough, strict=True) if wanted]
    sparse = tuple(lang for lang in found.langs if lang not in kept)
    if len(kept) < FEW:
        return Axis(name, {}, found.absent, sparse, 0, 0.0, 0.0)
    component = first_component(found.values[enough])
    features = int(component.used.sum())
    return Axis(
        name,
        dict(zip(kept, component.scores.tolist(), strict=True)),
        found.absent,
        sparse,
        features,
        component.missing / (features * len(kept)),
        component.explained,
        tuple(
            sorted(
                (
                    (feature, float(weight))
                    for feature, weight, used in zip(
                        found.names, component.loadings, component.used, strict=True
                    )
                    if used
                ),
                key=lambda each: (-abs(each[1]), each[0]),
            )
        ),
    )


@dataclass(frozen=True)
class Link:
    """The correlation of the means of a measure with a feature set."""

    measure: str
    feature: str
    found: Association
    without: Mapping[str, float]
    """r without the languages of each family in turn, the axis being the same."""
    refitted: float
    """|r| without the largest family, with an axis of the other languages alone; NaN if too few."""
    within_p: float
    """Two-sided, by permutation within families; NaN if no family has two languages."""
    controlled: Association | None = None
    """The partial correlation, given the words per sentence; None if nothing is left to correlate.
    Its ``p`` is not of use: the regression costs a degree of freedom."""
    controlled_within_p: float = math.nan
    words: float = math.nan
    """r of the words per sentence with the means of the measure."""


def correlate(
    measure: str,
    means: Mapping[str, float],
    axis: Axis,
    families: Mapping[str, str],
    words: Mapping[str, float] | None = None,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    known: float = KNOWN,
) -> Link | None:
    """Correlate the means of a measure with an axis; None where there are too few languages.

    ``words``, the mean length of the sentences of each language, is the control of the partial
    correlation.
    """
    langs = [lang for lang in axis.scores if lang in means]
    if len(langs) < FEW:
        return None
    x, y = [axis.scores[lang] for lang in langs], [means[lang] for lang in langs]
    groups = [families[lang] for lang in langs]
    try:
        found = association(x, y, samples=samples, seed=seed)
    except InputError:  # one side is constant
        return None
    largest = max(dict.fromkeys(groups), key=groups.count)
    rest = [lang for lang in langs if families[lang] != largest]
    other = feature_axis(axis.name, rest, known=known).scores
    refitted = float("nan")
    if other:
        values = [means[lang] for lang in other]
        refitted = abs(pearson(list(other.values()), values))
    settings = {"samples": samples, "seed": seed}
    link = Link(
        measure,
        axis.name,
        found,
        without_each_group(x, y, groups),
        refitted,
        permutation_within(x, y, groups, **settings),
    )
    if words is None:
        return link
    lengths = [words[lang] for lang in langs]
    x_left, y_left = residuals(x, lengths), residuals(y, lengths)
    try:
        controlled = association(x_left, y_left, **settings)
    except InputError:
        return link
    within = permutation_within(x_left, y_left, groups, **settings)
    return replace(
        link, controlled=controlled, controlled_within_p=within, words=pearson(lengths, y)
    )
