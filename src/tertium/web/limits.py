"""How much one request, and all of them together, may ask for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What is refused: with 413 what is too large, with 503 what is too much at once."""

    body_bytes: int = 4 << 20
    pairs: int = 1000
    """In one request; a longer file is sent in several."""
    text_characters: int = 5000
    """Of one text."""
    characters: int = 500_000
    """Of all texts of a request."""
    explained_characters: int = 1000
    """Of a text that is explained: its pictures grow with the square."""
    references: int = 16
    """Of one pair."""
    measures: int = 24
    ter_words: int = 200
    """Of a text that is scored by ter: a search for shifts takes seconds where words recur."""
    seconds: float = 60.0
    """For the answer, from the moment that the request is read; and again for reading it."""
    queue: int = 64
    """Requests that are being answered or wait for it."""
    window: float = 0.004
    """Seconds that a question waits for others to be asked together with it."""
    budget: int = 8192
    """Tokens, by estimate, that are put to an engine at a time."""
