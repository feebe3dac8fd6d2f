"""Measures are made symmetric; cells are computed once; reports are written."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU

from tertium.errors import CutWarning, DataWarning, LanguageError, OutputError, SettingError
from tertium.measures.loading import MeasureSpec, make_measure
from tertium.models.base import Progress, TranslationModel
from tertium.report.tables import Cell, Table
from tertium.studies import runner as runner_module
from tertium.studies.report import Chapter, Figure, Report, check_outputs
from tertium.studies.runner import (
    Advance,
    CellFolder,
    Job,
    Runner,
    Scored,
    Similarity,
    check_measures,
    in_parts,
    similarity_job,
)
from tertium.text import Text

from ..fakes import FakeEncoder, FakeModel


def no_model(*_: object) -> TranslationModel:
    raise AssertionError


@pytest.mark.parametrize(
    "text", ["chrf", "cross@prism", "pivot:beam_size=1", "direct@prism:normalized=no,base=2"]
)
def test_specs_are_read_as_they_are_written(text: str) -> None:
    assert str(MeasureSpec.parse(text)) == text


def test_values_have_their_types() -> None:
    spec = MeasureSpec.parse("pivot@m:normalized=no,beam-size=2,pivot_lang=de")
    assert spec.settings == {"normalized": False, "beam_size": 2, "pivot_lang": "de"}
    assert MeasureSpec.parse("direct:base=2").settings == {"base": "2"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chrff", "no measure 'chrff'.*did you mean 'chrf'"),
        ("chrf@prism", "chrf takes no model"),
        ("chrf:beam_size=1", "chrf has no setting 'beam_size'"),
        ("chrf:beta=2,x", "beta=2,x: it must be a whole number"),
        ("chrf:x,beta=2", "'x' is not a setting; write SETTING=VALUE"),
    ],
)
def test_faults_are_named(text: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        MeasureSpec.parse(text)


def test_bleu_takes_the_tokenizer_of_each_language() -> None:
    spec = MeasureSpec("bleu")
    similarity = Similarity.make(spec, no_model, "en", "zh")
    a, b = "中国 I have 2 cats", "中国有2只猫"
    forth = BLEU(effective_order=True).sentence_score(a, [b]).score
    back = BLEU(effective_order=True, tokenize="zh").sentence_score(b, [a]).score
    [score] = similarity.segments([(Text(a), Text(b))]).scores
    assert back != forth
    assert score == (forth + back) / 2


def test_a_symmetric_measure_is_asked_once() -> None:
    model = FakeModel(scores={("a", "b"): (-2.0,), ("b", "a"): (-1.0,)})
    for name, calls in (("prism-ref", 2), ("prism-src", 2)):
        model.asked.clear()
        measure = make_measure(MeasureSpec(name), lambda *_: model, lang="en")
        pairs = [(Text("a", "en"), Text("b", "en"))]
        assert Similarity(measure, measure).segments(pairs).scores == [-1.5]
        assert len(model.asked) == calls
        assert measure.is_symmetric is (name == "prism-ref")


def test_signatures_tell_settings_apart() -> None:
    def signature(text: str, lang: str = "en") -> str:
        return Similarity.make(MeasureSpec.parse(text), lambda *_: FakeModel(), lang).signature

    told = [
        signature("bleu"),
        signature("bleu", "zh"),
        signature("chrf"),
        signature("direct"),
        signature("direct:normalized=no"),
    ]
    assert len(set(told)) == len(told)
    assert signature("chrf") == signature("chrf", "de")


def test_encoders_and_their_layers() -> None:
    asked = []

    def load_encoder(*what: object) -> FakeEncoder:
        asked.append(what)
        return FakeEncoder({"a": (1.0, 0.0)}, name=str(what[1]))

    spec = MeasureSpec.parse("sentsim@one:layer=9,sentence_encoder=two,scale=corpus")
    measure = make_measure(spec, load_encoder)
    assert sorted(asked) == [("sentences", "two", None), ("tokens", "one", 9)]
    choices = measure.choices()
    assert (choices["sss.model"], choices["bertscore.model"]) == ("two", "one")
    assert choices["scale"] == "corpus"
    asked.clear()
    make_measure(MeasureSpec.parse("sss+wmd"), load_encoder)
    assert {name for _, name, _ in asked} == {None}


def job(
    dataset: str, computed: list[str], cut: Sequence[int] = (), error: BaseException | None = None
) -> Job:
    """A cell whose number is the length of the name of its dataset."""

    def compute(progress: Progress | None, advance: Advance) -> Scored:
        if error is not None:
            raise error
        computed.append(dataset)
        return Scored({"test": [len(dataset)]}, cut)

    return Job(dataset, "length", "signature", "texts", 2, compute)


def test_cells_are_computed_once(tmp_path: Path) -> None:
    computed: list[str] = []
    one, two = job("a", computed), job("bc", computed)
    first = Runner(CellFolder(tmp_path))
    assert first.run([one, two]) == {
        ("a", "length"): Scored({"test": [1]}),
        ("bc", "length"): Scored({"test": [2]}),
    }
    again = Runner(CellFolder(tmp_path))
    assert again.run([two, one])["bc", "length"].parts == {"test": [2]}
    assert (again.reused, again.count, computed) == (2, 2, ["a", "bc"])
    anew = Runner(CellFolder(tmp_path), overwrite=True)
    anew.run([one])
    assert (anew.reused, computed) == (0, ["a", "bc", "a"])
    other = Runner(CellFolder(tmp_path))
    other.run([replace(one, signature="other"), replace(two, data="other")])
    assert other.reused == 0


def test_a_cell_depends_on_the_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []
    Runner(CellFolder(tmp_path)).run([job("a", computed)])
    monkeypatch.setattr(runner_module, "__version__", "99")
    later = Runner(CellFolder(tmp_path))
    later.run([job("a", computed)])
    assert (later.reused, computed) == (0, ["a", "a"])
    [file] = tmp_path.rglob("*.json")
    assert json.loads(file.read_text("utf-8"))["version"] == "99"


def test_a_killed_study_resumes(tmp_path: Path) -> None:
    computed: list[str] = []
    done, left = job("a", computed), job("bc", computed)
    with pytest.raises(KeyboardInterrupt):
        Runner(CellFolder(tmp_path)).run([done, job("bc", computed, error=KeyboardInterrupt())])
    resumed = Runner(CellFolder(tmp_path))
    resumed.run([done, left])
    assert (resumed.reused, computed) == (1, ["a", "bc"])


def test_a_killed_cell_resumes_after_its_last_part(tmp_path: Path) -> None:
    asked: list[str] = []

    def lengths(some: Sequence[str], progress: Progress | None) -> Scored:
        asked.extend(some)
        if "stop" in some:
            raise KeyboardInterrupt
        return Scored({"test": [len(text) for text in some]}, [len(some) - 1])

    def run(last: str) -> Runner:
        runner = Runner(CellFolder(tmp_path))
        texts = ["a", "bc", "def", "gh", last]
        found = runner.run(in_parts("set", "length", "signature", texts, lengths, size=2))
        assert found == {("set", "length"): Scored({"test": [1, 2, 3, 2, 1]}, [1, 3, 4])}
        return runner

    with pytest.raises(KeyboardInterrupt):
        run("stop")
    assert asked == ["a", "bc", "def", "gh", "stop"]
    resumed = run("z")
    assert asked[5:] == ["z"]
    assert (resumed.reused, resumed.sizes) == (2, {"set": 5})
    assert resumed.partly == {("set", "length"): (3, 5)}


def test_what_is_scored_in_part_is_marked(tmp_path: Path) -> None:
    lacks = LanguageError("no Swedish")
    jobs = [job("a", [], cut=[1]), job("b", []), job("c", [], error=lacks)]
    for reused in (0, 2):  # the mark outlives the run
        runner = Runner(CellFolder(tmp_path))
        runner.run(jobs)
        assert runner.reused == reused
        [row] = runner.tables()["partly-scored"].rows
        assert [str(cell) for cell in row] == ["length, a", "1", "2"]
        with (
            pytest.warns(CutWarning, match="1 of 2 rows hold text that is longer"),
            pytest.warns(DataWarning, match="length is left out of c: no Swedish"),
        ):
            runner.warn()
    assert Runner().tables() == {}


def test_measures_are_checked_by_language() -> None:
    specs = [MeasureSpec("chrf"), MeasureSpec("bleu", settings={"tokenize": "nothing"})]
    with pytest.raises(SettingError, match="tokenize='nothing'"):
        check_measures(specs, no_model, ("en", "de"))


def test_a_dataset_has_the_rows_of_all_its_parts() -> None:
    def job(measure: str, rows: int, label: str = "") -> Job:
        return Job("d", measure, f"signature of {measure}", "", rows, lambda *_: Scored({}), label)

    runner = Runner()
    runner.run([job("chrf", 5), job("x-0", 3, "x"), job("x-1", 2, "x"), job("bleu", 4)])
    runner.run([job("chrf", 5)])
    assert runner.sizes == {"d": 5}
    assert list(runner.signatures) == ["chrf", "x", "bleu"]


def test_pages_have_signatures_as_score_prints_them() -> None:
    spec = MeasureSpec.parse("bleu")
    job = similarity_job("d", spec, {}, no_model, ("en", "zh"))
    runner = Runner()
    runner.run([job])
    first, second = runner.signatures["bleu"].split("; ")
    assert first.startswith("m:bleu|")
    assert "|tok:13a|" in first
    assert "|tok:zh|" in second


def test_a_report_is_written(tmp_path: Path) -> None:
    table = Table(["measure", "de"], [[Cell("chrf"), Cell(1.5)]])
    drawn: list[Path] = []

    def draw(out: Path) -> None:
        out.write_text("<svg/>", "utf-8")
        drawn.append(out)

    report = Report("Title", {"one": table, "two": table}, {"one-figure": Figure(draw, "What")})
    report.write(tmp_path, plots=True, html=tmp_path / "page.html")
    assert {path.suffix for path in tmp_path.glob("one.*")} == {".txt", ".csv", ".md", ".tex"}
    assert drawn == [tmp_path / f"one-figure{suffix}" for suffix in (".svg", ".png", ".pdf")]
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("<table") == 2
    assert "What" in page
    report.write(None, html=tmp_path / "page.html")
    assert [path.name for path in drawn[3:]] == ["one-figure.svg"]
    assert drawn[3].parent != tmp_path
    hostile = Table(["<th>"], [[Cell("<script>", bold=True)]], "<title>", "<note>")
    escaped = Report("<h1>", {"one": hostile}, lead="<lead>", facts=["<fact>"]).page({})
    for text in ("<th>", "<script>", "<title>", "<note>", "<h1>", "<lead>", "<fact>"):
        assert text.replace("<", "&lt;").replace(">", "&gt;") in escaped
    assert "<script>" not in escaped
    about = {"Data": ["wmt: 5 rows"], "Measures": ["<a>", "b", "c", "d"], "Command": ["tertium x"]}
    page = replace(report, findings=["chrf is highest."], about=about).page({})
    places = [page.index(text) for text in ("chrf is highest.", "wmt: 5 rows", "&lt;a&gt;")]
    assert places == sorted(places)
    assert places[-1] < page.index("tertium x") < page.index("<table")
    chapters = Report("T", {"one": table, "two": table}, chapters=[Chapter("First", ("one",))])
    headings = re.findall("<h2>(.*)</h2>", chapters.page({}))
    assert headings == ["First", "More results"]  # no table is lost
    assert chapters.page({}).count("<table") == 2


def test_outputs_are_checked(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="figures need a folder; use plots=True with output="):
        check_outputs(None, plots=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write to"):
        check_outputs(tmp_path / "file" / "folder")
