"""Subtitles (SRT and WebVTT), whose cues are joined to sentences and paired by their times."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tertium.data.l10n.lines import decode
from tertium.data.l10n.strings import FileContent, Missing, Translated, refuse_broken

TIMES = re.compile(
    r"(?P<start>(?:\d+:)?\d{1,2}:\d{2}[.,]\d{3})\s*-->\s*(?P<end>(?:\d+:)?\d{1,2}:\d{2}[.,]\d{3})"
)
ENDINGS = tuple('.?!…。？！"”»♪)')
MOST_CUES = 6
"""A sentence of more cues is divided; probably there is no punctuation."""
LONGEST_PAUSE = 4.0
"""Seconds between two cues from which they are not of one sentence."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A text on the screen, or a sentence of several."""

    start: float
    end: float
    text: str
    line: int


def read_cues(path: Path) -> list[Cue]:
    """Read the cues of a file; headers, notes and styles of WebVTT are left out."""
    cues: list[Cue] = []
    times, first, text = None, 0, list[str]()
    lines = decode(path).replace("\r\n", "\n").split("\n")
    for number, line in enumerate([*lines, ""], start=1):
        match = TIMES.search(line)
        if match is not None:
            if times is not None and text:  # no empty line between two cues
                text = text[:-1]
                cues.append(Cue(*times, " ".join(text), first))
            times, first, text = (_seconds(match["start"]), _seconds(match["end"])), number, []
        elif not line.strip():
            if times is not None and text:
                cues.append(Cue(*times, " ".join(text), first))
            times, text = None, []
        elif times is not None:
            text.append(line.strip())
    if not cues and any(line.strip() for line in lines):
        raise refuse_broken(path, 1, "has no cues: lines such as 00:00:01,000 --> 00:00:02,000")
    return cues


def _seconds(text: str) -> float:
    parts = text.replace(",", ".").split(":")
    return sum(float(part) * 60.0**place for place, part in enumerate(reversed(parts)))


def sentences(cues: list[Cue]) -> list[Cue]:
    """Join cues until the text ends like a sentence."""
    joined: list[Cue] = []
    open_cues: list[Cue] = []
    for cue in cues:
        if open_cues and cue.start - open_cues[-1].end > LONGEST_PAUSE:
            joined.append(_join(open_cues))
            open_cues = []
        open_cues.append(cue)
        bare = re.sub(r"</?\w[^>]*>|\{\\[^}]*\}", "", cue.text).rstrip()
        if bare.endswith(ENDINGS) or len(open_cues) == MOST_CUES:
            joined.append(_join(open_cues))
            open_cues = []
    if open_cues:
        joined.append(_join(open_cues))
    return joined


def _join(cues: list[Cue]) -> Cue:
    text = " ".join(cue.text for cue in cues)
    return Cue(cues[0].start, cues[-1].end, text, cues[0].line)


def pair_subtitles(
    path: Path, sources: list[Cue], targets: list[Cue], source_lang: str, target_lang: str
) -> FileContent:
    """Pair sentences that are on the screen at the same time; the key is when they begin."""
    first, second = sentences(sources), sentences(targets)
    translated, missing = [], []
    i = j = 0
    while i < len(first) or j < len(second):
        if j == len(second) or (i < len(first) and first[i].end <= second[j].start):
            line = second[min(j, len(second) - 1)].line if second else 1
            missing.append(Missing(path, line, _clock(first[i].start), first[i].text))
            i += 1
            continue
        if i == len(first) or second[j].end <= first[i].start:
            j += 1
            continue
        ends = i + 1, j + 1
        while True:  # whatever overlaps with more than half of itself belongs to the group
            more = (
                _grown(first, ends[0], second[ends[1] - 1].end),
                _grown(second, ends[1], first[ends[0] - 1].end),
            )
            if more == ends:
                break
            ends = more
        group, others = second[j : ends[1]], first[i : ends[0]]
        translated.append(
            Translated(
                path,
                group[0].line,
                _clock(group[0].start),
                (" ".join(cue.text for cue in others),),
                " ".join(cue.text for cue in group),
                source_lang=source_lang,
                target_lang=target_lang,
            )
        )
        i, j = ends
    return FileContent(path, tuple(translated), tuple(missing))


def _grown(cues: list[Cue], place: int, end: float) -> int:
    while place < len(cues) and end - cues[place].start > (cues[place].end - cues[place].start) / 2:
        place += 1
    return place


def _clock(seconds: float) -> str:
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}.{thousandths:03d}"
