"""The dictionaries of fairseq, which give the id of each token."""

from __future__ import annotations

from pathlib import Path

from tertium.errors import ModelError

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
"""The first tokens of every dictionary, which are not in the file."""
PAD = SPECIAL.index("<pad>")
OVERWRITE = "#fairseq:overwrite"


def read_dictionary(file: Path) -> list[str]:
    """Read the tokens of a dictionary by id.

    A line is a token and its count. In fairseq, a token that occurs twice has the later id; the
    earlier id then gets a name that cannot occur in a text.
    """
    tokens = list(SPECIAL)
    ids: dict[str, int] = {}
    try:
        with file.open(encoding="utf-8") as lines:
            for row, line in enumerate(lines, start=1):
                entry = line.rstrip().removesuffix(f" {OVERWRITE}")
                token, space, count = entry.rpartition(" ")
                if not space or not count.isdigit():
                    raise ModelError(f"{file}, line {row}: {entry!r} is not a token and its count")
                hidden = f"<hidden {len(tokens)}>"
                if token in ids:
                    tokens[ids[token]] = hidden
                ids[token] = len(tokens)
                tokens.append(hidden if token in SPECIAL else token)
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ModelError(f"{file} is not UTF-8: {error}; download it again") from None
    return tokens


def padded(tokens: list[str], size: int) -> list[str]:
    """Add placeholder tokens, as fairseq does, for the rows of an embedding that have no token.

    >>> padded(["a", "b"], 4)
    ['a', 'b', 'madeupword0000', 'madeupword0001']
    """
    if len(tokens) > size:
        raise ModelError(
            f"the dictionary has {len(tokens)} tokens, but the network only {size}; "
            "they do not belong together"
        )
    existing = set(tokens)
    names = (f"madeupword{number:04d}" for number in range(size + len(tokens)))
    free = (name for name in names if name not in existing)
    return [*tokens, *(next(free) for _ in range(size - len(tokens)))]
