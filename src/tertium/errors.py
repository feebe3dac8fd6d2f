"""Errors and warnings."""

import re
import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Self

COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
"""Control sequences of terminals, such as colours (ECMA-48)."""


COMMAND_LINE, PYTHON, WEB = range(3)
"""Where an error is read."""
WORDS = {
    "lang": ("--lang", "lang=", "the language of the first text"),
    "reference_lang": ("--ref-lang", "reference_lang=", "the language of the second text"),
    "source_lang": ("--src-lang", "source_lang=", "the language of the source"),
    "references": ("--ref or --ref-column", "references=", "the second text"),
    "sources": ("--src or --src-column", "sources=", "the source"),
    "prism_src": (
        "-m prism-src -l de-en",
        "measure='prism-src' with lang= and source_lang=",
        "the measure prism-src",
    ),
    "against_source": ("--against source", "against='source'", "the setting against"),
}
"""What a parameter is called on the command line, in Python, and on the page."""


class TertiumError(Exception):
    """Base class of every error that Tertium raises on purpose.

    The message is the fact and where it was found; ``cure`` says what to do, with the parameters to
    use in braces: each reader gets them in their own words.

    >>> error = TertiumError("row 1: no language", cure="give {lang}")
    >>> str(error), error.said(COMMAND_LINE)
    ('row 1: no language; give lang=', 'row 1: no language; give --lang')
    """

    def __init__(self, fact: str = "", *, cure: str = "") -> None:
        self.fact, self.cure = fact, cure
        super().__init__(self.said(PYTHON))

    def said(self, reader: int) -> str:
        """The message for a reader: the command line, Python, or the page."""
        if not self.cure:
            return self.fact
        words = {name: several[reader] for name, several in WORDS.items()}
        return f"{self.fact}; {self.cure.format(**words)}"

    def at(self, place: str) -> Self:
        """The same error with the place where it was found before it."""
        return type(self)(f"{place}{self.fact}", cure=self.cure)


class InputError(TertiumError):
    """The input cannot be scored as it was given."""


class MissingFileError(InputError):
    """A file that is not there."""


class LanguageError(TertiumError):
    """A language is missing, or not supported by the model."""


class SettingError(TertiumError):
    """A setting is unknown, has an invalid value, or needs a package that is missing."""


class ModelError(TertiumError):
    """A model cannot be found or read, or is damaged."""


class ResumeError(TertiumError):
    """An unfinished run cannot be resumed."""


class ClusterError(TertiumError):
    """A cluster cannot be reached, or its workers fail."""


class OutputError(TertiumError):
    """The results cannot be written, for example because the disk is full."""


class CacheError(TertiumError):
    """The cache of model results is damaged or not accessible; runs continue without it."""


class CutWarning(UserWarning):
    """Some texts are longer than the model reads and were truncated."""


class TextWarning(UserWarning):
    """Some texts are unknown to the model, in another language than given, or not translated."""


class SamplesWarning(UserWarning):
    """There are too few samples for any difference to be significant."""


class CacheWarning(UserWarning):
    """The cache of model results could not be used; the scores are not affected."""


class ClusterWarning(UserWarning):
    """A cluster is smaller than requested; the scores are not affected."""


class ResumeWarning(UserWarning):
    """Part of an unfinished run was damaged and is repeated; the scores are not affected."""


class PrecisionWarning(UserWarning):
    """A precision is slower on this machine, or gives other numbers than on other machines."""


class FingerprintWarning(UserWarning):
    """A model has another fingerprint than in earlier versions; its numbers are the same."""


class PluginWarning(UserWarning):
    """A plug-in cannot be loaded, and is left out."""


class DataWarning(UserWarning):
    """A dataset is not what was published or used in a paper, or lacks what it should have."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The nearest of the known names as a question; empty if none is near.

    >>> did_you_mean("measures", ["measure", "model"]), did_you_mean("x", ["measure"])
    ('; did you mean measure?', '')
    """
    near = get_close_matches(name.lower(), list(known), n=1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near else ""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn of something in the line that called Tertium, however deep in Tertium it is noticed."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]


def first_line(error: Exception) -> str:
    """The first line of a message of another library, without control sequences.

    >>> first_line(ValueError("No such file.\\nHere is a page about it."))
    'No such file.'
    """
    return COLOURS.sub("", str(error)).strip().split("\n")[0].rstrip()


class DetectorWarning(UserWarning):
    """A detector gives all pairs the same class, so that its decisions say nothing about them."""
