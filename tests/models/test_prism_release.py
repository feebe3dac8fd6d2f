"""The release of Prism comes whole and verified, or not at all; a local server plays its host."""

from __future__ import annotations

import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tertium.errors import ModelError, SettingError
from tertium.models import hub, prism_release
from tertium.models.catalog import load_model
from tertium.models.prism_release import M39V1_RELEASE, PublishedRelease, release_hash
from tertium.storage.paths import cache_folder, models_folder

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from ..released import Released  # noqa: E402


class Host(ThreadingHTTPServer):
    """Serves one archive; can break off, and records the ranges that were asked for."""

    daemon_threads = True

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = content
        self.cut_after: int | None = None
        self.ranges: list[str | None] = []


class Handler(BaseHTTPRequestHandler):
    server: Host

    def log_message(self, *_: object) -> None:
        return None

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").partition("-")[0]) if wanted else 0
        body = self.server.content[start:]
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.cut_after])


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Released:
    return Released(tmp_path_factory.mktemp("prism") / "m39v1")


@pytest.fixture
def host(release: Released, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    archive = tmp_path / "m39v1.tar"
    with tarfile.open(archive, "w") as packed:
        packed.add(release.folder, "m39v1")
    running = Host(archive.read_bytes())
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    published = PublishedRelease(
        "stand-in",
        f"http://127.0.0.1:{running.server_port}/m39v1.tar",
        release_hash(release.folder),
    )
    monkeypatch.setattr(prism_release, "M39V1_RELEASE", published)
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def test_where_the_authors_host_it() -> None:
    """The README and the table of models of prism.py."""
    assert M39V1_RELEASE.url == "http://data.statmt.org/prism/m39v1.tar"
    assert M39V1_RELEASE.md5 == "8412b2044da4b9b2c0a8ce87b305d0d1"


def test_prism_by_name(host: Host, release: Released) -> None:
    card = hub.fetch("prism")
    assert (card.name, card.licence, card.path) == ("prism", "MIT", models_folder() / "prism")
    assert f"MD5 {release_hash(release.folder)}" in card.origin
    assert load_model("prism", cache=False).fingerprint == card.fingerprint
    assert not list((cache_folder() / "downloads").glob("*.tar*"))  # three gigabytes
    with pytest.raises(ModelError, match="already exists"):
        hub.fetch("prism")
    (models_folder() / "prism").rename(models_folder() / "other")
    with pytest.raises(SettingError, match="leave out revision= and layer="):
        hub.fetch("prism", revision="main")


def test_an_interrupted_download_resumes(host: Host) -> None:
    host.cut_after = 5000
    with pytest.raises(ModelError, match=r"ended after 5000 of \d+ bytes; .*to resume"):
        hub.fetch("prism")
    assert not (models_folder() / "prism").exists()
    host.cut_after = None
    assert hub.fetch("prism").name == "prism"
    assert host.ranges == [None, "bytes=5000-"]


def test_what_is_damaged_or_another_model_is_refused(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = PublishedRelease("other", prism_release.M39V1_RELEASE.url, "0" * 32)
    with monkeypatch.context() as patch:
        patch.setattr(prism_release, "M39V1_RELEASE", other)
        with pytest.raises(ModelError, match=r"has the MD5 .*, not 0{32}"):
            hub.fetch("prism")
    whole, host.content = host.content, b"no archive"
    with pytest.raises(ModelError, match="is damaged"):
        hub.fetch("prism")
    host.content = whole
    with pytest.raises(ModelError, match="was not downloaded before"):
        hub.fetch("prism", offline=True)
    assert hub.fetch("prism").name == "prism"
