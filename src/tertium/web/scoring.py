"""Scores the pairs of a request, with the very loop that scores files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tertium.data.pairs import Item
from tertium.engines.layouts import CUT, Fields
from tertium.engines.local.scoring import ScoringJob
from tertium.errors import InputError
from tertium.measures.registry import kinds_of, parts_of
from tertium.measures.totals import Role
from tertium.text import Text, check_text
from tertium.web.batching import Call
from tertium.web.engines import Engines
from tertium.web.limits import Limits
from tertium.web.requests import ScoreRequest
from tertium.web.responses import MeasureScores, ScoreAnswer

ROWS_AT_A_TIME = 256


class TooLargeError(InputError):
    """A request asks for more than the server gives at a time."""


@dataclass(frozen=True)
class RequestPairs:
    """The pairs of a request, as a job reads them."""

    items: Sequence[Item]
    has_references: bool
    has_source: bool
    name: str = "the request"
    columns: Sequence[str] = ()

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def count(self) -> int:
        return len(self.items)


@dataclass
class Collected:
    """Rows that are kept for the answer."""

    rows: list[Fields] = field(default_factory=list)

    def begin(self, job: Mapping[str, Any], columns: Sequence[str]) -> None:
        """There is nothing to take up again."""

    def add(self, rows: Sequence[Fields], state: Mapping[str, Any]) -> None:
        self.rows += rows

    def finish(self) -> None:
        """They are all here."""

    def close(self) -> None:
        """Nothing is open."""


def score(request: ScoreRequest, engines: Engines, limits: Limits, call: Call) -> ScoreAnswer:
    """Score every pair by every measure: the numbers that ``tertium score`` gives."""
    _check_sizes(request, limits)
    settings = request.settings.said()
    measures = engines.measures(request.measures, settings, call)
    pairs = _pairs(request, {role for measure in measures for role in measure.reads})
    answers = {}
    cut = [False] * len(pairs.items)
    for name, measure in zip(request.measures, measures, strict=True):
        output = Collected()
        # Overlap is computed in this thread, and looks up after every row whether to go on.
        rows_at_a_time = ROWS_AT_A_TIME if kinds_of(name) else 1
        job = ScoringJob(pairs, [measure], output, True, rows_at_a_time)
        job.advance = lambda _: call.check()
        [result] = job.run().values()
        answers[name] = MeasureScores(
            system=result.system,
            segments=[row[measure.name] for row in output.rows],
            reading="higher is better" if settings else measure.reading(result.system),
            signature=result.signature.long,
            short_signature=result.signature.short,
        )
        cut = [before or row[CUT] for before, row in zip(cut, output.rows, strict=True)]
    return ScoreAnswer(measures=answers, cut=cut)


def _pairs(request: ScoreRequest, wanted: set[Role]) -> RequestPairs:
    """Read the pairs; each must have what the measures compare hypotheses with."""
    has_source = all(pair.source is not None for pair in request.pairs)
    has_references = any(pair.references for pair in request.pairs)
    items = []
    for number, pair in enumerate(request.pairs, start=1):
        if "source" in wanted and pair.source is None:
            raise InputError(f"row {number}: there is no source")
        if "reference" in wanted and not pair.references:
            cure = "; to compare with the source, use the setting against: source"
            raise InputError(
                f"row {number}: there is no reference{cure if pair.source is not None else ''}"
            )
        lang = pair.lang or request.lang
        reference_lang = pair.reference_lang or request.reference_lang or lang
        source = None
        if pair.source is not None:
            text = check_text(pair.source, role="source", row=number)
            source = Text(text, pair.source_lang or request.source_lang)
        references = tuple(
            Text(check_text(text, role="reference", row=number), reference_lang)
            for text in pair.references
        )
        hypothesis = Text(check_text(pair.hypothesis, role="hypothesis", row=number), lang)
        items.append(Item(number, hypothesis, references, source))
    return RequestPairs(items, has_references, has_source)


def _check_sizes(request: ScoreRequest, limits: Limits) -> None:
    _at_most(len(request.pairs), limits.pairs, "pairs")
    _at_most(len(request.measures), limits.measures, "measures")
    longest_words = limits.ter_words if any("ter" in parts_of(m) for m in request.measures) else 0
    characters = 0
    for number, pair in enumerate(request.pairs, start=1):
        _at_most(len(pair.references), limits.references, f"references in row {number}")
        texts = [pair.hypothesis, *pair.references, *([pair.source] if pair.source else [])]
        for text in texts:
            check_length(text, limits, f"row {number}")
            if longest_words:
                words = len(text.split())
                _at_most(words, longest_words, f"words in row {number}, which is scored by ter")
        characters += sum(map(len, texts))
    _at_most(characters, limits.characters, "characters")


def check_length(text: str, limits: Limits, where: str) -> None:
    """Refuse a text that is longer than any that is taken."""
    _at_most(len(text), limits.text_characters, f"characters in a text of {where}")


def check_texts(texts: Sequence[str], limits: Limits) -> None:
    """Refuse what is too much for one request."""
    _at_most(len(texts), limits.pairs, "texts")
    for number, text in enumerate(texts, start=1):
        check_length(text, limits, f"row {number}")
    _at_most(sum(map(len, texts)), limits.characters, "characters")


def _at_most(count: int, most: int, what: str) -> None:
    if count > most:
        raise TooLargeError(f"{count} {what}: at most {most} are taken")
