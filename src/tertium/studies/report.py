"""The report of a study: tables in four formats, figures, and an HTML page."""

from __future__ import annotations

import re
import tempfile
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tertium.errors import OutputError, SettingError
from tertium.registry import check_extras
from tertium.report.page import PACKAGE, render_page
from tertium.report.plots import PLOT
from tertium.report.tables import Table
from tertium.storage.atomic import check_writable, write_text

TEMPLATES = "studies/templates"
FORMATS = (".svg", ".png", ".pdf")
"""Of figures; a page has the first."""
UNSAFE = re.compile(r"[^\w.+@=,-]+")


@dataclass(frozen=True)
class Figure:
    """A figure that can be drawn into a file, and its caption."""

    draw: Callable[[Path], None]
    caption: str = ""


@dataclass(frozen=True)
class Chapter:
    """A section of the page: the tables and figures whose names begin with one of ``names``."""

    heading: str
    names: tuple[str, ...] = ("",)
    text: str = ""
    of_texts: bool = False
    """Whether the tables hold sentences instead of numbers."""


@dataclass(frozen=True)
class Report:
    """The result of a study: tables and figures by name, and what its page says besides."""

    title: str
    tables: Mapping[str, Table]
    figures: Mapping[str, Figure] = field(default_factory=dict)
    details: Mapping[str, Table] = field(default_factory=dict)
    """Tables that are written to the output folder, but not printed."""
    lead: str = ""
    findings: Sequence[str] = ()
    chapters: Sequence[Chapter] = ()
    facts: Sequence[str] = ()
    """Everything that the numbers depend on."""
    about: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What the page begins with after the findings: data, settings, measures, the command."""

    def write(self, folder: Path | None, *, plots: bool = False, html: Path | None = None) -> None:
        """Write every table in four formats and, on request, the figures and the page."""
        if folder is not None:
            for name, table in {**self.tables, **self.details}.items():
                table.save(folder, name)
        if (plots and folder is not None) or html is not None:
            with tempfile.TemporaryDirectory() as scratch:
                kept = plots and folder is not None
                drawn = self.draw(
                    folder if kept and folder is not None else Path(scratch),
                    FORMATS if kept else FORMATS[:1],
                )
                if html is not None:
                    write_text(html, self.page(drawn))

    def draw(self, folder: Path, formats: Sequence[str] = FORMATS) -> dict[str, Path]:
        """Draw every figure, as ``NAME.svg`` and in other formats; returns the first ones."""
        for name, figure in self.figures.items():
            for suffix in formats:
                figure.draw(folder / f"{name}{suffix}")
        return {name: folder / f"{name}{formats[0]}" for name in self.figures}

    def page(self, pictures: Mapping[str, Path]) -> str:
        """The report as one HTML page, with the figures that were drawn."""
        chapters = list(self.chapters)
        covered = tuple(name for chapter in chapters for name in chapter.names)
        rest = tuple(name for name in self.tables if not name.startswith(covered))
        if rest or not chapters:
            chapters.append(Chapter("More results", rest) if chapters else Chapter("Results"))
        sections = [
            (
                chapter,
                [each for name, each in self.tables.items() if name.startswith(chapter.names)],
                [
                    (b64encode(path.read_bytes()).decode("ascii"), self.figures[name].caption)
                    for name, path in pictures.items()
                    if name.startswith(chapter.names)
                ],
            )
            for chapter in chapters
        ]
        return render_page(
            f"{TEMPLATES}/page.html",
            f"Tertium: {self.title}",
            style=(PACKAGE / TEMPLATES / "page.css").read_text("utf-8"),
            pictures=True,
            report=self,
            sections=sections,
        )


def check_outputs(folder: Path | None, *, plots: bool = False, html: Path | None = None) -> None:
    """Refuse before any work what could not be written in the end."""
    if plots and folder is None:
        raise SettingError("figures need a folder", cure="use {plots:True} with {output}")
    if plots or html is not None:
        check_extras("a figure", [PLOT])
    for place in (folder, html.parent if html is not None else None):
        if place is not None:
            try:
                place.mkdir(parents=True, exist_ok=True)
                check_writable(place)
            except OSError as error:
                raise OutputError(f"cannot write to {place}: {error.strerror}") from None


def file_name(text: str) -> str:
    """Replace what file names should not hold.

    >>> file_name("wmt19 de-en/chrf:beta=3")
    'wmt19-de-en-chrf-beta=3'
    """
    return UNSAFE.sub("-", text)
