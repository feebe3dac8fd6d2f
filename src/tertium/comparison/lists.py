"""From lists of strings to the outputs of several systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tertium.data.systems import ParallelOutputs, Segment
from tertium.errors import InputError
from tertium.measures.inputs import References, rows_from
from tertium.models.base import Languages, per_row
from tertium.text import Text, check_text


def outputs_from(
    systems: Mapping[str, Sequence[str]],
    references: References | None = None,
    *,
    sources: Sequence[str] | None = None,
    lang: Languages = None,
    reference_lang: Languages = None,
    source_lang: Languages = None,
) -> ParallelOutputs:
    """Take outputs as lists, a list a system."""
    if references is None and sources is None:
        raise InputError("references or sources must be given")
    if isinstance(references, str) or isinstance(sources, str):
        raise InputError("references and sources are lists, with one for each output")
    columns: list[list[Text]] = []
    others: list[tuple[Text, ...]] = []
    for name, outputs in systems.items():
        if isinstance(outputs, str):
            raise InputError(f"system {name!r}: its outputs are a single string, not a list")
        try:
            rows = rows_from(
                outputs,
                [""] * len(outputs) if references is None else references,
                lang=lang,
                reference_lang=reference_lang,
            )
        except InputError as error:
            raise InputError(f"system {name!r}: {error}") from None
        columns.append([row.hypothesis for row in rows])
        others = [() if references is None else row.references for row in rows]
    if len({len(column) for column in columns}) > 1:
        sizes = ", ".join(f"{name} has {len(outputs)}" for name, outputs in systems.items())
        raise InputError(f"the systems differ in their number of outputs: {sizes}")
    texts: list[Text | None] = [None] * len(others)
    if sources is not None:
        if len(sources) != len(others):
            raise InputError(f"{len(others)} outputs, but {len(sources)} sources")
        texts = [
            Text(check_text(text, role="source", row=number), language)
            for number, (text, language) in enumerate(
                zip(sources, per_row(source_lang, len(sources)), strict=True), start=1
            )
        ]
    return ParallelOutputs(
        tuple(systems),
        tuple(
            Segment(number, outputs, references, source)
            for number, (outputs, references, source) in enumerate(
                zip(zip(*columns, strict=True), others, texts, strict=True), start=1
            )
        ),
    )
