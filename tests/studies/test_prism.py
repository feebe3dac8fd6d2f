"""The tables of the Prism paper: what it printed, and what a package gives."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tertium.errors import InputError
from tertium.studies.prism import pairs_of, published_tables

from ..cli.conftest import Run, tertium  # noqa: F401

SYSTEMS = {
    "good.1": ["the cat sat on the mat", "it rains a lot today", "we like tea very much"],
    "fair.2": ["a cat is on the mat", "today it is raining", "we like the tea"],
    "poor.3": ["cats mats", "rain rain rain", "tea"],
    "other.4": ["the cat sat on a mat", "it rains today", "we love tea very much"],
}
REFERENCES = ["the cat sat on the mat", "it is raining a lot today", "we like tea very much"]


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "wmt19"
    write(folder / "sources" / "newstest2019-deen-src.de", "eins\nzwei\ndrei\n")
    write(folder / "references" / "newstest2019-deen-ref.en", "\n".join(REFERENCES) + "\n")
    for system, lines in SYSTEMS.items():
        outputs = folder / "system-outputs" / "newstest2019" / "de-en"
        write(outputs / f"newstest2019.{system}.de-en", "\n".join(lines) + "\n")
    rankings = [f"de-en newstest2019 {n} good.1 poor.3" for n in (1, 2, 3)]
    write(folder / "RR-seglevel.csv", "\n".join(["LP DATA SID BETTER WORSE", *rankings]) + "\n")
    human = [f"de-en {system} {score}" for system, score in zip(SYSTEMS, (4, 2, 1, 3), strict=True)]
    write(folder / "DA-syslevel.csv", "\n".join(["LP SYSTEM HUMAN", *human]) + "\n")
    return folder


def test_the_numbers_of_the_appendices_are_those_of_the_main_text() -> None:
    """Tables 2, 3 and 4 print some of them a second time."""
    tables = {table.number: table for table in published_tables()}
    assert list(tables) == list(range(7, 26))
    to_others = [0.582, 0.427, 0.591, 0.313, 0.531, 0.558, 0.584, 0.376]
    assert tables[12].rows["Prism-ref"] == to_others
    assert tables[13].rows["Prism-ref"] == [0.458, 0.453, 0.426]
    to_english = [0.204, 0.357, 0.313, 0.434, 0.382, 0.225, 0.438]
    assert tables[11].rows["Prism-ref"] == to_english
    assert tables[11].rows["YISI-1"] == [0.164, 0.347, 0.312, 0.440, 0.376, 0.217, 0.426]
    assert tables[14].rows["Prism-src"] == [0.109, 0.300, 0.102, 0.391, 0.356, 0.178, 0.336]
    assert tables[16].rows["Prism-src"] == [0.444, 0.371, 0.316]
    top = [0.952, 0.278, 0.886, 0.863, 0.693, 0.862, 0.975, 0.966]
    assert tables[18].rows["Prism-ref"] == top
    assert tables[19].rows["BERTSCORE"] == [0.976, 0.707, 0.973]
    assert tables[20].rows["SACREBLEU.CHRF"][0] == 0.910
    for table in tables.values():
        widths = {len(row) for row in table.rows.values()} | {len(table.n)}
        assert widths == {len(table.pairs)}
        values = [value for row in table.rows.values() for value in row if value is not None]
        assert all(-1 <= value <= 1 for value in values)


def test_a_package_beside_the_paper(tertium: Run, package: Path, tmp_path: Path) -> None:  # noqa: F811
    scores = "".join(f"{name} {n}\n" for n, name in enumerate(SYSTEMS, start=1) for _ in "123")
    write(tmp_path / "metrics" / "de-en" / "YiSi-1.seg.score", scores)
    done = tertium(
        *("study", "prism", package, "--samples", 20, "-o", tmp_path / "out", "--no-cache"),
        *("--submitted", tmp_path / "metrics", "-m", "chrf:beta=3", "-m", "prism-src"),
    )
    assert done.returncode == 0, done.stderr
    tables = sorted(path.stem for path in (tmp_path / "out").glob("*.csv"))
    numbers = (11, 14, 17, 20, 23)
    assert tables == [f"table-{n}{kind}" for n in numbers for kind in ("", "-by-intervals")]
    with (tmp_path / "out" / "table-11.csv").open(encoding="utf-8", newline="") as stream:
        rows = {row["measure"]: float(row["de-en"]) for row in csv.DictReader(stream)}
    assert rows == {
        "chrf:beta=3": 1.0,  # the good system is better on every segment
        "CHRF, paper": 0.122,
        "YiSi-1": -1.0,
        "YISI-1, paper": 0.164,
        "n": 3,
        "n, paper": 85365,
    }
    with (tmp_path / "out" / "table-14.csv").open(encoding="utf-8", newline="") as stream:
        names = [row["measure"] for row in csv.DictReader(stream)]
    assert names == ["prism-src", "Prism-src, paper", "n", "n, paper"]
    assert "Table 17 and 3: WMT 2019, the best 4 systems, Pearson's r" in done.stdout
    assert "no other 95 % interval is above" in done.stdout


def numbers(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_figure_2_is_h_by_overlap(tertium: Run, package: Path, tmp_path: Path) -> None:  # noqa: F811
    """Of the 12 outputs, two are the reference: BLEU is 100."""
    done = tertium(
        *("study", "prism", package, "--samples", 20, "-o", tmp_path / "out", "--no-cache"),
        *("-m", "prism-ref", "--plots", "-q"),
    )
    assert done.returncode == 0, done.stderr
    rows = numbers(tmp_path / "out" / "figure-2.csv")
    assert len(rows) == 10
    assert sum(int(row["pairs"]) for row in rows) == 12
    assert rows[-1]["pairs"] == "2"
    assert "sentence BLEU" in (tmp_path / "out" / "figure-2.svg").read_text("utf-8")
    assert "Figure 2: H(sys|ref) by lexical overlap" in done.stdout


def test_figure_5_sweeps_the_weight_of_a_direction(
    tertium: Run,  # noqa: F811
    package: Path,
    tmp_path: Path,
) -> None:
    """The mean of both directions is prism-ref; weight 1 against sources is prism-src."""
    done = tertium(
        *("study", "prism", package, "--year", 2018, "--samples", 20, "-o", tmp_path / "out"),
        *("-m", "prism-ref", "-m", "prism-src", "--plots", "--no-cache", "-q"),
    )
    assert done.returncode == 0, done.stderr
    curves_of = {
        "with": ["prism-ref", "prism-ref:aggregate=G"],
        "without": ["prism-ref:against=source", "prism-ref:against=source,aggregate=G"],
    }
    curves = {}
    for panel in ("with", "without"):
        name = f"figure-5-{panel}-references"
        *rows, last = numbers(tmp_path / "out" / f"{name}.csv")
        assert [row["alpha"] for row in rows] == ["0", *(f"0.{n}" for n in range(1, 10)), "1"]
        assert (last["alpha"], last[curves_of[panel][0]]) == ("n", "3")
        assert set(rows[0]) == {"alpha", *curves_of[panel]}
        curves[panel] = [row[curves_of[panel][0]] for row in rows]
        assert "alpha" in (tmp_path / "out" / f"{name}.svg").read_text("utf-8")
    main = {row["measure"]: row["de-en"] for row in numbers(tmp_path / "out" / "table-07.csv")}
    names = ("prism-ref", "prism-src")
    assert set(main) == {*names, "Prism-ref, paper", "Prism-src, paper", "n", "n, paper"}
    assert (curves["with"][5], curves["without"][10]) == (main["prism-ref"], main["prism-src"])


def test_packages_that_have_nothing_of_the_paper(tertium: Run, package: Path) -> None:  # noqa: F811
    assert pairs_of(package, 2019) == ["de-en"]
    assert "2018 and 2019" in tertium("study", "prism", package, "--year", 2020).stderr
    with pytest.raises(InputError, match=r"no system-outputs/TESTSET/PAIR of the language pairs"):
        pairs_of(package / "sources", 2019)
