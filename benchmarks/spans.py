"""Labels by people: RSD (tokens of sentences and documents), and predictions of coverage errors.

``rsd`` reports Spearman's correlation over tokens, the figure of the benchmark, for documents as
they are and split into sentences that are aligned first. ``coverage`` reports how many of the spans
that two annotators looked at are errors: of those that Vamvas and Sennrich (2022) predicted, and of
those that Tertium reports as well.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tertium.data.records import Record, open_table
from tertium.data.sentences import best_splitter, split_sentences
from tertium.explanation.coverage import CoverageSettings
from tertium.explanation.review import (
    NEED_ENCODER,
    NEED_MODEL,
    Pair,
    Reviewer,
    read_methods,
    read_thresholds,
)
from tertium.explanation.spans import A, B
from tertium.measures.loading import ModelPool, ModelSettings
from tertium.models.encoders.alignment import Aligner
from tertium.studies.runner import Scored
from tertium.studies.spans.labels import (
    A_SCORES,
    B_SCORES,
    MAX_SAMPLES,
    Values,
    correlation,
    pair_scores,
    token_values,
)
from tertium.studies.spans.published import LabelledPair, read_rsd
from tertium.text import Text

UNALIGNED = 1e6
"""The score of the words of a sentence without counterpart: the highest rank."""
ROWS_AT_A_TIME = 16


def read_subset(path: Path, subset: str | None, lang: str, limit: int | None) -> list[LabelledPair]:
    """Read a subset; ``lang`` is the language of its second texts."""
    return [
        read_rsd(record, row, "en", lang)
        for row, record in enumerate(open_table(path), 1)
        if subset is None or record.get("subset") == subset
    ][:limit]


@dataclass(frozen=True)
class Sentence:
    """A sentence, and where it begins in its document."""

    text: Text
    start: int


def sentences(document: Text) -> list[Sentence]:
    """Split a document, and find the places of its sentences."""
    found, place = [], 0
    for text in split_sentences(document.text, document.lang, best_splitter()):
        start = document.text.index(text, place)
        place = start + len(text)
        found.append(Sentence(Text(text, document.lang), start))
    return found


def unit(side: Sequence[Sentence], document: Text) -> tuple[Text, int]:
    """Neighbouring sentences as one text, and where it begins."""
    start, last = side[0].start, side[-1]
    return Text(document.text[start : last.start + len(last.text.text)], document.lang), start


def aligned_values(
    pair: Pair, reviewer: Reviewer, method: str, aligner: Aligner
) -> tuple[Values, Values]:
    """The scores of words in aligned sentences, with offsets in the documents."""
    split = [sentences(text) for text in pair]
    values: tuple[Values, Values] = ([], [])
    first, second = ([each.text for each in side] for side in split)
    units = aligner(first, second)
    pairs, starts = [], []
    for each in units:
        chosen = [
            [split[number][place] for place in places]
            for number, places in enumerate((each.source, each.target))
        ]
        if all(chosen):
            texts = [unit(side, text) for side, text in zip(chosen, pair, strict=True)]
            pairs.append((texts[0][0], texts[1][0]))
            starts.append((texts[0][1], texts[1][1]))
            continue
        for number, side in enumerate(chosen):
            values[number].extend(
                (each.start, each.start + len(each.text.text), UNALIGNED) for each in side
            )
    for offsets, found in zip(starts, pair_scores(reviewer, method, pairs), strict=True):
        for number, (offset, words) in enumerate(zip(offsets, (found.a, found.b), strict=True)):
            values[number].extend((s + offset, e + offset, score) for s, e, score in words)
    return values


def rsd(arguments: argparse.Namespace) -> None:
    """Print a line for each method."""
    names = read_methods(arguments.method)
    pool = ModelPool(ModelSettings(arguments.model, encoder=arguments.encoder))
    reviewer = Reviewer(
        names,
        pool("translation") if NEED_MODEL.intersection(names) else None,
        pool("tokens") if NEED_ENCODER.intersection(names) else None,
    )
    pairs = read_subset(arguments.file, arguments.subset, arguments.lang, arguments.limit)
    for method in names:
        one = replace(reviewer, methods=(method,))
        scored = Scored({A_SCORES: [], B_SCORES: []})
        found: Iterator[tuple[Values, Values]]
        if arguments.aligned:
            aligner = Aligner(pool("sentences", arguments.aligner))
            found = (aligned_values(pair.pair, one, method, aligner) for pair in pairs)
        else:
            found = whole_values([pair.pair for pair in pairs], one, method)
        for pair, (first, second) in zip(pairs, found, strict=True):
            scored.parts[A_SCORES].append(token_values(pair.tokens_a, first))
            scored.parts[B_SCORES].append(token_values(pair.tokens_b, second))
        value, low, high, tokens = correlation(pairs, scored, samples=MAX_SAMPLES)
        how = "aligned" if arguments.aligned else "whole"
        encoder = arguments.encoder or arguments.model
        used = encoder if method in NEED_ENCODER else arguments.model
        print(
            f"{arguments.subset or arguments.file.name}\t{Path(used).name}\t{method}\t{how}\t"
            f"{len(pairs)} pairs\t{tokens} tokens\t{value:.3f}\t{low:.3f}-{high:.3f}",
            flush=True,
        )


def whole_values(
    pairs: Sequence[Pair], reviewer: Reviewer, method: str
) -> Iterator[tuple[Values, Values]]:
    """The scores of words of whole documents."""
    for start in range(0, len(pairs), ROWS_AT_A_TIME):
        for found in pair_scores(reviewer, method, pairs[start : start + ROWS_AT_A_TIME]):
            yield found.a, found.b


@dataclass
class Judged:
    """How many spans each annotator judged, and how many of them are errors."""

    spans: int = 0
    judged: Counter[int] = field(default_factory=Counter)
    errors: Counter[int] = field(default_factory=Counter)

    def add(self, record: Record, prefix: str) -> None:
        self.spans += 1
        for annotator in (1, 2):
            labels = record[f"labels_annotator{annotator}"]
            if labels is not None:
                self.judged[annotator] += 1
                self.errors[annotator] += any(label.startswith(prefix) for label in labels)

    def __str__(self) -> str:
        shares = [
            f"annotator {n}: {self.errors[n]} of {self.judged[n]} "
            f"({100 * self.errors[n] / max(self.judged[n], 1):.1f} %)"
            for n in (1, 2)
        ]
        return f"{self.spans} segments; errors by {', '.join(shares)}"


def coverage(arguments: argparse.Namespace) -> None:
    """Compare the spans of a model with those of the paper, and count the annotators' labels."""
    records = list(open_table(arguments.file))[: arguments.limit]
    model = ModelPool(ModelSettings(arguments.model))("translation")
    settings = CoverageSettings(min_words=arguments.min_words)
    thresholds = read_thresholds(arguments.threshold or (), ("coverage",))
    if arguments.gain_only:
        settings = replace(settings, surprise=-1e9, explained=-1e9)
    reviewer = Reviewer(("coverage",), model, coverage=settings, thresholds=thresholds)
    pairs = [(Text(str(r["target"]), "de"), Text(str(r["source"]), "en")) for r in records]
    reviews = [
        review
        for start in range(0, len(pairs), 64)
        for review in reviewer(pairs[start : start + 64])
    ]
    kinds = {"undertranslation": (B, "UT"), "overtranslation": (A, "OT")}
    for kind, (side, prefix) in kinds.items():
        paper, ours = Judged(), Judged()
        reported = 0
        for record, review in zip(records, reviews, strict=True):
            if record["coverage_error_type"] != kind:
                continue
            paper.add(record, prefix)
            own = review.of_side(side)
            reported += bool(own)
            predicted = [
                tuple(map(int, span.split("-")))
                for span in str(record[f"predicted_{kind}_spans"]).split(" | ")
                if span
            ]
            if any(
                span.start < end and start < span.end for span in own for start, end in predicted
            ):
                ours.add(record, prefix)
        print(f"{kind}: paper {paper}")
        print(f"{kind}: {Path(arguments.model).name} {ours}; a span in {reported} rows", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    first = commands.add_parser("rsd")
    first.set_defaults(run=rsd)
    first.add_argument("file", type=Path)
    first.add_argument("--subset")
    first.add_argument("--lang", default="en", help="language of text_b")
    first.add_argument("--method", default="differences,deletion")
    first.add_argument("--model", default="tertium-mini")
    first.add_argument("--encoder")
    first.add_argument("--aligned", action="store_true")
    first.add_argument("--aligner", default="tertium-mini", help="encoder that aligns sentences")
    first.add_argument("--limit", type=int)
    second = commands.add_parser("coverage")
    second.set_defaults(run=coverage)
    second.add_argument("file", type=Path)
    second.add_argument("--model", default="tertium-mini")
    second.add_argument("--threshold", action="append")
    second.add_argument("--min-words", type=int, default=CoverageSettings.min_words)
    second.add_argument("--gain-only", action="store_true", help="as in the paper")
    second.add_argument("--limit", type=int)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
