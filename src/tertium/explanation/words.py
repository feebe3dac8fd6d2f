"""Words with character offsets, and subword tokens grouped into words.

Offsets count Unicode code points, as Python does: ``text[word.start : word.end] == word.text``.
Tokens are located in the text by their characters, so that cached results and any tokenizer
(SentencePiece, WordPiece, byte-level BPE) can be used.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from tertium.measures.words import NO_SPACES
from tertium.models.base import TokenScores

JOINER, NON_JOINER = "\u200d", "\u200c"
INSIDE_WORDS = frozenset("'’-‐‑·_")
"""Part of a word if they are between two letters or digits."""
INSIDE_NUMBERS = frozenset(".,:/")
"""Part of a number if they are between two digits."""
PLAIN = re.compile(r"[\n\t -~\u00a0-\u00ac\u00ae-\u02af\u202f\u2010-\u2027\u20a0-\u20bf]*")
"""Latin letters, digits and punctuation: no marks, no emoji, nothing that is invisible."""
PLAIN_WORD = re.compile(
    r"[^\W_]+(?:(?:['’\-‐‑·_]|(?<=[\d²³¹])[.,:/](?=[\d²³¹]))[^\W_]+)*|[^\s\w]|_"
)
"""The rules of :func:`split_words` for such texts."""
UNKNOWN_TOKENS = frozenset({"<unk>", "[UNK]", "⁇", " ⁇ "})
END_TOKENS = frozenset({"</s>", "[SEP]", "<|endoftext|>"})
WORD_MARKS = str.maketrans({"▁": " "})
FAR = 32
"""How many characters a tokenizer may drop between two tokens."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word, a number or a punctuation mark, and where it is."""

    text: str
    start: int
    end: int

    @property
    def is_punctuation(self) -> bool:
        """Whether it separates phrases.

        >>> Word("…", 0, 1).is_punctuation, Word("👍", 0, 1).is_punctuation
        (True, False)
        """
        return all(unicodedata.category(char).startswith("P") for char in self.text)


@dataclass(frozen=True, slots=True)
class ScoredWord:
    """A word with its tokens and the sum of their log-probabilities.

    The end-of-sentence token is an empty word at the end of the text.
    """

    word: Word
    log_prob: float
    tokens: tuple[str, ...]


def characters(text: str) -> Iterator[tuple[int, int]]:
    """Offsets of user-perceived characters: a base with its combining marks, or a whole emoji.

    >>> list(characters("e\\u0301a👍🏽🇩🇪"))
    [(0, 2), (2, 3), (3, 5), (5, 7)]
    """
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or not _continues(text, start, place):
            yield start, place
            start = place


def _continues(text: str, start: int, place: int) -> bool:
    char, before = text[place], text[place - 1]
    if before == JOINER and unicodedata.category(char) == "So":
        return True  # an emoji of several
    if _is_regional(char):
        return _is_regional(before) and place - start == 1
    if "\U0001f3fb" <= char <= "\U0001f3ff" or "\U000e0020" <= char <= "\U000e007f":
        return True  # a skin tone, or a tag of a flag
    return char in (JOINER, NON_JOINER) or unicodedata.category(char).startswith("M")


def _is_regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def split_words(text: str) -> list[Word]:
    """Split a text into words, numbers and single punctuation marks.

    Scripts that are written without spaces (Chinese, Japanese, Thai and others) are split into
    characters.

    >>> [word.text for word in split_words("It's 3.5 km (approx.).")]
    ["It's", '3.5', 'km', '(', 'approx', '.', ')', '.']
    >>> [word.text for word in split_words("我有2只猫。")]
    ['我', '有', '2', '只', '猫', '。']
    """
    if PLAIN.fullmatch(text):
        return [Word(match[0], match.start(), match.end()) for match in PLAIN_WORD.finditer(text)]
    places = list(characters(text))
    bases = [text[start] for start, _ in places]
    words: list[Word] = []
    open_word = False
    """Whether the last word continues if the next character is a letter or a digit."""
    for index, (start, end) in enumerate(places):
        base = bases[index]
        kind = unicodedata.category(base)
        if base.isspace() or kind in ("Cc", "Cf", "Zs", "Zl", "Zp"):
            open_word = False
            continue
        joins = _in_word(base) or (
            open_word and index + 1 < len(bases) and _connects(bases[index - 1 : index + 2])
        )
        if joins and open_word:
            last = words.pop()
            words.append(Word(text[last.start : end], last.start, end))
        else:
            words.append(Word(text[start:end], start, end))
        open_word = joins
    return words


def _in_word(char: str) -> bool:
    """Whether a character makes a longer word with its neighbours."""
    return unicodedata.category(char)[0] in "LN" and not NO_SPACES.match(char)


def _connects(three: Sequence[str]) -> bool:
    before, char, after = three
    if not (_in_word(before) and _in_word(after)):
        return False
    if char in INSIDE_NUMBERS:
        return before.isdigit() and after.isdigit()
    return char in INSIDE_WORDS


def token_offsets(text: str, tokens: Sequence[str]) -> list[tuple[int, int] | None]:
    """Find the characters of each token; None for a token without any, such as ``</s>`` or ``▁``.

    Bytes of a character that is not in the vocabulary all have the offsets of that character.

    >>> token_offsets("Ein ☃!", ["▁Ein", "▁", "<0xE2>", "<0x98>", "<0x83>", "!", "</s>"])
    [(0, 3), None, (4, 5), (4, 5), (4, 5), (5, 6), None]
    """
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    for start, end in characters(text):
        for letter in _normalized_character(text[start:end]):
            letters.append(letter)
            places.append((start, end))
    whole = "".join(letters)
    found: list[tuple[int, int] | None] = [None] * len(tokens)
    unknown: list[int] = []
    """Tokens whose characters are not known: what is before the next token that is found."""
    place = 0
    for indices, surface in _surfaces(tokens, whole):
        if surface is None:
            unknown += indices
            continue
        options = [_normalized(surface)]
        if surface.startswith("##"):
            options.append(_normalized(surface[2:]))
        if not options[0]:
            continue
        near = place + FAR + (FAR if unknown else 0)
        starts = [(whole.find(option, place, near + len(option)), option) for option in options]
        start, option = min(((s, o) for s, o in starts if s >= 0), default=(-1, ""))
        if start < 0:
            unknown += indices
            continue
        if unknown and start > place:
            for index in unknown:
                found[index] = (places[place][0], places[start - 1][1])
        unknown = []
        place = start + len(option)
        for index in indices:
            found[index] = (places[start][0], places[place - 1][1])
    if unknown and place < len(places):
        for index in unknown:
            found[index] = (places[place][0], places[-1][1])
    return found


def _surfaces(tokens: Sequence[str], whole: str) -> Iterator[tuple[list[int], str | None]]:
    """The characters of tokens: of one, or of several that are bytes of the same characters.

    None stands for unknown characters.
    """
    byte_level = _is_byte_level(tokens, whole)
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    pending: list[int] = []
    for index, token in enumerate(tokens):
        byte = _byte(token)
        is_last = index == len(tokens) - 1
        if token in UNKNOWN_TOKENS or (is_last and token in END_TOKENS):
            decoder.reset()
            pending = []
            yield [index], (None if token in UNKNOWN_TOKENS else "")
        elif byte is not None or byte_level:
            data = byte if byte is not None else bytes(_byte_alphabet()[char] for char in token)
            pending.append(index)
            surface = decoder.decode(data)
            if not decoder.getstate()[0]:
                yield pending, surface
                pending = []
        else:
            yield [index], token


def _byte(token: str) -> bytes | None:
    """The byte that a token of SentencePiece's byte fallback stands for."""
    if len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
        try:
            return bytes.fromhex(token[3:5])
        except ValueError:
            return None
    return None


def _is_byte_level(tokens: Sequence[str], whole: str) -> bool:
    """Whether tokens are written in the alphabet of byte-level BPE (GPT-2, RoBERTa)."""
    alphabet = _byte_alphabet()
    body = tokens[:-1] if tokens and tokens[-1] in END_TOKENS else tokens
    if not all(char in alphabet for token in body for char in token):
        return False
    joined = "".join(body)
    if _normalized(joined) == whole:
        return False
    decoded = bytes(alphabet[char] for char in joined).decode("utf-8", errors="replace")
    return _normalized(decoded) == whole


@cache
def _byte_alphabet() -> dict[str, int]:
    """The 256 characters that stand for bytes: printable Latin-1 ones for themselves."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    alphabet = {chr(byte): byte for byte in printable}
    return alphabet | {chr(256 + number): byte for number, byte in enumerate(others)}


def _normalized(text: str) -> str:
    """What is left of a text if case, accents, compatibility forms and spaces do not matter."""
    folded = unicodedata.normalize("NFKD", text.translate(WORD_MARKS).casefold())
    return "".join(
        char
        for char in folded
        if not char.isspace() and unicodedata.category(char) not in ("Mn", "Me", "Cf", "Cc")
    )


@lru_cache(maxsize=1 << 12)
def _normalized_character(char: str) -> str:
    """The same for a character, which texts have many times."""
    return _normalized(char)


def group_tokens(text: str, tokens: Sequence[str]) -> list[tuple[Word, list[int]]]:
    """Group the tokens of a text into words: each word with the indices of its tokens.

    Words that share a token are one word. A token without characters belongs to the next word, and
    the end-of-sentence token is an empty word at the end of the text. Words without a token (those
    after the end of a truncated text) are left out.

    >>> [(word.text, of) for word, of in group_tokens("Hello there!", ["▁He", "llo", "▁there!"])]
    [('Hello', [0, 1]), ('there!', [2])]
    """
    words = split_words(text)
    offsets = token_offsets(text, tokens)
    has_end = bool(tokens) and tokens[-1] in END_TOKENS and offsets[-1] is None
    first_of: list[int | None] = []
    group = list(range(len(words)))
    for span in offsets:
        inside = [
            number
            for number, word in enumerate(words)
            if span is not None and word.start < span[1] and word.end > span[0]
        ]
        first_of.append(inside[0] if inside else None)
        if len(inside) > 1:
            lowest = group[inside[0]]
            merged = {group[number] for number in inside}
            group = [lowest if each in merged else each for each in group]
    owner: list[int | None] = [None] * len(tokens)
    following: int | None = None
    for index in reversed(range(len(tokens) - has_end)):
        place = first_of[index]
        following = following if place is None else group[place]
        owner[index] = following
    previous: int | None = None
    for index in range(len(tokens) - has_end):  # tokens without characters after the last word
        previous = owner[index] = previous if owner[index] is None else owner[index]
    result = []
    for number in sorted(set(group)):
        indices = [index for index, own in enumerate(owner) if own == number]
        if indices:
            members = [word for word, own in zip(words, group, strict=True) if own == number]
            start, end = members[0].start, members[-1].end
            result.append((Word(text[start:end], start, end), indices))
    rest = [index for index, own in enumerate(owner) if own is None]
    if rest:
        result.append((Word("", len(text), len(text)), rest))
    return result


def word_scores(text: str, scores: TokenScores) -> list[ScoredWord]:
    """Add up log-probabilities per word; their sum over all words is ``scores.G``.

    >>> scores = TokenScores(("▁Hel", "lo", "!", "</s>"), (-1.0, -0.5, -0.25, -0.125))
    >>> [(each.word.text, each.log_prob) for each in word_scores("Hello!", scores)]
    [('Hello', -1.5), ('!', -0.25), ('', -0.125)]
    """
    return [
        ScoredWord(
            word,
            sum(scores.log_probs[index] for index in indices),
            tuple(scores.tokens[index] for index in indices),
        )
        for word, indices in group_tokens(text, scores.tokens)
    ]
