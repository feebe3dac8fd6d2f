"""Spans on a cluster: the same rows as a local run, also if a worker is lost, or it is resumed."""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tertium.data.pairs import Languages, TablePairs, choose_columns
from tertium.data.records import open_table
from tertium.errors import ClusterError
from tertium.jobs.ray.cluster import ClusterSettings, import_ray
from tertium.jobs.ray.run import run_on_cluster
from tertium.jobs.ray.shards import ShardFolder
from tertium.jobs.task import Input, Job, one_job
from tertium.jobs.tasks.explain import ExplainTask, ReviewerLoader, summed_up
from tertium.measures.loading import ModelSettings

from ...cli.conftest import Run, tertium

try:
    ray = import_ray()
except ClusterError:
    pytest.skip("RAY IS NOT INSTALLED: nothing distributed is tested", allow_module_level=True)
pytestmark = [  # Ray warns of its own code
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

__all__ = ["tertium"]

ROWS = [
    ("Ich gehe heute nach Hause.", "Today I am going home."),
    ("Er kommt.", "He is coming with his old father."),
    ("Das Haus ist 3 Meter hoch.", "The house is 4 metres high."),
    ("Guten Morgen!", "Good morning!"),
    ("Guten Abend.", "Good evening."),
]
METHODS = ("coverage", "direction", "flags")


class OnceKilled(ReviewerLoader):
    """The first worker that loads it is killed."""

    def load(self, *, threads: int | None = None) -> Any:
        killed = Path(os.environ["TERTIUM_CACHE"]) / "killed"
        if threads is not None and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().load(threads=threads)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    found = []
    for name, rows in (("a.tsv", ROWS[:3]), ("b.tsv", ROWS[3:])):
        found.append(tmp_path / name)
        lines = ["hyp\tref", *("\t".join(row) for row in rows)]
        found[-1].write_text("\n".join(lines) + "\n")
    return found


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("TERTIUM_CACHE", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def local_rows(tertium: Run, files: list[Path]) -> list[Any]:
    rows = []
    for file in files:
        out = file.with_suffix(".parquet")
        run = tertium("explain", file, "-o", out, "--method", ",".join(METHODS), *LANGUAGES)
        assert run.returncode == 0, run.stderr
        rows += parquet.read_table(out).to_pylist()
    return rows


LANGUAGES = ("--lang", "de", "--ref-lang", "en")


def test_the_same_rows_as_a_local_run_and_resumed(
    tertium: Run, files: list[Path], cache: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = ("explain", *files, "-o", out, "--method", ",".join(METHODS), *LANGUAGES)
    engine = ("--engine", "ray", "--workers", "1", "--rows-at-a-time", "2")
    done = tertium(*command, *engine)
    assert done.returncode == 0, done.stderr
    rows = parquet.read_table(out).to_pylist()
    assert rows == local_rows(tertium, files)
    assert any("omission" in row["spans"] or "addition" in row["spans"] for row in rows)
    assert len(list(out.glob("*.parquet"))) == 3
    assert "of 5 rows with a span or a flag" in done.stderr
    assert "is more likely the original" in done.stderr
    out.rename(tmp_path / "out.part")
    (tmp_path / "out.part" / "part-000001.parquet").unlink()
    resumed = tertium(*command, *engine, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert "4 rows done before" in resumed.stderr
    assert parquet.read_table(out).to_pylist() == rows


def test_a_lost_worker(tertium: Run, files: list[Path], cache: Path, tmp_path: Path) -> None:
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    tables = [open_table(file) for file in files]
    pairs = [TablePairs(table, choose_columns(table), Languages("de", "en")) for table in tables]
    task = ExplainTask(OnceKilled(METHODS, ModelSettings()), against_source=False)
    job = Job(task, [Input(each) for each in pairs], rows_at_a_time=2)
    result = run_on_cluster(
        one_job(job, partial(summed_up, job)),
        ShardFolder(tmp_path / "out"),
        ClusterSettings(workers=1),
    )
    assert (cache / "killed").exists()
    assert result.rows == 5
    assert result.finished.messages == ["workers were lost once; others did their rows"]
    assert parquet.read_table(tmp_path / "out").to_pylist() == local_rows(tertium, files)


def test_reports_and_layouts(tertium: Run, files: list[Path], cache: Path, tmp_path: Path) -> None:
    """What is printed and drawn is that of a local run."""
    command = ("explain", *files, "--method", "flags", *LANGUAGES)
    engine = ("--engine", "ray", "--workers", "1")
    assert tertium(*command, *engine).stdout == tertium(*command).stdout
    pages = [tmp_path / "here.html", tmp_path / "there.html"]
    for page, where in zip(pages, ((), engine), strict=True):
        assert tertium(*command, "--html", page, *where).returncode == 0
    assert pages[0].read_text() == pages[1].read_text()
    refused = tertium("explain", files[0], "--workers", "2", *LANGUAGES)
    assert "--address and --workers need --engine ray" in refused.stderr
