"""Tasks are found in folders, plain or as published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tertium.errors import DataWarning, InputError
from tertium.measures.loading import MeasureSpec
from tertium.studies.paraphrase_id.study import ParaphraseStudy
from tertium.studies.paraphrase_id.tasks import Task, read_crosslingual, read_tasks

HEADER = "id\tsentence1\tsentence2\tlabel\n"
pytestmark = pytest.mark.filterwarnings("ignore::tertium.errors.DataWarning")


def pairs(folder: Path, name: str, text: str = "t") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{n}\t{text}{n}\t{text}{n}'\t{n % 2}\n" for n in range(4))
    (folder / name).write_text(HEADER + rows, "utf-8")


def test_anybodys_own(tmp_path: Path) -> None:
    pairs(tmp_path, "de.test.tsv")
    pairs(tmp_path, "fr.test.tsv")
    pairs(tmp_path, "fr.dev.tsv")
    de, fr = read_tasks("mine", tmp_path)
    assert de.heading == "mine-de AUC"
    assert fr.heading == "mine-fr Acc."
    assert fr.langs == ("fr", "fr")
    assert fr.size == 8
    assert fr.limited(3).size == 6
    assert [pair.label for pair in fr.limited(2).test] == [False, True]
    assert fr.limited(None) is fr
    assert [task.name for task in read_tasks("mine", tmp_path, ["fr"])] == ["mine-fr"]


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no LANG\.test\.tsv"):
        read_tasks("mine", tmp_path)
    with pytest.raises(InputError, match="none does not exist"):
        read_tasks("mine", tmp_path / "none")
    with pytest.raises(InputError, match="mine cannot be downloaded"):
        read_tasks("mine", None)
    with pytest.raises(InputError, match="has no PAWS-X in fr"):
        read_tasks("pawsx", tmp_path, ["fr"])


def test_pawsx_plain_and_released(tmp_path: Path) -> None:
    for lang in ("en", "de", "zh", "ko"):
        for split in ("dev", "test"):
            pairs(tmp_path / "plain", f"{lang}.{split}.tsv", lang)
            pairs(tmp_path / "released" / "x-final" / lang, f"{split}_2k.tsv", lang)
    for source in (tmp_path / "plain", tmp_path / "released"):
        tasks = read_tasks("pawsx", source)
        assert [task.name for task in tasks] == ["pawsx-de", "pawsx-zh"]
        assert {task.group for task in tasks} == {"pawsx"}
        assert [task.name for task in read_tasks("pawsx", source, ["en"])] == ["pawsx-en"]
        across = read_crosslingual(source)
        assert [task.name for task in across] == ["en+de", "en+zh", "de+zh"]
        assert across[0].test[0].a == ("en0", "en")
        assert across[0].test[0].b == ("de0'", "de")
        assert len(across[0].test) == 8


def test_counts_of_the_paper_are_compared(tmp_path: Path) -> None:
    pairs(tmp_path, "de.dev.tsv")
    pairs(tmp_path, "de.test.tsv")
    with pytest.warns(DataWarning, match=r"PAWS-X de test: 2 positive and 2 .* 895 and 1073"):
        read_tasks("pawsx", tmp_path)


def test_the_other_datasets(tmp_path: Path) -> None:
    pairs(tmp_path / "turku", "sv.test.tsv")
    pairs(tmp_path / "turku", "fi.dev.tsv")
    [task] = read_tasks("turku", tmp_path / "turku")
    assert (task.name, task.heading) == ("turku-sv", "turku-sv AUC")
    (tmp_path / "clone" / "data-sv").mkdir(parents=True)
    item = {"txt1": "a", "txt2": "b", "label": "4"}
    (tmp_path / "clone" / "data-sv" / "test.json").write_text(json.dumps([item]))
    [task] = read_tasks("turku", tmp_path / "clone")
    assert task.test[0].label
    pairs(tmp_path / "mrpc", "train.tsv")
    pairs(tmp_path / "mrpc", "test.tsv")
    [task] = read_tasks("mrpc", tmp_path / "mrpc")
    assert task.heading == "mrpc Acc."
    assert read_tasks("mrpc", tmp_path / "mrpc", ["de"]) == []
    with pytest.raises(InputError, match="paraphraser is not on the hub"):
        read_tasks("paraphraser", None)


def test_paraphraser_plain_and_published(tmp_path: Path) -> None:
    pairs(tmp_path / "plain", "ru.test.tsv")
    with pytest.warns(DataWarning, match=r"ParaPhraser test: 2 positive and 2 .* 1152 and 772"):
        [task] = read_tasks("paraphraser", tmp_path / "plain")
    assert (task.name, len(task.test), task.test[0].a) == ("paraphraser", 4, ("t0", "ru"))
    value = '<value name="{}">{}</value>'
    fields = {"text_1": "a", "text_2": "b", "class": "1"}
    xml = "".join(value.format(*each) for each in fields.items())
    (tmp_path / "paraphrases_gold.xml").write_text(f"<paraphrase>{xml}</paraphrase>", "utf-8")
    [task] = read_tasks("paraphraser", tmp_path)
    assert task.test[0].label
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"neither paraphrases_gold\.xml nor ru\.test\.tsv"):
        read_tasks("paraphraser", tmp_path / "empty")


def test_fingerprints_tell_data_apart(tmp_path: Path) -> None:
    pairs(tmp_path / "a", "de.test.tsv", "x")
    pairs(tmp_path / "b", "de.test.tsv", "y")
    pairs(tmp_path / "c", "de.test.tsv", "x")
    a, b, c = (read_tasks("mine", tmp_path / name)[0] for name in "abc")

    def data(task: Task) -> str:
        return ParaphraseStudy([task], [MeasureSpec("chrf")]).jobs()[0].data

    assert data(a) == data(c) != data(b)
    assert data(a.limited(2)) != data(a)
