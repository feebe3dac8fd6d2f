"""A small server that plays the Hugging Face hub, and can play it badly."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = (".safetensors", ".bin", ".model")


class LocalHub(ThreadingHTTPServer):
    """Serves one repository, of a model or of a dataset, from a folder."""

    daemon_threads = True

    def __init__(self, repo: str, folder: Path, kind: str = "models") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.api = f"/api/{kind}/{repo}"
        self.root = f"/{repo}" if kind == "models" else f"/{kind}/{repo}"
        self.repo = repo
        self.files = {
            file.relative_to(folder).as_posix(): file.read_bytes()
            for file in folder.rglob("*")
            if file.is_file()
        }
        self.cut_after: int | None = None
        """Break the line after so many bytes of a large file."""
        self.stall_after: int | None = None
        """Send no more than this many bytes of a large file, until the client has gone."""
        self.damage = False
        """Change a byte of every large file on its way."""
        self.ranges: list[str] = []
        """The parts of large files that were asked for."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: LocalHub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        return None

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path, hub = self.path.partition("?")[0], self.server
        if path.startswith(f"{hub.api}/revision/"):
            siblings = [{"rfilename": name} for name in hub.files]
            self._json({"id": hub.repo, "sha": COMMIT, "siblings": siblings, "tags": []})
        elif path.startswith(f"{hub.api}/tree/"):
            self._json([self._entry(name, content) for name, content in hub.files.items()])
        elif path.startswith(f"{hub.root}/resolve/"):
            self._file(unquote(path.removeprefix(f"{hub.root}/resolve/").partition("/")[2]))
        else:
            self._json({"error": "Repository not found"}, 404)

    @staticmethod
    def _entry(name: str, content: bytes) -> dict[str, object]:
        entry: dict[str, object] = {
            "type": "file",
            "path": name,
            "size": len(content),
            "oid": hashlib.sha1(content).hexdigest(),
        }
        if name.endswith(LARGE):
            digest = hashlib.sha256(content).hexdigest()
            entry["lfs"] = {"oid": digest, "size": len(content), "pointerSize": 134}
        return entry

    def _json(self, value: object, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def _file(self, name: str) -> None:
        hub = self.server
        content = hub.files[name]
        large = name.endswith(LARGE)
        digest = (hashlib.sha256 if large else hashlib.sha1)(content).hexdigest()
        start = 0
        wanted = self.headers.get("Range")
        if wanted and self.command == "GET":
            start = int(wanted.removeprefix("bytes=").split("-")[0])
        if large and self.command == "GET":
            hub.ranges.append(wanted or "all")
        if hub.damage and large:
            content = bytes([content[0] ^ 1]) + content[1:]
        self.send_response(206 if start else 200)
        self.send_header("ETag", f'"{digest}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(content) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        if self.command != "GET":
            return
        if large and hub.cut_after is not None:
            self.wfile.write(content[start : start + hub.cut_after])
            self.wfile.flush()
            self.close_connection = True
            self.connection.close()
            return
        if large and hub.stall_after is not None and len(content) - start > hub.stall_after:
            self.wfile.write(content[start : start + hub.stall_after])
            self.wfile.flush()
            self.rfile.read(1)
            self.close_connection = True
            return
        self.wfile.write(content[start:])


@contextmanager
def local_hub(repo: str, folder: Path, kind: str = "models") -> Iterator[LocalHub]:
    """Run a hub for as long as it is needed."""
    hub = LocalHub(repo, folder, kind)
    thread = threading.Thread(target=hub.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
        thread.join()
