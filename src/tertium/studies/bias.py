"""Whether the mode of a model is a copy (Prism, sections 3, 4.4 and 5.1).

A paraphraser that scores translations should be lexically and syntactically unbiased: its most
probable output is a copy of the text (table 6), and H(sys|ref) rises with lexical overlap, since a
translation with more words of the reference is better on average (figure 2). A model that prefers
to change words has the same H for outputs that are nearly the reference as for others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np

from tertium.data.datasets.wmt import read_wmt_outputs
from tertium.errors import InputError, LanguageError, SettingError
from tertium.measures.loading import MeasureSpec, make_measure
from tertium.measures.surface import Bleu
from tertium.measures.words import sacrebleu_bleu
from tertium.models.base import Progress, Query, TranslationModel
from tertium.models.languages import supported_language
from tertium.report.plots import lines
from tertium.report.tables import Cell, Table
from tertium.stats.arrays import Floats
from tertium.stats.conventions import SAMPLES, Interval
from tertium.stats.resampling import percentile_interval, spawn
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
LISTING = "outputs"
Smoothing = Literal["exp", "floor", "add-k"]
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
    interval: Interval | None = None
    """The 95 % interval of the mean."""

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
    intervals: tuple[Interval | None, ...] = ()
    """The 95 % intervals of the means, in this order."""


def package_pairs(folder: Path, lang_pairs: Sequence[str]) -> list[Pair]:
    """All outputs of all systems of a WMT package with their references, as in figure 2.

    The language pairs must have one target language; the paper takes all into English.
    """
    targets = {pair.partition("-")[2] for pair in lang_pairs}
    if len(targets) != 1:
        raise InputError(
            f"{', '.join(lang_pairs) or 'no language pair'}: these are not pairs into one language",
            cure="use {langs:de-en,fi-en}, for example",
        )
    return [
        (segment.hypothesis, reference)
        for pair in lang_pairs
        for segment in read_wmt_outputs(folder, pair)
        for reference in segment.references
    ]


def bins(
    pairs: Sequence[Pair],
    values: Sequence[float],
    *,
    smoothing: Smoothing = "exp",
    samples: int = SAMPLES,
    seed: int = 0,
) -> list[Bin]:
    """The mean of H(sys|ref) by sentence BLEU, in ten bins of equal width (figure 2)."""
    overlap = np.array(overlaps(pairs, smoothing))
    places = np.minimum((overlap // WIDTH).astype(int), BINS - 1)
    found = []
    for place, own_seed in zip(range(BINS), spawn(seed, BINS), strict=True):
        own = np.array(values)[places == place]
        mean = float(own.mean()) if len(own) else None
        interval = mean_interval(own, samples=samples, seed=own_seed)
        found.append(Bin(place * WIDTH, len(own), len(own) / len(pairs), mean, interval))
    return found


def mean_interval(values: Floats, *, samples: int, seed: int) -> Interval | None:
    """The 95 % bootstrap interval of a mean; None for fewer than two values."""
    if len(values) < 2:
        return None
    generator = np.random.default_rng(seed)
    drawn = (generator.integers(len(values), size=len(values)) for _ in range(samples))
    means = [values[places].mean() for places in drawn]
    return percentile_interval(means)


def overlaps(pairs: Sequence[Pair], smoothing: Smoothing) -> list[float]:
    """Sentence BLEU of the first text of each pair against the second."""
    measure = _bleu(pairs[0][0].lang)
    if smoothing == "exp":
        return score_alone(measure, rows_of(pairs)).segments
    metric = sacrebleu_bleu(
        measure.tokenize, effective_order=True, smooth_method=smoothing, smooth_value=1
    )
    return [float(metric.sentence_score(a.text, [b.text]).score) for a, b in pairs]


def preferences(
    pairs: Sequence[Pair], scored: Scored, *, samples: int = SAMPLES, seed: int = 0
) -> Preferences:
    """Compare beam output, copy and human paraphrase, all given the text (table 6).

    The intervals are of the same samples of texts.
    """
    parts = [np.array(scored.parts[name]) for name in (BEAM, COPY, PARAPHRASE)]
    beam = [
        (Text(output, text.lang), text)
        for output, (_, text) in zip(scored.parts[OUTPUT], pairs, strict=True)
    ]
    beam_mean, copy_mean, paraphrase_mean = (float(values.mean()) for values in parts)
    return Preferences(
        beam=beam_mean,
        copy=copy_mean,
        paraphrase=paraphrase_mean,
        beam_bleu=_corpus_bleu(beam),
        paraphrase_bleu=_corpus_bleu(pairs),
        intervals=tuple(mean_interval(values, samples=samples, seed=seed) for values in parts),
    )


def log_probs(
    model: TranslationModel, pairs: Sequence[Pair], progress: Progress | None = None
) -> Scored:
    """H of the first text of each pair given the second."""
    scores = model.log_probs([Query.between(*pair) for pair in pairs], progress=progress)
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
    smoothing: Smoothing = "exp"
    """Of sentence BLEU: that of sacrebleu, or of counts that are zero or of all, by one."""
    listed: int = 10
    """So many texts are listed with the outputs of all models (figure 3)."""
    samples: int = SAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        if self.smoothing not in get_args(Smoothing):
            allowed = ", ".join(get_args(Smoothing))
            raise SettingError(f"smoothing {self.smoothing!r}: it must be one of {allowed}")

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
        details: dict[str, Table] = {}
        common: dict[str, int] = {"samples": self.samples, "seed": self.seed}
        figures: dict[str, Figure] = {}
        findings: list[str] = []
        if self.pairs is not None:
            by_model = {
                name: bins(
                    self.pairs,
                    scored[OVERLAP, name].parts[PARAPHRASE],
                    smoothing=self.smoothing,
                    **common,
                )
                for name in self.models
            }
            tables[OVERLAP] = bins_table(by_model)
            findings += [
                f"H(sys|ref) of {name} {'rises' if _rises(own) else 'does not rise'} with lexical "
                "overlap from bin to bin."
                for name, own in by_model.items()
            ]
            figures[OVERLAP] = Figure(partial(draw_bins, by_model), "H(sys|ref) by overlap")
        if self.paraphrases is not None:
            preferred = {
                name: preferences(self.paraphrases, scored[PREFERENCES, name], **common)
                for name in self.models
            }
            findings += [
                f"{name} prefers {'a copy of a text' if own.copy >= own.beam else 'its own output'}"
                f" (H of a copy: {own.copy:.2f}, of its own output: {own.beam:.2f}, of a human "
                f"paraphrase: {own.paraphrase:.2f})."
                for name, own in preferred.items()
            ]
            tables[PREFERENCES] = preferences_table(preferred, len(self.paraphrases))
            outputs = {name: scored[PREFERENCES, name].parts[OUTPUT] for name in self.models}
            details[LISTING] = listing_table(self.paraphrases[: self.listed], outputs)
        return Report("The bias of a model", tables, figures, details, findings=findings)

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
    limits = {
        name: [(i.low, i.high) if (i := each.interval) else None for each in own]
        for name, own in by_model.items()
    }
    axes_labels = ("sentence BLEU (share)", "H(sys|ref)")
    lines(labels, series, out, axes_labels=axes_labels, intervals=limits)


def bins_table(found: Mapping[str, Sequence[Bin]]) -> Table:
    """Figure 2 in numbers: one row per bin; for each model the mean and its 95 % interval."""
    [first, *_] = found.values()
    rows = []
    for place, bin_ in enumerate(first):
        means = [
            cell
            for each in found.values()
            for cell in (Cell(each[place].mean_h, ".3f"), *_limits(each[place].interval))
        ]
        share = Cell(f"{100 * bin_.share:.1f} %")
        rows.append([Cell(bin_.label), Cell(bin_.count), share, *means])
    header = ["sentBLEU", "pairs", "share"]
    for model in found:
        header += [f"H, {model}", "low", "high"]
    rising = [
        f"{model}: {'rises' if _rises(own) else 'does not rise'} from bin to bin"
        for model, own in found.items()
    ]
    note = f"Low, high: 95 % intervals. H of an unbiased model rises; {'; '.join(rising)}."
    return Table(header, rows, "H(sys|ref) by lexical overlap", note)


def _limits(interval: Interval | None) -> list[Cell]:
    if interval is None:
        return [Cell(None), Cell(None)]
    return [Cell(interval.low, ".3f"), Cell(interval.high, ".3f")]


def _rises(found: Sequence[Bin]) -> bool:
    """Whether the means rise from each bin to the next that has pairs."""
    means = [each.mean_h for each in found if each.mean_h is not None]
    return all(low < high for low, high in pairwise(means))


def listing_table(pairs: Sequence[Pair], outputs: Mapping[str, Sequence[str]]) -> Table:
    """Each text with the beam output of each model, changed words marked: figure 3.

    Words that the text does not have are in asterisks, words that are missing in brackets.
    """
    rows = []
    for place, (_, text) in enumerate(pairs):
        rows.append([Cell("text"), Cell(text.text)])
        rows += [
            [Cell(model), Cell(marked_changes(text.text, own[place]))]
            for model, own in outputs.items()
        ]
    return Table(["", "sentence"], rows, "Texts and beam outputs")


def marked_changes(text: str, output: str) -> str:
    """The output, with the words that were added or removed.

    >>> marked_changes("The death was ruled a homicide .", "The death was deemed a homicide .")
    'The death was [ruled] *deemed* a homicide .'
    """
    before, after = text.split(), output.split()
    parts: list[str] = []
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            parts += before[a:b]
            continue
        if a < b:
            parts.append(f"[{' '.join(before[a:b])}]")
        if c < d:
            parts.append(f"*{' '.join(after[c:d])}*")
    return " ".join(parts)


def preferences_table(found: Mapping[str, Preferences], count: int | None = None) -> Table:
    """Table 6: one column per model, with 95 % intervals of the means."""
    entries = {
        "H(beam|text)": (".3f", [each.beam for each in found.values()]),
        "H(text|text)": (".3f", [each.copy for each in found.values()]),
        "H(paraphrase|text)": (".3f", [each.paraphrase for each in found.values()]),
        "BLEU(beam, text)": (".1f", [each.beam_bleu for each in found.values()]),
        "BLEU(paraphrase, text)": (".1f", [each.paraphrase_bleu for each in found.values()]),
    }
    rows = []
    for place, (name, (form, values)) in enumerate(entries.items()):
        row = [Cell(name)]
        for value, own in zip(values, found.values(), strict=True):
            interval = own.intervals[place] if place < len(own.intervals) else None
            row += [Cell(value, form), *_limits(interval)]
        rows.append(row)
    header = [""]
    for model in found:
        header += [model, "low", "high"]
    if count is not None:
        rows.append([Cell("n"), *[Cell(count, "d"), Cell(None), Cell(None)] * len(found)])
    note = "Low, high: 95 % intervals. A copy is the mode of an unbiased model."
    return Table(header, rows, "Beam output, copy and human paraphrase", note)


def _bleu(lang: str | None) -> Bleu:
    return cast("Bleu", make_measure(MeasureSpec("bleu"), SharedModels(), lang=lang))


def _corpus_bleu(pairs: Sequence[Pair]) -> float:
    measure, rows = _bleu(pairs[0][0].lang), rows_of(pairs)
    return score_alone(measure, rows).system
