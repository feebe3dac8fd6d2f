"""``tertium study`` prints tables, keeps them, and names what is wrong."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tertium.storage.resume import locked

from .conftest import Run

EXAMPLES = Path(__file__).parents[2] / "examples" / "paraphrases"
DATA = ("--dataset", f"mine={EXAMPLES}", "--samples", "20")


def test_tables_are_printed_and_kept(tertium: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("study", "paraphrase-id", *DATA, "-m", "chrf", "-m", "bleu", "-o", out, "--plots")
    done = tertium(*command, "--examples", 1, "--timing", 2)
    assert done.returncode == 0, done.stderr
    assert "mine-en Acc." in done.stdout
    assert "Kendall's tau-b" in done.stdout
    assert "ms per pair" in done.stdout
    assert "where chrf and bleu disagree most" in done.stdout
    with (out / "monolingual.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["measure"] for row in rows] == ["chrf", "bleu"]
    assert float(rows[0]["mine-en Acc."]) == pytest.approx(50)
    assert r"\begin{tabular}" in (out / "correlations.tex").read_text("utf-8")
    assert (out / "roc-mine-de.svg").exists()
    again = tertium(*command)
    assert "6 of 6 cells were reused" in again.stderr


def test_a_model_and_the_ablation(tertium: Run) -> None:
    done = tertium(
        *("study", "paraphrase-id", *DATA, "--langs", "de", "--limit", 4),
        *("-m", "chrf", "-m", "direct", "--ablation", "--no-cache"),
    )
    assert done.returncode == 0, done.stderr
    assert "Ablation of normalization" in done.stdout
    assert "direct:normalized=no" in done.stdout


@pytest.mark.filterwarnings("default::tertium.errors.DataWarning")
def test_across_languages(tertium: Run, tmp_path: Path) -> None:
    header = "id\tsentence1\tsentence2\tlabel\n"
    for lang in ("en", "de", "es"):
        for split in ("dev", "test"):
            rows = "".join(f"{n}\t{lang} {n} x\t{n} y {lang}\t{n % 2}\n" for n in range(6))
            file = tmp_path / "pawsx" / f"{lang}.{split}.tsv"
            file.parent.mkdir(exist_ok=True)
            file.write_text(header + rows, "utf-8")
    command = ("study", "paraphrase-id", tmp_path, "-m", "chrf", "--samples", 5)
    done = tertium(*command, "--cross-lingual")
    assert done.returncode == 0, done.stderr
    assert "pawsx-de Acc." in done.stdout
    assert "pawsx-en" not in done.stdout
    assert "en+de Acc." in done.stdout
    assert "PAWS-X de test: 3 positive and 3 negative" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "which data?"),
        (("nowhere",), "the folder nowhere does not exist"),
        ((EXAMPLES,), "has none of the folders mrpc, paraphraser"),
        (("--dataset", "mine"), "write it as NAME=FOLDER"),
        ((*DATA, "-m", "chrf", "-m", "chrf"), "chrf is given twice"),
        ((*DATA, "-m", "chrf", "--ablation"), "--ablation is for direct"),
        ((*DATA, "-m", "chrf", "--cross-lingual"), "--cross-lingual needs pawsx"),
        ((*DATA, "-m", "chrf", "--plots"), "use --plots with --output"),
        ((*DATA, "-m", "chrf", "--examples", 1), "--compare: name two of chrf"),
    ],
)
def test_what_is_wrong_is_named(tertium: Run, arguments: tuple[object, ...], message: str) -> None:
    done = tertium("study", "paraphrase-id", *map(str, arguments))
    assert done.returncode == 2
    assert message in done.stderr


def test_judgements(tertium: Run, tmp_path: Path) -> None:
    folder, out = tmp_path / "data", tmp_path / "out"
    folder.mkdir()
    rows = [
        f"{n}\tq {n}\tthe answer is {n}\tthe {word} is {n}\t{word}\t{place * n}\n"
        for n in range(1, 6)
        for place, word in enumerate(("cat", "answers", "answer"))
    ]
    header = "id\tsource\treference\thypothesis\tsystem\tscore\n"
    (folder / "de-en.tsv").write_text(header + "".join(rows), "utf-8")
    command = ("study", "judgements", "--dataset", f"mine={folder}", "-m", "chrf", "-o", out)
    done = tertium(*command, "--samples", 20, "--plots", "--top", 3)
    assert done.returncode == 0, done.stderr
    assert "Segments: kendall" in done.stdout
    assert "Systems: pearson" in done.stdout
    assert "The best 3 systems" in done.stdout
    assert (out / "segments-mine-de-en.svg").exists()
    assert "low" in (out / "systems-intervals.csv").read_text("utf-8")
    again = tertium(*command, "--samples", 20)
    assert "1 of 1 cells were reused" in again.stderr
    anew = tertium(*command, "--samples", 20, "--overwrite", "--html", tmp_path / "page.html")
    assert "reused" not in anew.stderr
    assert anew.stdout == again.stdout
    assert "Systems: pearson" in (tmp_path / "page.html").read_text("utf-8")
    other = tertium(*command, "--samples", 20, "--average-by", "input", "--test", "permutation")
    assert other.returncode == 0, other.stderr
    assert "Segments: kendall, averaged by input" in other.stdout
    assert "permutation test" in other.stdout
    wrong = tertium(*command, "--segment", "tau")
    assert "tau: it must be one of kendall, pearson, spearman" in wrong.stderr


def test_two_runs_on_one_folder(tertium: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with locked(out):
        done = tertium("study", "paraphrase-id", *DATA, "-m", "chrf", "-o", out)
    assert done.returncode == 2
    assert "is in use by another run" in done.stderr


def test_systems_with_one_output(tertium: Run, tmp_path: Path) -> None:
    """As in the segment-level data of WMT17: no bootstrap sample may end the study."""
    systems = ["A", "B", "C", "A", "B", "C", "A+B", "D"]
    rows = [
        f"{n}\tq {n}\tthe answer is {n}\tthe {system} answer is {n}\t{system}\t{n % 3 + n / 9}\n"
        for n, system in enumerate(systems)
    ]
    header = "id\tsource\treference\thypothesis\tsystem\tscore\n"
    (tmp_path / "de-en.tsv").write_text(header + "".join(rows), "utf-8")
    done = tertium(
        *("study", "judgements", "--dataset", f"mine={tmp_path}", "-m", "chrf", "--samples", 50)
    )
    assert done.returncode == 0, done.stderr
    assert "Segments: kendall" in done.stdout
    assert "Systems: pearson" in done.stdout


def test_bias(tertium: Run, tmp_path: Path) -> None:
    pairs = EXAMPLES.parent / "pairs.tsv"
    done = tertium(
        *("study", "bias", pairs, "--paraphrases", pairs, "--limit", 6),
        *("-o", tmp_path, "--plots"),
    )
    assert done.returncode == 0, done.stderr
    assert "H, tertium-mini" in done.stdout
    assert "H(text|text)" in done.stdout
    assert (tmp_path / "overlap.svg").exists()
    assert "give a file" in tertium("study", "bias").stderr


JUDGED = Path(__file__).parents[2] / "examples" / "judged"


def test_correlation_with_people(tertium: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("study", "correlate", "--dataset", f"mine={JUDGED}", "--samples", 10, "-o", out)
    done = tertium(*command, "-m", "chrf", "-m", "sss+smd", "-m", "smd", "--plots")
    assert "with 10 bootstrap samples, no difference can be significant" in done.stderr
    assert done.returncode == 0, done.stderr
    tables = [
        line for line in done.stdout.splitlines() if line in ("Pearson", "Kendall", "Spearman")
    ]
    assert tables == ["Pearson", "Kendall", "Spearman"]
    with (out / "pearson.csv").open(encoding="utf-8", newline="") as stream:
        rows = {row["measure"]: float(row["mine de-en"]) for row in csv.DictReader(stream)}
    assert rows.pop("n") == 20
    assert list(rows) == ["chrf", "sss+smd", "smd"]
    assert all(-1 <= value <= 1 for value in rows.values())
    assert (out / "pearson.svg").exists()
    assert (out / "scatter" / "mine-de-en-sss+smd.svg").exists()
    drawn = (out / "overlay" / "mine-de-en.svg").read_text("utf-8")
    assert all(name in drawn for name in ("chrf", "smd", "scaled to 0..1"))
    against_source = tertium(*command, "-m", "smd", "--against-source")
    assert against_source.returncode == 0, against_source.stderr
    assert against_source.stdout != done.stdout


def test_layers(tertium: Run, tmp_path: Path) -> None:
    """The layers of an encoder, by the sweep of a setting."""
    study = ("study", "judgements", "--dataset", f"mine={JUDGED}", "--segment", "pearson")
    command = (*study, "--samples", 10, "-m", "bertscore")
    done = tertium(*command, "--sweep", "layer=1,3-4", "-o", tmp_path / "out", "--plots")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out" / "segments-layer.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["layer"] for row in rows] == ["1", "3", "4", "n"]
    assert (tmp_path / "out" / "segments-layer-mine-de-en.svg").exists()
    every = tertium(*command, "--sweep", "layer")
    lines = [line.split() for line in every.stdout.splitlines()]
    assert [line[0] for line in lines if line and line[0].isdigit()][:4] == list("1234")
    other = ("study", "correlate", "--dataset", f"mine={JUDGED}", "--samples", 10)
    assert tertium(*other, "-m", "bertscore:layer=3", "-o", tmp_path / "one").returncode == 0
    with (tmp_path / "one" / "pearson.csv").open(encoding="utf-8", newline="") as stream:
        only, count = csv.DictReader(stream)
    assert list(count.values()) == ["n", "20"]
    assert only["mine de-en"] == next(iter(list(rows[1].values())[1:]))
    for wrong, message in (
        (("--sweep", "layer=3,9"), "layer 9: tertium-mini has layers 1 to 6"),
        (("--sweep", "layer=3,x"), "layer"),
        (("--sweep", "layers=1,2"), "no setting layers"),
        (("--sweep", "layer", "--segment", "r"), "r: it must be one of"),
    ):
        failed = tertium(*command, *wrong)
        assert failed.returncode == 2
        assert message in failed.stderr


def test_measures_as_published(tertium: Run, tmp_path: Path) -> None:
    data = tmp_path / "wmt17"
    data.mkdir()
    (data / "de-en.tsv").write_text(
        (Path(JUDGED) / "de-en.tsv").read_text("utf-8"), encoding="utf-8"
    )
    command = ("study", "correlate", "-q", "--dataset", f"wmt17={data}", "--samples", "20")
    done = tertium(*command, "--as-published", "-m", "bleu", "-m", "chrf")
    assert done.returncode == 0, done.stderr
    [line] = [
        line for line in done.stdout.splitlines() if line.startswith("wmt17 de-en, bleu-nltk")
    ]
    assert line.split()[3:5] == ["4", "0.366"]
    plain = tertium(*command, "-m", "bleu")
    assert "0.366" not in plain.stdout
