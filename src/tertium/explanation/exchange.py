"""Spans in the layouts of other tools.

- ``mqm``: TSV with one row per error, as in google/wmt-mqm-human-evaluation; read by Marot and by
  mt-metrics-eval's ``score_mqm``. The error is between ``<v>`` and ``</v>``; an omission is marked
  in the source. A segment without errors has one row with the category No-error.
- ``mtme``: JSON Lines with one rating per segment: the standalone ratings of mt-metrics-eval, with
  half-open character offsets.
- ``wmt``: TSV (quoted as CSV is) of the WMT25 error span task: start and end offsets (half-open)
  and severities in three columns, separated by spaces; ``missing`` for an omission.
- ``esa``: JSON Lines with ``esa_spans``, as the human evaluation of WMT24 was published; the last
  character belongs to the span, and an omission is ``missing``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tertium.errors import InputError
from tertium.explanation.flags import COPY, EMPTY, LANGUAGE, TRUNCATED
from tertium.explanation.review import PairReview
from tertium.explanation.spans import A, Severity, Span

MISSING, NO_ERROR = "missing", "no-error"
METHOD = "tertium"
"""The name of the rater or the method."""
CATEGORIES = {
    "omission": "Accuracy/Omission",
    "addition": "Accuracy/Addition",
    "repetition": "Accuracy/Addition",
    "unlikely": "Accuracy/Mistranslation",
    "difference": "Accuracy/Mistranslation",
    **dict.fromkeys(("number", "unit", "date", "name"), "Accuracy/Mistranslation"),
    **dict.fromkeys(("change", "negation", "opposite"), "Accuracy/Mistranslation"),
    **dict.fromkeys(("placeholder", "markup"), "Other"),
    "untranslated": "Accuracy/Untranslated text",
    "hallucination": "Non-translation!",
    COPY: "Accuracy/Untranslated text",
    LANGUAGE: "Accuracy/Untranslated text",
    TRUNCATED: "Accuracy/Omission",
    EMPTY: "Accuracy/Omission",
}
"""The categories of Freitag et al. (2021) for kinds of spans and flags."""


@dataclass(frozen=True)
class Error:
    """A span or a flag as an error of the translation."""

    kind: str
    severity: Severity
    score: float | None = None
    span: Span | None = None
    """None for an omission without a place."""

    @property
    def category(self) -> str:
        return CATEGORIES.get(self.kind, "Other")

    @property
    def in_hypothesis(self) -> bool:
        return self.span is not None and self.span.side == A


def errors_of(review: PairReview) -> list[Error]:
    """All spans, and the flags that have no span.

    A copy and a text in the wrong language are errors of the whole hypothesis; a truncated or empty
    one is an omission. The layouts have two severities: critical spans are major.
    """
    errors = [
        Error(span.kind, "minor" if span.severity == "minor" else "major", span.score, span)
        for span in review.spans
    ]
    for name in review.flags:
        if name not in {span.kind for span in review.spans}:
            text, span = review.a.text, None
            if name in (COPY, LANGUAGE) and text:
                span = Span.of(text, 0, len(text), side=A, kind=name, score=1.0, severity="major")
            errors.append(Error(name, "major", None, span))
    return errors


Fields = dict[str, Any]


class Exchange(ABC):
    """Turns the reviews of hypotheses and their sources into rows."""

    suffix: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    quoted: ClassVar[bool] = False
    """Whether fields of TSV are quoted, as in CSV, where they have quotation marks or breaks."""

    @abstractmethod
    def rows(self, review: PairReview, number: int, record: Mapping[str, Any]) -> list[Fields]:
        """The rows of a review; ``number`` counts from 1, ``record`` is what was read."""


class MqmTable(Exchange):
    """One row per error."""

    suffix = ".tsv"
    columns = (
        *("system", "doc", "doc_id", "seg_id", "rater", "source", "target"),
        *("category", "severity", "comment"),
    )

    def rows(self, review: PairReview, number: int, record: Mapping[str, Any]) -> list[Fields]:
        common = {
            "system": _first(record, ("system", "system_id"), METHOD),
            "doc": _first(record, ("doc", "document"), "doc"),
            "doc_id": _first(record, ("doc_id", "doc_seg_id"), number),
            "seg_id": _first(record, ("seg_id", "segment_id"), number),
            "rater": METHOD,
        }
        source, target = review.b.text, review.a.text
        rows = []
        for error in errors_of(review):
            marked = {A: target, "b": source}
            if error.span is not None:
                side, start, end = error.span.side, error.span.start, error.span.end
                text = marked[side]
                marked[side] = f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}"
            rows.append(
                {
                    **common,
                    "source": marked["b"],
                    "target": marked[A],
                    "category": error.category,
                    "severity": error.severity.capitalize(),
                    "comment": error.span.evidence if error.span is not None else error.kind,
                }
            )
        none = {"category": NO_ERROR.capitalize(), "severity": NO_ERROR.capitalize(), "comment": ""}
        return rows or [{**common, "source": source, "target": target, **none}]


class MtmeRatings(Exchange):
    """One object per segment."""

    suffix = ".jsonl"
    columns = (
        *("source", "hypothesis", "errors", "document_id", "segment_id", "system_id", "rater_id"),
        *("src_lang", "tgt_lang"),
    )

    def rows(self, review: PairReview, number: int, record: Mapping[str, Any]) -> list[Fields]:
        errors = []
        for error in errors_of(review):
            span = error.span
            errors.append(
                {
                    "start": 0 if span is None else span.start,
                    "end": 0 if span is None else span.end,
                    "category": error.category.lower(),
                    "severity": error.severity,
                    "score": error.score,
                    "is_source_error": not error.in_hypothesis,
                }
            )
        document = _first(record, ("document_id", "doc"), None)
        segment = _first(record, ("segment_id",), number - 1)
        return [
            {
                "source": review.b.text,
                "hypothesis": review.a.text,
                "errors": errors,
                "document_id": document if document is None else str(document),
                "segment_id": _integer(segment, number),
                "system_id": str(_first(record, ("system_id", "system"), METHOD)),
                "rater_id": METHOD,
                "src_lang": review.b.lang,
                "tgt_lang": review.a.lang,
            }
        ]


class WmtTable(Exchange):
    """One row per segment, with the columns of the test set."""

    suffix = ".tsv"
    quoted = True
    columns = (
        *("doc_id", "segment_id", "source_lang", "target_lang", "set_id", "system_id"),
        *("source_segment", "hypothesis_segment", "reference_segment", "domain_name", "method"),
        *("start_indices", "end_indices", "error_types"),
    )

    def rows(self, review: PairReview, number: int, record: Mapping[str, Any]) -> list[Fields]:
        errors = errors_of(review)
        spans = [error.span if error.in_hypothesis else None for error in errors]
        starts = [MISSING if span is None else str(span.start) for span in spans] or ["-1"]
        ends = [MISSING if span is None else str(span.end) for span in spans] or ["-1"]
        severities: list[str] = [error.severity for error in errors]
        return [
            {
                "doc_id": _first(record, ("doc_id", "doc"), "doc"),
                "segment_id": _first(record, ("segment_id", "seg_id"), number),
                "source_lang": _first(record, ("source_lang",), review.b.lang),
                "target_lang": _first(record, ("target_lang",), review.a.lang),
                "set_id": _first(record, ("set_id",), "official"),
                "system_id": _first(record, ("system_id", "system"), METHOD),
                "source_segment": review.b.text,
                "hypothesis_segment": review.a.text,
                "reference_segment": _first(record, ("reference_segment", "reference", "ref"), ""),
                "domain_name": _first(record, ("domain_name", "domain"), ""),
                "method": _first(record, ("method",), METHOD),
                "start_indices": " ".join(starts),
                "end_indices": " ".join(ends),
                "error_types": " ".join(severities or [NO_ERROR]),
            }
        ]


class EsaLines(Exchange):
    """One object per segment."""

    suffix = ".jsonl"
    columns = (
        *("langs", "line_id", "src", "tgt", "doc_id", "domain", "esa_spans", "system"),
        "annotator",
    )

    def rows(self, review: PairReview, number: int, record: Mapping[str, Any]) -> list[Fields]:
        spans: list[Fields] = []
        for error in errors_of(review):
            placed = error.span if error.in_hypothesis else None
            spans.append(
                {
                    "start_i": MISSING if placed is None else placed.start,
                    "end_i": MISSING if placed is None else placed.end - 1,
                    "severity": error.severity,
                    "error_type": error.category,
                }
            )
        return [
            {
                "langs": f"{review.b.lang}-{review.a.lang}",
                "line_id": _integer(_first(record, ("line_id",), number - 1), number),
                "src": review.b.text,
                "tgt": review.a.text,
                "doc_id": _first(record, ("doc_id", "doc"), "doc"),
                "domain": _first(record, ("domain", "domain_name"), ""),
                "esa_spans": spans,
                "system": _first(record, ("system", "system_id"), METHOD),
                "annotator": METHOD,
            }
        ]


EXCHANGES: dict[str, Exchange] = {
    "mqm": MqmTable(),
    "mtme": MtmeRatings(),
    "wmt": WmtTable(),
    "esa": EsaLines(),
}


def exchange_for(name: str) -> Exchange:
    """The layout of a name."""
    if name not in EXCHANGES:
        raise InputError(f"no layout {name!r}: use {', '.join(EXCHANGES)}")
    return EXCHANGES[name]


def _first(record: Mapping[str, Any], names: Sequence[str], default: Any) -> Any:
    """The first of some fields that a record has and that is not empty."""
    return next((record[name] for name in names if record.get(name) not in (None, "")), default)


def _integer(value: Any, number: int) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise InputError(
            f"row {number}: the segment is {value!r}, where the layout needs a number"
        ) from None
