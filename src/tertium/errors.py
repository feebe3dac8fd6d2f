"""What can go wrong, and the warnings about what went only half right."""

import re

COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
"""What tells a terminal to change its colour (ECMA-48, control sequences)."""


class TertiumError(Exception):
    """The root of every error that Tertium raises on purpose."""


class InputError(TertiumError):
    """The texts cannot be scored as they were given."""


class LanguageError(TertiumError):
    """A language is missing, or the model does not have it."""


class SettingError(TertiumError):
    """A setting has a value that it cannot have."""


class ModelError(TertiumError):
    """A model cannot be found, read or trusted."""


class ResumeError(TertiumError):
    """An unfinished run cannot be taken up again."""


class ClusterError(TertiumError):
    """A cluster cannot be reached, or its workers cannot do what they are asked."""


class OutputError(TertiumError):
    """The results cannot be written, as on a full disk."""


class CacheError(TertiumError):
    """The cache of answers is damaged or out of reach; runs go on without it."""


class CutWarning(UserWarning):
    """Some texts are longer than the model reads, and were scored in part."""


class CacheWarning(UserWarning):
    """The cache of answers could not be used; the numbers are not affected."""


class ClusterWarning(UserWarning):
    """A cluster is smaller than was asked for; the numbers are not affected."""


class ResumeWarning(UserWarning):
    """Some of an unfinished run was damaged, and is done again; the numbers are not affected."""


class PrecisionWarning(UserWarning):
    """A precision is slower here than float32, or works only with fewer processor instructions."""


class DataWarning(UserWarning):
    """A dataset is not quite what was published, or what a paper used."""


def first_line(error: Exception) -> str:
    """What a long message of somebody else's begins with, without its colours.

    >>> first_line(ValueError("No such file.\\nHere is a page about it."))
    'No such file.'
    """
    return COLOURS.sub("", str(error)).strip().split("\n")[0].rstrip()
