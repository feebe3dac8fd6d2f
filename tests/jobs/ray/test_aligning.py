"""Alignment on a cluster: the same bytes as a local run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tertium.errors import ClusterError
from tertium.jobs.ray.cluster import import_ray

from ...cli.conftest import TERTIUM

try:
    import_ray()
except ClusterError:
    pytest.skip("RAY IS NOT INSTALLED: nothing distributed is tested", allow_module_level=True)
pytestmark = [pytest.mark.ray, pytest.mark.slow]

DOCUMENTS = {
    "de": ["Guten Morgen!\nDas Haus ist rot.\nIch habe Hunger.\n", "Er liest.\nEr schläft.\n"],
    "en": ["Good morning!\nThe house is red.\nI am hungry.\n", "He reads.\nHe sleeps.\n"],
}
RAY = ("--engine", "ray", "--workers", "2")


def test_the_same_bytes_as_a_local_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERTIUM_CACHE", str(tmp_path / "cache"))
    for lang, texts in DOCUMENTS.items():
        (tmp_path / lang).mkdir()
        for name, text in zip(("one", "two"), texts, strict=True):
            (tmp_path / lang / f"{name}.txt").write_text(text)
    documents = ("align", tmp_path / "de", tmp_path / "en", "-l", "de-en", "-f", "jsonl", "-o")
    words = ("align", tmp_path / "de/one.txt", tmp_path / "en/one.txt", "--words", "-o")
    for engine, name in ((RAY, "ray"), ((), "local")):
        for command, out in ((documents, name), (words, f"{name}.txt")):
            # a process of its own: numbers may depend on what a process computed before
            command = (*TERTIUM, *map(str, command), str(tmp_path / out), *engine)
            subprocess.run(command, check=True, cwd=tmp_path)
    for name in ("one", "two"):
        found = [(tmp_path / way / f"{name}.jsonl").read_bytes() for way in ("ray", "local")]
        assert found[0] == found[1]
        assert len(found[0].splitlines()) == DOCUMENTS["de"][name == "two"].count("\n")
    links = [(tmp_path / f"{way}.txt").read_bytes() for way in ("ray", "local")]
    assert links[0] == links[1]
    assert len(links[0].splitlines()) == 3
    assert not list(tmp_path.glob("*.part"))
