"""Does a model prefer to repeat words, or to change them? (Prism, sections 4.4 and 5.1.)

A paraphraser that is to judge translations should have no preference of its own: H should fall with
overlap no faster than quality does (figure 2), and a copy should be what it finds most probable
(table 6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tertium.errors import InputError
from tertium.measures.surface import Bleu
from tertium.measures.totals import Totals
from tertium.models.base import Progress, TranslationModel
from tertium.report.tables import Cell, Table
from tertium.studies.specs import TOKENIZERS
from tertium.text import Row, Text

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
    """The mean of H(sys|ref); None where there is no pair."""

    @property
    def label(self) -> str:
        """The range of BLEU.

        >>> Bin(20, 5, 0.5, -1.0).label
        '20-30'
        """
        return f"{self.low}-{self.low + WIDTH}"


@dataclass(frozen=True)
class Preferences:
    """What a model thinks of its own output, of a copy and of a human paraphrase (table 6)."""

    beam: float
    """The mean of H(beam output|r0)."""
    copy: float
    """The mean of H(r0|r0)."""
    paraphrase: float
    """The mean of H(r1|r0)."""
    beam_bleu: float
    """Corpus BLEU of the beam output, with the text itself as the reference."""
    paraphrase_bleu: float


def bins(
    model: TranslationModel, pairs: Sequence[Pair], progress: Progress | None = None
) -> list[Bin]:
    """The mean of H(sys|ref) by sentence BLEU, in ten bins of the same width (figure 2)."""
    if not pairs:
        raise InputError("there are no pairs to look at")
    overlap = np.array(_bleu(pairs[0][0].lang).segments(_rows(pairs)).scores)
    values = np.array(_h(model, pairs, progress))
    places = np.minimum((overlap // WIDTH).astype(int), BINS - 1)
    found = []
    for place in range(BINS):
        own = values[places == place]
        mean = float(own.mean()) if len(own) else None
        found.append(Bin(place * WIDTH, len(own), len(own) / len(pairs), mean))
    return found


def preferences(
    model: TranslationModel,
    pairs: Sequence[Pair],
    *,
    beam_size: int = 5,
    progress: Progress | None = None,
) -> Preferences:
    """Compare beam output, copy and human paraphrase, all given the text (table 6)."""
    if not pairs:
        raise InputError("there are no paraphrases to look at")
    texts = [text for _, text in pairs]
    outputs = model.translate(
        [text.text for text in texts],
        target_lang=[text.lang for text in texts],
        source_lang=[text.lang for text in texts],
        beam_size=beam_size,
        progress=progress,
    )
    beam = [(Text(out.text, text.lang), text) for out, text in zip(outputs, texts, strict=True)]
    copies = [(text, text) for text in texts]
    return Preferences(
        *(float(np.mean(_h(model, each, progress))) for each in (beam, copies, pairs)),
        *(_corpus_bleu(each) for each in (beam, pairs)),
    )


def bins_table(found: Mapping[str, Sequence[Bin]]) -> Table:
    """Figure 2 in numbers: a row a bin, a column a model."""
    [first, *_] = found.values()
    rows = []
    for place, bin_ in enumerate(first):
        means = [Cell(each[place].mean_h, ".3f") for each in found.values()]
        share = Cell(f"{100 * bin_.share:.1f} %")
        rows.append([Cell(bin_.label), Cell(bin_.count), share, *means])
    header = ["sentBLEU", "pairs", "share", *(f"H, {model}" for model in found)]
    return Table(header, rows, "H(sys|ref) by lexical overlap")


def preferences_table(found: Mapping[str, Preferences]) -> Table:
    """Table 6: a column a model."""
    lines = {
        "H(beam|text)": (".3f", [each.beam for each in found.values()]),
        "H(text|text)": (".3f", [each.copy for each in found.values()]),
        "H(paraphrase|text)": (".3f", [each.paraphrase for each in found.values()]),
        "BLEU(beam, text)": (".1f", [each.beam_bleu for each in found.values()]),
        "BLEU(paraphrase, text)": (".1f", [each.paraphrase_bleu for each in found.values()]),
    }
    rows = [
        [Cell(name), *(Cell(value, form) for value in values)]
        for name, (form, values) in lines.items()
    ]
    return Table(["", *found], rows, "Beam output, copy and human paraphrase")


def _h(model: TranslationModel, pairs: Sequence[Pair], progress: Progress | None) -> list[float]:
    answers = model.log_probs(
        [target.text for target, _ in pairs],
        [source.text for _, source in pairs],
        target_lang=[target.lang for target, _ in pairs],
        source_lang=[source.lang for _, source in pairs],
        progress=progress,
    )
    return [answer.H for answer in answers]


def _rows(pairs: Sequence[Pair]) -> list[Row]:
    return [Row(number, a, (b,)) for number, (a, b) in enumerate(pairs, start=1)]


def _bleu(lang: str | None) -> Bleu:
    return Bleu(tokenize=TOKENIZERS.get(lang or "", Bleu.tokenize))


def _corpus_bleu(pairs: Sequence[Pair]) -> float:
    measure, totals = _bleu(pairs[0][0].lang), Totals()
    rows = _rows(pairs)
    totals.add(rows, measure.segments(rows), measure.reads)
    return measure.system(totals.statistics)
