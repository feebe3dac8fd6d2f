"""Reproduce the results of surface measures in the papers of NMTScore and Prism.

    python benchmarks/paper_tables.py data --scores scores

``data`` has any of the folders ``pawsx``, ``turku``, ``mrpc``, ``webnlg2020`` and ``wmt19-sys``, in
the published layouts or as plain TSV. The numbers must be equal to the last digit of the papers,
except for one difference that is explained; otherwise the exit code is 1. ``--scores`` stores the
scores, so that a second run is fast (``wmt19-sys`` takes some minutes).
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import tertium
from tertium.data.datasets.base import JudgedSegment
from tertium.data.datasets.nlg import read_webnlg
from tertium.data.datasets.plain import read_judged
from tertium.errors import DataWarning
from tertium.measures.loading import MeasureSpec
from tertium.report.tables import Cell, Table
from tertium.stats.correlation import kendall
from tertium.studies.judgements.agreement import system_column
from tertium.studies.judgements.sets import read_sets
from tertium.studies.judgements.study import JudgementStudy
from tertium.studies.paraphrase_id.study import ParaphraseStudy
from tertium.studies.paraphrase_id.tasks import PAWSX, read_crosslingual, read_tasks
from tertium.studies.runner import CellFolder, Runner

FOLDERS = ("pawsx", "turku", "mrpc", "webnlg2020", "wmt19-sys")
MEASURES = ("chrf", "bleu")
PAPER = {
    "turku-sv": (66.8, 62.2),
    "pawsx-de": (58.3, 61.3),
    "pawsx-es": (57.2, 59.9),
    "pawsx-zh": (59.3, 59.0),
    "en+de": (54.9, 56.4),
    "en+es": (54.9, 56.2),
    "en+zh": (54.8, 54.7),
    "de+es": (54.9, 56.0),
    "de+zh": (54.6, 54.5),
    "es+zh": (54.8, 54.7),
}
"""Tables 1 and 2, in percent: chrF, sentence BLEU."""
ALL_OF_MRPC = {"mrpc": (68.8, 67.7)}
"""Not in the paper, which excludes pairs that ETPC disputes (69.9 and 64.2)."""
WEBNLG = (0.297, 0.244)
"""Kendall's tau-b with adequacy in English: chrF and BLEU of hyp|ref, the best reference."""
WMT19 = {
    "wmt19 de-en": ((0.910, 0.813), (-0.633, -0.823)),
    "wmt19 en-de": ((0.976, 0.969), (-0.816, -0.976)),
    "wmt19 fi-en": ((0.990, 0.985), (0.113, -0.333)),
}
"""Pearson's r of all systems and of the best four: chrF and BLEU of sacreBLEU in Prism's tables 17,
18, 20 and 21."""
WMT19_MEASURES = ("chrf:beta=3", "bleu:tokenize=intl,lowercase=yes")
"""As WMT19 computed its baselines."""
EXPLAINED = {"wmt19 fi-en, best 4, bleu": "-0.333 if BLEU is rounded to two digits"}
"""Differences with a known reason."""
LANGUAGES = ("en", "de", "es", "zh", "sv")


def paraphrases(data: Path, scores: Path | None) -> Iterator[tuple[str, float, float, str]]:
    """Name, expected and obtained value of every cell of tables 1 and 2 whose data are there."""
    tasks = []
    for name in ("mrpc", "turku", PAWSX):
        if (data / name).is_dir():
            tasks += read_tasks(name, data / name, LANGUAGES)
    if (data / PAWSX).is_dir():
        tasks += read_crosslingual(data / PAWSX, LANGUAGES)
    expected = {**PAPER, **ALL_OF_MRPC}
    study = ParaphraseStudy(
        [task for task in tasks if task.name in expected],
        [MeasureSpec(measure) for measure in MEASURES],
        runner=Runner(None if scores is None else CellFolder(scores)),
        samples=1,
    )
    results = study.run()
    for task in results.tasks:
        for measure, value in zip(MEASURES, expected[task.name], strict=True):
            obtained = 100 * results.outcomes[task.name, measure].value
            yield f"{task.heading}, {measure}", value, obtained, ".1f"


def webnlg(data: Path) -> Iterator[tuple[str, float, float, str]]:
    """The correlation with adequacy on WebNLG, English."""
    folder = data / "webnlg2020"
    if (folder / "en.tsv").exists():
        segments = read_judged(folder / "en.tsv", score="adequacy", lang="en")
    elif folder.is_dir():
        segments = read_webnlg("en", folder=folder)
    else:
        return
    judged = [segment for segment in segments if segment.score is not None]
    human = np.array([segment.score for segment in judged])
    for name, value in zip(MEASURES, WEBNLG, strict=True):
        yield f"WebNLG en tau-b, {name}", value, kendall(best_reference(name, judged), human), ".3f"


def systems(data: Path, scores: Path | None) -> Iterator[tuple[str, float, float, str]]:
    """The correlation with human scores of the systems of WMT19."""
    if not (data / "wmt19-sys").is_dir():
        return
    sets = read_sets("wmt19", data / "wmt19-sys")
    study = JudgementStudy(
        sets,
        [MeasureSpec.parse(measure) for measure in WMT19_MEASURES],
        runner=Runner(None if scores is None else CellFolder(scores)),
    )
    columns = study.run()
    for judged in sets:
        for top, expected in zip((None, 4), WMT19[judged.name], strict=True):
            column = system_column(judged, columns[judged.name], top=top, samples=1, seed=0)
            for measure, value in zip(WMT19_MEASURES, expected, strict=True):
                label = f"{judged.name}{f', best {top}' if top else ''}, {measure.split(':')[0]}"
                yield label, value, column.values[measure], ".3f"


def best_reference(name: str, segments: list[JudgedSegment]) -> np.ndarray:
    """The highest score over the references of each segment."""
    measure = tertium.load(name)
    pairs = [(segment, reference) for segment in segments for reference in segment.references]
    scores = iter(
        measure(
            [segment.hypothesis.text for segment, _ in pairs],
            [reference.text for _, reference in pairs],
        )
    )
    return np.array([max(next(scores) for _ in segment.references) for segment in segments])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="a folder with pawsx, turku and so on")
    parser.add_argument("--scores", type=Path, help="a folder to store the scores in")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)  # MRPC is complete on purpose
    rows, right = [], True
    data, scores = arguments.data, arguments.scores
    for table in (paraphrases(data, scores), webnlg(data), systems(data, scores)):
        for name, expected, obtained, form in table:
            same = format(expected, form) == format(obtained, form)
            right = right and (same or name in EXPLAINED)
            values = [Cell(expected, form), Cell(obtained, form)]
            rows.append(
                [Cell(name), *values, Cell("same" if same else EXPLAINED.get(name, "DIFFERS"))]
            )
    if not rows:
        names = ", ".join(FOLDERS)
        sys.exit(f"{data} has none of the folders {names}; nothing can be compared")
    print(Table(["", "expected", "obtained", ""], rows).text())
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
