"""A replacement for ``prism.py``: its class and its command line, without fairseq.

Prism: Thompson and Post, "Automatic Machine Translation Evaluation in Many Languages via Zero-Shot
Paraphrasing" (2020). ``docs/coming-from-prism.md`` lists the differences.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from tertium._version import __version__
from tertium.data.lines import STDIN, read_lines
from tertium.errors import InputError, LanguageError, ModelError, SettingError, TertiumError
from tertium.measures.totals import FINGERPRINT_DIGITS
from tertium.measures.translation import PrismRef, PrismSrc
from tertium.models.base import make_queries
from tertium.models.card import CARD
from tertium.models.catalog import load_model
from tertium.models.convert.fairseq.release import is_release
from tertium.models.languages import target_language
from tertium.models.prism_release import M39V1_RELEASE, release_hash
from tertium.storage.paths import models_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TEST_SET = "sacrebleu:"
RELEASE_NAMES = {M39V1_RELEASE.md5: M39V1_RELEASE.name}
"""The names that prism.py gives to releases, by their hash."""
HASH_DIGITS = 12
TOLERANCE = 1e-3
"""How much a score may differ from the published one: float32 in another order of sums."""


@dataclass(frozen=True)
class Example:
    """Texts with published scores."""

    cand: Sequence[str]
    ref: Sequence[str]
    src: Sequence[str]
    scores: Mapping[str, float]


EXAMPLE = Example(
    ["Hi world.", "This is a Test."],
    ["Hello world.", "This is a test."],
    ["Bonjour le monde.", "C'est un test."],
    {"ref 1": -1.4878583, "ref 2": -0.5490748, "src 1": -2.462842, "src 2": -1.1985264},
)
"""The README of github.com/thompsonb/prism."""


class Prism:
    """Scores candidates against references or sources; natural logs, higher is better.

    ``model_dir`` is the original release (which is converted once, into Tertium's cache), a model
    folder of Tertium, or the name of a model.

    >>> prism = Prism("tertium-mini", lang="en")
    >>> prism.score(cand=["Good morning!"], ref=["Good morning!"], segment_scores=True).shape
    (1,)
    """

    def __init__(self, model_dir: str | Path, lang: str, temperature: float = 1.0) -> None:
        if temperature != 1.0:
            raise SettingError(
                f"temperature={temperature}: the engine (CTranslate2's score_batch) computes the "
                "softmax of the unscaled logits, so only 1.0 is supported; use prism.py itself for "
                "other temperatures"
            )
        folder = Path(model_dir).expanduser()
        self.model_name = ""
        if is_release(folder):
            digest = release_hash(folder)
            self.model_name = RELEASE_NAMES.get(digest, digest)
            model_dir = converted_release(folder, digest)
        self.model = load_model(model_dir, device="auto")
        self.model_name = self.model_name or self.model.name
        self.lang = target_language(self.model, lang)
        self.temperature = temperature

    def identifier(self) -> dict[str, object]:
        """Everything that determines the scores: prism.py's entries and those of our signatures."""
        return {
            "version": f"tertium-{__version__}",
            "model": self.model_name,
            "seg_scores": "avg_log_prob",
            "sys_scores": "avg_log_prob",
            "log_base": "e",
            "temperature": self.temperature,
            "fingerprint": self.model.fingerprint[:FINGERPRINT_DIGITS],
            **self.model.settings,
        }

    @overload
    def score(
        self,
        cand: Sequence[str],
        ref: Sequence[str] | None = ...,
        src: Sequence[str] | None = ...,
        segment_scores: Literal[False] = ...,
    ) -> np.float32: ...
    @overload
    def score(
        self,
        cand: Sequence[str],
        ref: Sequence[str] | None = ...,
        src: Sequence[str] | None = ...,
        *,
        segment_scores: Literal[True],
    ) -> NDArray[np.float32]: ...
    @overload
    def score(
        self,
        cand: Sequence[str],
        ref: Sequence[str] | None = ...,
        src: Sequence[str] | None = ...,
        segment_scores: bool = ...,
    ) -> np.float32 | NDArray[np.float32]: ...
    def score(
        self,
        cand: Sequence[str],
        ref: Sequence[str] | None = None,
        src: Sequence[str] | None = None,
        segment_scores: bool = False,
    ) -> np.float32 | NDArray[np.float32]:
        """Prism-ref with references, Prism-src with sources; the mean, or one score per segment."""
        import numpy as np

        if (ref is None) == (src is None):
            raise InputError('give exactly one of "ref" and "src"')
        if ref is not None:
            result = PrismRef(self.model, long="cut").score(
                _texts(cand), _texts(ref), lang=self.lang
            )
        else:
            self._check_sources()
            result = PrismSrc(self.model, long="cut").score(
                _texts(cand),
                _texts(src),
                lang=self.lang,
                reference_lang=[None] * len(_texts(src)),
            )
        segments = np.array(result.segments, np.float32)
        return segments if segment_scores else np.float32(result.system)

    def _check_sources(self) -> None:
        if self.model.needs_source_language:
            raise LanguageError(
                f"{self.model.name} must know the language of the sources, for which prism.py has "
                "no argument; use tertium.load('prism-src') with reference_lang="
            )


def _texts(texts: Sequence[str] | None) -> list[str]:
    if texts is None or isinstance(texts, str):
        raise InputError("give texts as a list of strings, even a single one")
    return list(texts)


def check_published(model_dir: str | Path, *, tolerance: float = TOLERANCE) -> dict[str, float]:
    """Compare a model with the four scores of prism's README; returns those that were found.

    The conversion is wrong if one differs by more than ``tolerance``.
    """
    prism = Prism(model_dir, lang="en")
    found = {
        "ref": prism.score(EXAMPLE.cand, EXAMPLE.ref, segment_scores=True).tolist(),
        "src": prism.score(EXAMPLE.cand, src=EXAMPLE.src, segment_scores=True).tolist(),
    }
    scores = {
        f"{against} {number}": score
        for against, both in found.items()
        for number, score in enumerate(both, start=1)
    }
    for name, score in scores.items():
        if abs(score - EXAMPLE.scores[name]) > tolerance:
            raise ModelError(
                f"{model_dir}: {name} of the example of prism's README is {score:.6f}, not "
                f"{EXAMPLE.scores[name]}; the conversion is wrong, please report it"
            )
    return scores


def converted_release(folder: Path, digest: str) -> Path:
    """The folder of the converted release, which is converted when it is first used.

    The folder appears complete or not at all; if several processes convert it at the same time, the
    first one to finish wins.
    """
    from tertium.models.convert.translation import convert

    name = f"prism-{digest[:HASH_DIGITS]}"
    out = models_folder() / name
    if not _is_converted(out):
        try:
            convert(folder, out, name=name)
        except (ModelError, OSError):
            if not _is_converted(out):
                raise
    return out


def _is_converted(out: Path) -> bool:
    return (out / CARD).is_file()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run prism.py's command line; errors are one line, with exit code 2."""
    options = _parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            _run(options)
    except (TertiumError, OSError) as error:
        said = error.said(_option) if isinstance(error, TertiumError) else error
        print(f"prism: {said}", file=sys.stderr)
        sys.exit(2)


def _option(name: str, value: str) -> str:
    return f"--{name} {value}".rstrip()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tertium.compat.prism", description="Prism, computed by Tertium."
    )
    either = f"a text file, or {TEST_SET}TESTSET:LANGPAIR; exactly one of --ref and --src"
    parser.add_argument("--cand", type=Path, default=STDIN, help="candidates (standard input)")
    parser.add_argument("--ref", help=f"references, for Prism-ref: {either}")
    parser.add_argument("--src", help=f"sources, for Prism-src: {either}")
    parser.add_argument(
        "--model-dir", required=True, help="the original release, or a model of Tertium"
    )
    parser.add_argument("--lang", help="the language of the candidates (ISO 639)")
    parser.add_argument("--temperature", type=float, default=1.0, help="only 1.0 is supported")
    parser.add_argument("--segment-scores", action="store_true", help="one score per line")
    parser.add_argument("--debug", action="store_true", help="show the score of every token")
    return parser


def _run(options: argparse.Namespace) -> None:
    if (options.ref is None) == (options.src is None):
        raise SettingError(
            "there must be one other text", cure="give exactly one of {ref} and {src}"
        )
    others, lang = _read_others(options.ref or options.src, by_source=options.ref is None)
    lang = lang or options.lang
    if lang is None:
        raise LanguageError("the language of the candidates is needed", cure="use {lang}")
    prism = Prism(options.model_dir, lang, options.temperature)
    cand = list(read_lines(options.cand))
    ref, src = (others, None) if options.ref is not None else (None, others)
    scores = prism.score(cand, ref, src, segment_scores=options.segment_scores)
    print(f"Prism identifier: {prism.identifier()}", file=sys.stderr)
    if options.debug:
        _show_tokens(prism, cand, others)
        if ref is not None:
            _show_tokens(prism, ref, cand)
    for score in scores if options.segment_scores else [scores]:
        print(score)


def _read_others(name: str, *, by_source: bool) -> tuple[list[str], str | None]:
    """References or sources, and the language of the candidates if it is a test set."""
    if not name.startswith(TEST_SET):
        return list(read_lines(Path(name))), None
    from sacrebleu import DATASETS, get_reference_files, get_source_file

    _, testset, pair = [*name.split(":"), "", ""][:3]
    if testset not in DATASETS or pair not in DATASETS[testset].langpairs:
        raise InputError(f"{name}: write it as {TEST_SET}TESTSET:LANGPAIR, with a set of sacrebleu")
    file = get_source_file(testset, pair) if by_source else get_reference_files(testset, pair)[0]
    return list(read_lines(Path(file))), pair.split("-")[1]


def _show_tokens(prism: Prism, targets: Sequence[str], sources: Sequence[str]) -> None:
    lang = prism.lang if prism.model.needs_source_language else None
    queries = make_queries(targets, sources, target_lang=prism.lang, source_lang=lang)
    answers = prism.model.log_probs(queries)
    for number, answer in enumerate(answers):
        pairs = zip(answer.tokens, answer.log_probs, strict=True)
        shown = " ".join(f"{token}[{log_prob:.2f}]" for token, log_prob in pairs)
        print(f"Output[{number}] = {shown}", file=sys.stderr)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"prism: {message}", file=sys.stderr)


if __name__ == "__main__":
    main()
