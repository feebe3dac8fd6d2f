"""The limits of one request, and of all requests together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tertium.errors import InputError
from tertium.measures.loading import MeasureSpec
from tertium.measures.registry import parts_of

if TYPE_CHECKING:
    from tertium.web.schema import ScoreRequest


class TooLargeError(InputError):
    """A request exceeds a limit."""


@dataclass(frozen=True)
class Limits:
    """Larger requests are refused with status 413, further ones with 503."""

    body_bytes: int = 8 << 20
    pairs: int = 1000
    """In one request that is answered at once."""
    rows: int = 20_000
    """In a file, whose scores are a stream, or of all systems that are compared."""
    file_characters: int = 4_000_000
    """In all texts of a file."""
    text_characters: int = 5000
    """In one text."""
    characters: int = 500_000
    """In all texts of a request."""
    explained_characters: int = 1000
    """In a text to explain: the matrices grow with the square of the length."""
    references: int = 16
    """For one pair."""
    measures: int = 24
    ter_words: int = 200
    """In a text to score with ter: its search for shifts takes seconds where words recur."""
    seconds: float = 60.0
    """For the response, or the next part of a stream, after the request has been read; and the
    same time for reading it."""
    queue: int = 64
    """Requests in progress or waiting."""
    window: float = 0.004
    """Seconds that a query waits for others to be batched with."""
    budget: int = 8192
    """Estimated tokens in a batch."""

    def check_scoring(self, request: ScoreRequest) -> None:
        """Refuse a request to score that is too large."""
        _at_most(len(request.pairs), self.pairs, "pairs")
        self.check_measures(request.measures)
        uses_ter = self.uses_ter(request.measures)
        characters = 0
        for number, pair in enumerate(request.pairs, start=1):
            _at_most(len(pair.references), self.references, f"references in row {number}")
            texts = [pair.hypothesis, *pair.references, *([pair.source] if pair.source else [])]
            self.check_texts(texts, number, uses_ter)
            characters += sum(map(len, texts))
        _at_most(characters, self.characters, "characters")

    def check_measures(self, measures: Sequence[str]) -> None:
        """Refuse too many measures."""
        _at_most(len(measures), self.measures, "measures")

    def uses_ter(self, measures: Sequence[str]) -> bool:
        """Whether texts are to be scored with ter, which is slow."""
        specs = [MeasureSpec.parse(name) for name in measures]
        return any("ter" in parts_of(spec.measure) for spec in specs)

    def check_texts(self, texts: Sequence[str], row: int, uses_ter: bool) -> None:
        """Refuse a row with a text that is too long."""
        for text in texts:
            self._check_length(text, row)
            if uses_ter:
                words = len(text.split())
                _at_most(words, self.ter_words, f"words in row {row}, to be scored with ter")

    def check_file(self, rows: int, characters: int) -> None:
        """Refuse a file that is too large."""
        _at_most(rows, self.rows, "rows")
        _at_most(characters, self.file_characters, "characters in the file")

    def check_translation(self, texts: Sequence[str]) -> None:
        """Refuse a request with a list of texts that is too large."""
        _at_most(len(texts), self.pairs, "texts")
        for number, text in enumerate(texts, start=1):
            self._check_length(text, number)
        _at_most(sum(map(len, texts)), self.characters, "characters")

    def check_explanation(self, texts: Sequence[str]) -> None:
        """Refuse a request to explain that is too large."""
        for text in texts:
            _at_most(len(text), self.explained_characters, "characters in a text to explain")

    def _check_length(self, text: str, row: int) -> None:
        _at_most(len(text), self.text_characters, f"characters in a text of row {row}")


def _at_most(count: int, limit: int, what: str) -> None:
    if count > limit:
        raise TooLargeError(f"{count} {what}: at most {limit} are allowed")
