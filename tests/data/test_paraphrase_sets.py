"""Sets of paraphrases from an export of Tatoeba, in all its forms, by rules that are stated."""

from __future__ import annotations

import bz2
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tertium.data.datasets.plain import read_sets
from tertium.data.normalization import script_of, sentence_key
from tertium.data.paraphrase_sets import LanguageSets, SetRules, find_sets, make_sets
from tertium.data.tatoeba import ExportFiles
from tertium.errors import InputError, SettingError

EXAMPLE = Path(__file__).parents[2] / "examples" / "tatoeba"
Sentences = Sequence[tuple[int, str, str]]
Links = Sequence[tuple[int, int]]


def write(folder: Path, sentences: Sentences, links: Links) -> Path:
    lines = "".join(f"{number}\t{lang}\t{text}\n" for number, lang, text in sentences)
    (folder / "sentences.csv").write_text(lines, "utf-8")
    (folder / "links.csv").write_text("".join(f"{a}\t{b}\n" for a, b in links), "utf-8")
    return folder


def sets(folder: Path, rules: SetRules | None = None) -> dict[str, list[tuple[int, ...]]]:
    found = find_sets(ExportFiles.find(folder).read(), rules)
    return {each.lang: each.sets for each in found if each.sets}


def test_the_example(tmp_path: Path) -> None:
    """English 3 is 1 again; Serbian 32 is in another script; 41 has no language; 99 is gone."""
    assert sets(EXAMPLE) == {
        "deu": [(11, 12), (13, 14)],
        "eng": [(1, 2), (4, 5, 6)],
        "fra": [(22, 23)],
        "srp": [(31, 33)],
    }
    out = tmp_path / "new" / "sets.tsv"
    make_sets(EXAMPLE, out, langs=["eng"])
    [first, second] = read_sets(out)
    assert (first.id, first.lang) == ("eng-1", "eng")
    assert first.sentences == ("Good morning!", "Good morning to you.")
    assert len(second.sentences) == 3


def test_all_forms_give_the_same(tmp_path: Path) -> None:
    """Packed, in a tar file, and by language, with links in one direction only."""
    sentences = (EXAMPLE / "sentences.csv").read_bytes()
    links = (EXAMPLE / "links.csv").read_bytes()
    packed, tarred, split = (tmp_path / name for name in ("packed", "tarred", "split"))
    for folder in (packed, tarred, split):
        folder.mkdir()
    (packed / "sentences.csv.bz2").write_bytes(bz2.compress(sentences))
    (packed / "links.csv.bz2").write_bytes(bz2.compress(links))
    for name, content in (("sentences", sentences), ("links", links)):
        with tarfile.open(tarred / f"{name}.tar.bz2", "w:bz2") as archive:
            member = tarfile.TarInfo(f"{name}.csv")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    (tarred / "tags.csv").write_text("1\tother\n", "utf-8")
    rows = sentences.decode().splitlines(keepends=True)
    for lang in ("deu", "eng", "fra", "srp"):
        own = "".join(row for row in rows if row.split("\t")[1] == lang)
        (split / f"{lang}_sentences.tsv.bz2").write_bytes(bz2.compress(own.encode()))
    half = [row for row in links.decode().splitlines(keepends=True) if _rises(row)]
    (split / "eng-deu_links.tsv").write_text("".join(half), "utf-8")
    expected = sets(EXAMPLE)
    assert sets(packed) == sets(tarred) == sets(split) == expected


def _rises(row: str) -> bool:
    a, b = row.split()
    return int(a) < int(b)


def test_the_order_of_the_files_does_not_matter(tmp_path: Path) -> None:
    sentences = (EXAMPLE / "sentences.csv").read_text("utf-8").splitlines(keepends=True)
    links = (EXAMPLE / "links.csv").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "sentences.csv").write_text("".join(sentences[::-1]), "utf-8")
    (tmp_path / "links.csv").write_text("".join(links[::-1]), "utf-8")
    assert sets(tmp_path) == sets(EXAMPLE)


def star(count: int) -> tuple[Sentences, Links]:
    """One French sentence with many renderings in English."""
    renderings = [(number, "eng", f"rendering {number}") for number in range(1, count + 1)]
    return [*renderings, (100, "fra", "Bonjour")], [(100, number) for number, _, _ in renderings]


def test_a_translation_with_many_renderings_is_ignored(tmp_path: Path) -> None:
    assert sets(write(tmp_path, *star(3))) == {"eng": [(1, 2, 3)]}
    assert sets(tmp_path, SetRules(max_renderings=2)) == {}


def test_sets_stop_growing(tmp_path: Path) -> None:
    folder = write(tmp_path, *star(5))
    assert [len(each) for each in sets(folder, SetRules(max_size=3))["eng"]] == [3, 2]


def test_what_shares_more_is_joined_first(tmp_path: Path) -> None:
    """2 and 3 share two translations, 1 and 2 one; with sets of two, 1 is left over."""
    sentences = [(1, "eng", "a"), (2, "eng", "b"), (3, "eng", "c")]
    sentences += [(11, "deu", "x"), (12, "deu", "y"), (13, "fra", "z")]
    links = [(1, 11), (2, 11), (2, 12), (3, 12), (2, 13), (3, 13)]
    folder = write(tmp_path, sentences, links)
    assert sets(folder, SetRules(max_size=2))["eng"] == [(2, 3)]
    assert sets(folder, SetRules(min_shared=2))["eng"] == [(2, 3)]
    assert sets(folder)["eng"] == [(1, 2, 3)]


def test_a_direct_link_counts(tmp_path: Path) -> None:
    folder = write(tmp_path, [(1, "eng", "a"), (2, "eng", "b")], [(1, 2)])
    assert sets(folder) == {"eng": [(1, 2)]}


def test_few_and_many_sets(tmp_path: Path) -> None:
    sentences: list[tuple[int, str, str]] = []
    links = []
    for n in range(1, 21):
        sentences += [(10 * n, "fra", f"f{n}"), (10 * n + 1, "eng", f"a{n}")]
        sentences += [(10 * n + 2, "eng", f"b{n}")]
        links += [(10 * n, 10 * n + 1), (10 * n, 10 * n + 2)]
    export = ExportFiles.find(write(tmp_path, sentences, links)).read()

    def english(rules: SetRules) -> LanguageSets:
        [found] = find_sets(export, rules, ["eng"])
        return found

    capped = english(SetRules(max_sets=5))
    assert (len(capped.sets), capped.before) == (5, 20)
    assert capped == english(SetRules(max_sets=5))
    assert set(capped.sets) < set(english(SetRules(max_sets=6)).sets)
    assert english(SetRules(min_sets=21)).sets == []


def test_keys_and_scripts() -> None:
    assert sentence_key("Ｈello, World!") == sentence_key("hello world")
    assert sentence_key("Não.") != sentence_key("Nao.")
    assert script_of("東京へ行く") == "CJK"
    assert script_of("") == ""


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("sentences.csv", "1\teng\n", "sentences.csv, row 1: expected number, language and text"),
        ("sentences.csv", "x\teng\tHi\n", "row 1"),
        ("links.csv", "1\n", "links.csv, row 1: expected two numbers"),
        ("sentences.tar.bz2", "no archive", "cannot be unpacked"),
    ],
)
def test_bad_files(tmp_path: Path, file: str, content: str, message: str) -> None:
    write(tmp_path, [(1, "eng", "a")], [])
    (tmp_path / file).write_text(content, "utf-8")
    with pytest.raises(InputError, match=message):
        ExportFiles.find(tmp_path).read()


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such folder"):
        ExportFiles.find(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"no sentences\.csv"):
        ExportFiles.find(tmp_path)
    write(tmp_path, [(1, "eng", "a")], [])
    with pytest.raises(InputError, match="no sentences in 'deu'"):
        list(find_sets(ExportFiles.find(tmp_path).read(), langs=["deu"]))


def test_an_empty_export(tmp_path: Path) -> None:
    assert sets(write(tmp_path, [], [])) == {}


def test_rules_that_cannot_be() -> None:
    with pytest.raises(SettingError, match="max_size=1"):
        SetRules(max_size=1)
    with pytest.raises(SettingError, match="min_shared=0"):
        SetRules(min_shared=0)
