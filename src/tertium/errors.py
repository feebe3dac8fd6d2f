"""Errors and warnings."""

import re
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from string import Formatter
from typing import Self

COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
"""Control sequences of terminals, such as colours (ECMA-48)."""


Words = Callable[[str, str], str | None]
"""How a reader gives a parameter a value, which may be empty; None where the reader cannot."""


def argument(name: str, value: str = "") -> str:
    """A parameter with its value, as Python writes it; capitals only say what a value looks like.

    >>> argument("lang"), argument("lang", "de"), argument("overwrite", "True")
    ('lang=', "lang='de'", 'overwrite=True')
    >>> argument("layer", "3"), argument("dev", "LANG=FILE")
    ('layer=3', 'dev=')
    """
    if value.isupper():
        value = ""
    is_plain = value in ("", "True", "False") or re.fullmatch(r"-?\d+(\.\d+)?", value)
    return f"{name}={value}" if is_plain else f"{name}={value!r}"


def no_parameters(name: str, value: str) -> None:
    """For readers who can change no parameter: they get what else can be done."""


@dataclass(frozen=True)
class Message:
    """What is wrong, and what to do about it, for readers who name parameters differently.

    >>> message = Message("row 1: no language", ("give {lang}", "use {measure:chrf}"))
    >>> str(message), message.said(no_parameters)
    ("row 1: no language; give lang=, or use measure='chrf'", 'row 1: no language')
    >>> str(Message("must not be negative", parameter="clip_norm", value="-1"))
    'clip_norm=-1: must not be negative'
    """

    fact: str
    cures: tuple[str, ...] = ()
    """Alternatives. They name parameters in braces, with a value after a colon; a reader who lacks
    one of them does not see the alternative."""
    parameter: str = ""
    """The parameter that is wrong, if it is one."""
    value: str = ""
    place: str = ""
    """Where it was found: a file, a row."""

    def said(self, words: Words = argument) -> str:
        """The message in the words of a reader; by default those of Python."""
        fact = f"{self.place}{self.fact}"
        if self.parameter:
            given = words(self.parameter, self.value)
            fact = f"{given or f'{self.parameter} {self.value}'.rstrip()}: {fact}"
        known = [said for each in self.cures if (said := _filled(each, words)) is not None]
        return f"{fact}; {', or '.join(known)}" if known else fact

    def __str__(self) -> str:
        return self.said()


def _filled(sentence: str, words: Words) -> str | None:
    """Name the parameters of a sentence; None if the reader lacks one."""
    said = ""
    for text, name, value, _ in Formatter().parse(sentence):
        given = "" if name is None else words(name, value or "")
        if given is None:
            return None
        said += text + given
    return said


def literal(text: str) -> str:
    """What somebody has written, to be part of a cure.

    >>> str(Message("no model", (f"fetch one with {literal('{x}')}",)))
    'no model; fetch one with {x}'
    """
    return text.replace("{", "{{").replace("}", "}}")


def _several(cure: str | Iterable[str]) -> tuple[str, ...]:
    return tuple(filter(None, (cure,) if isinstance(cure, str) else cure))


class _Saying(Exception):  # noqa: N818
    """An exception with a :class:`Message`."""

    def __init__(
        self,
        fact: str = "",
        *,
        cure: str | Iterable[str] = (),
        parameter: str = "",
        value: object = "",
    ) -> None:
        self.message = Message(fact, _several(cure), parameter, str(value))
        super().__init__(str(self.message))

    def said(self, words: Words) -> str:
        """The message in the words of a reader."""
        return self.message.said(words)

    def saying(self, message: Message) -> Self:
        """An exception of the same kind with another message."""
        other = type(self)()
        other.message = message
        other.args = (str(message),)
        return other

    def at(self, place: str, *, cure: str | Iterable[str] = ()) -> Self:
        """The same with the place where it was found before it, and a cure if it has none yet."""
        cures = self.message.cures or _several(cure)
        place = f"{place}{self.message.place}"
        return self.saying(replace(self.message, place=place, cures=cures))


class TertiumError(_Saying):
    """Base class of every error that Tertium raises on purpose.

    The message is the fact and where it was found; ``cure`` says what to do, with the parameters to
    use in braces: each reader gets them in their own words, on the command line as options.

    >>> str(TertiumError("row 1: no language", cure="give {lang}"))
    'row 1: no language; give lang='
    """


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


class TertiumWarning(_Saying, UserWarning):
    """Base class of every warning of Tertium; its messages are like those of errors."""


class CutWarning(TertiumWarning):
    """Some texts are longer than the model reads and were truncated."""


class TextWarning(TertiumWarning):
    """Some texts are unknown to the model, in another language than given, or not translated."""


class SamplesWarning(TertiumWarning):
    """There are too few samples for any difference to be significant."""


class CacheWarning(TertiumWarning):
    """The cache of model results could not be used; the scores are not affected."""


class ClusterWarning(TertiumWarning):
    """A cluster is smaller than requested; the scores are not affected."""


class ResumeWarning(TertiumWarning):
    """Part of an unfinished run was damaged and is repeated; the scores are not affected."""


class PrecisionWarning(TertiumWarning):
    """A precision is slower on this machine, or gives other numbers than on other machines."""


class FingerprintWarning(TertiumWarning):
    """A model has another fingerprint than in earlier versions; its numbers are the same."""


class PluginWarning(TertiumWarning):
    """A plug-in cannot be loaded, and is left out."""


class DataWarning(TertiumWarning):
    """A dataset is not what was published or used in a paper, or lacks what it should have."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The nearest of the known names as a question; empty if none is near.

    >>> did_you_mean("measures", ["measure", "model"]), did_you_mean("x", ["measure"])
    ('; did you mean measure?', '')
    """
    near = get_close_matches(name.lower(), list(known), n=1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near else ""


def warn_caller(
    message: str, category: type[TertiumWarning], *, cure: str | Iterable[str] = ()
) -> None:
    """Warn of something in the line that called Tertium, however deep in Tertium it is noticed."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(category(message, cure=cure), stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]


def first_line(error: Exception) -> str:
    """The first line of a message of another library, without control sequences.

    >>> first_line(ValueError("No such file.\\nHere is a page about it."))
    'No such file.'
    """
    return COLOURS.sub("", str(error)).strip().split("\n")[0].rstrip()


class DetectorWarning(TertiumWarning):
    """A detector gives all pairs the same class, so that its decisions say nothing about them."""
