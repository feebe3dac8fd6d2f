"""Lists of candidates in all formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tertium.data.nbest import CandidateList, ParallelTexts, open_lists
from tertium.data.pairs import Languages
from tertium.errors import InputError
from tertium.text import Text

LANGUAGES = Languages("de", "de", "en")


def text(content: str, lang: str = "de") -> Text:
    return Text(content, lang)


WANTED = [
    CandidateList(
        1,
        group="0",
        candidates=(text("Hallo!"), text("Hi!")),
        scores=(-0.5, -1.0),
        source=text("Hello!", "en"),
        references=(text("Hallo."),),
    ),
    CandidateList(
        2,
        group="1",
        candidates=(text("Ja."),),
        scores=(-0.25,),
        source=text("Yes.", "en"),
        references=(text("Ja."),),
    ),
]


def write(path: Path, content: str) -> Path:
    path.write_text(content, "utf-8")
    return path


def parallel(folder: Path) -> ParallelTexts:
    src = write(folder / "src.txt", "Hello!\nYes.\n")
    ref = write(folder / "ref.txt", "Hallo.\nJa.\n")
    return ParallelTexts(src, (ref,), LANGUAGES)


def test_moses(tmp_path: Path) -> None:
    file = write(
        tmp_path / "moses.txt",
        "0 ||| Hallo! ||| lm= -1 ||| -0.5\n0 ||| Hi! ||| lm= -2 ||| -1\n1 ||| Ja. ||| ||| -0.25\n",
    )
    lists = open_lists(file, LANGUAGES, parallel(tmp_path))
    assert list(lists) == WANTED
    assert (lists.count(), lists.has_source, lists.has_references) == (2, True, True)
    assert not open_lists(file).has_source


def test_fairseq_is_sorted_and_prefers_detokenized_lines(tmp_path: Path) -> None:
    file = write(
        tmp_path / "generate.out",
        "INFO | loading\nS-1\tYes.\nT-1\tJa.\nH-1\t-0.25\tJ a .\nD-1\t-0.25\tJa.\nP-1\t-0.1\n"
        "S-0\tHello!\nT-0\tHallo.\nH-0\t-0.5\tHallo !\nD-0\t-0.5\tHallo!\n"
        "H-0\t-1.0\tHi !\nD-0\t-1.0\tHi!\n",
    )
    lists = open_lists(file, LANGUAGES)
    assert list(lists) == WANTED
    only_h = write(tmp_path / "h.out", "H-3\t-0.5\tHallo !\n")
    assert [each.candidates for each in open_lists(only_h, LANGUAGES)] == [(text("Hallo !"),)]


def test_tables_with_a_group_column(tmp_path: Path) -> None:
    rows = [
        ("0", "Hello!", "Hallo!", "-0.5", "Hallo."),
        ("0", "Hello!", "Hi!", "-1", "Hallo."),
        ("1", "Yes.", "Ja.", "-0.25", "Ja."),
    ]
    content = "\n".join("\t".join(row) for row in [("group", "src", "hyp", "score", "ref"), *rows])
    lists = open_lists(write(tmp_path / "lists.tsv", content + "\n"), LANGUAGES)
    assert list(lists) == WANTED
    assert lists.count() == 2


def test_json_lines_with_lists(tmp_path: Path) -> None:
    records = [
        {
            "id": 0,
            "src": "Hello!",
            "ref": ["Hallo."],
            "candidates": [{"text": "Hallo!", "score": -0.5}, {"text": "Hi!", "score": -1}],
        },
        {"id": 1, "src": "Yes.", "ref": "Ja.", "candidates": [{"hyp": "Ja.", "score": -0.25}]},
    ]
    content = "".join(json.dumps(record) + "\n" for record in records)
    assert list(open_lists(write(tmp_path / "lists.jsonl", content), LANGUAGES)) == WANTED


def test_json_lines_with_lists_of_texts(tmp_path: Path) -> None:
    file = write(tmp_path / "lists.jsonl", '{"hyps": ["Hallo!", "Hi!"]}\n')
    [only] = open_lists(file, LANGUAGES)
    assert only == CandidateList(1, group="1", candidates=(text("Hallo!"), text("Hi!")))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", "group\thyp\n1\ta\n2\tb\n1\tc\n", "rows 3 to 3: group 1 occurred before"),
        ("a.tsv", "group\thyp\tsrc\n1\ta\tx\n1\tb\ty\n", "rows 1 to 2: .* differ in their 'src'"),
        ("a.tsv", "group\thyp\tscore\n1\ta\t1\n1\tb\t\n", "rows 1 to 2: some of the candidates"),
        ("a.tsv", "group\thyp\tscore\n1\ta\tbad\n", "rows 1 to 1: the score 'bad' is not a number"),
        ("a.tsv", "hyp\tref\na\tb\n", "where are the candidates"),
        ("a.jsonl", '{"candidates": []}\n', "row 1: 'candidates' must be a list"),
        ("a.jsonl", '{"candidates": [{"score": 1}]}\n', "row 1: a candidate has no text"),
        ("a.jsonl", '{"candidates": [1]}\n', "row 1"),
        ("a.nbest", "0 ||| a\nx ||| b\n", "line 2: not an n-best list of Moses"),
        ("a.nbest", "0 ||| a ||| ||| nan\n", "line 1: the score 'nan' is not finite"),
        ("a.out", "S-0\ta\n", "sentence 0 has no line H-0"),
        ("a.out", "H-0\t-0.1\n", "line 1: no tab"),
    ],
)
def test_wrong_lists(tmp_path: Path, name: str, content: str, message: str) -> None:
    file = write(tmp_path / name, content)
    with pytest.raises(InputError, match=message):
        list(open_lists(file))


def test_too_few_sources(tmp_path: Path) -> None:
    file = write(tmp_path / "a.nbest", "2 ||| a\n")
    with pytest.raises(InputError, match=r"list 2, but the files .* have only 2 lines"):
        list(open_lists(file, LANGUAGES, parallel(tmp_path)))
