"""PO files, in which the source is the key."""

from __future__ import annotations

import re
from pathlib import Path

from tertium.data.l10n.strings import FileContent, Missing, Translated, refuse_broken
from tertium.errors import SettingError

LINE = re.compile(r"line (\d+)|\(line (\d+)\)|:(\d+)")

CONVENTIONS = re.compile(r"@@image: |external ref=|translat(?:or|ion)-credits$")
"""Sources of DocBook that are no texts: a translation marks an image as new, or names people."""


def read_po(path: Path) -> FileContent:
    """Read a PO file; obsolete entries and those that are marked as fuzzy are left out."""
    try:
        import polib
    except ImportError:
        raise SettingError(f"{path}: PO files need polib: pip install 'tertium[l10n]'") from None
    content = path.read_bytes()
    if b"\x00" in content:
        raise refuse_broken(path, None, "is not a PO file: it has null characters")
    try:
        file = polib.pofile(str(path), check_for_duplicates=False)
    except (OSError, ValueError, UnicodeError) as error:
        found = LINE.search(str(error))
        place = int(next(filter(None, found.groups()))) if found else None
        raise refuse_broken(path, place, "is not a well-formed PO file") from None
    target_lang = file.metadata.get("Language", "").strip() or None
    source_lang = file.metadata.get("X-Source-Language", "").strip() or None
    lines = content.split(b"\n")
    translated, missing = [], []
    for entry in file:
        if entry.obsolete or "fuzzy" in entry.flags or CONVENTIONS.match(entry.msgid):
            continue
        line = max(1, entry.linenum)  # that of its first comment
        while line < len(lines) and lines[line - 1].startswith(b"#"):
            line += 1
        key = f"{entry.msgctxt}|{entry.msgid}" if entry.msgctxt else entry.msgid
        comment = "\n".join(filter(None, (entry.tcomment, entry.comment)))
        entries: list[tuple[str, tuple[str, ...], str]]
        if entry.msgid_plural:
            forms = {int(number): text for number, text in entry.msgstr_plural.items()}
            both = (entry.msgid, entry.msgid_plural)
            entries = [
                (f"{key}[{number}]", both if number == 0 else both[::-1], text)
                for number, text in sorted(forms.items())
            ]
        else:
            entries = [(key, (entry.msgid,), entry.msgstr)]
        for name, sources, target in entries:
            if not target:
                missing.append(Missing(path, line, name, sources[0]))
                continue
            translated.append(
                Translated(
                    path,
                    line,
                    name,
                    sources,
                    target,
                    comment,
                    source_lang=source_lang,
                    target_lang=target_lang,
                )
            )
    return FileContent(path, tuple(translated), tuple(missing))
