"""The filters of Prism, as the paper says and as the authors' code has them.

Thompson and Post (2020), section 4.1 and appendices B and C.1; github.com/thompsonb/
prism_bitext_filter. Lengths and n-grams are of subword tokens; the n-grams that both sides share
are divided by those of the side that has fewer, and 5-grams in the expected language by all.
"""

from __future__ import annotations

from collections.abc import Sequence

NAMES = ("length", "overlap", "lid", "margin", "duplicates")


def prism_filters(
    unit: str, *, settings: Sequence[str] = (), with_margin: bool = True
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the filters, and their settings; those that are given come after.

    The margin has 5 neighbours, as in the code; 1.04 is the threshold of the paper for clean text,
    which needs 1.05 for mined text. It is left out where no encoder has the languages, as there.

    >>> names, settings = prism_filters("words", settings=["margin.at_least=1.05"])
    >>> names, settings[-1]
    (('length', 'overlap', 'lid', 'margin', 'duplicates'), 'margin.at_least=1.05')
    """
    names = tuple(name for name in NAMES if with_margin or name != "margin")
    fixed = [
        "length.shortest=1",
        "length.longest=200",
        "overlap.three=0.6",
        "overlap.four=0.4",
        f"lid.tokens={unit}",
        "lid.n=5",
        "lid.share=0.5",
        "lid.least=0.5",
        "lid.strict=yes",
        "margin.k=5",
        "margin.at_least=1.04",
        "duplicates.of=pair",
        "duplicates.exact=yes",
    ]
    chosen = [text for text in fixed if text.partition(".")[0] in names]
    return names, (*chosen, *settings)
