"""Texts and files that nobody would write on purpose, drawn at random; and how each is read."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from tertium.data.pairs import FilePairs, Languages, TablePairs, bitext_columns, choose_columns
from tertium.data.records import open_table
from tertium.data.tmx import TmxPairs

ALPHABETS = (
    "abcdefgh ",
    "The cat sat on the mat. ",
    "éàüßñçøåæœ ",
    "אבגד ה\u202e\u202c\u200f",
    "العربية ",
    "日本語中文字 。",
    "ไทยภาษา",
    "e\u0301\u0300\u0308\u0327",
    "👩\u200d👧🏽🇩🇪\ufe0f⚕",
    "\x00\x01\x07\x08\x0b\x1b\x7f\x80\x85\x9f",
    " \t\n\r\u00a0\u2003\u2028\u2029\u200b\ufeff",
    "\ufffe\uffff\U0010ffff\ue000\ufffd",
    "▁</s><unk>__en__ <2de> ",
    "0123456789.,-+%€ ",
    "\"'`«»„“()[]{}<>&;\\/|",
)
WORDS = ("the", "cat", "Haus", "l'été", "2", "!", "—", "мир", "猫")


def hostile_text(draw: random.Random) -> str:
    """A text: mostly short; now and then empty, one huge word, or thousands of words."""
    kind = draw.random()
    if kind < 0.04:
        return ""
    if kind < 0.07:
        return draw.choice(ALPHABETS[10]) * draw.randrange(1, 50)
    if kind < 0.075:
        return draw.choice("ax猫👩\u0301.") * draw.randrange(1_000, 50_000)
    if kind < 0.08:
        return " ".join(draw.choices(WORDS, k=draw.randrange(500, 10_000)))
    if kind < 0.5:
        return " ".join(draw.choices(WORDS, k=draw.randrange(1, 20)))
    letters = "".join(draw.sample(ALPHABETS, k=draw.randrange(1, 4)))
    if kind < 0.6:
        return "".join(chr(code_point(draw)) for _ in range(draw.randrange(1, 30)))
    return "".join(draw.choices(letters, k=draw.randrange(1, 60)))


def code_point(draw: random.Random) -> int:
    """Any character that is not half of one."""
    while 0xD800 <= (code := draw.randrange(0x110000)) <= 0xDFFF:
        pass
    return code


def records(draw: random.Random) -> list[dict[str, object]]:
    values: list[Callable[[], object]] = [
        lambda: hostile_text(draw)[:2000],
        lambda: None,
        lambda: draw.randrange(-(10**30), 10**30),
        lambda: draw.random(),
        lambda: float(draw.choice(["nan", "inf", "-inf"])),
        lambda: [hostile_text(draw)[:100]] * draw.randrange(3),
        lambda: {"a": {"b": []}},
        lambda: "half \ud83d",
    ]
    names = ["hyp", "ref", "src", "lang", "", "x"]
    likely = [400, 1, 1, 1, 1, 2, 1, 1]
    return [
        {name: draw.choices(values, likely)[0]() for name in draw.sample(names, draw.randrange(7))}
        if draw.random() < 0.03
        else {name: draw.choices(values, likely)[0]() for name in names[:3]}
        for _ in range(draw.randrange(8))
    ]


def delimited(draw: random.Random, mark: str) -> bytes:
    rows = [mark.join(("hyp", "ref", "src"))]
    for _ in range(draw.randrange(8)):
        texts = [hostile_text(draw)[:500] for _ in range(3)]
        if draw.random() < 0.98:
            texts = [" ".join(re.split(f'[\n\r"{mark}]', text)) for text in texts]
        rows.append(mark.join(texts))
    return "\n".join(rows).encode()


def jsonl(draw: random.Random) -> bytes:
    return "\n".join(json.dumps(record) for record in records(draw)).encode()


def parquet(draw: random.Random) -> bytes:
    import pyarrow as pa
    from pyarrow.parquet import write_table

    count = draw.randrange(8)
    columns = {
        name: [hostile_text(draw)[:200] for _ in range(count)] for name in ("hyp", "ref", "src")
    }
    out = io.BytesIO()
    write_table(pa.table(columns), out)
    return out.getvalue()


def tmx(draw: random.Random) -> bytes:
    encoding = draw.choice(["UTF-8"] * 12 + ["utf-16", "shift_jis", "latin-1", "nonsense", "hex"])
    broken = [""] * 20 + ["<ph>", "&x;"]
    units = "".join(
        f'<tu><tuv xml:lang="{lang}"><seg>{draw.choice(WORDS)}{draw.choice(broken)}</seg></tuv>'
        "</tu>"
        for lang in draw.choices(["en", "de", "en-GB", ""], k=draw.randrange(8))
    )
    entity = draw.choice([""] * 9 + ['<!DOCTYPE tmx [<!ENTITY x "y">]>'])
    return f'<?xml version="1.0" encoding="{encoding}"?>{entity}<tmx>{units}</tmx>'.encode()


def plain(draw: random.Random) -> bytes:
    return "\n".join(hostile_text(draw)[:300] for _ in range(draw.randrange(8))).encode()


MAKERS: dict[str, Callable[[random.Random], bytes]] = {
    "tsv": lambda draw: delimited(draw, "\t"),
    "csv": lambda draw: delimited(draw, ","),
    "jsonl": jsonl,
    "parquet": parquet,
    "tmx": tmx,
    "moses": plain,
    "tsv.gz": lambda draw: gzip.compress(delimited(draw, "\t")),
    "tsv.xz": lambda draw: lzma.compress(delimited(draw, "\t")),
    "tsv.bz2": lambda draw: bz2.compress(delimited(draw, "\t")),
    "stdin": lambda draw: delimited(draw, "\t"),
}
READERS = tuple(MAKERS)


def hostile_bytes(reader: str, draw: random.Random) -> bytes:
    """A file for a reader: as it should be, damaged, or nothing of the kind."""
    content = bytearray(MAKERS[reader](draw))
    kind = draw.random()
    if kind < 0.05:
        return draw.randbytes(draw.randrange(500))
    if kind < 0.15:
        return bytes(content[: draw.randrange(len(content) + 1)])
    if kind < 0.4:
        for _ in range(draw.randrange(1, 10) if content else 0):
            content[draw.randrange(len(content))] = draw.randrange(256)
    elif kind < 0.5:
        place = draw.randrange(len(content) + 1)
        content[place:place] = draw.randbytes(draw.randrange(1, 20))
    return bytes(content)


def read(reader: str, content: bytes, folder: Path) -> int:
    """Read a file to its end, as commands do; returns the number of rows."""
    file = folder / f"hostile.{'txt' if reader in ('moses', 'stdin') else reader}"
    file.write_bytes(content)
    if reader == "tmx":
        return count(TmxPairs(file, Languages("de", src="en")))
    if reader == "moses":
        pairs = FilePairs(file, (file,))
        return count(pairs) + count(FilePairs(file, src=file, bitext=True))
    if reader == "stdin":
        before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(content))
        try:
            table = open_table(Path("-"), format="tsv")
            return count(TablePairs(table, choose_columns(table)))
        finally:
            sys.stdin = before
    table = open_table(file, replace_invalid=content[-1:] < b"\x40")
    rows = count(TablePairs(table, choose_columns(table)))
    return rows + count(TablePairs(table, bitext_columns(table)))


def count(rows: Iterable[object]) -> int:
    return sum(1 for _ in rows)
