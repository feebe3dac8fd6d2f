"""The bias of a model towards repeating words or changing them (Prism, sections 4.4 and 5.1).

A paraphraser that scores translations should have no preference of its own: H should not fall with
overlap faster than quality does (figure 2), and a copy should have the highest probability
(table 6).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tertium.errors import InputError, LanguageError
from tertium.measures.base import Measure
from tertium.measures.loading import MeasureSpec, make_measure
from tertium.models.base import Progress, TranslationModel
from tertium.models.languages import supported_language
from tertium.report.plots import lines
from tertium.report.tables import Cell, Table
from tertium.studies.report import Figure, Report
from tertium.studies.runner import (
    Advance,
    Job,
    Runner,
    Scored,
    SharedModels,
    fingerprint,
    rows_of,
    score_alone,
)
from tertium.text import Text

OVERLAP, PREFERENCES = "overlap", "preferences"
OUTPUT, BEAM, COPY, PARAPHRASE = "output", "beam", "copy", "paraphrase"
WIDTH = 10
BINS = 100 // WIDTH

Pair = tuple[Text, Text]
"""An output and its reference, or a paraphrase and its text."""


@dataclass(frozen=True)
class Bin:
    """The pairs whose sentence BLEU is between two numbers."""

    low: int
    count: int
    share: float
    mean_h: float | None
    """The mean of H(sys|ref); None if there is no pair."""

    @property
    def label(self) -> str:
        """The range of BLEU.

        >>> Bin(20, 5, 0.5, -1.0).label
        '20-30'
        """
        return f"{self.low}-{self.low + WIDTH}"


@dataclass(frozen=True)
class Preferences:
    """H of the model's own output, of a copy and of a human paraphrase (table 6)."""

    beam: float
    """The mean of H(beam output|r0)."""
    copy: float
    """The mean of H(r0|r0)."""
    paraphrase: float
    """The mean of H(r1|r0)."""
    beam_bleu: float
    """Corpus BLEU of the beam output, with the text itself as the reference."""
    paraphrase_bleu: float


def bins(pairs: Sequence[Pair], values: Sequence[float]) -> list[Bin]:
    """The mean of H(sys|ref) by sentence BLEU, in ten bins of equal width (figure 2)."""
    overlap = np.array(score_alone(_bleu(pairs[0][0].lang), rows_of(pairs)).segments)
    places = np.minimum((overlap // WIDTH).astype(int), BINS - 1)
    found = []
    for place in range(BINS):
        own = np.array(values)[places == place]
        mean = float(own.mean()) if len(own) else None
        found.append(Bin(place * WIDTH, len(own), len(own) / len(pairs), mean))
    return found


def preferences(pairs: Sequence[Pair], scored: Scored) -> Preferences:
    """Compare beam output, copy and human paraphrase, all given the text (table 6)."""
    beam = [
        (Text(output, text.lang), text)
        for output, (_, text) in zip(scored.parts[OUTPUT], pairs, strict=True)
    ]
    return Preferences(
        *(float(np.mean(scored.parts[name])) for name in (BEAM, COPY, PARAPHRASE)),
        *(_corpus_bleu(each) for each in (beam, pairs)),
    )


def log_probs(
    model: TranslationModel, pairs: Sequence[Pair], progress: Progress | None = None
) -> Scored:
    """H of the first text of each pair given the second."""
    scores = model.log_probs(
        [target.text for target, _ in pairs],
        [source.text for _, source in pairs],
        target_lang=[target.lang for target, _ in pairs],
        source_lang=[source.lang for _, source in pairs],
        progress=progress,
    )
    cut = [place for place, each in enumerate(scores) if each.cut]
    return Scored({PARAPHRASE: [each.H for each in scores]}, cut)


def alternatives(
    model: TranslationModel,
    pairs: Sequence[Pair],
    beam_size: int = 5,
    progress: Progress | None = None,
) -> Scored:
    """H of beam output, copy and human paraphrase, each given the text."""
    texts = [text for _, text in pairs]
    langs = [text.lang for text in texts]
    outputs = model.translate(
        [text.text for text in texts],
        target_lang=langs,
        source_lang=langs,
        beam_size=beam_size,
        progress=progress,
    )
    beam = [(Text(out.text, text.lang), text) for out, text in zip(outputs, texts, strict=True)]
    given = {BEAM: beam, COPY: [(text, text) for text in texts], PARAPHRASE: pairs}
    scored = {name: log_probs(model, each, progress) for name, each in given.items()}
    cut = {place for place, output in enumerate(outputs) if output.cut}
    cut.update(*(each.cut for each in scored.values()))
    parts: dict[str, list[Any]] = {OUTPUT: [output.text for output in outputs]}
    parts |= {name: each.parts[PARAPHRASE] for name, each in scored.items()}
    return Scored(parts, sorted(cut))


@dataclass
class BiasStudy:
    """Models over outputs with references, over paraphrases of texts, or over both."""

    models: Mapping[str, TranslationModel]
    pairs: Sequence[Pair] | None = None
    paraphrases: Sequence[Pair] | None = None
    beam_size: int = 5
    runner: Runner = field(default_factory=Runner)

    @property
    def size(self) -> int:
        """How many pairs there are to score, over all models."""
        return len(self.models) * (len(self.pairs or ()) + len(self.paraphrases or ()))

    def run(self) -> Report:
        """Score what is not scored yet, and make both tables."""
        jobs = []
        for dataset, pairs in ((OVERLAP, self.pairs), (PREFERENCES, self.paraphrases)):
            if pairs is not None and not pairs:
                raise InputError(f"there are no pairs in one language for the table {dataset}")
            if pairs is not None:
                _bleu(pairs[0][0].lang).description()  # reports a missing tokenizer
            jobs += [self._job(dataset, name, pairs) for name in self.models if pairs is not None]
        scored = self.runner.run(jobs)
        for reason in self.runner.left_out.values():
            raise LanguageError(reason)
        self.runner.warn_partly()
        tables: dict[str, Table] = {}
        figures: dict[str, Figure] = {}
        if self.pairs is not None:
            by_model = {
                name: bins(self.pairs, scored[OVERLAP, name].parts[PARAPHRASE])
                for name in self.models
            }
            tables[OVERLAP] = bins_table(by_model)
            figures[OVERLAP] = Figure(partial(draw_bins, by_model), "H(sys|ref) by overlap")
        if self.paraphrases is not None:
            preferred = {
                name: preferences(self.paraphrases, scored[PREFERENCES, name])
                for name in self.models
            }
            tables[PREFERENCES] = preferences_table(preferred)
        return Report("The bias of a model", tables, figures)

    def _job(self, dataset: str, name: str, pairs: Sequence[Pair]) -> Job:
        model = self.models[name]
        for text in (text for pair in pairs for text in pair):
            supported_language(model, text.lang, "a text")
        beam_size = self.beam_size if dataset == PREFERENCES else None
        signature = json.dumps([model.fingerprint, dict(model.settings), beam_size])

        def compute(progress: Progress | None, _: Advance) -> Scored:
            if beam_size is None:
                return log_probs(model, pairs, progress)
            return alternatives(model, pairs, beam_size, progress)

        return Job(dataset, name, signature, fingerprint(pairs), len(pairs), compute)


def draw_bins(by_model: Mapping[str, Sequence[Bin]], out: Path) -> None:
    """Draw figure 2."""
    [first, *_] = by_model.values()
    labels = [f"{each.label}\n({100 * each.share:.1f} %)" for each in first]
    series = {name: [each.mean_h for each in own] for name, own in by_model.items()}
    lines(labels, series, out, axes_labels=("sentence BLEU (share)", "H(sys|ref)"))


def bins_table(found: Mapping[str, Sequence[Bin]]) -> Table:
    """Figure 2 in numbers: one row per bin, one column per model."""
    [first, *_] = found.values()
    rows = []
    for place, bin_ in enumerate(first):
        means = [Cell(each[place].mean_h, ".3f") for each in found.values()]
        share = Cell(f"{100 * bin_.share:.1f} %")
        rows.append([Cell(bin_.label), Cell(bin_.count), share, *means])
    header = ["sentBLEU", "pairs", "share", *(f"H, {model}" for model in found)]
    return Table(header, rows, "H(sys|ref) by lexical overlap")


def preferences_table(found: Mapping[str, Preferences]) -> Table:
    """Table 6: one column per model."""
    entries = {
        "H(beam|text)": (".3f", [each.beam for each in found.values()]),
        "H(text|text)": (".3f", [each.copy for each in found.values()]),
        "H(paraphrase|text)": (".3f", [each.paraphrase for each in found.values()]),
        "BLEU(beam, text)": (".1f", [each.beam_bleu for each in found.values()]),
        "BLEU(paraphrase, text)": (".1f", [each.paraphrase_bleu for each in found.values()]),
    }
    rows = [
        [Cell(name), *(Cell(value, form) for value in values)]
        for name, (form, values) in entries.items()
    ]
    return Table(["", *found], rows, "Beam output, copy and human paraphrase")


def _bleu(lang: str | None) -> Measure:
    return make_measure(MeasureSpec("bleu"), SharedModels(), lang=lang)


def _corpus_bleu(pairs: Sequence[Pair]) -> float:
    measure, rows = _bleu(pairs[0][0].lang), rows_of(pairs)
    return score_alone(measure, rows).system
