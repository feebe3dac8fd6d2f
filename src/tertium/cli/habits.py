"""Arguments as users of sacrebleu, COMET and bert-score type them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from typer.core import TyperCommand

from tertium.cli.formats import OutputFormat
from tertium.cli.options import RARE
from tertium.errors import InputError, SettingError
from tertium.measures.registry import is_measure, setting_names

MEASURE = ("--measure", "-m")
SEVERAL = {*MEASURE, "--hyp", "-t", "--ref", "-r", "--input", "-i"}
"""Options that take several values: ``-t a b`` is ``-t a -t b``."""
RENAMED = {
    "-c": ("--hyp",),  # bert-score
    "--cand": ("--hyp",),
    "--translations": ("--hyp",),  # COMET
    "--sources": ("--src",),
    "--refs": ("--ref",),
    "--sacrebleu_dataset": ("--test-set",),
    "--only_system": ("--score-only",),
    "--metrics": ("--measure",),  # sacrebleu
    "--language-pair": ("--lang",),
    "-tok": ("--set", "tokenize"),
    "--one-way": ("--set", "both_directions=no"),
    "--target-lang": ("--tgt-lang",),
    "--source-lang": ("--src-lang",),
    "--reference-lang": ("--ref-lang",),
    "-lc": ("--set", "lowercase=yes"),
    "--lowercase": ("--set", "lowercase=yes"),
    "-ci": ("--confidence",),
    "-cin": ("--samples",),
    "--confidence-n": ("--samples",),
    "-b": ("--beam-size",),  # Marian, fairseq
    "--beam": ("--beam-size",),
    "--n-best": ("--count",),
    "--nbest": ("--count",),
    "--model_type": ("--encoder",),
    "--num_layers": ("--layer",),
}
"""Options of other tools, and the same of Tertium."""
NO_DEVICE = "leave it out: Tertium runs on the processor (--threads N)"
TESTS = "use `tertium compare`, which tests all pairs of systems"
EXPLAINED = {
    "--gpus": "use --device cuda (it has not been tried on a GPU), or leave it out",
    "--num_workers": NO_DEVICE,
    "--batch_size": "leave it out: Tertium chooses the size of batches",
    "--batch-size": "leave it out: Tertium chooses the size of batches",
    "--model_storage_path": "use --model FOLDER",
    "--paired-bs": TESTS,
    "-pbs": TESTS,
    "--paired-ar": TESTS,
    "-par": TESTS,
    "-cw": "use -m chrf:word_order=N, or -m chrf++",
    "--chrf-word-order": "use -m chrf:word_order=N, or -m chrf++",
    "-cc": "use -m chrf:char_order=N",
    "--chrf-char-order": "use -m chrf:char_order=N",
    "--chrf-beta": "use -m chrf:beta=N",
    "--chrf-lowercase": "use -m chrf:lowercase=yes",
    "--ter-case-sensitive": "use -m ter:case_sensitive=yes",
    "--ter-normalized": "use -m ter:normalize_text=yes",
    "--smooth-method": "leave it out: BLEU is smoothed exponentially, sacrebleu's default",
    "-sl": "leave it out and use --hyp and --ref: the score of every row is printed",
    "--sentence-level": "leave it out and use --hyp and --ref: the score of every row is printed",
    "-sh": "leave it out: short signatures are printed, and long ones with -f json",
    "--short": "leave it out: short signatures are printed, and long ones with -f json",
    "--detail": "leave it out: rows have their scores, and -f json prints everything",
    "-nr": "give a file for each reference: -r ref1.txt ref2.txt",
    "--num-refs": "give a file for each reference: -r ref1.txt ref2.txt",
    "--rescale_with_baseline": "leave it out: scores are not rescaled",
    "--list": "use `sacrebleu --list`: -d takes the names of its test sets",
    "--echo": "use `sacrebleu --echo`",
}
"""Options of other tools that have no equal, and what to do instead."""
PAIR = re.compile(r"([a-z]{2,3})-([a-z]{2,3})")
REGIONS = {"at", "ch", "cn", "gb", "hk", "mx", "tw", "us"}
"""In lower case, these are more often regions (en-us) than languages."""


class HabitCommand(TyperCommand):
    """A command that understands options with several values, and options of other tools.

    Its help leaves out the options that are rarely needed; ``--help-all`` shows them.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        for option in self.params:
            if RARE.intersection(option.opts):
                option.hidden = True  # type: ignore[attr-defined]
        if any(map(_is_rare, self.params)):
            self.epilog = f"All options: tertium {self.name} --help-all"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--help-all" in args:
            for option in filter(_is_rare, self.params):
                option.hidden = False  # type: ignore[attr-defined]
            args = ["--help"]
        takes_value = {
            name: not getattr(option, "is_flag", False)
            for option in self.params
            if option.param_type_name == "option"
            for name in (*option.opts, *option.secondary_opts)
        }
        return super().parse_args(ctx, expand(args, takes_value))


def _is_rare(option: Any) -> bool:
    """Whether an option is not in the help, although it has a description."""
    return bool(getattr(option, "hidden", False) and getattr(option, "help", None))


def expand(arguments: Sequence[str], takes_value: Mapping[str, bool]) -> list[str]:
    """Write arguments the way Tertium has them: one value per option, and its own names.

    ``takes_value`` has the options of the command, and whether each takes a value.

    >>> options = {"--hyp": True, "-t": True, "-m": True, "--score-only": False, "--set": True}
    >>> expand(["-t", "a", "b", "-m", "bleu", "chrf", "x.tsv", "--only_system"], options)
    ['-t', 'a', '-t', 'b', '-m', 'bleu', '-m', 'chrf', 'x.tsv', '--score-only']

    Every setting of a measure is an option as well:

    >>> expand(["--beam-size", "1", "--not-normalized"], options)
    ['--set', 'beam_size=1', '--set', 'normalized=no']
    """
    result: list[str] = []
    left = list(arguments)
    while left:
        word = left.pop(0)
        if word == "--":
            return [*result, word, *left]
        if not _is_option(word):
            result.append(word)
            continue
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name == "--references" and (value or "".join(left[:1])) not in ("max", "mean"):
            name = "--ref"  # COMET's; ours chooses the maximum or the mean
        if name == "-f" and "--filters" in takes_value and not _is_format(left):  # as in 0.2
            warnings.warn("filters are given by --filters now, no longer by -f", FutureWarning, 2)
            name = "--filters"
        ours, *words = _ours(name, takes_value)
        name = ours
        if name == "--set" and words and "=" not in words[0]:
            number = left.pop(0) if not equals and left else value
            result += [name, f"{words[0]}={number}"]
            continue
        if equals:
            result.append(f"{name}={value}")
        else:
            result.append(name)
            if words:
                result += words
            elif takes_value.get(name) and left:
                result.append(left.pop(0))
        if name in SEVERAL and takes_value.get(name):
            while left and not _is_option(left[0]) and (name not in MEASURE or is_measure(left[0])):
                result += [name, left.pop(0)]
    return result


def language_pair(text: str | None) -> tuple[str, str] | None:
    """Read a language pair as sacrebleu writes it; None if it is one language.

    >>> language_pair("de-en"), language_pair("en-US"), language_pair("de")
    (('de', 'en'), None, None)
    """
    found = PAIR.fullmatch(text or "")
    return None if found is None or found[2] in REGIONS or text == "pt-br" else (found[1], found[2])


def split_pair(lang: str | None, src_lang: str | None) -> tuple[str | None, str | None]:
    """The languages of hypotheses and sources, if the first may be a pair of both.

    >>> split_pair("de-en", None), split_pair("en", "de")
    (('en', 'de'), ('en', 'de'))
    """
    pair = language_pair(lang)
    return (lang, src_lang) if pair is None else (pair[1], src_lang or pair[0])


def refuse_source_language(lang: str | None, src_lang: str | None) -> None:
    """Refuse the language of a source where there are just two texts: which is which is unclear.

    >>> refuse_source_language("de-en", None)
    Traceback (most recent call last):
    ...
    tertium.errors.InputError: two texts have no source: give the language of the first text ...
    """
    if src_lang is not None or language_pair(lang) is not None:
        raise InputError(
            "two texts have no source: give the language of the first text with --lang, and that "
            "of the second with --ref-lang"
        )


def _is_format(left: Sequence[str]) -> bool:
    return not left or left[0] in OutputFormat.__members__


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-")


def _ours(name: str, options: Mapping[str, bool]) -> tuple[str, ...]:
    if name in options:
        return (name,)
    if name in RENAMED and RENAMED[name][0] in options:
        return RENAMED[name]
    if name in EXPLAINED:
        raise SettingError(f"no option {name}: {EXPLAINED[name]}")
    hyphens = name.replace("_", "-")
    if hyphens in options:
        return (hyphens,)
    return _setting(name, options) or (name,)


def _setting(option: str, options: Mapping[str, bool]) -> tuple[str, ...]:
    """The setting of a measure that has the name of an option."""
    if "--set" not in options or not option.startswith("--"):
        return ()
    known = setting_names()
    name = option[2:].replace("-", "_")
    if name in known:
        return ("--set", f"{name}=yes" if known[name] else name)
    negative = name.removeprefix("no_").removeprefix("not_")
    return ("--set", f"{negative}=no") if known.get(negative) else ()
