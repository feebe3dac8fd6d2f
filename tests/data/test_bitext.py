"""Bitext from tables, parallel files and translation memories."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tertium.data.pairs import FilePairs, Languages, Source, TablePairs, bitext_columns
from tertium.data.records import open_table
from tertium.data.tmx import TmxPairs, read_tmx
from tertium.errors import InputError

TMX = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header segtype="sentence" srclang="de"/><body>
 <tu tuid="1"><prop type="x">not a text</prop>
  <tuv xml:lang="de">
   <seg>Grüß <bpt i="1">&lt;b&gt;</bpt>Gott<ept i="1">&lt;/b&gt;</ept> &amp; Servus</seg></tuv>
  <tuv xml:lang="EN-gb"><seg>Hello <hi>there</hi>
 all</seg></tuv>
  <tuv xml:lang="en"><seg>Hi</seg></tuv>
 </tu>
 <tu><tuv xml:lang="de"><seg>Allein</seg></tuv></tu>
 <tu><tuv lang="en"><seg>Old style</seg></tuv><tuv lang="de"><seg>Alter Stil</seg></tuv></tu>
</body></tmx>
"""


def texts(bitext: Source) -> list[tuple[str, str]]:
    return [(row.sides[0].text, row.sides[1].text) for row in bitext]


def test_tmx(tmp_path: Path) -> None:
    plain, packed = tmp_path / "memory.tmx", tmp_path / "memory.tmx.gz"
    plain.write_text(TMX, encoding="utf-8")
    packed.write_bytes(gzip.compress(TMX.encode()))
    wide = tmp_path / "wide.tmx"
    wide.write_bytes(TMX.replace('encoding="utf-8"', 'encoding="utf-16"').encode("utf-16"))
    for file in (plain, packed, wide):
        assert texts(TmxPairs(file, Languages("en", src="de"))) == [
            ("Grüß Gott & Servus", "Hello there  all"),
            ("Grüß Gott & Servus", "Hi"),
            ("Alter Stil", "Old style"),
        ]
    assert texts(TmxPairs(plain, Languages("en-GB", src="de"))) == [
        ("Grüß Gott & Servus", "Hello there  all")
    ]


def test_a_tmx_cannot_explode(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.tmx"
    bomb.write_text(
        '<!DOCTYPE tmx [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
        "<tmx><body><tu><tuv><seg>&b;</seg></tuv></tu></body></tmx>"
    )
    with pytest.raises(InputError, match="declares an entity"):
        list(read_tmx(bomb))
    outside = tmp_path / "outside.tmx"
    outside.write_text(
        '<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
        '<tmx><body><tu><tuv lang="de"><seg>&x;</seg></tuv></tu></body></tmx>'
    )
    with pytest.raises(InputError, match="declares an entity"):
        list(read_tmx(outside))


def test_broken_files_are_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.tmx"
    broken.write_text("<tmx><body><tu></body>")
    with pytest.raises(InputError, match=r"broken\.tmx is not well-formed XML"):
        list(read_tmx(broken))
    cut = tmp_path / "cut.tmx.gz"
    cut.write_bytes(gzip.compress(TMX.encode())[:-20])
    with pytest.raises(InputError, match="cannot be decompressed"):
        list(read_tmx(cut))


def test_parallel_files(tmp_path: Path) -> None:
    german, english = tmp_path / "x.de", tmp_path / "x.en.gz"
    german.write_text("eins\nzwei\u2028drei\n", encoding="utf-8")
    english.write_bytes(gzip.compress(b"one\r\ntwo\n"))
    langs = Languages("en", src="de")
    bitext = FilePairs(english, src=german, languages=langs, bitext=True)
    assert texts(bitext) == texts(bitext) == [("eins", "one"), ("zwei\u2028drei", "two")]
    assert next(iter(bitext)).record == {"src": "eins", "tgt": "one"}
    german.write_text("eins\n")
    with pytest.raises(InputError, match=r"x\.de ends before line 2"):
        texts(bitext)
    with pytest.raises(InputError, match="differ in their number of lines"):
        FilePairs(english, src=german, bitext=True)


def test_columns_by_language_or_name(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("id\tde\ten\n7\tja\tyes\n")
    table = open_table(file)
    langs = Languages("en", src="de")
    [row] = TablePairs(table, bitext_columns(table, langs=langs), langs)
    assert (*row.sides, row.record["id"]) == (("ja", "de"), ("yes", "en"), "7")
    with pytest.raises(InputError, match="which column is the source"):
        bitext_columns(table)
    with pytest.raises(InputError, match="both source and target"):
        bitext_columns(table, src="de", tgt="de")
    file.write_text("lang_a\tlang_b\tsentence_a\tsentence_b\nde\ten\tja\tyes\n")
    table = open_table(file)
    [row] = TablePairs(table, bitext_columns(table))
    assert row.sides == (("ja", "de"), ("yes", "en"))
