"""``tertium paraphrase``."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from tertium.cli.groups import (
    ClusterOptions,
    EncoderOptions,
    LanguageOptions,
    RowOptions,
    grouped,
    say,
)
from tertium.cli.languages import language_of
from tertium.cli.options import option
from tertium.cli.translate import TranslateInputs
from tertium.data.codes import language_code
from tertium.data.lines import STDIN
from tertium.data.pairs import Source
from tertium.data.records import counted
from tertium.errors import LanguageError
from tertium.jobs.output import Layout, TsvLayout
from tertium.jobs.task import Input, Job
from tertium.jobs.tasks.paraphrase import TEXTS_AT_A_TIME, ParaphraseTask, paraphrased
from tertium.measures.loading import MeasureLoader, ModelPool, ModelSettings, read_specs
from tertium.measures.registry import DEFAULT_MEASURE
from tertium.paraphrasing.penalties import NgramPenalty, usual_unit


@dataclass(frozen=True)
class Generation:
    """How paraphrases are found."""

    a: float = option(
        NgramPenalty.a, "The penalty of an n-gram of length n is a n^b.", "-a", "--a", min=0
    )
    b: float = option(NgramPenalty.b, "The exponent of the penalty.", "-b", "--b")
    longest: int = option(NgramPenalty.longest, "The longest n-gram that is penalised.", min=1)
    pivot: list[str] | None = option(
        None, "Translate via this language; may be repeated; 'none' is without a pivot."
    )
    beam_size: int = option(5, min=1)
    count: int = option(5, "The number of paraphrases.", "--count", "-n", min=1)
    least_diversity: float = option(0.0, "The lowest diversity (100 - chrF).", min=0, max=100)
    measure: str = option(DEFAULT_MEASURE, "The measure that ranks them.", "--measure", "-m")
    rows_at_a_time: int = option(TEXTS_AT_A_TIME, min=1, hidden=True)

    def task(self, lang: str, models: ModelSettings) -> ParaphraseTask:
        """What is done with each text."""
        pivots = ["" if pivot == "none" else pivot for pivot in self.pivot or ["none"]]
        return ParaphraseTask(
            MeasureLoader(read_specs([self.measure]), models),
            lang,
            NgramPenalty(self.a, self.b, self.longest, usual_unit(lang)),
            tuple(pivots),
            self.beam_size,
            self.count,
            self.least_diversity,
        )


@grouped("src_lang", "ref_lang", "tgt_lang")
def paraphrase(
    text: Annotated[
        str,
        typer.Argument(
            help="A text, a file with one text per line, or a table with a column src; - for "
            "standard input."
        ),
    ],
    inputs: TranslateInputs,
    languages: LanguageOptions,
    generation: Generation,
    output: RowOptions,
    models: EncoderOptions,
    cluster: ClusterOptions,
) -> None:
    """Paraphrase a text; shows the similarity in meaning and the diversity of each candidate.

    [bold]tertium paraphrase "I have to go now."[/bold]
    """
    started = time.monotonic()
    source = inputs.source(text, None)
    output.check([text])
    running = output.running(cluster.chosen(models.threads), what="texts")
    chosen = running.models(models.chosen)
    lang = _language(languages, source, chosen, quiet=output.quiet)
    terminal = ParaphraseLayout(generation.measure) if sys.stdout.isatty() else TsvLayout()
    result = running(
        Job(generation.task(lang, chosen), [Input(source)], generation.rows_at_a_time),
        paraphrased,
        shown=output.layout(terminal),
    )
    if not output.quiet:
        count = counted(result.paraphrases, "paraphrase")
        seconds = time.monotonic() - started
        say(f"{count} of {counted(result.rows, 'text')} in {seconds:.1f} s")


def _language(
    languages: LanguageOptions, source: Source, models: ModelSettings, *, quiet: bool
) -> str:
    """The language of the texts, given or identified."""
    if languages.pair is not None:
        raise LanguageError(f"--lang {languages.lang}: texts are paraphrased in one language")
    if languages.lang is not None:
        return language_code(languages.lang)
    if STDIN in source.paths:
        raise LanguageError("the language of the text is missing: use --lang")
    texts = (row.source.text for row in source if row.source is not None)
    supported = ModelPool(models)("translation").languages
    return language_of(texts, supported, quiet=quiet, role="text")


class ParaphraseLayout(Layout):
    """Paraphrases below their text, for people."""

    def __init__(self, measure: str) -> None:
        self.measure = measure
        self._text: str | None = None

    def body(self, rows: Sequence[Mapping[str, Any]]) -> str:
        lines = []
        for row in rows:
            if row["text"] != self._text:
                self._text = row["text"]
                lines += [str(self._text), f"{self.measure:>9} {'diversity':>9}"]
            via = f"  (via {row['via']})" if row["via"] else ""
            digits = 4 if self.digits is None else self.digits
            scores = f"{row['similarity']:9.{digits}f} {row['diversity']:9.1f}"
            lines.append(f"{scores}  {row['paraphrase']}{via}")
        return "".join(f"{line}\n" for line in lines)
