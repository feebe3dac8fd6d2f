"""Documents whose sentences are aligned: how they are read, and the formats of alignments."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from tertium._version import __version__
from tertium.data.lines import check_file, name_of, read_lines
from tertium.data.pairs import TextSource
from tertium.data.sentences import best_splitter, join, split_sentences
from tertium.errors import InputError
from tertium.stats.alignment import Unit
from tertium.text import Row, Text

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot contain."""


@dataclass(frozen=True)
class Document:
    """The sentences of a document, the index of the line of each, and the number of lines."""

    sentences: Sequence[Text]
    lines: Sequence[int]
    length: int

    @classmethod
    def read(cls, path: Path, lang: str | None, *, split: bool, replace_invalid: bool) -> Document:
        """Read a file; each line that is not blank is one sentence, or is split into sentences."""
        by = best_splitter()
        check_file(path)
        texts = list(read_lines(path, replace_invalid=replace_invalid))
        found = [
            (index, sentence)
            for index, text in enumerate(texts)
            if text.strip()
            for sentence in (split_sentences(text, lang, by) if split else [text.strip()])
        ]
        if not found:
            raise InputError(f"{name_of(path)} has no sentences: all lines are blank")
        sentences = [Text(sentence, lang) for _, sentence in found]
        return cls(sentences, [index for index, _ in found], len(texts))

    def line_at(self, place: int) -> int:
        """The index of the line of a sentence; after the last one, the number of lines."""
        return self.lines[place] if place < len(self.lines) else self.length

    def text(self, places: range) -> str:
        return join([self.sentences[place] for place in places]).text

    def numbers(self, places: range) -> list[int]:
        """The numbers of the lines, from 1, that sentences are on."""
        return sorted({self.lines[place] + 1 for place in places})


class DocumentPair(NamedTuple):
    """The files of a document and of its translation, and the file of their alignment."""

    source: Path
    target: Path
    output: Path | None = None


@dataclass(frozen=True)
class PairedDocuments(TextSource):
    """Pairs of documents as rows, which hold the names of files and a hash of what is in them."""

    pairs: Sequence[DocumentPair]
    langs: tuple[str | None, str | None] = (None, None)
    name: str = "the documents"
    columns: Sequence[str] = ()
    has_references: bool = False
    has_source: bool = True

    @property
    def paths(self) -> list[Path]:
        return [path for pair in self.pairs for path in pair[:2]]

    def __iter__(self) -> Iterator[Row]:
        for number, (source, target, _) in enumerate(self.pairs, start=1):
            files = [path.read_bytes() for path in (source, target) if path.is_file()]
            record = {"sha256": [hashlib.sha256(content).hexdigest() for content in files]}
            texts = [
                Text(str(path), lang)
                for path, lang in zip((source, target), self.langs, strict=True)
            ]
            yield Row(number, texts[1], (), texts[0], record)

    def count(self) -> int:
        return len(self.pairs)


def ladder(source: Document, target: Document, units: Sequence[Unit]) -> str:
    """The format of hunalign: where each unit starts, in lines from 0, and how good it is."""
    rungs = [
        f"{source.line_at(unit.source.start)}\t{target.line_at(unit.target.start)}\t{-unit.cost:.6f}"
        for unit in units
    ]
    return "\n".join([*rungs, f"{source.length}\t{target.length}\t0"]) + "\n"


def tmx(source: Document, target: Document, units: Sequence[Unit]) -> str:
    """Units that have both sides, as a translation memory."""
    langs = [str(document.sentences[0].lang) for document in (source, target)]
    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
        f'<header creationtool="tertium" creationtoolversion={quoteattr(__version__)} '
        f'segtype="block" o-tmf="tertium" adminlang="en" srclang={quoteattr(langs[0])} '
        'datatype="plaintext"/>\n<body>\n'
    )
    body = []
    for unit in units:
        if unit.source and unit.target:
            texts = source.text(unit.source), target.text(unit.target)
            sides = "".join(
                f"<tuv xml:lang={quoteattr(lang)}><seg>{escape(NOT_XML.sub(' ', text))}</seg></tuv>"
                for lang, text in zip(langs, texts, strict=True)
            )
            body.append(f"<tu>{sides}</tu>\n")
    return head + "".join(body) + "</body>\n</tmx>\n"
