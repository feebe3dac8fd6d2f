"""From lists of strings to rows, with checks for common mistakes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tertium.data.codes import language_code
from tertium.data.records import exists, has_file_suffix
from tertium.errors import InputError, TextWarning, warn_caller
from tertium.models.base import Languages, per_row
from tertium.text import Row, Text, check_text

Column = Iterable[str]
"""Texts in order: a list, a generator, a numpy array, or a column of pandas or polars."""
MOST_STREAMS = 20
"""Nobody has more streams of references."""
FEWEST_CHARACTERS = 7
"""Shorter texts share their 3-grams by chance."""
CLEARLY = 0.2
"""How much more of their character 3-grams hypotheses and references must share."""
References = str | Column | Iterable[Iterable[str]]


def repeatable(texts: Any) -> Any:
    """Turn anything that can be iterated into a list, its items too; strings and None stay.

    >>> repeatable(text for text in ("a", "b")), repeatable(["a"]), repeatable("a")
    (['a', 'b'], ['a'], 'a')
    """
    if texts is None or isinstance(texts, str | bytes | Mapping):
        return texts
    if isinstance(texts, list | tuple):
        plain = all(isinstance(item, str) or not isinstance(item, Iterable) for item in texts)
        return texts if plain else [repeatable(item) for item in texts]
    if hasattr(texts, "columns"):  # a data frame, with one column for each reference
        texts = texts.to_numpy()
    for method in ("tolist", "to_list"):  # numpy and pandas; polars
        if hasattr(texts, method):
            return repeatable(getattr(texts, method)())
    return repeatable(list(texts)) if isinstance(texts, Iterable) else texts


def rows_from(
    hypotheses: str | Column,
    references: References | None,
    *,
    sources: str | Column | None = None,
    lang: Languages = None,
    reference_lang: Languages = None,
    source_lang: Languages = None,
    alone: bool = False,
) -> list[Row]:
    """Put each hypothesis together with its reference or references, and with its source.

    ``lang`` is the language of the hypotheses and, unless ``reference_lang`` is given, of the
    references. Each language is one code for all rows, or a list with one per row. Hypotheses may
    stand ``alone``, for a measure that compares them with nothing.

    >>> rows_from(["Hi."], [["Hello.", "Hey."]], lang="en")[0].references
    (Text(text='Hello.', lang='en'), Text(text='Hey.', lang='en'))
    >>> rows_from("Hi.", None, sources="Hallo.", source_lang="de")[0].source
    Text(text='Hallo.', lang='de')
    """
    if hypotheses is None or (references is None and sources is None and not alone):
        raise InputError("hypotheses and references must be given: strings, or lists of them")
    for given in (hypotheses, references, sources):
        refuse_file_name(given)
    outputs, others, originals = map(repeatable, (hypotheses, references, sources))
    if isinstance(outputs, str):
        outputs = [outputs]
        others = None if others is None else [others]
        originals = None if originals is None else [originals]
    count = len(outputs)
    sets = [()] * count if others is None else _reference_sets(others, count)
    originals = [None] * count if originals is None else _one_each(originals, count)
    langs = per_row(lang, count)
    reference_langs = langs if reference_lang is None else per_row(reference_lang, count)
    source_langs = per_row(source_lang, count)

    def text(value: object, role: str, number: int, lang: str | None) -> Text:
        code = None if lang is None else language_code(lang)
        return Text(check_text(value, role=role, row=number), code)

    rows = []
    for number, (hypothesis, texts, original) in enumerate(
        zip(outputs, sets, originals, strict=True), start=1
    ):
        place = number - 1
        if not isinstance(texts, Sequence):
            check_text(texts, role="reference", row=number)
        if references is not None and not texts:
            raise InputError(
                f"row {number}: there is no reference; give at least one (it may be empty text)"
            )
        rows.append(
            Row(
                number,
                text(hypothesis, "hypothesis", number, langs[place]),
                tuple(text(each, "reference", number, reference_langs[place]) for each in texts),
                None if sources is None else text(original, "source", number, source_langs[place]),
            )
        )
    return rows


def refuse_file_name(given: object) -> None:
    """Refuse the name of a file where a text is needed; warn of what ends like one.

    >>> refuse_file_name("A text."), refuse_file_name(["hyp.txt"])
    (None, None)
    """
    cure = "read it first: Path(name).read_text('utf-8').splitlines()"
    if isinstance(given, Path):
        raise InputError(f"{given} is a path, and texts are scored, not files; {cure}")
    if not isinstance(given, str):
        return
    if not any(map(str.isspace, given)) and exists(given) and Path(given).is_file():
        raise InputError(
            f"{given} is a file, and texts are scored, not files; {cure} "
            "(to score the name itself, give a list)"
        )
    if has_file_suffix(given):
        warn_caller(
            f"{given!r} looks like the name of a file, and is scored as a text; for files, {cure}",
            TextWarning,
        )


def refuse_streams(hypotheses: Any, sets: Any) -> None:
    """Refuse streams of references, as sacrebleu takes them, where their number hides it.

    Two hypotheses with two streams of two references could be two lists of references for each
    hypothesis. They are streams if the hypotheses are clearly nearer to them when read that way.

    >>> refuse_streams(["the cat", "it rains"], [["the cat", "it rains"], ["a pet", "rain falls"]])
    Traceback (most recent call last):
    ...
    tertium.errors.InputError: the references look transposed: ...
    """
    count = len(hypotheses) if isinstance(hypotheses, Sequence) else 0
    if (
        count < 2
        or len(sets) != count
        or any(
            isinstance(one, str) or not isinstance(one, Sequence) or len(one) != count
            for one in sets
        )
    ):
        return
    if not all(isinstance(text, str) for one in (hypotheses, *sets) for text in one):
        return
    if count > MOST_STREAMS or min(map(len, hypotheses)) < FEWEST_CHARACTERS:
        return
    words = [_trigrams(text) for text in hypotheses]
    others = [[_trigrams(text) for text in one] for one in sets]
    own = sum(max(_shared(words[i], each) for each in others[i]) for i in range(count))
    turned = sum(max(_shared(words[i], one[i]) for one in others) for i in range(count))
    if turned > own + CLEARLY * count:
        raise InputError(_transposed(len(sets), count))


def _trigrams(text: str) -> set[str]:
    padded = f" {text} "
    return {padded[place : place + 3] for place in range(len(padded) - 2)}


def _shared(one: set[str], other: set[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def _transposed(streams: int, count: int) -> str:
    return (
        f"the references look transposed: {streams} lists of {count}, where "
        f"{count} hypotheses need one list each; "
        "turn them round with [list(refs) for refs in zip(*references)]"
    )


def _reference_sets(references: str | Sequence[Any], count: int) -> list[Sequence[str]]:
    if isinstance(references, str):
        raise InputError(
            "the hypotheses are a list, but the references are a single string; "
            "give a list with one reference (or a list of references) for each hypothesis"
        )
    sets = [[item] if isinstance(item, str) else item for item in references]
    if len(sets) != count and all(isinstance(item, str) for item in references):
        raise InputError(f"{count} hypotheses, but {len(sets)} references; give one for each")
    _check_lengths(count, sets)
    return sets


def _one_each(sources: str | Sequence[str], count: int) -> list[str]:
    if isinstance(sources, str):
        raise InputError(
            "the hypotheses are a list, but the source is a single string; give a list of sources"
        )
    if len(sources) != count:
        raise InputError(f"{count} hypotheses, but {len(sources)} sources; give one for each")
    return list(sources)


def _check_lengths(hypotheses: int, sets: Sequence[Sequence[str]]) -> None:
    if len(sets) == hypotheses:
        return
    sizes = {len(texts) for texts in sets if isinstance(texts, Sequence)}
    if sizes == {hypotheses}:
        raise InputError(_transposed(len(sets), hypotheses))
    raise InputError(f"{hypotheses} hypotheses, but {len(sets)} references; give one for each")
