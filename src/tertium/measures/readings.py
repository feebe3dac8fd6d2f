"""A score in plain words: what the number says, for somebody who does not know the formula."""

from __future__ import annotations

import math


def reading(measure: str, score: float) -> str:
    """Say what a score of a measure with its usual settings means.

    >>> reading("prism-ref", -0.6931)
    'given the other text, a token has a probability of 50 % on average'
    >>> reading("wmd+chrf", 2.0)
    '58 % of the way from nothing in common (1) to the same text (2.718)'
    """
    if "+" in measure or measure == "sentsim":
        way = (score - 1) / (math.e - 1)
        return f"{_percent(way)} of the way from nothing in common (1) to the same text (2.718)"
    match measure:
        case "direct":
            return f"each text is {_percent(score)} as probable, given the other, as given itself"
        case "pivot":
            return (
                f"by way of a third language, each text is {_percent(score)} as probable from the "
                "other as from itself"
            )
        case "cross":
            return (
                f"a translation of one text is {_percent(score)} as probable from the other as "
                "from its own original"
            )
        case "prism-ref":
            return (
                f"given the other text, a token has a probability of {_percent(math.exp(score))} "
                "on average"
            )
        case "prism-src":
            return (
                f"given the source, a token has a probability of {_percent(math.exp(score))} "
                "on average"
            )
        case "bertscore":
            return f"each piece finds a partner in the other text; their mean cosine is {score:.2f}"
        case "sss":
            return f"the vectors of the two texts have a cosine of {score:.2f} (the same text: 1)"
        case "smd":
            return f"the means of the pieces' vectors are {-score:.2f} apart (the same text: 0)"
        case "wmd" | "wmdo":
            return (
                f"turning one text's pieces into the other's takes {-score:.2f} of work "
                "(the same text: 0)"
            )
        case "bleu":
            return f"{score:.0f} of 100: overlap of runs of up to four words"
        case "chrf":
            return f"{score:.0f} of 100: overlap of runs of up to six characters"
        case "bleu-nltk":
            return f"{_percent(score)}: overlap of runs of up to four words, as nltk counts them"
        case "chrf-nltk":
            return f"{_percent(score)}: overlap of runs of characters, as nltk counts them"
        case "nist":
            return f"the runs of words that both texts have carry {score:.2f} bits"
        case "ter":
            return f"{-score:.0f} edits for every 100 words turn one text into the other"
    return "higher is better"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.095 or share == 0 else f"{100 * share:.2g} %"
