"""``tertium check``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from tertium.checking.check import CheckResult, CheckSettings, check_strings
from tertium.checking.config import Config, read_config
from tertium.checking.findings import FAIL_ON, WITH_MODEL, at_least, ordered
from tertium.checking.outputs import FORMATS, summary
from tertium.checking.page import check_page
from tertium.checking.rules import Term, read_glossary
from tertium.checking.versions import changed_since, read_baseline, write_baseline
from tertium.cli.commands import as_option
from tertium.cli.groups import LanguageOptions, grouped, say
from tertium.cli.options import (
    ENGINE,
    INPUT,
    OUTPUT,
    Force,
    NoCache,
    Quiet,
    Threads,
    option,
)
from tertium.cli.running import interruptible, progress_bar
from tertium.cli.systems import refuse_existing
from tertium.data.l10n.files import DEFAULT_SOURCE, find_files, read_files
from tertium.data.l10n.strings import FileContent
from tertium.data.lines import read_lines
from tertium.errors import InputError
from tertium.models.base import TranslationModel
from tertium.models.catalog import DEFAULT_MODEL
from tertium.storage.atomic import write_text

FOUND, UNREADABLE = 1, 2
"""Exit codes: something was found, as linters have it; a file could not be read."""
CHECK = "What is checked"
NO_MODEL = "none"
HTML = "html"
CheckFormat = StrEnum("CheckFormat", [*FORMATS, HTML])  # type: ignore[misc]
FailOn = StrEnum("FailOn", FAIL_ON)  # type: ignore[misc]


@dataclass(frozen=True)
class CheckInputs:
    """Which files, and which of their strings."""

    panel: ClassVar[str] = INPUT

    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Files, or folders to search: PO, XLIFF, TMX, Fluent, Android and iOS strings, "
            "JSON, YAML, ARB, string catalogs, properties, SRT, WebVTT, Markdown. Default: the "
            "current folder."
        ),
    ] = None
    source: Path | None = option(
        None, "The file in the source language, if its name does not tell."
    )
    exclude: list[str] | None = option(
        None, "Files to leave out, such as '*/old/*'.", metavar="PATTERN"
    )
    since: str | None = option(
        None, "Check only what has changed since a commit or branch of git.", metavar="COMMIT"
    )

    @property
    def places(self) -> list[Path]:
        return self.paths or [Path()]

    def contents(
        self, source_lang: str | None, target_lang: str | None, exclude: Sequence[str]
    ) -> tuple[list[FileContent], list[str]]:
        """What the files hold, and the reasons why some cannot be read."""
        files = find_files(self.places, [*exclude, *(self.exclude or [])])
        named = frozenset(self.places)
        contents: list[FileContent] = []
        unread: list[str] = []
        for file in files:
            try:
                contents += read_files(
                    [file],
                    source_lang=source_lang,
                    target_lang=target_lang,
                    source=self.source,
                    named=named,
                )
            except (InputError, OSError) as error:
                unread.append(
                    error.said(as_option) if isinstance(error, InputError) else str(error)
                )
        if self.since is not None:
            contents = changed_since(
                contents,
                self.since,
                source_lang=source_lang,
                target_lang=target_lang,
                source=self.source,
            )
        return contents, unread


@dataclass(frozen=True)
class RuleOptions:
    """What is checked, and what fails."""

    ignore: list[str] | None = option(
        None, "Rules to switch off, for example name.", panel=CHECK, metavar="RULE,..."
    )
    glossary: Path | None = option(
        None, "A file of terms: term, tab, translation (several with |).", panel=CHECK
    )
    max_length: int | None = option(
        None, "The most characters of a translation.", panel=CHECK, min=1
    )
    baseline: Path | None = option(
        None, "A file of known findings, which are left out.", panel=CHECK
    )
    write_baseline: Path | None = option(
        None, "Write all findings to a file as known.", panel=CHECK
    )
    fail_on: FailOn | None = option(
        None,
        "Exit with code 1 if there is a finding of this severity or a higher one. Default: major.",
        panel=CHECK,
        metavar="critical|major|minor|never",
    )
    model: str | None = option(
        None,
        f"The translation model to ask; '{NO_MODEL}' checks by rules alone. "
        f"[default: {DEFAULT_MODEL}]",
        panel=ENGINE,
    )
    jobs: int = option(1, "Processes for the rules; 0: one per core.", panel=ENGINE, min=0)
    threads: Threads = None
    no_cache: NoCache = False

    def merged(self, config: Config) -> Config:
        """The settings of the project, with those of the options in their place."""
        given: dict[str, Any] = {
            "fail_on": None if self.fail_on is None else str(self.fail_on),
            "glossary": None if self.glossary is None else str(self.glossary),
            "baseline": None if self.baseline is None else str(self.baseline),
            "max_length": self.max_length,
            "model": self.model,
        }
        names = [name.strip() for each in self.ignore or [] for name in each.split(",")]
        changed = replace(config, **{key: value for key, value in given.items() if value})
        return replace(changed, ignore=(*config.ignore, *filter(None, names)))

    def settings(self, config: Config) -> CheckSettings:
        """What the check takes."""
        terms: tuple[Term, ...] = ()
        if config.glossary is not None:
            terms = tuple(read_glossary(read_lines(Path(config.glossary))))
        jobs = self.jobs or os.cpu_count() or 1
        return CheckSettings(frozenset(config.ignore), terms, config.max_length, jobs)

    def load(self, config: Config, settings: CheckSettings) -> TranslationModel | None:
        """The model to ask, unless nothing would be asked."""
        if config.model == NO_MODEL or not WITH_MODEL - settings.ignore:
            return None
        from tertium.models.catalog import load_model

        return load_model(
            config.model or DEFAULT_MODEL, threads=self.threads, cache=not self.no_cache
        )


@dataclass(frozen=True)
class CheckOutput:
    """What is printed and written."""

    panel: ClassVar[str] = OUTPUT

    output_format: CheckFormat | None = option(
        None, f"{', '.join(FORMATS)} or {HTML}.", "--output-format", "-f", metavar="FORMAT"
    )
    output: Path | None = option(None, "Write to a file.", "--output", "-o")
    force: Force = False
    quiet: Quiet = False

    def write(self, result: CheckResult) -> None:
        """Print the findings, or write them to a file and print their number."""
        form = str(self.output_format or "text")
        text = check_page(result) if form == HTML else FORMATS[form](result)
        if self.output is None:
            print(text)
        else:
            write_text(self.output, text + "\n")
            say(f"{summary(result)}; written to {self.output}")


@grouped("ref_lang")
def check(
    inputs: CheckInputs,
    languages: LanguageOptions,
    rules: RuleOptions,
    printing: CheckOutput,
) -> None:
    r"""Find what is wrong in translation files, in continuous integration.

    Placeholders, numbers, names, untranslated and repeated parts, copies and wrong languages are
    found by rules; omissions, additions and translations of something else by a translation model,
    offline. Exit code 1 if there is a finding of severity major or critical, 2 if a file cannot be
    read. Settings may be kept in tertium.toml or pyproject.toml; a comment 'tertium: ignore RULE'
    beside a string switches a rule off for it.
    """
    config = rules.merged(read_config(Path()))
    settings = rules.settings(config)
    usual = LanguageOptions(config.lang)
    source_lang, target_lang = languages.src or usual.src, languages.hyp or usual.hyp
    for path in (printing.output, rules.write_baseline):
        if path is not None:
            refuse_existing(path, force=printing.force)
    with interruptible(None):
        contents, unread = inputs.contents(source_lang, target_lang, config.exclude)
        if not contents and not unread:
            raise InputError(
                f"{', '.join(map(str, inputs.places))}: there is nothing to check: no file of "
                f"translations from {source_lang or DEFAULT_SOURCE} was found"
            )
        count = sum(len(content.translated) for content in contents)
        model = rules.load(config, settings) if count else None
        with progress_bar(lambda: count, shown=not printing.quiet, what="strings") as progress:
            result = check_strings(contents, settings, model=model, progress=progress.detail)
    if rules.write_baseline is not None:
        write_baseline(rules.write_baseline, result.findings)
        say(f"{rules.write_baseline}: {len(result.findings)} known findings")
    known = read_baseline(Path(config.baseline)) if config.baseline else frozenset()
    kept = [each for each in result.findings if each.fingerprint not in known]
    result = replace(result, findings=tuple(ordered(kept)), unread=tuple(unread))
    printing.write(result)
    if unread:
        raise typer.Exit(UNREADABLE)
    if rules.write_baseline is None and at_least(result.findings, config.fail_on):
        raise typer.Exit(FOUND)
