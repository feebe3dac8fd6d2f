"""Which sentences no training may see."""

from __future__ import annotations

import zlib

HELD_OUT_EVERY = 400


def held_out(sentence: str) -> bool:
    """Whether a sentence is kept for testing: by its checksum, so in every corpus alike.

    Asked of the sentence as it stands and with runs of white space made one space.

    >>> held_out("This one is for training.")
    False
    """
    spellings = {sentence, " ".join(sentence.split())}
    return any(zlib.crc32(spelling.encode()) % HELD_OUT_EVERY == 0 for spelling in spellings)
