"""Every measure of Tertium as a metric of lm-evaluation-harness, by the name ``tertium``.

A task that uses it imports this module in the Python file that it has beside its YAML file::

    metric_list:
      - metric: tertium
        aggregation: tertium
        higher_is_better: true
        measure: cross      # or any other; or a list of them
        lang: en

The harness reduces several references of a document to 1 or 0. A task that has several, or sources,
gives them to :func:`items` in a function of its own (``process_results``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lm_eval.api.registry import register_aggregation, register_metric

from tertium.compat.scorer import Scorer
from tertium.errors import InputError, SettingError
from tertium.measures.registry import DEFAULT_MEASURE

SETTINGS = ("measure", "lang", "reference_lang", "source_lang")


class Item(NamedTuple):
    """A document to be scored when all of them are there."""

    scorer: Scorer
    prediction: str
    references: tuple[str, ...] = ()
    source: str | None = None


def items(
    prediction: str,
    references: str | Sequence[str] = (),
    source: str | None = None,
    *,
    measure: str | Sequence[str] = DEFAULT_MEASURE,
    lang: str | None = None,
    reference_lang: str | None = None,
    source_lang: str | None = None,
) -> dict[str, Item]:
    """What the results of a document are, by the name of each measure; :func:`total` scores them.

    >>> list(items("A dog.", "A dog!", measure=["chrf", "bleu"]))
    ['chrf', 'bleu']
    """
    made = {}
    for spec in [measure] if isinstance(measure, str) else measure:
        scorer = Scorer(spec, lang, reference_lang, source_lang)
        texts = (references,) if isinstance(references, str) else tuple(references)
        made[scorer.name] = Item(scorer, prediction, texts, source)
    return made


@register_aggregation("tertium")
def total(found: Sequence[Item]) -> float:
    """The system score of all documents."""
    scorers = {item.scorer for item in found}
    if len(scorers) != 1:
        raise InputError(f"{len(scorers)} measures are mixed in one result; give each its own name")
    [scorer] = scorers
    references = [list(item.references) for item in found]
    sources = [item.source for item in found if item.source is not None]
    scores = scorer.score(
        [item.prediction for item in found],
        references if any(references) else None,
        sources if len(sources) == len(found) else None,
    )
    return scores.system


@register_metric(
    metric="tertium",
    higher_is_better=True,
    output_type="generate_until",
    aggregation="tertium",
)
def tertium(
    references: Sequence[str], predictions: Sequence[str], **settings: str
) -> dict[str, Item]:
    """The metric: one document, whose score is computed with all the others."""
    if unknown := settings.keys() - SETTINGS:  # the harness would hide a TypeError
        raise SettingError(
            f"the metric tertium has no setting {', '.join(sorted(unknown))}; "
            f"there are {', '.join(SETTINGS)}"
        )
    [prediction], [reference] = predictions, references
    return items(prediction, reference, **settings)
