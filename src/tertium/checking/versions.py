"""What has changed since a commit, and what was known before: git and baselines."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tertium._version import __version__
from tertium.checking.check import unchanged_since
from tertium.checking.findings import Finding
from tertium.data.l10n.files import find_files, read_files
from tertium.data.l10n.strings import FileContent
from tertium.errors import InputError, first_line
from tertium.storage.atomic import write_text

BASELINE = "tertium-baseline"


def changed_since(
    contents: Sequence[FileContent],
    commit: str,
    *,
    source_lang: str | None = None,
    target_lang: str | None = None,
    source: Path | None = None,
) -> list[FileContent]:
    """Keep the translations that are not as they were in a commit, or whose source is not."""
    root = Path(_git(["rev-parse", "--show-toplevel"]).decode().strip())
    listed = _git(["-C", str(root), "ls-tree", "-r", "-z", "--name-only", f"{commit}"])
    names = [name for name in listed.decode("utf-8", "surrogateescape").split("\0") if name]
    suffixes = {content.path.suffix for content in contents}
    if source is not None:
        suffixes.add(source.suffix)
    wanted = [name for name in names if Path(name).suffix in suffixes]
    if not wanted:
        return list(contents)
    with TemporaryDirectory() as folder:
        archive = _git(["-C", str(root), "archive", "--format=tar", commit, "--", *wanted])
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        old_root = Path(folder)

        def before(content: FileContent) -> FileContent | None:
            path = content.path.resolve()
            if not path.is_relative_to(root.resolve()):
                return None
            old = old_root / path.relative_to(root.resolve())
            if not old.is_file():
                return None
            old_source = None
            if source is not None:
                old_source = old_root / source.resolve().relative_to(root.resolve())
                if not old_source.is_file():
                    return None
            langs = {item.target_lang for item in content.translated}
            try:
                read = read_files(
                    find_files([old]),
                    source_lang=source_lang,
                    target_lang=target_lang,
                    source=old_source,
                )
                return next(
                    (
                        each
                        for each in read
                        if langs & {item.target_lang for item in each.translated} or not langs
                    ),
                    None,
                )
            except InputError:  # what was broken then is new now
                return None

        return unchanged_since(contents, before)


def _git(arguments: Sequence[str]) -> bytes:
    try:
        return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout
    except FileNotFoundError:
        raise InputError("git is not installed, which is needed to compare with a commit") from None
    except subprocess.CalledProcessError as error:
        reason = first_line(ValueError(error.stderr.decode("utf-8", "replace")))
        raise InputError(f"git cannot compare with that commit: {reason}") from None


def read_baseline(path: Path) -> frozenset[str]:
    """The fingerprints of the findings that are known."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return frozenset(str(each["fingerprint"]) for each in content[BASELINE])
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path} is not a baseline of tertium check") from None


def write_baseline(path: Path, findings: Iterable[Finding]) -> None:
    """Write findings as known: what identifies each, and what it is for people."""
    known = [
        {
            "fingerprint": each.fingerprint,
            "path": each.path,
            "key": each.key,
            "rule": each.rule,
        }
        for each in findings
    ]
    content = {"tertium": __version__, BASELINE: known}
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
