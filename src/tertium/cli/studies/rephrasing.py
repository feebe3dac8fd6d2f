"""``tertium study rephrasing``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertium.cli.options import Encoder, option
from tertium.cli.studies.options import StudyOptions, study_command
from tertium.data.datasets.base import ParaphraseSet
from tertium.errors import SettingError

if TYPE_CHECKING:
    from tertium.studies.rephrasing.typology import Axis

PERMUTATIONS = 10_000
PAPER = "paper"
DEFAULT_MEASURES = ("bleu-nltk", "chrf-nltk", "nist")
WITH_ENCODER = "bertscore"
"""The fourth measure of the paper."""


@dataclass(frozen=True)
class SetOptions:
    """Sets of paraphrases."""

    data: Annotated[
        Path,
        typer.Argument(
            help="Sets of paraphrases: a file with the columns lang, set_id and sentence, a folder "
            "with sets.tsv, or one with TaPaCo's LANG.txt."
        ),
    ]
    langs: str | None = option(
        None, f"Only these languages, as in de,fin; {PAPER}: those of the paper."
    )
    count: int | None = option(
        None, "Draw this many pairs per language. Default: all.", "--pairs", min=1
    )
    min_sets: int = option(1, "Leave out languages with fewer sets, and list them.", min=1)


@dataclass(frozen=True)
class TypologyOptions:
    """What the means by language are correlated with."""

    features: str | None = option(
        None, "Feature sets of URIEL. Default: the five of the paper, and the predicted ones."
    )
    known: float = option(0.25, "The share of a feature set that must be known.", min=0, max=1)
    typology: bool = option(True, "Correlate with URIEL's features.", "--typology/--no-typology")

    def axes(self, langs: Sequence[str]) -> list[Axis]:
        """The features of these languages."""
        from tertium.studies.rephrasing import paper
        from tertium.studies.rephrasing.typology import feature_axis

        if not self.typology:
            return []
        defaults = [*paper.FEATURES, *paper.NEIGHBOURS]
        names = defaults if self.features is None else self.features.split(",")
        return [feature_axis(name, langs, known=self.known) for name in names]


@study_command("limit")
def rephrasing(
    data: SetOptions,
    typology: TypologyOptions,
    options: StudyOptions,
    measures: str | None = option(None, "Several measures: bleu-nltk,nist,cross."),
    tokenize: str = option(
        "split",
        "Words for nist and bleu-nltk: split (at spaces, as the paper), segment (also "
        "within scripts without spaces), or a tokenizer of sacrebleu.",
    ),
    processes: int = option(1, "The number of processes; each scores some languages.", min=1),
    samples: int = option(
        PERMUTATIONS, "The number of permutations and of bootstrap samples.", min=1
    ),
    seed: int = option(0, "The seed of the draw, the permutations and the bootstrap."),
    encoder: Encoder = None,
) -> None:
    """How do measures respond to rephrasing, in many languages? (Wang, Chen and Ataman, 2024.)

    Every pair of sentences with the same meaning is scored in both orders; the means by language
    are correlated with typology. With --output, an interrupted study resumes.
    """
    from tertium.data.uriel import family_of
    from tertium.storage.atomic import write_text
    from tertium.studies.rephrasing.study import RephrasingStudy, pairs_of, with_words
    from tertium.studies.rephrasing.tables import rephrasing_report
    from tertium.studies.rephrasing.typology import Families

    given = [*split_measures(measures or ""), *(options.measure or [])]
    default = DEFAULT_MEASURES if encoder is None else (*DEFAULT_MEASURES, WITH_ENCODER)
    specs = replace(options, measure=given).specs(default)
    specs = [with_words(spec, tokenize) for spec in specs]
    specs = replace(options, measure=[str(spec) for spec in specs]).specs(())
    sets = _sets(data.data, data.langs, data.min_sets)
    study = RephrasingStudy(
        [pairs_of(lang, own, count=data.count, seed=seed) for lang, own in sets.items()],
        specs,
        options.models(encoder=encoder),
        options.runner(processes=processes),
        samples,
        seed,
    )
    axes = typology.axes(list(sets))
    families = Families({lang: family_of(lang) for lang in sets})
    results = options.run(study)
    report = rephrasing_report(
        results, families, axes, known=typology.known, samples=samples, seed=seed
    )
    options.finish(report, study.runner)
    if options.output is not None:
        lines = [f"{name}\t{signature}\n" for name, signature in results.signatures.items()]
        write_text(options.output / "signatures.tsv", "".join(lines))


def split_measures(text: str) -> list[str]:
    """Split a list of measures at its commas, but not at those between settings.

    >>> split_measures("chrf,nist:tokenize=13a,lowercase=yes,cross")
    ['chrf', 'nist:tokenize=13a,lowercase=yes', 'cross']
    """
    found: list[str] = []
    for part in filter(None, text.split(",")):
        if found and "=" in part and ":" not in part:
            found[-1] += f",{part}"
        else:
            found.append(part)
    return found


def _sets(data: Path, langs: str | None, min_sets: int) -> dict[str, Sequence[ParaphraseSet]]:
    from tertium.data.languages import iso_code
    from tertium.studies.rephrasing.paper import paper_family
    from tertium.studies.rephrasing.study import read_paraphrase_sets

    chosen = langs.split(",") if langs is not None and langs != PAPER else None
    sets = read_paraphrase_sets(data, chosen)
    if langs == PAPER:
        sets = {lang: own for lang, own in sets.items() if paper_family(iso_code(lang))}
    few = {lang: len(own) for lang, own in sets.items() if len(own) < min_sets}
    if few:
        listed = ", ".join(f"{lang} ({count})" for lang, count in few.items())
        print(f"tertium: left out for fewer than {min_sets} sets: {listed}", file=sys.stderr)
    if len(few) == len(sets):
        raise SettingError(f"no language has {min_sets} sets (--min-sets)")
    return {lang: own for lang, own in sets.items() if lang not in few}
