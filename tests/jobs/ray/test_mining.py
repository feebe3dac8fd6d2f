"""Mining on a cluster: the same bytes as a local run, also if a worker is lost, and resumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tertium.errors import ClusterError, SettingError
from tertium.jobs.ray import mining
from tertium.jobs.ray.cluster import ClusterSettings, import_ray
from tertium.jobs.ray.mining import MiningLoader, RemoteMeasure, Workers, mine_on_cluster
from tertium.measures.loading import ModelSettings, load, read_specs
from tertium.mining.mine import MinedPair, Miner, TextList
from tertium.mining.rescoring import rescoring_run

from ...cli.conftest import TERTIUM, Run, tertium

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

GERMAN = ["Guten Morgen!", "Das Haus ist rot.", "Ich habe Hunger.", "Er liest ein Buch."]
ENGLISH = ["He is reading a book.", "Good morning!", "I am hungry.", "The house is red."]
LISTS = (TextList.read(GERMAN, "de"), TextList.read(ENGLISH, "en"))
[DIRECT] = read_specs(["direct"])
ONE = ClusterSettings(workers=1)


class OnceKilled(MiningLoader):
    """The first worker that loads it is killed."""

    def load(self, *, threads: int | None = None) -> Any:
        killed = Path(os.environ["TERTIUM_CACHE"]) / "killed"
        if threads is not None and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().load(threads=threads)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("TERTIUM_CACHE", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def miner_of(loader: MiningLoader) -> Miner:
    encoder, measure = loader.load()
    return Miner(encoder, measure=measure, pairs_at_a_time=3)


def local(loader: MiningLoader) -> list[MinedPair]:
    return miner_of(loader).mine(*LISTS, task="bitext")


def test_the_same_bytes_as_a_local_run(tertium: Run, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "de.txt").write_text("\n".join(GERMAN))
    (tmp_path / "en.txt").write_text("\n".join(ENGLISH))
    command = (
        *("mine", "de.txt", "en.txt", "--src-lang", "de", "--tgt-lang", "en", "--no-cache"),
        *("--rescore", "direct", "--rows-at-a-time", "3", "--compute-type", "int8"),
    )
    for engine, out in ((("--engine", "ray", "--workers", "2"), "ray.tsv"), ((), "local.tsv")):
        # in processes of their own: int8 depends on what a process computed before
        subprocess.run([*TERTIUM, *command, *engine, "-o", out], check=True)
    assert (tmp_path / "ray.tsv").read_bytes() == (tmp_path / "local.tsv").read_bytes()
    assert len((tmp_path / "ray.tsv").read_text().splitlines()) == 1 + 4
    refused = tertium(*command, "--workers", "2")
    assert "--address and --workers need --engine ray" in refused.stderr


def test_a_lost_worker_and_a_resumed_run(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr(mining, "CHUNKS_AT_A_TIME", 1)
    loader = OnceKilled(ModelSettings(cache=False), DIRECT, "en")
    seen: list[tuple[str, int]] = []

    def stop(what: str, done: int, _: int) -> None:
        seen.append((what, done))
        if (what, done) == ("rescoring", 6):
            raise KeyboardInterrupt

    out = tmp_path / "out.tsv"
    run = rescoring_run(out)
    with pytest.raises(KeyboardInterrupt):
        mine_on_cluster(miner_of(loader), loader, ONE, LISTS, task="bitext", run=run, progress=stop)
    run.close()
    assert (cache / "killed").exists()
    assert seen[-2:] == [("rescoring", 3), ("rescoring", 6)]
    seen.clear()
    run = rescoring_run(out, resume=True)

    def note(what: str, done: int, _: int) -> None:
        seen.append((what, done))

    found = mine_on_cluster(
        miner_of(loader), loader, ONE, LISTS, task="bitext", run=run, progress=note
    )
    run.close()
    assert next(done for what, done in seen if what == "rescoring") == 9
    expected = local(loader)
    assert [pair[:4] for pair in found] == [pair[:4] for pair in expected]
    scores = [[pair[4:7] for pair in pairs] for pairs in (found, expected)]
    assert np.array(scores[0]) == pytest.approx(np.array(scores[1]), abs=1e-5)


def test_other_models_on_a_node_are_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = mining.MiningWorker(MiningLoader(ModelSettings(cache=False)), 1, "encoder other")
    with pytest.raises(ClusterError, match="install the same versions and models on all nodes"):
        worker.encode(["A."], "en")


def test_a_measure_that_must_see_all_rows_is_refused() -> None:
    workers = Workers.__new__(Workers)  # none is started
    with pytest.raises(SettingError, match="nist with these settings scores all rows at once"):
        RemoteMeasure(load("nist"), workers, 3)
