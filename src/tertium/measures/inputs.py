"""From lists of strings to rows, with every misunderstanding caught on the way."""

from __future__ import annotations

from collections.abc import Sequence

from tertium.errors import InputError
from tertium.models.base import Languages, per_row
from tertium.text import Row, Text, check_text

References = str | Sequence[str] | Sequence[Sequence[str]]


def rows_from(
    hypotheses: str | Sequence[str],
    references: References,
    *,
    lang: Languages = None,
    reference_lang: Languages = None,
) -> list[Row]:
    """Pair each hypothesis with its reference, or with its several references.

    ``lang`` is the language of the hypotheses and, unless ``reference_lang`` says otherwise, of the
    references. Either is one code for all rows, or one a row.

    >>> rows_from(["Hi."], [["Hello.", "Hey."]], lang="en")[0].references
    (Text(text='Hello.', lang='en'), Text(text='Hey.', lang='en'))
    """
    if hypotheses is None or references is None:
        raise InputError("hypotheses and references must be given: strings, or lists of them")
    if isinstance(hypotheses, str):
        hypotheses = [hypotheses]
        references = [references]  # type: ignore[list-item]
    elif isinstance(references, str):
        raise InputError(
            "the hypotheses are a list, but the references are a single string; "
            "give a list with one reference (or a list of references) for each hypothesis"
        )
    sets = [[item] if isinstance(item, str) else item for item in references]
    _check_lengths(len(hypotheses), sets)
    langs = per_row(lang, len(hypotheses))
    reference_langs = langs if reference_lang is None else per_row(reference_lang, len(hypotheses))
    rows = []
    for number, (hypothesis, texts) in enumerate(zip(hypotheses, sets, strict=True), start=1):
        if not isinstance(texts, Sequence):
            check_text(texts, role="reference", row=number)
        if not texts:
            raise InputError(
                f"row {number}: there is no reference; give at least one (it may be empty text)"
            )
        rows.append(
            Row(
                number,
                Text(check_text(hypothesis, role="hypothesis", row=number), langs[number - 1]),
                tuple(
                    Text(
                        check_text(text, role="reference", row=number), reference_langs[number - 1]
                    )
                    for text in texts
                ),
            )
        )
    return rows


def _check_lengths(hypotheses: int, sets: Sequence[Sequence[str]]) -> None:
    if len(sets) == hypotheses:
        return
    sizes = {len(texts) for texts in sets if isinstance(texts, Sequence)}
    if sizes == {hypotheses}:
        raise InputError(
            f"the references look transposed: {len(sets)} lists of {hypotheses}, where "
            f"{hypotheses} hypotheses need one list each; "
            "turn them round with [list(refs) for refs in zip(*references)]"
        )
    raise InputError(f"{hypotheses} hypotheses, but {len(sets)} references; give one for each")
