"""Judged segments and sets, from tiny files written by hand in the layout of each release."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from tertium.data.datasets.base import JudgedSegment, ParaphraseSet, RankedPair
from tertium.data.datasets.mlqe import read_mlqe
from tertium.data.datasets.mtme import read_mqm, read_mtme
from tertium.data.datasets.multi30k import read_multi30k
from tertium.data.datasets.nlg import FLUENCY, read_amr, read_webnlg
from tertium.data.datasets.plain import read_judged, read_sets
from tertium.data.datasets.stsb import read_stsb
from tertium.data.datasets.tapaco import read_tapaco
from tertium.data.datasets.wmt import read_wmt_da, read_wmt_rankings, read_wmt_table
from tertium.errors import DataWarning, InputError
from tertium.text import Text

from .test_pairs import write


def test_plain_segments_with_several_references(tmp_path: Path) -> None:
    file = write(
        tmp_path / "a.tsv",
        "id\tsystem\thypothesis\treference1\treference2\tadequacy\n"
        "7\tS\th\tr1\tr2\t50.5\n8\tS\th\tr1\t\t\n",
    )
    first, second = read_judged(file, score="adequacy", lang="en")
    references = (Text("r1", "en"), Text("r2", "en"))
    assert first == JudgedSegment("7", Text("h", "en"), references, None, "S", 50.5)
    assert second.references == (("r1", "en"),)
    assert second.score is None
    with pytest.raises(InputError, match="no column 'score'; it has the columns id, system"):
        read_judged(file)


def test_plain_segments_with_a_source_alone(tmp_path: Path) -> None:
    file = write(tmp_path / "a.tsv", "source\thypothesis\tz_mean\ns\th\t-0.5\nt\tg\tmany\n")
    with pytest.raises(
        InputError, match="row 2: 'many' in 'z_mean' is not a number; leave it empty"
    ):
        read_judged(file, score="z_mean")
    write(file, "source\thypothesis\tz_mean\ns\th\t-0.5\n")
    [segment] = read_judged(file, score="z_mean", lang="de", source_lang="en")
    assert segment.source == ("s", "en")
    assert segment.lang_pair == "en-de"
    assert segment.references == ()


def test_plain_sentence_pairs_with_a_score(tmp_path: Path) -> None:
    file = write(tmp_path / "a.tsv", "sentence1\tsentence2\tscore\na\tb\t2.5\n")
    assert read_judged(file) == [
        JudgedSegment("1", Text("a"), (Text("b"),), None, "", 2.5),
    ]


def test_plain_sets(tmp_path: Path) -> None:
    lines = "lang\tlang1\tset_id\tsentence\ndeu\tde\tx\ta\neng\ten\ty\tb\ndeu\tde\tx\tc\n"
    file = write(tmp_path / "a.tsv", lines)
    assert read_sets(file, lang="de") == [ParaphraseSet("x", "deu", ("a", "c"))]
    assert [each.id for each in read_sets(file)] == ["x", "y"]


def sacrerouge(folder: Path, name: str, human: dict[str, list[int]]) -> None:
    key = {"instance_id": "3", "summarizer_id": "S", "summarizer_type": "peer"}
    texts = {"summary": {"text": "out"}, "references": [{"text": "one"}, {"text": "two"}]}
    write(folder / f"{name}.generated.jsonl", json.dumps({**key, **texts}) + "\n")
    write(folder / f"{name}.metrics.jsonl", json.dumps({**key, "metrics": {"human": human}}) + "\n")


def test_webnlg(tmp_path: Path) -> None:
    human = {"correctness": [90, 70], "data_coverage": [60, 60], "relevance": [40, 50]}
    sacrerouge(tmp_path, "webnlg2020.en", human)
    with pytest.warns(DataWarning, match="1 were read, 2848 were published"):
        [segment] = read_webnlg("en", folder=tmp_path)
    assert segment.score == pytest.approx((80 + 60 + 45) / 3)
    assert [reference.text for reference in segment.references] == ["one", "two"]
    assert segment.system == "S"
    with pytest.raises(InputError, match="row 1: no ratings of fluency; its criteria are"):
        read_webnlg("en", folder=tmp_path, criteria=FLUENCY)


def test_amr(tmp_path: Path) -> None:
    sacrerouge(tmp_path, "amr.da", {"semantic_accuracy": [3, 2]})
    with pytest.warns(DataWarning, match="50 were published"):
        [segment] = read_amr("da", folder=tmp_path)
    assert segment.score == 2.5
    assert segment.hypothesis.lang == "da"
    sacrerouge(tmp_path, "amr.da", {"semantic_accuracy": []})
    with pytest.warns(DataWarning):
        assert read_amr("da", folder=tmp_path)[0].score is None
    write(tmp_path / "amr.da.generated.jsonl", '{"instance_id": "3"}\n')
    with pytest.raises(InputError, match="row 1: a text is missing"):
        read_amr("da", folder=tmp_path)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A metrics task package of two segments and two systems."""
    txt = tmp_path / "input" / "wmt17-submitted-data" / "txt"
    write(txt / "sources" / "newstest2017-deen-src.de", "q1\nq2\n")
    write(txt / "references" / "newstest2017-deen-ref.en", "r1\nr2\n")
    outputs = txt / "system-outputs" / "newstest2017" / "de-en"
    write(outputs / "newstest2017.A.1.de-en", "a1\na2\n")
    write(outputs / "newstest2017.B.0.de-en", "b1\nb2\n")
    manual = tmp_path / "manual-evaluation"
    write(
        manual / "DA-seglevel.csv",
        "LP DATA SYSTEM SID HUMAN\nde-en newstest2017 A.1+B.0 2 -0.5\n"
        "fi-en newstest2017 X 1 0.1\nde-en newstest2017 B.0 1 0.25\n",
    )
    write(
        manual / "RR-seglevel.csv",
        "LP DATA SID BETTER WORSE\nde-en newstest2017 2 B.0 A.1\nfi-en newstest2017 2 X Y\n",
    )
    return tmp_path


def test_wmt_direct_assessment(package: Path) -> None:
    first, second = read_wmt_da(package, "de-en")
    assert first == JudgedSegment(
        "2", Text("a2", "en"), (Text("r2", "en"),), Text("q2", "de"), "A.1+B.0", -0.5
    )
    assert second.hypothesis.text == "b1"
    with pytest.raises(InputError, match="nothing for ru-en"):
        read_wmt_da(package, "ru-en")
    with pytest.raises(InputError, match=r"has no references/|has no system-outputs/"):
        read_wmt_da(package, "fi-en")
    write(package / "manual-evaluation" / "DA-seglevel.csv", "LP DATA SYSTEM\nde-en x y\n")
    with pytest.raises(InputError, match=r"DA-seglevel\.csv, row 1: 3 fields, not 5"):
        read_wmt_da(package, "de-en")


def test_wmt_rankings(package: Path) -> None:
    assert read_wmt_rankings(package, "de-en") == [RankedPair("de-en", "2", "B.0", "A.1")]


def test_mt_metrics_eval(tmp_path: Path) -> None:
    write(tmp_path / "sources" / "en-de.txt", "s1\ns2\n")
    write(tmp_path / "references" / "en-de.refA.txt", "a1\na2\n")
    write(tmp_path / "references" / "en-de.refB.txt", "b1\nb2\n")
    for name in ("refB", "sys"):
        write(tmp_path / "system-outputs" / "en-de" / f"{name}.txt", f"{name}1\n{name}2\n")
    scores = tmp_path / "human-scores" / "en-de.mqm.seg.score"
    write(scores, "refB\t-1.0\nrefB\tNone\nsys -5\nsys 0\n")
    segments = read_mtme(tmp_path, "en-de")
    assert [segment.score for segment in segments] == [-1.0, None, -5.0, 0.0]
    assert [text.text for text in segments[0].references] == ["a1"]
    assert [text.text for text in segments[3].references] == ["a2", "b2"]
    assert segments[3].source == ("s2", "en")
    assert len(read_mtme(tmp_path, "en-de", references=["refB"])[2].references) == 1
    with pytest.raises(InputError, match="no reference 'refC' for en-de: refA, refB"):
        read_mtme(tmp_path, "en-de", references=["refC"])
    write(scores, "sys 1\nsys 2\nsys 3\n")
    with pytest.raises(InputError, match="row 3: sys has more scores than segments"):
        read_mtme(tmp_path, "en-de")


def test_mqm_ratings(tmp_path: Path) -> None:
    header = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    rows = [
        ("A", "r1", "a <v>bad</v> one", "Accuracy/Mistranslation", "Major"),
        ("A", "r1", "a bad <v>one</v>", "Fluency/Punctuation", "Minor"),
        ("A", "r2", "a bad one", "No-error", "No-error"),
        ("B", "r1", "xyz", "Non-translation!", "Major"),
    ]
    lines = "".join(f"{s}\td\t1\t4\t{r}\tsrc\t{t}\t{c}\t{v}\n" for s, r, t, c, v in rows)
    first, second = read_mqm(write(tmp_path / "a.tsv", header + lines), "en-de")
    assert first.score == pytest.approx(-(5.1 + 0) / 2)
    assert first.hypothesis == ("a bad one", "de")
    assert second.score == -25
    with pytest.raises(InputError, match="no column 'seg_id'"):
        read_mqm(write(tmp_path / "b.tsv", "system\nA\n"), "en-de")


def test_wmt_in_one_table(tmp_path: Path) -> None:
    file = write(
        tmp_path / "a.csv",
        'lp,src,mt,ref,score,system,year\nen-de,s,"m, n",r,-0.5,A,2020\nen-de,s,m,r,1,A,2021\n',
    )
    [segment] = read_wmt_table("da", "en-de", year=2020, path=file)
    assert segment.hypothesis == ("m, n", "de")
    assert segment.score == -0.5
    with pytest.raises(InputError, match="nothing for de-en"):
        read_wmt_table("da", "de-en", path=file)


MLQE = (
    "index\toriginal\ttranslation\tscores\tmean\tz_scores\tz_mean\tmodel_scores\n"
    '0\tHe said "hi".\tEr sagte "hallo".\t[50, 60]\t55.0\t[0.1, 0.2]\t0.15\t-0.3\n'
)


def test_mlqe_unpacked(tmp_path: Path) -> None:
    file = write(tmp_path / "en-de" / "test20.ende.df.short.tsv", MLQE)
    with pytest.warns(DataWarning, match="1000 were published"):
        [segment] = read_mlqe("en-de", folder=tmp_path)
    assert segment.score == 0.15
    assert segment.source == ('He said "hi".', "en")
    write(file, MLQE + "1\tbroken\n")
    with pytest.raises(InputError, match="row 2: 2 fields, where the first line has 8"):
        read_mlqe("en-de", folder=tmp_path)
    with pytest.raises(InputError, match="no table of ro-en test"):
        read_mlqe("ro-en", folder=tmp_path)


def test_mlqe_packed(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "direct-assessments" / "test"
    folder.mkdir(parents=True)
    with tarfile.open(folder / "en-de-test.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("en-de/test20.ende.df.short.tsv")
        member.size = len(MLQE.encode())
        archive.addfile(member, io.BytesIO(MLQE.encode()))
    with pytest.warns(DataWarning):
        [segment] = read_mlqe("en-de", folder=tmp_path, score="mean")
    assert segment.score == 55


def test_multi30k(tmp_path: Path) -> None:
    write(tmp_path / "MMTsourcedict.json", json.dumps({"1.jpg": "a dog ."}))
    write(tmp_path / "MMTgolddict_de.json", json.dumps({"1.jpg": ["ein hund ."]}))
    file = tmp_path / "MMTtranslationdict_de.json"
    write(file, json.dumps({"1.jpg": [["hund .", 0.5], ["katze .", -1.25]]}))
    with pytest.warns(DataWarning, match="3484"):
        first, second = read_multi30k(folder=tmp_path)
    assert first.references == (("ein hund .", "de"),)
    assert first.source == ("a dog .", "en")
    assert second.score == -1.25
    write(file, json.dumps({"1.jpg": [["hund ."]]}))
    with pytest.raises(InputError, match=r"of 1\.jpg is not a text and a score"):
        read_multi30k(folder=tmp_path)


def test_stsb(tmp_path: Path) -> None:
    line = 'main-captions\tMSRvid\t2012test\t0024\t2.500\tA girl is "styling" her hair.\tShe is.\n'
    file = write(tmp_path / "stsbenchmark" / "sts-test.csv", line)
    with pytest.warns(DataWarning, match="1 were read, 1379"):
        [segment] = read_stsb("en", "test", folder=tmp_path)
    assert segment.score == 2.5
    assert segment.hypothesis.text == 'A girl is "styling" her hair.'
    write(tmp_path / "data" / "stsb-de-test.csv", '"Ja, ja.",Nein.,0.8\n')
    with pytest.warns(DataWarning):
        [segment] = read_stsb("de", "test", folder=tmp_path)
    assert segment.hypothesis == ("Ja, ja.", "de")
    write(file, "main-captions\tMSRvid\n")
    with pytest.raises(InputError, match="row 1: 2 fields, not 7"):
        read_stsb("en", "test", folder=tmp_path)
    with pytest.raises(InputError, match="neither sts-dev"):
        read_stsb("en", "dev", folder=tmp_path)


def test_tapaco(tmp_path: Path) -> None:
    file = write(
        tmp_path / "tapaco_v1.0" / "de.txt",
        "1\t10\tJa.\t\t\n1\t11\tJawohl.\t\t\n2\t12\tNein.\t\t\n",
    )
    assert read_tapaco("de", folder=tmp_path) == [
        ParaphraseSet("1", "de", ("Ja.", "Jawohl.")),
        ParaphraseSet("2", "de", ("Nein.",)),
    ]
    write(file, "1\t10\n")
    with pytest.raises(InputError, match=r"de\.txt, row 1: 2 fields"):
        read_tapaco("de", folder=tmp_path)
