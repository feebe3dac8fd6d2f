"""Download the release of Prism (m39v1) from where its authors host it, verified and converted."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tertium.errors import ModelError
from tertium.models.card import TranslationCard
from tertium.models.convert.fairseq.release import FILES
from tertium.models.public import PRISM
from tertium.storage.atomic import scratch_beside
from tertium.storage.paths import cache_folder
from tertium.storage.resume import locked

CHUNK = 1 << 20
TIMEOUT = 60.0
"""Seconds without any data after which a download ends with an error."""


@dataclass(frozen=True)
class PublishedRelease:
    """An archive of a release, and the hash by which prism.py knows it."""

    name: str
    url: str
    md5: str
    """Of the checkpoint, the SentencePiece model and the two dictionaries, one after the other."""


M39V1_RELEASE = PublishedRelease("m39v1", PRISM.url, "8412b2044da4b9b2c0a8ce87b305d0d1")
"""As in prism.py and its README."""


def release_hash(folder: Path) -> str:
    """The hash by which prism.py identifies models: MD5 of the four files."""
    digest = hashlib.md5(usedforsecurity=False)
    for name in FILES:
        try:
            with (folder / name).open("rb") as stream:
                hashlib.file_digest(
                    stream, lambda: digest
                )  # continues the digest of the previous files
        except OSError as error:
            raise ModelError(f"{folder / name} cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def fetch_release(
    release: PublishedRelease,
    out: Path,
    *,
    name: str,
    licence: str,
    offline: bool = False,
    quantization: Literal["int8", "float32"] = "float32",
) -> TranslationCard:
    """Download a release, verify its hash and convert it; an interrupted download resumes."""
    from tertium.models.convert.translation import convert

    archive = cache_folder() / "downloads" / release.url.rpartition("/")[2]
    archive.parent.mkdir(parents=True, exist_ok=True)
    with locked(archive):
        if not archive.is_file():
            if offline:
                raise ModelError(
                    f"{release.url} was not downloaded before", cure="leave out {offline:True}"
                )
            _download(release.url, archive)
        with scratch_beside(out) as scratch:
            folder = scratch / "release"
            try:
                _unpack(archive, folder)
                found = release_hash(folder)
            except (tarfile.TarError, EOFError, ModelError) as error:
                archive.unlink()
                raise ModelError(f"{release.url} is damaged ({error}); fetch it again") from None
            if found != release.md5:
                archive.unlink()
                raise ModelError(
                    f"{release.url} has the MD5 {found}, not {release.md5}: it is damaged, or "
                    "another model; fetch it again"
                )
            card = convert(
                folder,
                out,
                name=name,
                licence=licence,
                quantization=quantization,
                origin=f"{release.url} ({release.name}, MD5 {release.md5})",
            )
        archive.unlink()
    return card


def _download(url: str, out: Path) -> None:
    """Write a file when it is complete; what was received before is kept, and continued."""
    part = out.with_name(f"{out.name}.part")
    start = part.stat().st_size if part.is_file() else 0
    request = urllib.request.Request(url)
    if start:
        request.add_header("Range", f"bytes={start}-")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            resumed = answer.status == 206
            length = answer.headers.get("Content-Length")
            expected = None if length is None else int(length) + (start if resumed else 0)
            with part.open("ab" if resumed else "wb") as stream:
                shutil.copyfileobj(answer, stream, CHUNK)
    except urllib.error.HTTPError as error:
        if error.code != 416:  # the part is the whole file, or longer
            raise ModelError(f"{url} cannot be downloaded: {error}") from None
        part.unlink()
        raise ModelError(f"{url} cannot be resumed; run the same command again") from None
    except OSError as error:
        raise ModelError(
            f"{url} cannot be downloaded ({error}); run the same command again to resume"
        ) from None
    if expected is not None and part.stat().st_size != expected:
        raise ModelError(
            f"{url} ended after {part.stat().st_size} of {expected} bytes; run the same command "
            "again to resume"
        )
    part.rename(out)


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack the four files of a release, wherever they are in the archive, and nothing else."""
    folder.mkdir()
    with tarfile.open(archive) as packed:
        for member in packed:
            name = Path(member.name).name
            stream = packed.extractfile(member) if name in FILES and member.isfile() else None
            if stream is not None:
                with (folder / name).open("wb") as out:
                    shutil.copyfileobj(stream, out, CHUNK)
